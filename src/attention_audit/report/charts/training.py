"""While a model is fitted, and across a word's contexts."""

from __future__ import annotations

import re
from typing import Any

from attention_audit.report.charts.definition import HEIGHT, PALETTE, WIDTH, Chart, DrawnRows, Ends
from attention_audit.report.charts.marks import coloured
from attention_audit.report.results import Result

MOST_WORDS = 300
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
        | {name: row.get(name) for name in ("value", "lo", "hi", "n")}
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


def _words(one: Result, _: Result | None) -> DrawnRows:
    """The most frequent words, without saying which they are."""
    if "contexts" not in one.analyses:
        return []
    found = one.analyses["contexts"].read_instances().to_pylist()
    found.sort(key=lambda row: (-row["occurrences"], row["word"]))
    return [
        {name: row[name] for name in ("occurrences", "mean", "std")} for row in found[:MOST_WORDS]
    ]


def _word_points(data: Any, ends: Ends) -> Any:
    import altair as alt

    scale = alt.Scale(type="sqrt", domainMin=0, domainMax=ends.top, nice=False)
    x = alt.X("mean:Q", title="weight x words of the text: mean", scale=scale)
    y = alt.Y("std:Q", title="standard deviation", scale=scale)
    size = alt.Size("occurrences:Q").scale(range=[8, 200]).legend(None)
    tooltip = ["occurrences:Q", *(alt.Tooltip(f"{n}:Q", format=".3f") for n in ("mean", "std"))]
    points = alt.Chart(data).mark_circle(opacity=0.7, color=PALETTE[0])
    drawn = points.encode(x=x, y=y, size=size, tooltip=tooltip)
    return drawn.properties(width=WIDTH, height=HEIGHT)


def _sampled(_: Result, rows: DrawnRows) -> str:
    least, most = (choice(row["n"] for row in rows) for choice in (min, max))
    return f"n = {most:,}" if least == most else f"n = {least:,} to {most:,}, where tau is defined"


def _shared(one: Result, rows: DrawnRows) -> str:
    words = f"n = {len(rows):,} words"
    row = one.row("context_share")
    if row is None or row["value"] is None:
        return words
    return (
        f"{words}; {100 * row['value']:.0f} % of attention's variance lies within words "
        f"[{100 * row['lo']:.0f}, {100 * row['hi']:.0f}]"
    )


QUESTION = "when does attention settle, and does it depend on the context?"
CHARTS = (
    Chart(
        name="trajectory",
        title="When does attention settle, and does it grow more faithful?",
        about="After each epoch, on a fixed sample of test instances: how far attention is from"
        " what it is after the last, and how it ranks words beside importances; 95 % intervals.",
        rows=_epochs,
        draw=_lines,
        shared=("value", "lo", "hi"),
        note=_sampled,
    ),
    Chart(
        name="contexts",
        title="How much does the same word's attention vary over its contexts?",
        about="The most frequent words of the test split, a point each, larger for more frequent"
        " ones: mean and standard deviation of their weight times the number of the text's words"
        " (1 is a fair share), on root scales.",
        rows=_words,
        draw=_word_points,
        shared=("mean", "std"),
        note=_shared,
    ),
)
