"""How far two models are apart, instance by instance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from attention_audit.measures import jsd, tvd
from attention_audit.predictions import Predictions

# Instances whose padded attentions are compared at once.
ROWS = 1024


class Differences(NamedTuple):
    """Of two models: JSD of attention in nats, TVD of output; in the order of the first one."""

    jsd: Float[np.ndarray, " instances"]
    tvd: Float[np.ndarray, " instances"]


def differences(one: Predictions, other: Predictions) -> Differences:
    """Compare what two models say of the same instances, in whatever order each has read them.

    Raises:
        ValueError: not the same instances, or of other texts.
    """
    return Differences(attention_jsd(one, other), output_tvd(one, other))


def attention_jsd(one: Predictions, other: Predictions) -> Float[np.ndarray, " instances"]:
    """JSD of each instance's two attentions, in [0, ln 2] nats; NaN where it has no word.

    Raises:
        ValueError: as `differences`.
    """
    rows = other.of(one.ids).attention
    for instance, mine, theirs in zip(one.ids.tolist(), one.attention, rows, strict=True):
        if len(mine) != len(theirs):
            raise ValueError(
                f"instance {instance}: one model read {len(mine)} words, the other {len(theirs)}"
            )
    found = [
        jsd(_padded(one.attention[start : start + ROWS]), _padded(rows[start : start + ROWS]))
        for start in range(0, len(rows), ROWS)
    ]
    empty = np.array([len(row) == 0 for row in rows])
    return np.where(empty, np.nan, torch.cat(found).numpy())


def output_tvd(one: Predictions, other: Predictions) -> Float[np.ndarray, " instances"]:
    """TVD of each instance's two outputs, in [0, 1]. Raises as `differences`."""
    return tvd(one.probabilities, other.of(one.ids).probabilities).numpy()


def _padded(rows: list[torch.Tensor]) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).double()
