"""Random importance: the control that no real importance should agree with."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_audit.batch import Batch
from attention_audit.importance.model import Model

_STREAM = 3  # keeps these draws apart from those of other analyses with the same seed


def random(model: Model, batch: Batch, *, seed: int) -> Float[Tensor, "batch tokens"]:
    """Independent uniform draws in [0, 1) on the mask, exactly 0 elsewhere; `model` is not asked.

    Drawn from (seed, instance id) alone: neither padding nor the rest of the batch matters.
    """
    del model
    drawn = torch.zeros(batch.mask.shape, dtype=torch.float64)
    for row, (instance, kept) in enumerate(zip(batch.ids.tolist(), batch.mask.cpu(), strict=True)):
        generator = np.random.default_rng([seed, _STREAM, instance])
        drawn[row, kept] = torch.from_numpy(generator.random(int(kept.sum())))
    return drawn.to(batch.mask.device)
