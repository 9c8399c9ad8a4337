"""How much of a quantity's variance lies within groups."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from attention_audit.measures.bootstrap import draw, percentiles
from attention_audit.measures.scores import Scored


def within_share(
    groups: Int[np.ndarray, " values"],
    values: Float[np.ndarray, " values"],
    instances: Int[np.ndarray, " values"],
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Scored:
    """The share of the variance of `values` that lies within groups, in [0, 1].

    0: the group says all; 1: it says nothing. Each value counts once, so large groups count more
    (the law of total variance). NaN where nothing varies. The interval is over instances, which
    bring all of their values along; it is moved to the value, for a resample repeats instances,
    and groups look more alike in it than they are. `n` counts values.

    Args:
        groups: of each value.
        values: finite.
        instances: which instance, 0 to their number - 1, a value is of.
        seed: of the resamples.
        resamples: how many.
        confidence: of the interval.

    >>> two = np.array([0, 0, 1, 1])
    >>> within_share(two, np.array([1.0, 1.0, 3.0, 3.0]), two, seed=0, resamples=10).value
    0.0
    """
    _, group = np.unique(groups, return_inverse=True)
    if not len(values):
        return Scored(np.nan, np.nan, np.nan, 0)
    count = int(instances.max()) + 1
    once = _share(group, values, np.ones(len(values)))
    drawn = [
        _share(group, values, np.bincount(sample, minlength=count)[instances])
        for block in draw(count, resamples, seed)
        for sample in block
    ]
    shifted = np.array(drawn)
    if not np.isnan(shifted).all():
        shifted = np.clip(shifted + once - np.nanmedian(shifted), 0, 1)
    lo, hi = percentiles(shifted, confidence)
    return Scored(once, lo, hi, len(values))


def _share(
    group: Int[np.ndarray, " values"],
    values: Float[np.ndarray, " values"],
    weights: np.ndarray,
) -> float:
    """Within-group sum of squares over the total one, each value so many times as it weighs."""
    total = weights.sum()
    centred = values - (weights * values).sum() / total
    whole = (weights * centred**2).sum()
    size = np.bincount(group, weights)
    sums = np.bincount(group, weights * centred)
    between = (sums**2 / np.maximum(size, 1)).sum()
    return float(np.clip(1 - between / whole, 0, 1)) if whole > 0 else float("nan")
