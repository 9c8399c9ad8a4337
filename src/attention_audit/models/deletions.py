"""All deletions at once: attention over a text without each of its words, from parts that merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

# Stands for "no score yet": exp(anything - NEVER) meets a total of 0, where -inf would give NaN.
NEVER = torch.finfo(torch.float64).min
ALL = slice(None)


@dataclass(frozen=True)
class Pool:
    """Softmax attention over some positions, not yet divided by its sum; float64.

    Parts are merged by adding, never by taking away: where attention is all but 1 on the word that
    is deleted, what is left stays exact.

    Attributes:
        top: the largest score of the positions, `NEVER` where there are none.
        total: sum of exp(score - top), 0 where there are none.
        weighted: sum of exp(score - top) * value.
    """

    top: Float[Tensor, "batch positions"]
    total: Float[Tensor, "batch positions"]
    weighted: Float[Tensor, "batch positions width"]

    @staticmethod
    def each(
        scores: Float[Tensor, "batch positions"],
        values: Float[Tensor, "batch positions width"],
        mask: Bool[Tensor, "batch positions"],
    ) -> Pool:
        """Every position by itself; those off the mask are empty."""
        top = scores.double().masked_fill(~mask, NEVER)
        return Pool(top, mask.double(), values.double() * mask[..., None])

    def merge(self, other: Pool) -> Pool:
        """Both together, position by position."""
        top = torch.maximum(self.top, other.top)
        mine, others = (self.top - top).exp(), (other.top - top).exp()
        return Pool(
            top,
            self.total * mine + other.total * others,
            self.weighted * mine[..., None] + other.weighted * others[..., None],
        )

    def shifted(self, step: int) -> Pool:
        """Position t gets what stood at t - step, and nothing where that is outside."""
        step = max(-self.top.shape[1], min(step, self.top.shape[1]))
        return Pool(
            F.pad(self.top, (step, -step), value=NEVER),
            F.pad(self.total, (step, -step)),
            F.pad(self.weighted, (0, 0, step, -step)),
        )

    def running(self, direction: int) -> Pool:
        """At each position all up to it (direction 1) or from it on (-1), in log2(T) merges."""
        pool, step = self, 1
        while step < self.top.shape[1]:
            pool = pool.merge(pool.shifted(direction * step))
            step *= 2
        return pool

    def beyond(self, reach: int) -> Pool:
        """At each position all that are more than `reach` away from it; 0: all others."""
        before, after = self.running(1), self.running(-1)
        return before.shifted(reach + 1).merge(after.shifted(-reach - 1))

    def context(self) -> Float[Tensor, "batch positions width"]:
        """The attended sum of values, sum_s a_s value_s; 0 where no position is left."""
        return self.weighted / self.total.clamp(min=torch.finfo(self.total.dtype).tiny)[..., None]


def times(
    hidden: Float[Tensor, "batch positions part"], weight: Float[Tensor, "width part"]
) -> Float[Tensor, "batch positions width"]:
    """hidden @ weight.T as one matrix product, where torch makes one per text of a slice."""
    return (hidden.flatten(0, 1) @ weight.T).view(*hidden.shape[:2], len(weight))


class Scoring(NamedTuple):
    """An attention whose score depends on a hidden state through a linear map of it only.

    energy: hidden states [B, K, h], `columns` of all H -> their part of the map, [B, K, A].
    score: energies [B, K, A], all parts added up -> scores [B, K].
    """

    energy: Callable[[Tensor, slice], Tensor]
    score: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Reading:
    """How attention and decoder read hidden states, whole or in parts; under softmax.

    Attributes:
        scoring: the attention's scores.
        weight: a hidden state's value is hidden @ weight.T.
        mask: where attention may go in the whole texts.
    """

    scoring: Scoring
    weight: Float[Tensor, "width hidden"]
    mask: Bool[Tensor, "batch tokens"]

    def part(
        self, hidden: Float[Tensor, "batch positions part"], columns: slice
    ) -> tuple[Float[Tensor, "batch positions energy"], Float[Tensor, "batch positions width"]]:
        """The part that `columns` of the hidden states have in the energies and in the values."""
        return self.scoring.energy(hidden, columns), times(hidden, self.weight[:, columns])

    def each(
        self,
        hidden: Float[Tensor, "batch positions hidden"],
        mask: Bool[Tensor, "batch positions"] | None = None,
    ) -> Pool:
        """Whole hidden states, each position by itself; `mask` where it is not the texts' own."""
        energy, values = self.part(hidden, ALL)
        return Pool.each(self.scoring.score(energy), values, self.mask if mask is None else mask)
