"""The page of plots: a corpus's cells side by side, an analysis at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attention_audit.report.charts import ANALYSES, Chart
from attention_audit.report.charts.definition import DrawnRows, Ends
from attention_audit.report.results import Result, by_models, foremost
from attention_audit.report.site.frame import page

# Digits that no plot can show more of.
_DIGITS = 6
_BODY = """<p>Each row of plots is an attention, each column an encoder; axes are shared. Beside the
model stands its test score; its name opens all its numbers.</p>
<div class="controls">
<label>Corpus <select id="dataset"></select></label>
<label>Analysis <select id="analysis"></select></label>
</div>
<div id="plots" aria-live="polite"></div>"""


def plots() -> str:
    """The HTML of `plots.html`."""
    return page("plots.html", ("vega.js", "load.js", "saving.js", "plots.js"), _BODY)


def specifications() -> dict[str, Any]:
    """For the page: each analysis's charts in Vega-Lite, without data.

    `cell` names the data that a cell has, `low` and `top` the ends of the axis that is shared.
    """
    return {name: [_specification(chart) for chart in charts] for name, charts in ANALYSES.items()}


def _specification(chart: Chart) -> dict[str, Any]:
    import altair as alt

    drawn = chart.draw(alt.NamedData(name="cell"), Ends(alt.ExprRef("low"), alt.ExprRef("top")))
    return {
        "name": chart.name,
        "title": chart.title,
        "about": chart.about,
        "shared": chart.shared,
        "encoder": chart.encoder,
        "drawn": drawn.to_dict(),
    }


def shown(found: Sequence[Result]) -> list[Result]:
    """Of the cells of the same models the one that there is room for."""
    return [one for cells in by_models(found).values() if (one := foremost(cells)) is not None]


def listing(found: Sequence[Result]) -> list[dict[str, str]]:
    """For the page: which cells there are, and the test score of each."""
    return [
        {
            "key": one.key,
            "dataset": one.cell.dataset,
            "encoder": one.cell.encoder,
            "attention": one.cell.attention,
            "state": one.state,
            "why": one.why,
            "score": one.score,
        }
        for one in shown(found)
    ]


def drawings(found: Sequence[Result]) -> Iterator[tuple[str, dict[str, Any]]]:
    """For the page: by a cell's key, what each of its plots draws and says."""
    chosen = {(one.cell.dataset, *one.pair): one for one in shown(found)}
    for one in chosen.values():
        if one.state == "done":
            lstm = chosen.get((one.cell.dataset, "lstm", one.cell.attention))
            yield one.key, _drawings(one, lstm if lstm and lstm.state == "done" else None)


def _drawings(one: Result, lstm: Result | None) -> dict[str, Any]:
    charts = [chart for charts in ANALYSES.values() for chart in charts]
    drawn = {chart.name: _drawing(chart, one, lstm) for chart in charts}
    return {name: found for name, found in drawn.items() if found}


def _drawing(chart: Chart, one: Result, lstm: Result | None) -> dict[str, Any]:
    """One damaged file does not keep all else from being shown."""
    try:
        rows = chart.rows(one, lstm)
        return {**packed(rows), "note": chart.note(one)} if rows else {}
    except (ValueError, OSError, LookupError, TypeError) as error:
        return {"fault": f"cannot be read: {' '.join(str(error).split())}"}


def packed(rows: DrawnRows) -> dict[str, Any]:
    """Rows without the columns' names in each of them; a row may lack some."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": names, "rows": [[_rounded(row.get(name)) for name in names] for row in rows]}


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
