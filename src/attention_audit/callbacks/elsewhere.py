"""Other attention of the base model itself, measured by JSD and TVD: the first paper's, in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from pydantic import ConfigDict, PositiveInt
from torch import Tensor

# TypedDict of typing cannot be checked by pydantic before Python 3.12.
from typing_extensions import TypedDict

from attention_audit.batch import Batch
from attention_audit.callbacks.adversarial import KINDS, Distance
from attention_audit.callbacks.analysis import Part, decoder
from attention_audit.counterfactual import (
    Adversaries,
    Decoding,
    Optimum,
    Search,
    adversarial_search,
    exact_adversary,
    optimum,
    permutation,
)
from attention_audit.measures import jsd


class Budget(TypedDict):
    """What the first paper's tests may spend: `budget` of the configuration."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    permutations: PositiveInt
    adversaries: PositiveInt
    steps: PositiveInt
    resamples: PositiveInt


class Adversary(TypedDict):
    """What is looked for, and how: `adversary` of the configuration."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    epsilon: Distance
    objective: Literal["paper", "program"]
    search: bool
    exact: bool
    frontier: Sequence[Distance]


class Elsewhere:
    """What other attention does to the base model's output, its hidden states held fixed.

    Called with a model, in float64, and a batch, it gives for each instance `max_attention`, and
    JSD (nats) and TVD of: `permutation`, the medians over its permutations; `search`, the best of
    the adversarial search; `exact` or `found`, the optimum at epsilon, and `frontier_<epsilon>`
    for the others. Where the optimum is exact, `excess` is by how much the most daring of all
    permutations and candidates lies above the instance's own frontier at its own TVD.
    """

    def __init__(self, adversary: Adversary, budget: Budget) -> None:
        self.adversary, self.budget = adversary, budget
        self.epsilons = sorted({adversary["epsilon"], *adversary["frontier"]})

    @torch.no_grad()
    def __call__(self, model: Any, batch: Batch) -> Part:
        encoding = model.encode(batch)
        attention = model.attend(encoding)
        decode = decoder(model, model.project(encoding))
        permuted = permutation(
            decode, attention, batch.mask, batch.ids, permutations=self.budget["permutations"]
        )
        moved = jsd(permuted.attention, attention[:, None])
        values = {
            "max_attention": attention.amax(-1),
            "permutation_jsd": _median(moved, batch.mask),
            "permutation_tvd": permuted.median,
        }
        points = [(permuted.delta, moved)]
        found = None
        if self.adversary["search"]:
            found = self._search(decode, attention, batch)
            values["search_jsd"] = found.eps_max_jsd
            values["search_tvd"] = _best_tvd(found).masked_fill(~batch.mask.any(1), torch.nan)
            points.append((found.tvd, found.jsd))
        if self.adversary["exact"]:
            best = optimum(decode, attention, self.epsilons, found)
            values |= self._frontier(best)
        if decode.sigmoid:
            values["excess"] = _excess(decode, attention, points)
        return Part({name: value.cpu().numpy() for name, value in values.items()}, {})

    def _search(self, decode: Decoding, attention: Tensor, batch: Batch) -> Adversaries:
        search = Search(
            candidates=self.budget["adversaries"],
            epsilon=self.adversary["epsilon"],
            objective=self.adversary["objective"],
            steps=self.budget["steps"],
        )
        return adversarial_search(decode, attention, batch.mask, batch.ids, search)

    def _frontier(self, best: Optimum) -> dict[str, Tensor]:
        at = self.epsilons.index(self.adversary["epsilon"])
        values = {f"{KINDS[best.exact]}_jsd": best.jsd[:, at]}
        for place, epsilon in enumerate(self.epsilons):
            values[f"frontier_{epsilon:g}"] = best.jsd[:, place]
        return values


def _best_tvd(found: Adversaries) -> Tensor:
    """Of the best candidate; 0 where that is the original."""
    moved = found.tvd.gather(1, found.best.clamp(min=0)[:, None])[:, 0]
    return moved.masked_fill(found.best < 0, 0)


def _median(values: Tensor, mask: Tensor) -> Tensor:
    return values.quantile(0.5, dim=1).masked_fill(~mask.any(1), torch.nan)


def _excess(decode: Decoding, attention: Tensor, points: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """The largest JSD above the maximum at the point's own TVD, in nats; NaN without words."""
    moved, apart = (torch.cat(parts, dim=1) for parts in zip(*points, strict=True))
    projection = decode.projection
    best = exact_adversary(
        projection.values[..., 0],
        projection.offset[:, 0],
        attention,
        projection.mask,
        moved.nan_to_num(0),
    )
    return (apart - best.jsd).amax(1)
