"""Seeded samples of rows, each class in its share."""

from __future__ import annotations

import numpy as np


def draw(strata: np.ndarray, count: int, seed: tuple[int, ...]) -> np.ndarray:
    """Choose `count` of the rows at random, each stratum in its share.

    A stratum of n out of N rows gives floor or ceil of n * count / N of them; the rows left over
    by rounding go to the largest remainders, strata that would be used up coming last.

    Args:
        strata: int64 [rows], the class of each row (all alike: no stratification).
        count: rows to choose, 0 to all.
        seed: of the choice, non-negative integers.

    Returns:
        bool [rows], True where chosen.
    """
    _, stratum, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    quota = _quotas(sizes, count)
    order = np.random.default_rng(seed).permutation(len(strata))
    chosen = np.zeros(len(strata), dtype=bool)
    for i, n in enumerate(quota):
        chosen[order[stratum[order] == i][:n]] = True
    return chosen


def _quotas(sizes: np.ndarray, count: int) -> np.ndarray:
    total = max(int(sizes.sum()), 1)
    quota, remainder = np.divmod(sizes * count, total)
    used_up = quota + 1 >= sizes
    # lexsort sorts by its last key first
    ranked = np.lexsort((-sizes, -remainder, used_up, remainder == 0))
    quota[ranked[: count - int(quota.sum())]] += 1
    return quota
