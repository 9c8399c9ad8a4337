"""Means over instances with bootstrap intervals; undefined ones are counted, not used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

_INDICES_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Summary:
    """Mean of a quantity over instances, standard deviation (ddof 0) and 95 % interval lo..hi.

    `n` counts the instances used, `n_undefined` those left out. All four numbers are NaN if n = 0.
    """

    mean: float
    std: float
    lo: float
    hi: float
    n: int
    n_undefined: int


def summarise(
    values: Float[np.ndarray, " instances"],
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Summary:
    """Mean, deviation, interval and counts of `values`, where NaN means undefined.

    >>> summarise(np.array([1.0, 1.0, np.nan]), seed=0)
    Summary(mean=1.0, std=0.0, lo=1.0, hi=1.0, n=2, n_undefined=1)
    """
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if not len(defined):
        return Summary(np.nan, np.nan, np.nan, np.nan, 0, undefined)
    lo, hi = interval(defined, seed=seed, resamples=resamples, confidence=confidence)
    return Summary(
        float(defined.mean()), float(defined.std()), lo, hi, len(defined), n_undefined=undefined
    )


def summarise_difference(
    a: Float[np.ndarray, " instances"],
    b: Float[np.ndarray, " instances"],
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Summary:
    """Summary of a - b over the same instances: paired, undefined where either side is.

    >>> summarise_difference(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, np.nan]), seed=0).n
    2
    """
    if a.shape != b.shape:
        raise ValueError(
            f"summarise_difference: found {a.shape} and {b.shape}; expected the same instances"
        )
    return summarise(a - b, seed=seed, resamples=resamples, confidence=confidence)


def interval(
    values: Float[np.ndarray, " instances"],
    *,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean over instances; NaN excluded, seeded.

    Memory does not grow with instances x resamples. Returns (NaN, NaN) when no value is defined.
    """
    defined = values[~np.isnan(values)].astype(np.float64)
    if not len(defined):
        return float("nan"), float("nan")
    means = [defined[drawn].mean(1) for drawn in draw(len(defined), resamples, seed)]
    return percentiles(np.concatenate(means), confidence)


def draw(instances: int, resamples: int, seed: int) -> Iterator[Int[np.ndarray, "block instances"]]:
    """Indices of `resamples` resamples with replacement, a block at a time, from the seed alone.

    A block holds 2,000,000 indices at most, or one resample. `instances` must be at least 1.
    """
    generator = np.random.default_rng(seed)
    block = max(1, _INDICES_AT_ONCE // instances)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        yield generator.integers(0, instances, size=(rows, instances), dtype=np.int32)


def percentiles(
    statistics: Float[np.ndarray, " resamples"], confidence: float
) -> tuple[float, float]:
    """The middle `confidence` of a statistic over resamples; undefined ones (NaN) are left out.

    Returns (NaN, NaN) when none is defined.
    """
    defined = statistics[~np.isnan(statistics)]
    if not len(defined):
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    lo, hi = np.quantile(defined, [tail, 1 - tail])
    return float(lo), float(hi)
