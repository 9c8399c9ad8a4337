"""The second paper's plane: how far attention and output of other models, or weights, are away."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

LN2 = log(2)
WIDTH, HEIGHT = 460, 320
# What a point is of, as the legend says it, with colour and shape; those of the base model last.
KINDS = {
    "adversary": ("model-consistent adversary, by lambda", "#d1495b", "circle"),
    "seed": ("further seed", "#66788a", "diamond"),
    "uniform": ("uniform attention, trained", "#00798c", "square"),
    "permutation": ("base model: permuted", "#8f5cb8", "triangle-up"),
    "search": ("base model: adversarial search", "#edae49", "triangle-down"),
    "frontier": ("base model: frontier, the largest JSD within a TVD", "#222222", "stroke"),
}


def plane(summary: Mapping[str, Any], title: str) -> alt.LayerChart:
    """The chart of a stored `model_adversary` analysis.

    Args:
        summary: its `summary.json`: points, frontier and caption.
        title: which cell it is of.
    """
    import altair as alt

    points = alt.Data(values=[_named(point) for point in summary["points"]])
    edge = [{**point, "name": KINDS["frontier"][0]} for point in summary["frontier"]]
    names, colours, shapes = (list(column) for column in zip(*KINDS.values(), strict=True))
    x = alt.X("tvd:Q", title="TVD of the output to the base model's (mean)").scale(zero=True)
    y = alt.Y("jsd:Q", title="JSD of the attention to the base model's, nats (mean)").scale(
        domain=[0, 0.7]
    )
    colour = alt.Color("name:N", title=None).scale(domain=names, range=colours)
    shape = alt.Shape("name:N", title=None).scale(domain=names, range=shapes)
    base = alt.Chart(points)
    chart = alt.layer(
        alt.Chart(alt.Data(values=[{"jsd": LN2}])).mark_rule(strokeDash=[2, 3]).encode(y=y),
        alt.Chart(alt.Data(values=[{"jsd": LN2, "text": "ln 2"}]))
        .mark_text(align="left", dx=4, dy=8)
        .encode(x=alt.value(0), y=y, text="text:N"),
        alt.Chart(alt.Data(values=edge))
        .mark_line(point={"shape": "stroke", "size": 60})
        .encode(x=alt.X("epsilon:Q"), y=y, color=colour),
        base.mark_rule(opacity=0.5).encode(x="tvd_lo:Q", x2="tvd_hi:Q", y=y, color=colour),
        base.mark_rule(opacity=0.5).encode(x=x, y="jsd_lo:Q", y2="jsd_hi:Q", color=colour),
        base.mark_line(opacity=0.4)
        .transform_filter("datum.kind == 'adversary'")
        .encode(x=x, y=y, order="strength:Q", color=colour),
        base.mark_point(size=70, filled=True).encode(x=x, y=y, color=colour, shape=shape),
        base.mark_text(align="left", dx=8, dy=-6)
        .transform_filter("datum.kind == 'adversary'")
        .encode(x=x, y=y, text="which:N", color=colour),
    )
    return chart.properties(
        width=WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(title, subtitle=wrap(summary["caption"], 100), anchor="start"),
    ).configure_legend(orient="bottom", columns=2, labelLimit=320)


def _named(point: Mapping[str, Any]) -> dict[str, Any]:
    strength = float(point["which"]) if point["kind"] == "adversary" else None
    return {**point, "name": KINDS[point["kind"]][0], "strength": strength}
