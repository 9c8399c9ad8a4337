"""How binned values are drawn, whatever they are of."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any

from attention_audit.report.charts.definition import HEIGHT, PALETTE, WIDTH, Ends

if TYPE_CHECKING:
    import altair as alt

LN2 = log(2)
WHOSE = ("ours", "published, from memory")


def bars(
    data: Any, ends: Ends, title: str, domain: tuple[float, float], group: str, ticks: int = 6
) -> alt.LayerChart:
    """Histograms over one another, with a dashed line at each stored mean."""
    import altair as alt

    colour = coloured(group)
    x = alt.X("from:Q", title=title).scale(domain=list(domain), nice=False).axis(tickCount=ticks)
    y = alt.Y("share:Q", title="share of instances").stack(None).axis(format="%", tickCount=4)
    base = alt.Chart(data)
    binned = (
        base.transform_filter("isValid(datum.share)")
        .mark_bar(orient="vertical", opacity=0.55, binSpacing=0)
        .encode(
            x=x,
            x2="to:Q",
            y=y.scale(domainMin=0, domainMax=ends.top, nice=True),
            color=colour,
            tooltip=[*_bin_tooltip(group), alt.Tooltip("share:Q", format=".1%")],
        )
    )
    # Where histograms lie over one another their colours mix: each is known by its edge.
    edges = (
        base.transform_filter("datum.share > 0")
        .mark_rule(strokeWidth=1.5)
        .encode(x=x, x2="to:Q", y="share:Q", color=colour)
    )
    middle = (
        base.transform_filter("isValid(datum.mean)")
        .mark_rule(strokeDash=[4, 3], strokeWidth=2)
        .encode(
            x=alt.X("mean:Q"),
            color=colour,
            tooltip=[alt.Tooltip("group:N", title=group), alt.Tooltip("mean:Q", format=".3f")],
        )
    )
    return alt.layer(binned, edges, middle).properties(width=WIDTH, height=HEIGHT)


def violin(data: Any, title: str, domain: tuple[float, float], group: str) -> alt.LayerChart:
    """Violins of values, one above the other by the instance's largest attention; n beside each."""
    import altair as alt

    y = alt.Y("left:Q", title="largest attention").scale(domain=[0, 1])
    base = alt.Chart(data)
    drawn = (
        base.transform_filter("isValid(datum.left)")
        .mark_rect()
        .encode(
            x=alt.X("from:Q", title=title).scale(domain=list(domain), nice=False),
            x2="to:Q",
            y=quarters(y),
            y2="right:Q",
            color=coloured(group),
            tooltip=_bin_tooltip(group),
        )
    )
    beside = (
        base.transform_filter("isValid(datum.n)")
        .mark_text(align="left", dx=4, fontSize=9)
        .encode(x=alt.value(WIDTH), y=alt.Y("middle:Q"), text="said:N")
    )
    return alt.layer(drawn, beside).properties(width=WIDTH, height=HEIGHT)


def quarters(y: Any) -> Any:
    """An axis from 0 to 1 with the ends of its quarters."""
    return y.axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")


def scores(data: Any, ends: Ends, title: str) -> alt.LayerChart:
    """Scores with intervals, ours and the published ones, a row for each model."""
    import altair as alt

    base = alt.Chart(data)
    y = alt.Y("model:N", title=None, sort=None).axis(labelLimit=170)
    x = (
        alt.X("value:Q", title=title)
        .scale(domainMin=ends.low, domainMax=ends.top, zero=False, nice=False, padding=8)
        .axis(tickCount=4)
    )
    legend = alt.Legend(orient="top", labelLimit=150)
    whose = alt.Color("whose:N", title=None, legend=legend).scale(
        domain=list(WHOSE), range=list(PALETTE[:2])
    )
    shape = alt.Shape("whose:N", title=None).scale(domain=list(WHOSE), range=["circle", "diamond"])
    spread = base.mark_rule().encode(x=alt.X("lo:Q"), x2="hi:Q", y=y, color=whose)
    tooltip = [
        alt.Tooltip(f"{name}:{kind}", format=".3f" if kind == "Q" else "")
        for name, kind in (("model", "N"), ("whose", "N"), ("value", "Q"), ("lo", "Q"), ("hi", "Q"))
    ]
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=x, y=y, color=whose, shape=shape, tooltip=tooltip
    )
    return alt.layer(spread, points).properties(width=WIDTH - 100, height={"step": 22})


def ln2_line(horizontal: bool = False) -> alt.LayerChart:
    """The largest JSD that there is, named."""
    import altair as alt

    place = alt.datum(LN2)
    rule = alt.Chart(alt.Data(values=[{}])).mark_rule(strokeDash=[2, 3])
    text = alt.Chart(alt.Data(values=[{}]))
    if horizontal:
        named = text.mark_text(align="left", dx=4, dy=8).encode(x=alt.value(0), y=place)
        return alt.layer(rule.encode(y=place), named.encode(text=alt.value("ln 2")))
    named = text.mark_text(dy=-7).encode(x=place, y=alt.value(0))  # above what is drawn
    return alt.layer(rule.encode(x=place), named.encode(text=alt.value("ln 2")))


def coloured(title: str, names: Sequence[str] = ()) -> Any:
    """The colour of a group, in the order of the rows unless named."""
    import altair as alt

    scale = {"domain": list(names)} if names else {}
    colour = alt.Color("group:N", title=title or None, sort=None)
    # A mark that is nearly transparent would give the legend a symbol that nobody sees.
    legend = {"orient": "top", "labelLimit": 110, "symbolOpacity": 1}
    return colour.scale(range=list(PALETTE), **scale).legend(**legend)


def _bin_tooltip(group: str) -> list[Any]:
    import altair as alt

    ends = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("from", "to")]
    return [alt.Tooltip("group:N", title=group or "group"), *ends, alt.Tooltip("count:Q")]
