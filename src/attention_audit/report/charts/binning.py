"""Values of instances, counted in bins to be drawn."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from attention_audit.report.charts.definition import DrawnRows
from attention_audit.report.results import Result
from attention_audit.store import Analysis

# As summaries by class: with more classes a plot by class says less than it costs to read.
MOST_CLASSES = 3
ALL = "all"


@lru_cache(maxsize=16)
def _columns(analysis: Analysis, _written: int) -> Mapping[str, np.ndarray]:
    table = analysis.read_instances()
    return {name: table[name].to_numpy() for name in table.column_names}


def columns(one: Result, analysis: str) -> Mapping[str, np.ndarray]:
    """The values of each instance that an analysis stored; none without the analysis."""
    found = one.analyses.get(analysis)
    return {} if found is None else _columns(found, found.written)


def by_class(one: Result, found: Mapping[str, np.ndarray]) -> dict[str, Bool[np.ndarray, " n"]]:
    """Which instances are of each predicted class, by its name; all in one if classes are many.

    A class that is never predicted is there too, so that its colour is the same in every plot.
    """
    predicted, classes = found["predicted"], len(one.corpus["classes"])
    if not 0 < classes <= MOST_CLASSES:
        return {ALL: np.ones(len(predicted), dtype=bool)}
    return {one.name_of(str(klass)): predicted == klass for klass in range(classes)}


def histogram(
    values: Float[np.ndarray, " n"], low: float, high: float, bins: int, group: str
) -> DrawnRows:
    """Bins `from`, `to` with the `count` of defined values and their `share`.

    Values beyond the ends are in the outermost bins. Empty bins are left out but the first.
    """
    defined = values[~np.isnan(values)]
    edges = np.round(np.linspace(low, high, bins + 1), 10)
    counts, _ = np.histogram(defined.clip(low, high), edges)
    whole = max(1, len(defined))
    return [
        {"from": a, "to": b, "count": int(count), "share": count / whole, "group": group}
        for (a, b), count in zip(itertools.pairwise(edges.tolist()), counts, strict=True)
        if count or a == edges[0]
    ]


def violins(
    values: Float[np.ndarray, " n"],
    places: Float[np.ndarray, " n"],
    groups: Mapping[str, Bool[np.ndarray, " n"]],
    high: float,
    bins: int,
) -> DrawnRows:
    """A violin of the values, of 0 to `high`, for each quarter of the places (0 to 1) and group.

    Its outline are bins `from`, `to` whose ends `left` and `right` lie around the middle of the
    group's lane; the widest bin of each violin fills the lane, and `n` instances are said at its
    `middle`: a violin of few looks as one of many.
    """
    width = 0.25 / len(groups)
    quarter = np.minimum(np.floor(places * 4), 3)
    drawn: DrawnRows = []
    for (lane, (group, chosen)), number in itertools.product(enumerate(groups.items()), range(4)):
        rows = histogram(values[chosen & (quarter == number)], 0.0, high, bins, group)
        widest = max(row["count"] for row in rows) or 1
        middle = 0.25 * number + width * (lane + 0.5)
        for row in rows:
            half = 0.45 * width * row["count"] / widest
            drawn.append({**row, "left": middle - half, "right": middle + half})
        if n := sum(row["count"] for row in rows):
            drawn.append({"group": group, "middle": middle, "n": n, "said": f"n {n:,}"})
    return drawn


def counted(rows: DrawnRows, *, parts: bool) -> str:
    """How many instances bins hold, in all and of each group.

    Args:
        rows: bins with `group` and `count`.
        parts: whether an instance is in one group only, as in that of its predicted class.
    """
    groups: Counter[str] = Counter()
    for row in rows:
        groups[row["group"]] += row.get("count", 0)
    each = ", ".join(f"{group}: {count:,}" for group, count in groups.items())
    if len(groups) == 1 or (not parts and len(set(groups.values())) == 1):
        return f"n = {max(groups.values()):,}"
    return f"n = {groups.total():,} ({each})" if parts else f"n of {each}"


def means(one: Result, quantity: str) -> DrawnRows:
    """The stored mean of each class that `by_class` draws."""
    classes = len(one.corpus["classes"])
    split = 0 < classes <= MOST_CLASSES
    names = {one.name_of(str(k)): str(k) for k in range(classes)} if split else {ALL: "overall"}
    found = {group: one.value(quantity, klass, "mean") for group, klass in names.items()}
    return [{"group": group, "mean": mean} for group, mean in found.items() if mean is not None]
