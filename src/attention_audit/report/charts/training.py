"""While a model is fitted, and across a word's contexts."""

from __future__ import annotations

import re
from typing import Any

from attention_audit.report.charts.definition import HEIGHT, WIDTH, Chart, DrawnRows, Ends
from attention_audit.report.charts.marks import coloured
from attention_audit.report.results import Result

# By the start of a quantity's name: what it is, as the legend says it.
OVER_EPOCHS = {
    "settled_jsd": "JSD to the last",
    "tau_gradient": "tau: gradient",
    "tau_loo": "tau: leave-one-out",
}
EPOCH = re.compile(rf"({'|'.join(OVER_EPOCHS)})_epoch_(\d+)")


def _epochs(one: Result, _: Result | None) -> DrawnRows:
    means = [row for row in one.rows if row["statistic"] == "mean" and row["klass"] == "overall"]
    found = [(EPOCH.fullmatch(row["quantity"]), row) for row in means]
    drawn = [
        {"epoch": int(match[2]), "group": OVER_EPOCHS[match[1]]}
        | {name: row.get(name) for name in ("value", "lo", "hi")}
        for match, row in found
        if match is not None
    ]
    return sorted(drawn, key=lambda row: (row["group"], row["epoch"]))


def _lines(data: Any, ends: Ends) -> Any:
    import altair as alt

    base = alt.Chart(data)
    x = alt.X("epoch:Q", title="epoch").axis(tickMinStep=1, format="d")
    y = alt.Y("value:Q", title="JSD (nats), or tau").scale(
        domainMin=ends.low, domainMax=ends.top, nice=False
    )
    colour = coloured("measured")
    band = base.mark_area(opacity=0.2).encode(x=x, y="lo:Q", y2="hi:Q", color=colour)
    tooltip = [
        "epoch:Q",
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "lo", "hi")),
    ]
    line = base.mark_line(point=True).encode(x=x, y=y, color=colour, tooltip=tooltip)
    return alt.layer(band, line).properties(width=WIDTH, height=HEIGHT)


CHARTS = (
    Chart(
        name="trajectory",
        title="When does attention settle, and does it grow more faithful?",
        about="After each epoch, on a fixed sample of test instances: how far attention is from"
        " what it is after the last, and how it ranks words beside importances; 95 % intervals.",
        rows=_epochs,
        draw=_lines,
        shared=("value", "lo", "hi"),
    ),
)
