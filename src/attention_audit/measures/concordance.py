"""Concordant, discordant and tied pairs of two rankings, for many rows at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int


class Ties(NamedTuple):
    """Sums over a row's groups of n equal values: the corrections that Kendall's test needs.

    pairs = sum n(n-1)/2, third = sum n(n-1)(n-2), variance = sum n(n-1)(2n+5); int64.
    """

    pairs: Int[np.ndarray, " rows"]
    third: Int[np.ndarray, " rows"]
    variance: Int[np.ndarray, " rows"]


class Pairs(NamedTuple):
    """Counts over all pairs of a row's positions, int64: in order, against it, tied."""

    size: Int[np.ndarray, " rows"]
    discordant: Int[np.ndarray, " rows"]
    first: Ties
    second: Ties
    both: Ties


def count_pairs(
    a: Float[np.ndarray, "rows tokens"],
    b: Float[np.ndarray, "rows tokens"],
    keep: Bool[np.ndarray, "rows tokens"],
) -> Pairs:
    """The pairs of each row of `a` and `b`, no NaN among them, over the positions in `keep`.

    O(T^2) comparisons of small integers, all rows side by side: memory O(rows * T).
    """
    size = keep.sum(1)
    left = np.argsort(~keep, axis=1, kind="stable")[:, : max(size.max(initial=0), 1)]
    inside = np.arange(left.shape[1]) < size[:, None]
    rank_a, first = _ranks(_gathered(a, left, inside), inside)
    rank_b, second = _ranks(_gathered(b, left, inside), inside)
    # In order of a, ties in order of b: what then stands against b's order is discordant.
    width = left.shape[1] + 1
    joint = np.sort(rank_a * width + rank_b, axis=1)
    ordered = joint % width
    return Pairs(size, _inversions(ordered), first, second, _ties(_starts(joint), inside))


def _gathered(values: np.ndarray, left: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """A row's kept values first; NaN, which sorts last, fills it."""
    return np.where(inside, np.take_along_axis(values, left, axis=1), np.nan)


def _ranks(
    values: Float[np.ndarray, "rows tokens"], inside: Bool[np.ndarray, "rows tokens"]
) -> tuple[Int[np.ndarray, "rows tokens"], Ties]:
    """Dense ranks from 1, and the ties; all positions that are not `inside` share the last rank.

    So they are in order with every other position, tied among themselves, and never discordant.
    """
    order = np.argsort(values, axis=1)
    starts = _starts(np.take_along_axis(values, order, axis=1))
    starts[:, 1:] &= inside[:, :-1]
    ranks = np.empty(values.shape, dtype=np.int32)
    np.put_along_axis(ranks, order, starts.cumsum(1, dtype=np.int32), axis=1)
    return ranks, _ties(starts, inside)


def _starts(ordered: np.ndarray) -> Bool[np.ndarray, "rows tokens"]:
    """True where a sorted row holds another value than just before."""
    starts = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    return starts


def _ties(starts: Bool[np.ndarray, "rows tokens"], inside: Bool[np.ndarray, "rows tokens"]) -> Ties:
    rows, width = starts.shape
    group = starts.cumsum(1) - 1 + width * np.arange(rows)[:, None]
    n = np.bincount(group[inside], minlength=rows * width).reshape(rows, width)
    pairs = n * (n - 1)
    return Ties(pairs.sum(1) // 2, (pairs * (n - 2)).sum(1), (pairs * (2 * n + 5)).sum(1))


def _inversions(ranks: Int[np.ndarray, "rows tokens"]) -> Int[np.ndarray, " rows"]:
    """Pairs of positions of which the earlier has the larger rank."""
    width = ranks.shape[1]
    # A position has fewer than `width` others before it: the counts fit where the ranks do.
    columns = np.ascontiguousarray(ranks.T, dtype=np.min_scalar_type(width))
    earlier = np.zeros_like(columns)
    for step in range(1, width):
        earlier[step:] += columns[step:] < columns[:-step]
    return earlier.sum(0, dtype=np.int64)
