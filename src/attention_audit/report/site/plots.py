"""The page of plots: a corpus's cells side by side, an analysis at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attention_audit.report.charts import ANALYSES, QUESTIONS, Chart
from attention_audit.report.charts.definition import DrawnRows, Ends
from attention_audit.report.results import UNREADABLE, Result, fault
from attention_audit.report.siblings import by_models, partner, shown, told_apart
from attention_audit.report.site.frame import page

# Digits that no plot can show more of.
_DIGITS = 6
_BODY = """<p>A plot for each encoder and attention of a corpus, all on the same axes. Beside the
model stands its test score; its name opens all its numbers.</p>
<div class="controls">
<label>Corpus <select id="dataset"></select></label>
<label>Analysis <select id="analysis"></select></label>
</div>
<div class="controls" id="siblings"></div>
<p class="note" id="said" role="status"></p>
<div id="plots"></div>"""


def plots() -> str:
    """The HTML of `plots.html`."""
    return page("plots.html", ("vega.js", "load.js", "tables.js", "saving.js", "plots.js"), _BODY)


def specifications() -> dict[str, Any]:
    """For the page: what each analysis asks, and its charts in Vega-Lite, without data.

    `cell` names the data that a cell has, `low` and `top` the ends of the axis that is shared.
    """
    return {
        name: {"question": QUESTIONS[name], "charts": [*map(_specification, charts)]}
        for name, charts in ANALYSES.items()
    }


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


def listing(found: Sequence[Result]) -> list[dict[str, str]]:
    """For the page: which cells there are, the test score of each, and what tells it apart."""
    grouped = by_models(shown(found)).values()
    return [
        {
            "key": one.key,
            "dataset": one.cell.dataset,
            "encoder": one.cell.encoder,
            "attention": one.cell.attention,
            "apart": apart,
            "state": one.state,
            "why": one.why,
            "score": one.score,
        }
        for cells in grouped
        for one, apart in zip(cells, told_apart(cells), strict=True)
    ]


def drawings(found: Sequence[Result]) -> Iterator[tuple[str, dict[str, Any]]]:
    """For the page: by a cell's key, what each of its plots draws and says."""
    grouped = by_models(found)
    for (dataset, _, attention), cells in grouped.items():
        for one in cells:
            if one.state == "done":
                yield (
                    one.key,
                    _drawings(one, partner(one, grouped.get((dataset, "lstm", attention), ()))),
                )


def _drawings(one: Result, lstm: Result | None) -> dict[str, Any]:
    charts = [chart for charts in ANALYSES.values() for chart in charts]
    drawn = {chart.name: _drawing(chart, one, lstm) for chart in charts}
    return {name: found for name, found in drawn.items() if found}


def _drawing(chart: Chart, one: Result, lstm: Result | None) -> dict[str, Any]:
    """One damaged file does not keep all else from being shown."""
    try:
        rows = chart.rows(one, lstm)
        return {**packed(rows), "note": chart.note(one, rows)} if rows else {}
    except UNREADABLE as error:
        return {"fault": f"cannot be read: {fault(one.cell, error)}"}


def packed(rows: DrawnRows) -> dict[str, Any]:
    """Rows without the columns' names in each of them; a row may lack some."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": names, "rows": [[_rounded(row.get(name)) for name in names] for row in rows]}


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
