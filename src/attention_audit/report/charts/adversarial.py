"""Attention far from the model's own with the same output (Jain & Wallace 2019, figures 4, 5)."""

from __future__ import annotations

from functools import partial
from typing import Any

from attention_audit.report.charts.binning import by_class, columns, counted, histogram, violins
from attention_audit.report.charts.definition import HEIGHT, PALETTE, WIDTH, Chart, DrawnRows, Ends
from attention_audit.report.charts.marks import bars, ln2_line, violin
from attention_audit.report.results import Result

JSD_ENDS = (0.0, 0.7)
KINDS = {
    "eps_max_jsd": "search",
    "eps_max_jsd_exact": "exact maximum",
    "eps_max_jsd_found": "best found",
}
FRONTIER = "frontier_"
AXIS = "largest JSD within epsilon (nats)"


def _largest(one: Result, _: Result | None) -> DrawnRows:
    found = columns(one, "adversarial")
    drawn: DrawnRows = []
    for quantity in [name for name in KINDS if name in found]:
        drawn += histogram(found[quantity], *JSD_ENDS, 28, KINDS[quantity])
        mean = one.value(quantity, statistic="mean")
        drawn += [{"group": KINDS[quantity], "mean": mean}] if mean is not None else []
    return drawn


def _largest_bars(data: Any, ends: Ends) -> Any:
    drawn = bars(data, ends, AXIS, JSD_ENDS, "")
    return (drawn + ln2_line()).properties(width=WIDTH, height=HEIGHT)


def _by_max_attention(one: Result, _: Result | None) -> DrawnRows:
    found = columns(one, "adversarial")
    named = [name for name in reversed(KINDS) if name in found]
    if not named:
        return []
    groups = by_class(one, found)
    return violins(found[named[0]], found["max_attention"], groups, JSD_ENDS[1], 28)


def _violin(data: Any, _: Ends) -> Any:
    drawn = violin(data, AXIS, JSD_ENDS, "predicted")
    return (drawn + ln2_line()).properties(width=WIDTH, height=HEIGHT)


def _frontier(one: Result, _: Result | None) -> DrawnRows:
    epsilons = {
        float(row["quantity"].removeprefix(FRONTIER)): row
        for row in one.rows
        if row["quantity"].startswith(FRONTIER)
        and (row["klass"], row["statistic"]) == ("overall", "mean")
        and row["value"] is not None
    }
    return [
        {"epsilon": epsilon, "jsd": row["value"]} | {key: row[key] for key in ("lo", "hi", "n")}
        for epsilon, row in sorted(epsilons.items())
    ]


def _frontier_line(data: Any, _: Ends) -> Any:
    import altair as alt

    base = alt.Chart(data)
    x = alt.X("epsilon:Q", title="epsilon: output change allowed (TVD)").scale(type="log")
    x = x.axis(values=[0.001, 0.005, 0.01, 0.05, 0.1], format="g")
    y = alt.Y("jsd:Q", title="largest JSD (nats), mean").scale(domain=list(JSD_ENDS))
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("jsd", "lo", "hi")]
    band = base.mark_area(opacity=0.25, color=PALETTE[0]).encode(x=x, y=alt.Y("lo:Q"), y2="hi:Q")
    line = base.mark_line(point=True, color=PALETTE[0]).encode(
        x=x, y=y, tooltip=["epsilon:Q", *numbers]
    )
    drawn = alt.layer(band, line, ln2_line(horizontal=True))
    return drawn.properties(width=WIDTH, height=HEIGHT)


def _within(parts: bool, one: Result, rows: DrawnRows) -> str:
    said = counted(rows, parts=parts)
    said += "" if one.epsilon is None else f"; epsilon {one.epsilon:g} (TVD)"
    exact = "eps_max_jsd_exact" in columns(one, "adversarial")
    return said if exact else f"{said}; best found, there may be larger"


def _instances(_: Result, rows: DrawnRows) -> str:
    return f"n = {rows[0]['n']:,}"


QUESTION = "how far can attention go with the same output?"
CHARTS = (
    Chart(
        name="eps_max_jsd",
        title="How far attention can go while the output stays within epsilon",
        about="The papers' search beside the maximum, proven where two classes share one sigmoid, "
        "else the best found. ln 2 = 0.693 is the largest Jensen-Shannon divergence there is; "
        "dashed: means.",
        rows=_largest,
        draw=_largest_bars,
        shared=("share",),
        note=partial(_within, False),
    ),
    Chart(
        name="eps_max_jsd_by_max_attention",
        title="How far attention can go, by the largest attention",
        about="The exact maximum where there is one, else the best found, in violins as wide for "
        "few instances as for many. A far alternative is most surprising where attention is peaked "
        "(above).",
        rows=_by_max_attention,
        draw=_violin,
        note=partial(_within, True),
    ),
    Chart(
        name="frontier",
        title="The frontier: the more the output may change, the farther attention can go",
        about="Mean over the instances, with its 95 % interval. It holds the model's hidden states "
        "fixed.",
        rows=_frontier,
        draw=_frontier_line,
        note=_instances,
    ),
)
