"""Adversarial attention (Jain & Wallace 2019, section 4.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import torch
from pydantic import Field, NonNegativeInt, PositiveInt

from attention_audit.batch import Batch
from attention_audit.callbacks.analysis import AnalysisCallback, Part, Row, decoder, mean_rows
from attention_audit.counterfactual import Search, adversarial_search

Distance = Annotated[float, Field(ge=0, le=1)]


class Adversarial(AnalysisCallback):
    """How different attention can be while the output stays within epsilon: eps-max JSD, in nats.

    Args:
        epsilon: total variation distance within which the output counts as unchanged.
        objective: `paper`, or `program` for the weights, the hinge (always at 0.01) and the final
            iterate of the authors' program.
        adversaries: alternatives moved at once for each instance.
        steps: Adam steps.
        resamples: of the bootstrap intervals.
        seed: of the starting points.
    """

    name = "adversarial"
    histograms = ("eps_max_jsd",)

    def __init__(
        self,
        epsilon: Distance,
        objective: Literal["paper", "program"] = "paper",
        adversaries: PositiveInt = 5,
        steps: PositiveInt = 500,
        resamples: PositiveInt = 2000,
        seed: NonNegativeInt = 0,
    ) -> None:
        self.search = Search(
            candidates=adversaries, epsilon=epsilon, objective=objective, steps=steps
        )
        self.resamples = resamples
        self.seed = seed

    def analyse(self, model: Any, batch: Batch) -> Part:
        with torch.no_grad():
            encoding = model.encode(batch)
            attention, projection = model.attend(encoding), model.project(encoding)
        found = adversarial_search(
            decoder(model, projection),
            attention,
            batch.mask,
            batch.ids,
            self.search,
            seed=self.seed,
        )
        instances = {
            "eps_max_jsd": found.eps_max_jsd.cpu().numpy(),
            "max_attention": attention.amax(-1).double().cpu().numpy(),
        }
        return Part(instances, {"adversarial_attention": found.best_attention})

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        return mean_rows("eps_max_jsd", instances["eps_max_jsd"], self.resamples)
