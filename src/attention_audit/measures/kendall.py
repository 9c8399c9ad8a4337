"""Kendall's tau-b between two importances of the same tokens, row by row."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr
from scipy.stats import kendalltau
from torch import Tensor

from attention_audit.measures.concordance import Pairs, count_pairs

# Up to so many tokens, comparing all pairs of many rows at once beats a row after the other.
LONGEST = 512
# Tokens that are compared at once: what the processor's cache holds.
AT_ONCE = 1 << 16
# Up to so many values without ties scipy counts permutations; beyond, a normal law is used.
EXACT = 33


class Tau(NamedTuple):
    """Kendall tau-b in [-1, 1] and its two-sided p-value in [0, 1], float64; NaN = undefined."""

    tau: Float[np.ndarray, " rows"]
    pvalue: Float[np.ndarray, " rows"]


def kendall_tau(a: Tensor | ArrayLike, b: Tensor | ArrayLike, mask: Tensor | ArrayLike) -> Tau:
    """Tau-b and p of each row of `a` and `b` [N, T] over the positions where `mask` is True.

    Equal to `scipy.stats.kendalltau` within 1e-12. A row is undefined (NaN in both fields) when
    either side is constant or holds a NaN under the mask, or fewer than two positions remain.

    Raises ValueError if the three shapes differ.

    >>> kendall_tau([[1, 2, 3, 9], [5, 5, 5, 9]], [[2, 4, 6, 9], [1, 2, 3, 9]], [[1, 1, 1, 0]] * 2)
    Tau(tau=array([ 1., nan]), pvalue=array([0.33333333,        nan]))
    """
    rows_a, rows_b, keep = _array(a), _array(b), _array(mask).astype(bool)
    if not rows_a.shape == rows_b.shape == keep.shape:
        raise ValueError(
            f"kendall_tau: found shapes {rows_a.shape}, {rows_b.shape} and mask {keep.shape}; "
            "expected three equal ones [rows, tokens]"
        )
    found = Tau(np.full(len(keep), np.nan), np.full(len(keep), np.nan))
    unknown = (keep & (np.isnan(rows_a) | np.isnan(rows_b))).any(1)
    (defined,) = np.nonzero(~unknown & (keep.sum(1) > 1))
    step = max(1, AT_ONCE // max(1, keep.shape[1]))
    for start in range(0, len(defined), step):
        rows = defined[start : start + step]
        found.tau[rows], found.pvalue[rows] = _taus(rows_a[rows], rows_b[rows], keep[rows])
    return found


def level(
    values: Float[Tensor, "rows tokens"], mask: Bool[Tensor, "rows tokens"], digits: int = 9
) -> Float[Tensor, "rows tokens"]:
    """Float64 `values` rounded to so many digits of each row's largest under the mask.

    Equal words have equal importance, but arithmetic leaves a difference in the last bits, which
    another batch would leave otherwise; a rank correlation must see the tie.

    >>> level(torch.tensor([[0.3, 0.1 + 0.2, 9.0]]).double(), torch.tensor([[1, 1, 0]]).bool())
    tensor([[0.3000, 0.3000, 9.0000]], dtype=torch.float64)
    """
    values = values.double()
    largest = values.masked_fill(~mask, 0).nan_to_num().abs().amax(-1, keepdim=True)
    unit = largest.where(largest > 0, 1.0) * 10.0**-digits
    return (values / unit).round() * unit


def sig_frac(pvalue: Float[np.ndarray, " rows"], level: float = 0.05) -> float:
    """Share in [0, 1] of the DEFINED p-values that are <= `level`; NaN when none is defined.

    >>> sig_frac(np.array([0.01, 0.5, np.nan]))
    0.5
    """
    defined = pvalue[~np.isnan(pvalue)]
    return float((defined <= level).mean()) if defined.size else float("nan")


def _array(values: Tensor | ArrayLike) -> np.ndarray:
    return torch.as_tensor(values, dtype=torch.float64).detach().cpu().numpy()


def _taus(a: np.ndarray, b: np.ndarray, keep: np.ndarray) -> Tau:
    """Rows of at least two numbers each."""
    if keep.sum(1).max() <= LONGEST:
        return _from_pairs(count_pairs(a, b, keep))
    rows = [kendalltau(x[kept], y[kept]) for x, y, kept in zip(a, b, keep, strict=True)]
    return Tau(
        np.array([row.statistic for row in rows], dtype=np.float64),
        np.array([row.pvalue for row in rows], dtype=np.float64),
    )


def _from_pairs(pairs: Pairs) -> Tau:
    total = pairs.size * (pairs.size - 1) // 2
    untied_a, untied_b = total - pairs.first.pairs, total - pairs.second.pairs
    surplus = untied_a - pairs.second.pairs + pairs.both.pairs - 2 * pairs.discordant
    constant = (untied_a == 0) | (untied_b == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = surplus / np.sqrt(untied_a) / np.sqrt(untied_b)
        pvalue = _normal(pairs, surplus)
    few = np.minimum(pairs.discordant, total - pairs.discordant)
    untied = (pairs.first.pairs == 0) & (pairs.second.pairs == 0)
    exact = untied & ((pairs.size <= EXACT) | (few <= 1))
    pvalue[exact] = _exact(pairs.size[exact], few[exact])
    return Tau(*(np.where(constant, np.nan, value) for value in (tau.clip(-1, 1), pvalue)))


def _normal(pairs: Pairs, surplus: Int[np.ndarray, " rows"]) -> Float[np.ndarray, " rows"]:
    """Two-sided p of concordant minus discordant, normal with Kendall's variance under ties."""
    n, a, b = pairs.size.astype(np.float64), pairs.first, pairs.second
    m = n * (n - 1)
    variance = (
        (m * (2 * n + 5) - a.variance - b.variance) / 18
        + 2.0 * a.pairs * b.pairs / m
        + a.third.astype(np.float64) * b.third / (9 * m * (n - 2))
    )
    return 2 * ndtr(-np.abs(surplus) / np.sqrt(variance))


def _exact(
    size: Int[np.ndarray, " rows"], few: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, " rows"]:
    """Twice the share of permutations with at most `few` inversions, at most 1."""
    counted = size <= EXACT
    pvalue = 2 * np.exp(-gammaln(size + 1 - few))  # 0 or 1 inversions: 1 or `size` permutations
    pvalue[counted] = _shares()[size[counted], few[counted]]
    return pvalue


@cache
def _shares() -> Float[np.ndarray, "size inversions"]:
    """[n, c]: twice the share of n values' permutations with at most c inversions, at most 1."""
    table = np.ones((EXACT + 1, EXACT * (EXACT - 1) // 4 + 1))
    counts = [1]
    for n in range(2, EXACT + 1):
        longer = len(counts) + n - 1
        counts = [sum(counts[max(0, c - n + 1) : c + 1]) for c in range(longer)]
        below = 0
        for c in range((longer - 1) // 2 + 1):
            below += counts[c]
            table[n, c] = min(1.0, 2 * below / math.factorial(n))
    return table
