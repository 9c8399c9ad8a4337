"""What the diagnostics of a cell found, line by line, beside what was published for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attention_audit.published import SECOND_PAPER_MODEL, PublishedFigure, unlike, wiegreffe_pinter
from attention_audit.store import Analysis, Cell, latest

PUBLISHED_METRIC = "f1"


def verdict(cell: Cell, analyses: Iterable[Analysis]) -> list[dict[str, Any]]:
    """One line for each finding: the condition, the figure, its interval and a sentence.

    `published` is the second paper's figure where it is of this model and corpus, else None;
    `source` says where it stands, and that it was not verified.

    Args:
        cell: a fitted cell.
        analyses: of the cell, finished; those without findings say nothing.
    """
    corpus = cell.read_json("manifest")["corpus"]
    theirs = (cell.encoder, cell.attention) == SECOND_PAPER_MODEL and not unlike(
        cell.dataset, corpus
    )
    findings = [one for each in analyses for one in each.read_summary().get("findings", ())]
    return [_line(finding, cell.dataset, theirs) for finding in findings]


def write_verdict(cell: Cell) -> list[dict[str, Any]]:
    """The verdict over all of a cell's analyses, kept in its `verdict.json`.

    Of an analysis that was made under two configs the later one counts.
    """
    lines = verdict(cell, latest(cell.analyses()).values())
    if lines:
        cell.write_json("verdict", {"findings": lines})
    return lines


def _line(finding: Mapping[str, Any], dataset: str, theirs: bool) -> dict[str, Any]:
    shown = ("condition", "quantity", "value", "lo", "hi", "sentence")
    line = {name: finding[name] for name in shown}
    figure = None
    if theirs and finding["table"] and finding["metric"] == PUBLISHED_METRIC:
        figure = _figure(dataset, finding["table"], finding["setting"])
    if figure is None:
        return {**line, "published": None, "source": ""}
    value = figure.value
    if finding["minus"]:
        other = _figure(dataset, finding["table"], finding["minus"])
        value -= other.value if other is not None else float("nan")
    return {**line, "published": round(value, 3), "source": f"{figure.source}, {figure.note}"}


def _figure(dataset: str, table: str, setting: str) -> PublishedFigure | None:
    return next(iter(wiegreffe_pinter(dataset, table, setting)), None)  # type: ignore[arg-type]
