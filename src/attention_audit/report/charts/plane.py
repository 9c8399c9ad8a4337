"""The second paper's plane: how far attention and output of other models, or weights, are away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attention_audit.report.charts.definition import DrawnRows, Ends
from attention_audit.report.charts.marks import ln2_line
from attention_audit.report.results import Result

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 270, 250
# What a point is of, as the legend says it, with colour and shape; those of the base model last.
KINDS = {
    "adversary": ("model-consistent adversary, by lambda", "#d1495b", "circle"),
    "seed": ("further seed", "#66788a", "diamond"),
    "uniform": ("uniform attention, trained", "#00798c", "square"),
    "permutation": ("base model: permuted", "#8f5cb8", "triangle-up"),
    "search": ("base model: adversarial search", "#b57600", "triangle-down"),
    "frontier": ("base model: frontier of its hidden states", "#808080", "stroke"),
}


def points(one: Result, _: Result | None) -> DrawnRows:
    """The points and the frontier of a stored `model_adversary`."""
    if "model_adversary" not in one.analyses:
        return []
    summary = one.analyses["model_adversary"].read_summary()
    edge = [{**point, "name": KINDS["frontier"][0]} for point in summary["frontier"]]
    return [*map(_named, summary["points"]), *edge]


def caption(one: Result, _: DrawnRows) -> str:
    """What the analysis says of its own plane."""
    if "model_adversary" not in one.analyses:
        return ""
    return str(one.analyses["model_adversary"].read_summary()["caption"])


def plane(data: Any, ends: Ends) -> alt.LayerChart:
    """The chart of `points`."""
    import altair as alt

    names, colours, shapes = (list(column) for column in zip(*KINDS.values(), strict=True))
    x = (
        alt.X("tvd:Q", title="TVD of the output to the base model's (mean)")
        .scale(domainMin=0, domainMax=ends.top, nice=True)
        .axis(tickCount=5)
    )
    y = alt.Y("jsd:Q", title="JSD of the attention, nats (mean)").scale(domain=[0, 0.7])
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=320)
    colour = alt.Color("name:N", title=None, legend=legend).scale(domain=names, range=colours)
    shape = alt.Shape("name:N", title=None).scale(domain=names, range=shapes)
    base = alt.Chart(data)
    found = base.transform_filter("isValid(datum.kind)")
    adversaries = base.transform_filter("datum.kind == 'adversary'")
    edge = base.transform_filter("isValid(datum.epsilon)")
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("tvd", "jsd")]
    chart = alt.layer(
        ln2_line(horizontal=True),
        edge.mark_line(point={"shape": "stroke", "size": 60}).encode(
            x=alt.X("epsilon:Q"), y=y, color=colour
        ),
        found.mark_rule(opacity=0.5).encode(x="tvd_lo:Q", x2="tvd_hi:Q", y=y, color=colour),
        found.mark_rule(opacity=0.5).encode(x=x, y="jsd_lo:Q", y2="jsd_hi:Q", color=colour),
        adversaries.mark_line(opacity=0.4).encode(x=x, y=y, order="strength:Q", color=colour),
        found.mark_point(size=70, filled=True).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=["name:N", "which:N", *numbers]
        ),
        adversaries.mark_text(align="left", dx=8, dy=-6).encode(
            x=x, y=y, text="which:N", color=colour
        ),
    )
    return chart.properties(width=WIDTH, height=HEIGHT)


def _named(point: Mapping[str, Any]) -> dict[str, Any]:
    strength = float(point["which"]) if point["kind"] == "adversary" else None
    return {**point, "name": KINDS[point["kind"]][0], "strength": strength}
