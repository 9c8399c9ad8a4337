"""Permutation of attention (Jain & Wallace 2019, section 4.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from pydantic import NonNegativeInt, PositiveInt

from attention_audit.batch import Batch
from attention_audit.callbacks.analysis import AnalysisCallback, Part, decoder
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.counterfactual import permutation


class Permutation(AnalysisCallback):
    """Median output change (TVD) under random permutations of each instance's attention.

    Args:
        permutations: permutations of each instance.
        resamples: of the bootstrap intervals.
        seed: of the permutations.
    """

    name = "permutation"
    histograms = ("delta_y_med",)

    def __init__(
        self,
        permutations: PositiveInt = 100,
        resamples: PositiveInt = 2000,
        seed: NonNegativeInt = 0,
    ) -> None:
        self.permutations = permutations
        self.resamples = resamples
        self.seed = seed

    @torch.no_grad()
    def analyse(self, model: Any, batch: Batch) -> Part:
        encoding = model.encode(batch)
        attention = model.attend(encoding)
        found = permutation(
            decoder(model, model.project(encoding)),
            attention,
            batch.mask,
            batch.ids,
            permutations=self.permutations,
            seed=self.seed,
        )
        instances = {
            "delta_y_med": found.median.cpu().numpy(),
            "max_attention": attention.amax(-1).double().cpu().numpy(),
        }
        return Part(instances, {})

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        return mean_rows("delta_y_med", instances["delta_y_med"], self.resamples)
