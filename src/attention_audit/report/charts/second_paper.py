"""The four tests of Wiegreffe & Pinter 2019."""

from __future__ import annotations

from functools import partial
from typing import Any

from attention_audit.published import SECOND_PAPER_MODEL, wiegreffe_pinter
from attention_audit.report.charts.definition import HEIGHT, PALETTE, WIDTH, Chart, DrawnRows, Ends
from attention_audit.report.charts.marks import WHOSE, ln2_line, quarters, scores
from attention_audit.report.charts.plane import caption, plane, points
from attention_audit.report.results import SCORES, Result

METRICS = ("f1", "macro_f1", "accuracy")
# By quantity without the metric: how the model is spelt, and the published table's setting.
NEEDED = {
    "base": ("attention, learned", "base"),
    "uniform": ("attention frozen to uniform", "uniform"),
    "plain": ("no attention", ""),
}
GUIDED = {
    "guided_uniform": ("uniform weights", "uniform"),
    "guided_trained": ("weights of its own", "trained_mlp"),
    "guided_base": ("the cell's attention", "base_lstm"),
    "guided_seed": ("another seed's attention", ""),
    "guided_adversary": ("the adversary's attention", "adversary"),
    "guided_gradient": ("gradient importance", ""),
    "guided_leave_one_out": ("leave-one-out importance", ""),
    "guided_permutation": ("permuted attention", ""),
}


def _scores(
    analysis: str, models: dict[str, tuple[str, str]], table: Any, one: Result, _: Result | None
) -> DrawnRows:
    if analysis not in one.analyses:
        return []
    theirs = {}
    if one.pair == SECOND_PAPER_MODEL and not one.unlike:
        theirs = {f.setting: f.value for f in wiegreffe_pinter(one.cell.dataset, table)}
    drawn: DrawnRows = []
    for name, (spelt, setting) in models.items():
        rows = {metric: one.row(f"{name}_{metric}") for metric in METRICS}
        metric, row = next(((m, row) for m, row in rows.items() if row is not None), ("", None))
        if row is None or row["value"] is None:
            continue
        numbers = {key: row.get(key) for key in ("value", "lo", "hi", "n")}
        drawn.append({"model": spelt, "whose": WHOSE[0], "metric": metric, **numbers})
        if setting in theirs:
            value = theirs[setting]
            drawn.append({"model": spelt, "whose": WHOSE[1], "value": value})
    return drawn


def _score_points(data: Any, ends: Ends) -> Any:
    return scores(data, ends, "test score")


def _scored(_: Result, rows: DrawnRows) -> str:
    ours = next(row for row in rows if row["whose"] == WHOSE[0])
    return f"Score: {SCORES[ours['metric']]}; n = {ours['n']:,}"


def _seeds(one: Result, _: Result | None) -> DrawnRows:
    if "seeds" not in one.analyses:
        return []
    bins = one.analyses["seeds"].read_summary()["by_max_attention"]
    return [{**row, "middle": (row["from"] + row["to"]) / 2} for row in bins if row["n"]]


def _instances(_: Result, rows: DrawnRows) -> str:
    return f"n = {sum(row['n'] for row in rows):,}"


def _seed_bars(data: Any, _: Ends) -> Any:
    import altair as alt

    base = alt.Chart(data)
    y = alt.Y("middle:Q", title="largest attention").scale(domain=[0, 1])
    x = alt.X("lower_quartile:Q", title="JSD to other seeds' attention (nats)")
    named = ("lower_quartile", "median", "upper_quartile")
    tooltip = ["from:Q", "to:Q", "n:Q", *(alt.Tooltip(f"{n}:Q", format=".3f") for n in named)]
    bars = base.mark_bar(size=26, opacity=0.5, color=PALETTE[0]).encode(
        x=x.scale(domain=[0, 0.7]), x2="upper_quartile:Q", y=quarters(y), tooltip=tooltip
    )
    ticks = base.mark_tick(thickness=3, size=26, color=PALETTE[0]).encode(x="median:Q", y=y)
    drawn = alt.layer(bars, ticks, ln2_line())
    return drawn.properties(width=WIDTH, height=HEIGHT)


QUESTION = "Wiegreffe & Pinter's four tests"
CHARTS = (
    Chart(
        name="uniform",
        title="Is attention needed? Test scores without it",
        about="The model on trial, the same with attention frozen to uniform, and without any; "
        "95 % intervals. Published figures are quoted from memory, not verified.",
        rows=partial(_scores, "uniform", NEEDED, "2_uniform"),
        draw=_score_points,
        shared=("value", "lo", "hi"),
        note=_scored,
    ),
    Chart(
        name="seeds",
        title="How far is attention from that of other seeds?",
        about="Quartiles over the instances of the median JSD to further seeds' attention, by the "
        "largest attention: what changes from seed to seed anyway.",
        rows=_seeds,
        draw=_seed_bars,
        note=_instances,
    ),
    Chart(
        name="guided_mlp",
        title="Do the weights help a reader without context?",
        about="Test scores of a context-free model that attends as it is told, by who tells it; "
        "95 % intervals. Published figures are quoted from memory, not verified.",
        rows=partial(_scores, "guided_mlp", GUIDED, "3_guided_mlp"),
        draw=_score_points,
        shared=("value", "lo", "hi"),
        note=_scored,
    ),
    Chart(
        name="plane",
        title="Can a whole model attend elsewhere and predict alike?",
        about="Other models, and other attention of the model on trial: how far their output and "
        "their attention lie from it; bars: 95 % intervals.",
        rows=points,
        draw=plane,
        shared=("tvd", "tvd_hi", "epsilon"),
        note=caption,
    ),
)
