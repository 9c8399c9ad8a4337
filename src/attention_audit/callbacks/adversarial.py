"""Adversarial attention (Jain & Wallace 2019, section 4.2.2), searched for and found exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import torch
from pydantic import Field, NonNegativeInt, PositiveInt
from torch import Tensor

from attention_audit.batch import Batch
from attention_audit.callbacks.analysis import AnalysisCallback, Part, decoder
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.counterfactual import (
    Decoding,
    Optimum,
    Search,
    adversarial_search,
    optimum,
)
from attention_audit.measures import tvd

Distance = Annotated[float, Field(ge=0, le=1)]
FRONTIER = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
QUANTITY = re.compile(r"eps_max_jsd|search_gap|jsd_|frontier_")
KINDS = {True: "exact", False: "found"}
# A search that ends this far below the optimum, in nats, counts as having fallen short.
SHORT = 0.05


class Adversarial(AnalysisCallback):
    """How different attention can be while the output stays within epsilon: eps-max JSD, in nats.

    `eps_max_jsd` is the search's, as published. Beside it stands, for two classes under one
    sigmoid, the true maximum, `eps_max_jsd_exact`; for any other decoder the best that single
    tokens, mixes of two and the search give, `eps_max_jsd_found`, with the bound `jsd_ceiling`
    that no epsilon lifts. `frontier_<epsilon>` is the same for other values of epsilon.
    `adversary_...` is what comes out with the attention that lies farthest: the output's change
    (TVD), the class predicted then, and the probability of the class predicted before.

    Args:
        epsilon: total variation distance within which the output counts as unchanged.
        objective: `paper`, or `program` for the weights, the hinge (always at 0.01) and the final
            iterate of the authors' program.
        search: run the search.
        exact: look for the maximum, exactly where the decoder allows it.
        frontier: the values of epsilon for which the maximum is looked for besides.
        adversaries: alternatives moved at once for each instance.
        steps: Adam steps.
        resamples: of the bootstrap intervals.
        seed: of the starting points.

    Raises:
        ValueError: neither `search` nor `exact`.
    """

    name = "adversarial"
    version = 3
    histograms = ("eps_max_jsd", "eps_max_jsd_exact", "eps_max_jsd_found", "search_gap")
    # A maximum that the search, or float32, could exceed would be none.
    dtype = torch.float64

    def __init__(
        self,
        epsilon: Distance,
        objective: Literal["paper", "program"] = "paper",
        search: bool = True,
        exact: bool = True,
        frontier: Sequence[Distance] = FRONTIER,
        adversaries: PositiveInt = 5,
        steps: PositiveInt = 500,
        resamples: PositiveInt = 2000,
        seed: NonNegativeInt = 0,
    ) -> None:
        if not search and not exact:
            raise ValueError(
                "analysis.adversarial: found search=false and exact=false; expected one of them "
                "true; set one, or leave the analysis out"
            )
        self.search = Search(
            candidates=adversaries, epsilon=epsilon, objective=objective, steps=steps
        )
        self.searches, self.exact = search, exact
        self.frontier = sorted(set(frontier))
        self.epsilons = sorted({epsilon, *frontier})
        self.at = self.epsilons.index(epsilon)
        self.resamples = resamples
        self.seed = seed

    @torch.no_grad()
    def analyse(self, model: Any, batch: Batch) -> Part:
        encoding = model.encode(batch)
        attention = model.attend(encoding)
        decode = decoder(model, model.project(encoding))
        instances = {"max_attention": attention.amax(-1)}
        tokens: dict[str, Tensor] = {}
        farthest = attention
        found = None
        if self.searches:
            found = adversarial_search(
                decode, attention, batch.mask, batch.ids, self.search, seed=self.seed
            )
            instances["eps_max_jsd"] = found.eps_max_jsd
            tokens["adversarial_attention"] = farthest = found.best_attention
        if self.exact:
            best = optimum(decode, attention, self.epsilons, found)
            tokens[f"{KINDS[best.exact]}_attention"] = farthest = best.attention[:, self.at]
            instances |= self._columns(best)
        if found is not None and self.exact:
            instances["search_gap"] = best.jsd[:, self.at] - found.eps_max_jsd
        instances |= _outputs(decode, attention, farthest)
        return Part({name: value.cpu().numpy() for name, value in instances.items()}, tokens)

    def _columns(self, best: Optimum) -> dict[str, Tensor]:
        jsd = best.jsd[:, self.at]
        columns = {f"eps_max_jsd_{KINDS[best.exact]}": jsd}
        if not best.exact:
            columns["jsd_ceiling"] = best.ceiling
            columns["jsd_achieved"] = torch.where(best.ceiling > 0, jsd / best.ceiling, torch.nan)
        for epsilon in self.frontier:
            columns[f"frontier_{epsilon:g}"] = best.jsd[:, self.epsilons.index(epsilon)]
        return columns

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        named = {name: values for name, values in instances.items() if QUANTITY.match(name)}
        if "search_gap" in named:
            named["search_shortfall"] = _share_above(named["search_gap"], SHORT)
        return [row for name in named for row in mean_rows(name, named[name], self.resamples)]


def _outputs(decode: Decoding, attention: Tensor, adversary: Tensor) -> dict[str, Tensor]:
    """What a reader asks of an adversary [B, T]: what the model says then."""
    before, after = decode(torch.stack([attention, adversary], dim=1)).unbind(1)
    predicted = before.argmax(-1, keepdim=True)
    return {
        "adversary_tvd": tvd(after, before),
        "adversary_prediction": after.argmax(-1),
        "adversary_probability": after.gather(-1, predicted)[:, 0],
    }


def _share_above(values: np.ndarray, least: float) -> np.ndarray:
    """1 where a value is larger, 0 where not, NaN where it is undefined."""
    return np.where(np.isnan(values), np.nan, values > least)
