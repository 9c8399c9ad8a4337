"""Attention and other importances (Jain & Wallace 2019, figures 2, 6, 7 and 8)."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from attention_audit.report.charts.binning import by_class, columns, counted, histogram, means
from attention_audit.report.charts.definition import HEIGHT, PALETTE, WIDTH, Chart, DrawnRows, Ends
from attention_audit.report.charts.marks import bars
from attention_audit.report.results import Result

TAUS = {
    "tau_gradient": ("attention and gradient", "tau(attention, gradient)"),
    "tau_loo": ("attention and leave-one-out", "tau(attention, leave-one-out)"),
    "tau_gradient_loo": ("gradient and leave-one-out", "tau(gradient, leave-one-out)"),
    "tau_random": ("attention and random importance: the control", "tau(attention, random)"),
}
GAPS = {"gap_loo": "leave-one-out", "gap_gradient": "gradient"}
# Beyond the ends: hardly any, and they are drawn in the outermost bins.
GAP_ENDS = (-1.0, 1.5)
DIFFERENCES = {"tau_loo": "leave-one-out", "tau_gradient": "gradient"}
WITHOUT_CONTEXT = "average"
ALPHA = 0.05


def _taus(quantity: str, one: Result, _: Result | None) -> DrawnRows:
    if quantity not in (found := columns(one, "correlation")):
        return []
    drawn: DrawnRows = []
    for group, chosen in by_class(one, found).items():
        drawn += histogram(found[quantity][chosen], -1.0, 1.0, 40, group)
    return drawn + means(one, quantity)


def _tau_bars(title: str, data: Any, ends: Ends) -> Any:
    return bars(data, ends, title, (-1.0, 1.0), "predicted")


def _defined(quantity: str, one: Result, rows: DrawnRows) -> str:
    row = one.row(quantity, statistic="mean")
    undefined = 0 if row is None else row.get("n_undefined", 0)
    beside = f"; {undefined:,} more where tau is undefined" if undefined else ""
    return counted(rows, parts=True) + beside


def _both(_: Result, rows: DrawnRows) -> str:
    return counted(rows, parts=False)


def _gaps(one: Result, _: Result | None) -> DrawnRows:
    found = columns(one, "correlation")
    drawn: DrawnRows = []
    for quantity, group in GAPS.items():
        if quantity in found:
            drawn += histogram(found[quantity], *GAP_ENDS, 50, group)
            mean = one.value(quantity, statistic="mean")
            drawn += [{"group": group, "mean": mean}] if mean is not None else []
    return drawn


def _gap_bars(data: Any, ends: Ends) -> Any:
    return bars(
        data,
        ends,
        "difference of tau, instance by instance",
        GAP_ENDS,
        "minus tau of attention and",
    )


def _average_minus_lstm(one: Result, lstm: Result | None) -> DrawnRows:
    ours = columns(one, "correlation")
    theirs = {} if lstm is None else columns(lstm, "correlation")
    if one.cell.encoder != WITHOUT_CONTEXT or not ours or not theirs:
        return []
    place = {instance: n for n, instance in enumerate(theirs["id"].tolist())}
    common = np.isin(ours["id"], theirs["id"])
    order = [place[instance] for instance in ours["id"][common].tolist()]
    drawn: DrawnRows = []
    for quantity, group in DIFFERENCES.items():
        less = ours[quantity][common] - theirs[quantity][order]
        drawn += histogram(less, *GAP_ENDS, 50, group)
    return drawn


def _difference_bars(data: Any, ends: Ends) -> Any:
    return bars(data, ends, "tau of average - tau of lstm", GAP_ENDS, "tau of attention and")


def _significance(one: Result, _: Result | None) -> DrawnRows:
    found = columns(one, "correlation")
    if not found:
        return []
    lengths = one.lengths(found["id"])
    # Doubling: texts of a corpus differ by factors.
    edges = 2.0 ** np.arange(0, np.ceil(np.log2(max(2, lengths.max()))) + 1)
    drawn = []
    for low, high in itertools.pairwise(edges):
        pvalue = found["tau_gradient_pvalue"][(lengths >= low) & (lengths < high)]
        defined = pvalue[~np.isnan(pvalue)]
        if not len(defined):
            continue
        for group, chosen in (("p \u2264 0.05", defined <= ALPHA), ("p > 0.05", defined > ALPHA)):
            row = {"from": float(low), "to": float(high), "group": group, "of": len(defined)}
            drawn.append({**row, "count": int(chosen.sum())})
    return drawn


def _significance_bars(data: Any, ends: Ends) -> Any:
    import altair as alt

    x = alt.X("from:Q", title="words (each bar: up to twice as many)").scale(
        type="log", base=2, domainMin=ends.low, domainMax=ends.top, nice=False
    )
    groups = ["p \u2264 0.05", "p > 0.05"]
    warned = alt.TitleParams(
        "With many words even a small tau is significant.",
        subtitle="Long texts are nearly always so: read the size of tau.",
        anchor="start",
        fontSize=11,
        subtitleFontSize=11,
        fontWeight="normal",
    )
    return (
        alt.Chart(data, title=warned)
        .mark_bar(orient="vertical", binSpacing=1)
        .encode(
            x=x.axis(values=[2**n for n in range(13)], format="d"),
            x2="to:Q",
            y=alt.Y("count:Q", title="share of instances").stack("normalize").axis(format="%"),
            color=alt.Color("group:N", title=None)
            .scale(domain=groups, range=[PALETTE[0], "#b8c4cf"])
            .legend(orient="top"),
            order=alt.Order("group:N", sort="descending"),
            tooltip=["group:N", "from:Q", "to:Q", "count:Q", "of:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


QUESTION = "does attention rank words as other importances do?"
CHARTS = (
    *(
        Chart(
            name=quantity,
            title=f"Kendall's tau between {between}",
            about="tau is 1 where both rank a text's words alike, 0 where neither tells of the "
            "other. Each predicted class apart, in shares of its instances; dashed: its mean.",
            rows=partial(_taus, quantity),
            draw=partial(_tau_bars, axis),
            shared=("share",),
            note=partial(_defined, quantity),
        )
        for quantity, (between, axis) in TAUS.items()
    ),
    Chart(
        name="gaps",
        title="How much better gradient and leave-one-out agree with each other",
        about="tau(gradient, leave-one-out) minus tau of attention with either, instance by "
        "instance; right of 0 attention agrees less than they do. Dashed: means.",
        rows=_gaps,
        draw=_gap_bars,
        shared=("share",),
        note=_both,
    ),
    Chart(
        name="average_minus_lstm",
        title="Attention without context, minus attention over an lstm",
        about="tau of the average encoder minus tau of the lstm with the same attention, instance "
        "by instance; right of 0 attention agrees better with the importance where there is no "
        "context.",
        rows=_average_minus_lstm,
        draw=_difference_bars,
        shared=("share",),
        note=_both,
        encoder=WITHOUT_CONTEXT,
    ),
    Chart(
        name="significance",
        title="Share of instances whose tau(attention, gradient) is significant, by length",
        about="An instance's p tells whether tau differs from 0, not whether it is large.",
        rows=_significance,
        draw=_significance_bars,
        shared=("from", "to"),
        note=partial(_defined, "tau_gradient"),
    ),
)
