"""All deletions at once: attention over a text without each of its words, from parts that merge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
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

    def add(
        self,
        places: slice,
        scores: Float[Tensor, "batch places"],
        values: Float[Tensor, "batch places width"],
        mask: Bool[Tensor, "batch places"],
    ) -> None:
        """Merge one more position into each of some places, where `mask` is True; in place."""
        scores = scores.double().masked_fill(~mask, NEVER)
        top, total, weighted = (part[:, places] for part in (self.top, self.total, self.weighted))
        highest = torch.maximum(top, scores)
        old, new = (top - highest).exp_(), (scores - highest).exp_() * mask
        top.copy_(highest)
        total.mul_(old).add_(new)
        weighted.mul_(old[..., None]).addcmul_(values.double(), new[..., None])

    def beyond(self, reach: int) -> Pool:
        """At each position, all positions more than `reach` away from it; 0: all others.

        Sums before it and sums behind it, on the scale of the text's largest score. Where that is
        within reach itself, what is left may be too small for the scale and is summed by itself.
        """
        top = self.top.amax(1, keepdim=True)
        weight = (self.top - top).exp()
        each = torch.cat([self.total[..., None], self.weighted], dim=-1) * weight[..., None]
        behind = each.flip(1).cumsum(1).flip(1)
        left = _moved(each.cumsum(1), reach + 1) + _moved(behind, -reach - 1)
        pool = Pool(top.repeat(1, each.shape[1]), left[..., 0], left[..., 1:])
        distance = torch.arange(-reach, reach + 1, device=top.device)
        around = self.top.argmax(1, keepdim=True) + distance
        row, place = ((around >= 0) & (around < each.shape[1])).nonzero(as_tuple=True)
        alone = self._beyond(reach, around)
        at = row, around[row, place]
        pool.top[at], pool.total[at] = alone.top[row, place], alone.total[row, place]
        pool.weighted[at] = alone.weighted[row, place]
        return pool

    def _beyond(self, reach: int, places: Int[Tensor, "batch places"]) -> Pool:
        """The same at some places only, each on the scale of what is left there."""
        position = torch.arange(self.top.shape[1], device=places.device)
        near = (position - places[..., None]).abs() <= reach
        scores = self.top[:, None].masked_fill(near, NEVER)
        top = scores.amax(-1)
        weight = (scores - top[..., None]).exp() * self.total[:, None].masked_fill(near, 0)
        return Pool(top, weight.sum(-1), weight @ self.weighted)

    def context(self) -> Float[Tensor, "batch positions width"]:
        """The attended sum of values, sum_s a_s value_s; 0 where no position is left."""
        return self.weighted / self.total.clamp(min=torch.finfo(self.total.dtype).tiny)[..., None]


def _moved(
    sums: Float[Tensor, "batch positions width"], step: int
) -> Float[Tensor, "batch positions width"]:
    """Position t gets what stood at t - step, and 0 where that is outside."""
    step = max(-sums.shape[1], min(step, sums.shape[1]))
    return F.pad(sums, (0, 0, step, -step))


def times(
    hidden: Float[Tensor, "batch positions part"], weight: Float[Tensor, "width part"]
) -> Float[Tensor, "batch positions width"]:
    """hidden @ weight.T as one matrix product, where torch makes one per text of a slice."""
    return (hidden.flatten(0, 1) @ weight.T).view(*hidden.shape[:2], len(weight))


class Told(NamedTuple):
    """What an encoder tells of all deletions: the whole texts' hidden states, and the pools."""

    hidden: Float[Tensor, "batch tokens hidden"]
    pool: Pool


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

    def each(self, hidden: Float[Tensor, "batch tokens hidden"]) -> Pool:
        """Whole hidden states of the texts, each position by itself."""
        energy, values = self.part(hidden, ALL)
        return Pool.each(self.scoring.score(energy), values, self.mask)
