"""Where there is no exact optimum: single tokens, and mixes of the two best, for any decoder.

With more classes than two, or a tanh before the output, "TVD <= epsilon" is no interval. What is
found here is a lower bound of the largest JSD; `ceiling` is an upper one: JSD(., attention) is
convex, so that over the whole simplex it is largest at a vertex, a single token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_audit.counterfactual.climb import FEASIBLE_SLACK
from attention_audit.counterfactual.decoding import Decoding
from attention_audit.counterfactual.sparse import (
    Sparse,
    cost,
    divergence,
    normalised,
    self_information,
)
from attention_audit.measures import tvd

GRID = 9  # mixes of two tokens tried first, from the one to the other
NARROWINGS = 12  # of the stretch where the output moves least: by a third each time
HALVINGS = 30  # of the stretch between an allowed mix and one that is not
EXTENDED = 8  # pairs of tokens whose mixes are then followed to the bound
NUMBERS_AT_ONCE = 1 << 22  # of the outputs of single tokens


class _Pairs(NamedTuple):
    """Pairs of tokens: attended sums, original attention and positions of both; whether allowed."""

    context: Float[Tensor, "batch pairs 2 width"]
    attention: Float[Tensor, "batch pairs 2"]
    position: Int[Tensor, "batch pairs 2"]
    allowed: Bool[Tensor, "batch pairs"]

    def at(self, index: Int[Tensor, "batch some"]) -> _Pairs:
        """The pairs at `index` of each row."""
        rows = torch.arange(len(index), device=index.device)[:, None]
        return _Pairs(*(column[rows, index] for column in self))

    def mixed(self, weight: Float[Tensor, "batch pairs"]) -> Float[Tensor, "batch pairs width"]:
        """The attended sum with that weight on the first token, the rest on the second."""
        first, second = self.context.unbind(2)
        return torch.lerp(second, first, weight[..., None].to(first))

    def jsd(self, weight: Float[Tensor, "batch pairs"]) -> Float[Tensor, "batch pairs"]:
        """Of these mixes to the original attention; -inf where a token may have none."""
        both = torch.stack([weight, 1 - weight], -1).clamp(min=torch.finfo(weight.dtype).tiny)
        prices = cost(self.attention, self_information(self.attention), both)
        return divergence(prices.sum(-1)).masked_fill(~self.allowed, -math.inf)


class _Candidates(NamedTuple):
    """For each epsilon so many distributions on two tokens; jsd -inf for those out of bounds."""

    jsd: Float[Tensor, "batch epsilons some"]
    support: Int[Tensor, "batch epsilons some 2"]
    weight: Float[Tensor, "batch epsilons some"]


def ceiling(
    attention: Float[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, " batch"]:
    """The largest JSD to the attention of any distribution at all, in nats; NaN without a word."""
    return _one_token(normalised(attention, mask), mask).amax(1).masked_fill(~mask.any(1), math.nan)


@torch.no_grad()
def sparse_adversary(
    decode: Decoding,
    attention: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    epsilons: Sequence[float],
    *,
    tokens: int = 16,
) -> Sparse:
    """The most different attention on one token, or on two of the best, with TVD <= epsilon.

    All single tokens are tried. Mixes are of two out of `tokens`: half of them those with least
    attention, half those that alone move the output least. Of each pair the mix that moves the
    output least is sought, and from the best of these mixes the bound, on either side.
    """
    attention = normalised(attention, mask)
    original = decode(attention.to(decode.projection.values)[:, None])
    limits = torch.tensor(epsilons, dtype=attention.dtype, device=mask.device) + FEASIBLE_SLACK
    contexts = decode.projection.values + decode.projection.offset[:, None]
    moved, apart = _moved_by_one(decode, contexts, original), _one_token(attention, mask)
    moved = moved.masked_fill(~mask, math.inf)
    half = min(max(tokens // 2, 1), mask.shape[1])
    best = torch.cat([apart.topk(half, 1).indices, (-moved).topk(half, 1).indices], 1)
    pairs = _pairs_of(best, contexts, attention, mask)
    every = [_singles(apart, moved, limits), _mixes(decode, original, pairs, limits)]
    return _best(_Candidates(*(torch.cat(c, 2) for c in zip(*every, strict=True))), limits, mask)


def _one_token(attention: Tensor, mask: Tensor) -> Tensor:
    """JSD [B, T] of all attention on one token; -inf off the mask."""
    prices = cost(attention, self_information(attention), torch.ones_like(attention))
    return divergence(prices).masked_fill(~mask, -math.inf)


def _moved_by_one(decode: Decoding, contexts: Tensor, original: Tensor) -> Tensor:
    """TVD [B, T] to the original output if one token had all attention."""
    width = max(original.shape[-1], contexts.shape[-1]) * len(contexts)
    parts = torch.split(contexts, max(1, NUMBERS_AT_ONCE // max(width, 1)), 1)
    return torch.cat([tvd(decode.output(part), original) for part in parts], 1)


def _pairs_of(index: Tensor, contexts: Tensor, attention: Tensor, mask: Tensor) -> _Pairs:
    """All pairs of the tokens at `index` [B, n]."""
    two = torch.combinations(torch.arange(index.shape[1], device=index.device))
    position = index[:, two]
    rows = torch.arange(len(index), device=index.device)[:, None, None]
    allowed = mask[rows, position].all(-1)
    return _Pairs(contexts[rows, position], attention[rows, position], position, allowed)


def _singles(apart: Tensor, moved: Tensor, limits: Tensor) -> _Candidates:
    """For each epsilon the best token of those that keep the output."""
    kept = moved[:, None] <= limits[:, None]
    jsd, place = torch.where(kept, apart[:, None], -math.inf).max(-1, keepdim=True)
    return _Candidates(jsd, torch.stack([place, place], -1), torch.ones_like(jsd))


def _mixes(decode: Decoding, original: Tensor, pairs: _Pairs, limits: Tensor) -> _Candidates:
    """For each epsilon the best pairs' mixes at the bound, on either side."""
    weight = _least_moving(decode, original, pairs)
    kept = tvd(decode.output(pairs.mixed(weight)), original)[:, None] <= limits[:, None]
    jsd = torch.where(kept, pairs.jsd(weight)[:, None], -math.inf)
    found, index = jsd.topk(min(EXTENDED, jsd.shape[-1]), -1)
    shape, flat = found.shape, index.flatten(1)
    chosen, start = pairs.at(flat), weight.gather(1, flat)
    bound = limits[:, None].expand(shape).flatten(1)
    ends = [_to_bound(decode, original, chosen, start, end, bound) for end in (0.0, 1.0)]
    sides = [
        _Candidates(
            torch.where(found.isfinite(), chosen.jsd(end).view(shape), -math.inf),
            chosen.position.view(*shape, 2),
            end.view(shape),
        )
        for end in ends
    ]
    return _Candidates(*(torch.cat(column, 2) for column in zip(*sides, strict=True)))


def _least_moving(decode: Decoding, original: Tensor, pairs: _Pairs) -> Tensor:
    """The weight [B, pairs] that moves the output least: the best of a grid, then narrowed."""

    def moved(weight: Tensor) -> Tensor:
        return tvd(decode.output(pairs.mixed(weight)), original)

    like = pairs.attention[..., 0]
    steps = [torch.full_like(like, step / (GRID - 1)) for step in range(GRID)]
    middle = torch.stack([moved(step) for step in steps]).argmin(0) / (GRID - 1)
    low, high = middle - 1 / (GRID - 1), middle + 1 / (GRID - 1)
    low, high = low.clamp(min=0).to(like), high.clamp(max=1).to(like)
    for _ in range(NARROWINGS):
        left, right = torch.lerp(low, high, 1 / 3), torch.lerp(low, high, 2 / 3)
        leftwards = moved(left) <= moved(right)
        low, high = torch.where(leftwards, low, left), torch.where(leftwards, right, high)
    return (low + high) / 2


def _to_bound(
    decode: Decoding,
    original: Tensor,
    pairs: _Pairs,
    start: Tensor,
    end: float,
    bound: Tensor,
) -> Tensor:
    """How far the weight can go from `start` towards `end` with the output within `bound`."""
    kept, beyond = start, torch.full_like(start, end)
    for _ in range(HALVINGS):
        middle = (kept + beyond) / 2
        within = tvd(decode.output(pairs.mixed(middle)), original) <= bound
        kept, beyond = torch.where(within, middle, kept), torch.where(within, beyond, middle)
    return kept


def _best(found: _Candidates, limits: Tensor, mask: Tensor) -> Sparse:
    """The best for each epsilon: what keeps the output within a smaller one is within it too."""
    jsd, place = found.jsd.max(-1)
    within = limits[None, :] <= limits[:, None]
    jsd, smaller = torch.where(within, jsd[:, None], -math.inf).max(-1)
    rows = torch.arange(len(jsd), device=jsd.device)[:, None]
    place = place.gather(1, smaller)
    weight, support = found.weight[rows, smaller, place], found.support[rows, smaller, place]
    some = jsd.isfinite()
    weights = torch.stack([weight, 1 - weight], -1) * some[..., None]
    jsd = jsd.clamp(min=0).masked_fill(~mask.any(1, keepdim=True), math.nan)
    return Sparse(jsd, support, weights)
