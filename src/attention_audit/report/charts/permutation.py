"""Output change under permuted attention (Jain & Wallace 2019, figure 3)."""

from __future__ import annotations

from typing import Any

from attention_audit.report.charts.binning import by_class, columns, counted, violins
from attention_audit.report.charts.definition import Chart, DrawnRows, Ends
from attention_audit.report.charts.marks import violin
from attention_audit.report.results import Result


def _changes(one: Result, _: Result | None) -> DrawnRows:
    found = columns(one, "permutation")
    if not found:
        return []
    groups = by_class(one, found)
    return violins(found["delta_y_med"], found["max_attention"], groups, 1.0, 40)


def _counted(_: Result, rows: DrawnRows) -> str:
    return counted(rows, parts=True)


def _violin(data: Any, _: Ends) -> Any:
    return violin(data, "median output change (TVD)", (0.0, 1.0), "predicted")


QUESTION = "does the output change when attention is shuffled?"
CHARTS = (
    Chart(
        name="permutation",
        title="Output change when attention is permuted, by the largest attention",
        about="Each instance's median over permutations. A violin for each quarter of the largest "
        "attention: how its instances spread; all are drawn equally wide, n is how many they are. "
        "Little change with a peaked attention (above): the output stayed, on whichever words the "
        "peak fell.",
        rows=_changes,
        draw=_violin,
        note=_counted,
    ),
)
