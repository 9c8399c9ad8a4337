"""Our summary rows beside the published figures of the same cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from attention_audit.published.figures import PublishedFigure


@dataclass(frozen=True)
class Comparison:
    """One of our numbers beside a published one.

    `difference` is ours - published, in the quantity's own unit; None where ours is undefined
    or was measured at another eps than the published figure.
    """

    quantity: str
    klass: str
    statistic: str
    ours: float | None
    lo: float | None
    hi: float | None
    figure: PublishedFigure
    difference: float | None


def compare(
    rows: Iterable[Mapping[str, Any]],
    figures: Iterable[PublishedFigure],
    epsilon: float | None = None,
) -> list[Comparison]:
    """Join our summary rows with `figures` by (quantity, klass, statistic), in our rows' order.

    `epsilon` is the TVD bound of our adversarial search. A figure that was measured at another
    one is listed without a difference. Rows without a published counterpart are left out; a
    blank, None or NaN value of ours counts as undefined.
    """
    by_name: dict[tuple[str, str, str], list[PublishedFigure]] = {}
    for figure in figures:
        by_name.setdefault((figure.quantity, figure.klass, figure.statistic), []).append(figure)
    return [
        _compare(row, figure, epsilon) for row in rows for figure in by_name.get(_name(row), [])
    ]


def _name(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(row["quantity"]), str(row["klass"]), str(row["statistic"])


def _compare(row: Mapping[str, Any], figure: PublishedFigure, epsilon: float | None) -> Comparison:
    ours = _number(row.get("value"))
    alike = figure.epsilon is None or (
        epsilon is not None and math.isclose(epsilon, figure.epsilon)
    )
    return Comparison(
        *_name(row),
        ours=ours,
        lo=_number(row.get("lo")),
        hi=_number(row.get("hi")),
        figure=figure,
        difference=ours - figure.value if ours is not None and alike else None,
    )


def _number(value: Any) -> float | None:
    if value is None or value == "":
        return None
    number = float(value)
    return number if math.isfinite(number) else None
