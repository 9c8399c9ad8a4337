"""Scores of predicted classes, with bootstrap intervals over test instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

from attention_audit.measures.bootstrap import draw, percentiles

Metric: TypeAlias = Literal["f1", "macro_f1", "accuracy"]
"""F1 of class 1 of two; mean F1 of the classes that occur among the labels; share of hits."""


class Scored(NamedTuple):
    """A score or a difference of two, its interval lo..hi, and the number of instances.

    value, lo and hi are NaN where undefined.
    """

    value: float
    lo: float
    hi: float
    n: int


def score(
    metric: Metric,
    labels: Int[np.ndarray, " instances"],
    predictions: Int[np.ndarray, " instances"],
    classes: int,
) -> float:
    """The score in [0, 1]; NaN without instances, and f1 without one whose label is 1.

    Raises ValueError for lengths that differ, a class outside 0..classes-1, and f1 of other than
    two classes.

    >>> score("f1", np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]), 2)
    0.6666666666666666
    """
    _check(metric, labels, predictions, classes)
    once = np.ones((1, len(labels)))
    return float(_scores(metric, labels, predictions, once, classes)[0])


def score_interval(
    metric: Metric,
    labels: Int[np.ndarray, " instances"],
    predictions: Int[np.ndarray, " instances"],
    *,
    classes: int,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Scored:
    """The score and its percentile bootstrap interval over instances, seeded.

    Resamples in which the score is undefined are left out of the interval. Memory does not grow
    with instances x resamples. Raises ValueError as `score` does.

    >>> score_interval("accuracy", np.array([0, 1]), np.array([0, 1]), classes=2, seed=0)
    Scored(value=1.0, lo=1.0, hi=1.0, n=2)
    """
    _check(metric, labels, predictions, classes)
    (label, predicted), kind = _kinds([labels, predictions], classes)
    return _bootstrapped(
        lambda counts: _scores(metric, label, predicted, counts, classes),
        kind,
        seed,
        resamples,
        confidence,
    )


def score_difference(
    metric: Metric,
    labels: Int[np.ndarray, " instances"],
    a: Int[np.ndarray, " instances"],
    b: Int[np.ndarray, " instances"],
    *,
    classes: int,
    seed: int,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Scored:
    """Score of predictions `a` minus that of `b`, in [-1, 1], with a paired bootstrap interval.

    Each resample draws instances once and scores both predictions on them. Otherwise as
    `score_interval`.

    >>> labels, a, b = np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1]), np.array([0, 1, 1, 1])
    >>> score_difference("macro_f1", labels, a, b, classes=2, seed=0)
    Scored(value=0.0, lo=0.0, hi=0.0, n=4)
    """
    _check(metric, labels, a, classes)
    _check(metric, labels, b, classes)
    (label, *predicted), kind = _kinds([labels, a, b], classes)

    def difference(counts: Int[np.ndarray, "resamples kinds"]) -> Float[np.ndarray, " resamples"]:
        ours, theirs = (_scores(metric, label, each, counts, classes) for each in predicted)
        return ours - theirs

    return _bootstrapped(difference, kind, seed, resamples, confidence)


def _check(metric: Metric, labels: np.ndarray, predictions: np.ndarray, classes: int) -> None:
    if metric == "f1" and classes != 2:
        raise ValueError(f"f1: found {classes} classes; expected 2; use macro_f1")
    if labels.shape != predictions.shape:
        raise ValueError(
            f"{metric}: found {len(labels)} labels and {len(predictions)} predictions; "
            "expected one of each per instance"
        )
    for name, values in (("labels", labels), ("predictions", predictions)):
        wrong = values[(values < 0) | (values >= classes)]
        if len(wrong):
            raise ValueError(f"{name}: found class {wrong[0]}; expected 0 to {classes - 1}")


def _kinds(
    columns: list[Int[np.ndarray, " instances"]], classes: int
) -> tuple[list[Int[np.ndarray, " kinds"]], Int[np.ndarray, " instances"]]:
    """The distinct rows of `columns`, column by column, and which of them each instance is.

    Scores depend on how many instances there are of each kind only, and there are few kinds.
    """
    shape = (classes,) * len(columns)
    codes, kind = np.unique(np.ravel_multi_index(columns, shape), return_inverse=True)
    return list(np.unravel_index(codes, shape)), kind


def _bootstrapped(
    statistic: Callable[[Int[np.ndarray, "resamples kinds"]], Float[np.ndarray, " resamples"]],
    kind: Int[np.ndarray, " instances"],
    seed: int,
    resamples: int,
    confidence: float,
) -> Scored:
    n = len(kind)
    if not n:
        return Scored(np.nan, np.nan, np.nan, 0)
    kinds = int(kind.max()) + 1
    [value] = statistic(_counts(kind[None], kinds))
    values = [statistic(_counts(kind[drawn], kinds)) for drawn in draw(n, resamples, seed)]
    return Scored(float(value), *percentiles(np.concatenate(values), confidence), n)


def _counts(
    kind: Int[np.ndarray, "resamples instances"], kinds: int
) -> Int[np.ndarray, "resamples kinds"]:
    """How many instances of each kind every row has."""
    rows = len(kind)
    cells = kind + kinds * np.arange(rows)[:, None]
    return np.bincount(cells.ravel(), minlength=rows * kinds).reshape(rows, kinds)


def _scores(
    metric: Metric,
    labels: Int[np.ndarray, " kinds"],
    predictions: Int[np.ndarray, " kinds"],
    counts: Int[np.ndarray, "resamples kinds"] | Float[np.ndarray, "resamples kinds"],
    classes: int,
) -> Float[np.ndarray, " resamples"]:
    """The score of each row's instances, so many of each kind."""
    weights = counts.astype(np.float64)
    if metric == "accuracy":
        return _ratio(weights @ (labels == predictions), weights.sum(1))
    each = _f1(weights, _members(labels, classes), _members(predictions, classes))
    if metric == "f1":
        return each[:, 1]
    return _ratio(np.nansum(each, 1), (~np.isnan(each)).sum(1))


def _f1(
    weights: Float[np.ndarray, "resamples kinds"],
    labelled: Bool[np.ndarray, "kinds classes"],
    predicted: Bool[np.ndarray, "kinds classes"],
) -> Float[np.ndarray, "resamples classes"]:
    """F1 of each class; NaN where no instance has its label."""
    targets = weights @ labelled
    hits = weights @ (labelled & predicted)
    return np.where(targets > 0, _ratio(2 * hits, targets + weights @ predicted), np.nan)


def _members(values: Int[np.ndarray, " kinds"], classes: int) -> Bool[np.ndarray, "kinds classes"]:
    return values[:, None] == np.arange(classes)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # 0 / 0 is undefined: NaN
        return a / b
