"""Are a model's weights of use to a context-free reader? (Wiegreffe & Pinter 2019, section 3.4)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_audit.diagnostics.subject import Fit, Subject
from attention_audit.predictions import Given

SPLITS = ("train", "dev", "test")
FROZEN = {"_target_": "attention_audit.models.attentions.Frozen", "name": "frozen"}
_STREAM = 4  # keeps these draws apart from those of the analyses with the same seed


def fit_mlp(fit: Fit, name: str, mlp: Mapping[str, Any], attention: Mapping[str, Any]) -> Subject:
    """A context-free model with an attention of its own, learned or uniform.

    Args:
        fit: fits it.
        name: of its weights.
        mlp: the encoder's configuration.
        attention: the attention's configuration.
    """
    return fit(f"guided_{name}", {"encoder": dict(mlp), "attention": dict(attention)})


def fit_guided(
    fit: Fit, name: str, mlp: Mapping[str, Any], given: Given, source: Mapping[str, Any]
) -> Subject:
    """A context-free model that has to attend as it is told.

    Args:
        fit: fits it.
        name: of its weights.
        mlp: the encoder's configuration.
        given: attention for every instance of all splits.
        source: describes, for good, what made it.
    """
    change = {
        "encoder": dict(mlp),
        "attention": dict(FROZEN),
        "auxiliary": {"given": dict(source)},
    }
    return fit(f"guided_{name}", change, given)


def permuted(given: Given, seed: int) -> Given:
    """The same weights on other words of the same instance; follows from (seed, id) alone."""
    rows = []
    for instance, row in zip(given.ids.tolist(), given.rows(), strict=True):
        generator = np.random.default_rng([seed, _STREAM, instance])
        rows.append(row[torch.from_numpy(generator.permutation(len(row)))])
    return Given.of(given.ids, rows)


def normalised(importance: Float[Tensor, " words"]) -> Float[Tensor, " words"]:
    """An importance >= 0 as weights that sum to 1; uniform where no word has any.

    Where it is undefined (leave-one-out of an only word) it counts as 0.
    """
    kept = importance.double().nan_to_num(0)
    total = kept.sum()
    uniform = torch.full_like(kept, 1 / max(1, len(kept)))
    return (kept / total if total > 0 else uniform).float()
