"""The papers' figures and tables as files: SVG, PDF, LaTeX and Markdown."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from attention_audit.report.charts import ANALYSES, Chart
from attention_audit.report.charts.definition import DrawnRows, Ends, ends_of
from attention_audit.report.grid import PAIRS
from attention_audit.report.results import UNREADABLE, Result, fault, finished
from attention_audit.report.siblings import foremost
from attention_audit.report.tables import Table, papers_tables
from attention_audit.report.text import latex, markdown
from attention_audit.store import Cell
from attention_audit.store.atomic import write_text


def write_figures(found: Sequence[Result], out: Path) -> Iterator[Path]:
    """Write and yield the files: of each corpus a figure for each chart, and the papers' tables.

    Raises:
        ValueError: after all files, if there are cells of which something could not be read.
    """
    out.mkdir(parents=True, exist_ok=True)
    for table in papers_tables(found):
        yield from _write_table(table, out)
    done = {key: one for key, one in foremost(found).items() if one.state == "done"}
    faults = {one.cell.path_in_store: one.why for one in found if one.state == "unreadable"}
    for dataset in dict.fromkeys(dataset for dataset, *_ in done):
        own = {(e, a): one for (name, e, a), one in done.items() if name == dataset}
        for chart in (chart for charts in ANALYSES.values() for chart in charts):
            if (drawn := _figure(chart, own, faults)) is not None:
                yield from _save(drawn, out / f"{dataset}_{chart.name}")
    if faults:
        named = "; ".join(f"{cell}: {fault}" for cell, fault in faults.items())
        raise ValueError(f"--figures: all but these were drawn; run the cells again: {named}")


def cell_figures(cell: Cell) -> Iterator[tuple[str, str]]:
    """Of each chart that a cell has something for, its name and an SVG of it alone."""
    one = finished(cell)
    for chart in (chart for charts in ANALYSES.values() for chart in charts):
        if rows := chart.rows(one, None):
            text = io.StringIO()
            _panel(chart, one, rows, ends_of(chart, [rows])).save(text, format="svg")
            yield chart.name, text.getvalue()


def _figure(chart: Chart, own: Mapping[tuple[str, str], Result], faults: dict[str, str]) -> Any:
    """A chart of a corpus's cells beside each other, encoders in columns; None without any.

    Adds to `faults`, by cell, why one of them is left out.
    """
    import altair as alt

    drawn = {}
    for pair in sorted(own, key=lambda pair: (_rank(pair), pair)):
        try:
            if rows := chart.rows(own[pair], own.get(("lstm", pair[1]))):
                drawn[pair] = rows
        except UNREADABLE as error:
            faults[own[pair].cell.path_in_store] = fault(own[pair].cell, error)
    if not drawn:
        return None
    ends = ends_of(chart, list(drawn.values()))
    panels = [_panel(chart, own[pair], found, ends) for pair, found in drawn.items()]
    columns = len({encoder for encoder, _ in drawn})
    return alt.concat(*panels, columns=columns).properties(
        title=alt.TitleParams(chart.title, anchor="start", offset=12)
    )


def _rank(pair: tuple[str, str]) -> int:
    return PAIRS.index(pair) if pair in PAIRS else len(PAIRS)


def _panel(chart: Chart, one: Result, rows: DrawnRows, ends: Ends) -> Any:
    import altair as alt

    title = f"{one.cell.dataset}: {one.cell.encoder} + {one.cell.attention}, {one.score}"
    note = chart.note(one, rows)
    drawn = chart.draw(alt.Data(values=rows), ends)
    named = alt.TitleParams(title, subtitle=wrap(note, 60), anchor="start", fontSize=11)
    return alt.vconcat(drawn).properties(title=named)


def _save(drawn: Any, path: Path) -> Iterator[Path]:
    for kind in ("svg", "pdf"):
        written = path.with_name(f"{path.name}.{kind}")
        drawn.save(str(written))
        yield written


def _write_table(table: Table, out: Path) -> Iterable[Path]:
    texts = {"tex": latex(table), "md": markdown(table)}
    for kind, text in texts.items():
        path = out / f"{table.name}.{kind}"
        write_text(path, text)
        yield path
