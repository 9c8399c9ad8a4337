"""The exact optimum: the most different attention that keeps a sigmoid's output within epsilon.

With a sigmoid on a linear decoder the output sees attention a only through s . a, s_t the logit
that token t would give alone. "TVD <= epsilon" is then an interval lo <= s . a <= hi, the feasible
set is the simplex cut by a slab, and JSD(., attention) is convex: its maximum is at a vertex. A
vertex is one token with s_t in the interval, or two tokens s_j < x < s_i on either side of a bound
x with the weights that solve s . a = x. The best of all vertices is found, without looking at each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_audit.counterfactual.climb import FEASIBLE_SLACK
from attention_audit.counterfactual.sparse import (
    Sparse,
    cost,
    divergence,
    normalised,
    self_information,
)

PAIRS_AT_ONCE = 1 << 19


class _Words(NamedTuple):
    """Each row's words in ascending order of s; padding comes last, its s and a infinite.

    `before` and `after` are the nearest places with as little attention or less (-1, T: none).
    """

    s: Float[Tensor, "batch tokens"]
    a: Float[Tensor, "batch tokens"]
    position: Int[Tensor, "batch tokens"]
    before: Int[Tensor, "batch tokens"]
    after: Int[Tensor, "batch tokens"]


class _Found(NamedTuple):
    """The cheapest vertex of each group: its cost, two places and the first one's weight."""

    cost: Tensor
    first: Tensor
    second: Tensor
    weight: Tensor


@torch.no_grad()
def exact_adversary(
    scores: Float[Tensor, "batch tokens"],
    offset: Float[Tensor, " batch"],
    attention: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    epsilons: Sequence[float] | Float[Tensor, "batch epsilons"],
) -> Sparse:
    """Maximise JSD(., attention) over all distributions on the mask with TVD <= epsilon.

    The output is sigmoid(scores . a + offset). All rows and epsilons at once, in float64; memory is
    bounded by the words times the epsilons. Feasibility has the slack of the search (1e-9), so
    that no search over the same numbers finds more.

    Args:
        scores: s, the logit that each token gives alone, the offset aside.
        offset: what the logit has besides: the bias.
        attention: the original distributions; 0 off the mask.
        mask: where attention may go.
        epsilons: the frontier's values of epsilon, in [0, 1]; for all rows, or for each.
    """
    attention = normalised(attention, mask)
    scores = torch.where(mask, scores.double(), 0.0)
    logit = (attention * scores).sum(1) + offset.double()
    words = _sorted(scores, attention, mask)
    limits = torch.as_tensor(epsilons, dtype=torch.float64).to(logit)
    low, high = _interval(logit, offset.double(), limits + FEASIBLE_SLACK)
    ones, twos = _one_token(words, low, high), _two_tokens(words, torch.cat([low, high], 1))
    count = limits.shape[-1]
    every = [ones, _Found(*(t[:, :count] for t in twos)), _Found(*(t[:, count:] for t in twos))]
    found = _cheapest(every)
    places = torch.stack([found.first, found.second], -1)
    support = words.position[:, None].expand(-1, count, -1).gather(2, places)
    weights = torch.stack([found.weight, 1 - found.weight], -1)
    defined = found.cost.isfinite()
    jsd = divergence(found.cost).masked_fill(~defined, math.nan)
    return Sparse(jsd, support, weights * defined[..., None])


def _interval(logit: Tensor, offset: Tensor, limit: Tensor) -> tuple[Tensor, Tensor]:
    """lo and hi [B, E] of s . a; infinite where the output has no room to move out of the limit."""
    p, q = torch.sigmoid(logit)[:, None], torch.sigmoid(-logit)[:, None]
    low = (p - limit).clamp(min=0).log() - (q + limit).log()
    high = (p + limit).log() - (q - limit).clamp(min=0).log()
    return low - offset[:, None], high - offset[:, None]


def _sorted(scores: Tensor, attention: Tensor, mask: Tensor) -> _Words:
    s, position = scores.masked_fill(~mask, math.inf).sort(1)
    a = attention.masked_fill(~mask, math.inf).gather(1, position)
    before = _nearest_as_small(a)
    after = a.shape[1] - 1 - _nearest_as_small(a.flip(1)).flip(1)
    return _Words(s, a, position, before, after)


def _nearest_as_small(a: Float[Tensor, "batch tokens"]) -> Int[Tensor, "batch tokens"]:
    """The nearest earlier place whose value is at most the own one, -1 if there is none.

    Steps back over stretches of 2^k places whose minimum is larger, the longest first.
    """
    minima = [a]  # minima[k][t] is the minimum of the 2^k values that end at t
    while (length := 1 << len(minima) - 1) < a.shape[1]:
        shorter = minima[-1]
        minima.append(torch.cat([shorter[:, :length], _least(shorter, length)], 1))
    place = torch.arange(a.shape[1], device=a.device).expand_as(a) - 1
    for level in range(len(minima) - 1, -1, -1):
        larger = minima[level].gather(1, place.clamp(min=0)) > a
        place = place - ((larger & (place >= 0)) << level)
    return place.clamp(min=-1)


def _least(shorter: Tensor, length: int) -> Tensor:
    return torch.minimum(shorter[:, length:], shorter[:, :-length])


def _one_token(words: _Words, low: Tensor, high: Tensor) -> _Found:
    """The single token within the interval that has least attention."""
    s, a = words.s[:, None], words.a[:, None]
    inside = (s >= low[..., None]) & (s <= high[..., None])
    least, place = torch.where(inside, a, math.inf).min(-1)
    one, some = torch.ones_like(least), least.isfinite()
    price = cost(least, self_information(least), one).masked_fill(~some, math.inf)
    return _Found(price, place, place, one)


def _two_tokens(words: _Words, bounds: Float[Tensor, "batch bounds"]) -> _Found:
    """The best two tokens on either side of each bound, mixed so that s . a is the bound.

    A token between two others of its side, neither with more attention than it, is passed over:
    the cost of a pair is concave in the weights and grows with either attention, so that one of
    these two costs no more than it, whatever the partner.
    """
    place = torch.arange(words.s.shape[1], device=words.s.device)
    above = torch.searchsorted(words.s, bounds, right=True)[..., None]
    below = torch.searchsorted(words.s, bounds)[..., None]
    before, after = words.before[:, None], words.after[:, None]
    last = (after == len(place)) & words.a.isfinite()[:, None]
    right = (place >= above) & ((before < above) & words.a.isfinite()[:, None] | last)
    left = (place < below) & ((after >= below) | (before < 0))
    best = _best_pairs(words, bounds.flatten(), right.flatten(0, 1), left.flatten(0, 1))
    return _Found(*(column.view(bounds.shape) for column in best))


def _best_pairs(words: _Words, bounds: Tensor, right: Tensor, left: Tensor) -> _Found:
    """The cheapest pair (one of `right`, one of `left`) of each bound, [B * bounds]."""
    information = self_information(words.a)
    per_row = len(bounds) // max(len(words.s), 1)
    best = _nothing(bounds)
    for group, i, j in _pairs(right, left):
        row, x = group // per_row, bounds[group]
        s_i, s_j = words.s[row, i], words.s[row, j]
        weight, rest = (x - s_j) / (s_i - s_j), (s_i - x) / (s_i - s_j)
        price = cost(words.a[row, i], information[row, i], weight)
        price += cost(words.a[row, j], information[row, j], rest)
        best = _better(best, group, _Found(price, i, j, weight))
    return best


def _pairs(right: Tensor, left: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """All pairs (group, right place, left place), so many at a time, groups in order."""
    each_right, each_left = right.sum(1), left.sum(1)
    rights, lefts = right.nonzero()[:, 1], left.nonzero()[:, 1]
    first_right, first_left = each_right.cumsum(0) - each_right, each_left.cumsum(0) - each_left
    ends = (each_right * each_left).cumsum(0)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, PAIRS_AT_ONCE):
        pair = torch.arange(start, min(start + PAIRS_AT_ONCE, total), device=ends.device)
        group = torch.searchsorted(ends, pair, right=True)
        within, width = pair - (ends - each_right * each_left)[group], each_left[group]
        i = rights[first_right[group] + within // width]
        yield group, i, lefts[first_left[group] + within % width]


def _nothing(like: Tensor) -> _Found:
    nowhere = torch.zeros_like(like, dtype=torch.int64)
    return _Found(torch.full_like(like, math.inf), nowhere, nowhere, torch.zeros_like(like))


def _better(best: _Found, group: Tensor, found: _Found) -> _Found:
    """`best` of each group, or the first of the cheapest `found` where that is cheaper."""
    least = best.cost.scatter_reduce(0, group, found.cost, "amin")
    hits = (found.cost == least[group]).nonzero()[:, 0].flip(0)
    chosen = torch.full_like(best.first, -1)
    chosen = chosen.scatter_reduce(0, group[hits], hits, "amin", include_self=False)
    new = (chosen >= 0) & (least < best.cost)
    return _Found(*(torch.where(new, f[chosen], b) for b, f in zip(best, found, strict=True)))


def _cheapest(every: list[_Found]) -> _Found:
    choice = torch.stack([found.cost for found in every]).argmin(0, keepdim=True)
    columns = (torch.stack(column) for column in zip(*every, strict=True))
    return _Found(*(column.gather(0, choice)[0] for column in columns))
