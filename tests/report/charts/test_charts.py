"""What each chart draws of a cell, and that it is one that Vega-Lite knows."""

from __future__ import annotations

import numpy as np
import pytest

from attention_audit.report.charts import ANALYSES, training
from attention_audit.report.charts.definition import Ends, ends_of
from attention_audit.report.results import result

CHARTS = {chart.name: chart for charts in ANALYSES.values() for chart in charts}
SCORES = ("base", "uniform", "plain", "guided_uniform", "guided_seed")


def second_paper(cell):
    """Give a cell the second paper's analyses."""
    rows = [
        {"quantity": f"{name}_f1", "klass": "overall", "statistic": "value", "value": 0.5 + n / 10}
        | {"lo": 0.4, "hi": 0.95, "n": 1725}
        for n, name in enumerate(SCORES)
    ]
    for name in ("uniform", "guided_mlp"):
        cell.analysis(name, {}, 1).write({"summary": rows})
    quartiles = {"lower_quartile": 0.1, "median": 0.2, "upper_quartile": 0.3}
    bins = [
        {"from": 0.0, "to": 0.5, "n": 8, **quartiles},
        {"from": 0.5, "to": 1.0, "n": 0, **dict.fromkeys(quartiles)},
    ]
    cell.analysis("seeds", {}, 1).write({"summary": [], "by_max_attention": bins})
    point = {"which": "0", "tvd": 0.1, "jsd": 0.2, "tvd_lo": 0, "tvd_hi": 0.2}
    point |= {"kind": "adversary", "jsd_lo": 0.1, "jsd_hi": 0.3}
    plane = {"points": [point], "frontier": [{"epsilon": 0.1, "jsd": 0.6}], "caption": "c"}
    cell.analysis("model_adversary", {}, 1).write({"summary": [], **plane})
    return trained(cell)


def trained(cell):
    """Give a cell what its fit went through."""
    rows = [
        {"quantity": f"{name}_epoch_{epoch}", "klass": "overall", "statistic": statistic}
        | {"value": epoch / 10, "lo": 0.0, "hi": 0.4, "n": 40 if name == "tau_gradient" else 50}
        for name in ("settled_jsd", "tau_gradient", "tau_gradient_loo")
        for epoch in (10, 2, 1)
        for statistic in ("mean", "std")
    ]
    cell.analysis("trajectory", {}, 1).write({"summary": rows})
    share = {"quantity": "context_share", "klass": "overall", "statistic": "value"}
    words = {"word": [5, 4, 6], "occurrences": [9, 20, 9], "mean": [1.0, 0.5, 2.0]}
    cell.analysis("contexts", {}, 1).write(
        {"summary": [{**share, "value": 0.25, "lo": 0.2, "hi": 0.3}]},
        {**words, "std": [0.1, 0.2, 0.3]},
    )
    return cell


def drawn(chart, cell, lstm=None):
    return CHARTS[chart].rows(result(cell), lstm and result(lstm))


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_valid_with_and_without_its_data(name, audited):
    import altair as alt

    chart = CHARTS[name]
    cell = second_paper(audited("sst", chart.encoder or "lstm"))
    rows = drawn(name, cell, audited("sst", "lstm", seed=9))
    assert rows
    chart.draw(alt.Data(values=rows), ends_of(chart, [rows])).to_dict(format="vega")
    ends = Ends(alt.ExprRef("low"), alt.ExprRef("top"))
    kept = chart.draw(alt.NamedData(name="cell"), ends).to_dict()
    assert "params" not in kept


@pytest.mark.parametrize("name", CHARTS)
def test_what_was_not_measured_is_not_drawn(name, stored):
    assert drawn(name, stored("sst", "average"), stored()) == []


@pytest.mark.parametrize("name", CHARTS)
def test_every_column_that_is_drawn_is_in_the_rows(name, audited):
    import altair as alt

    chart = CHARTS[name]
    rows = drawn(name, second_paper(audited("sst", chart.encoder or "lstm")), audited(seed=9))
    known = {key for row in rows for key in row}
    spec = chart.draw(alt.NamedData(name="cell"), Ends(0, 1)).to_dict()
    layers = [one for outer in spec.get("layer", [spec]) for one in outer.get("layer", [outer])]
    own = [one for one in layers if one.get("data", spec.get("data")) == {"name": "cell"}]
    channels = [each for one in own for each in one["encoding"].values()]
    fields = {each["field"] for each in channels if "field" in each}
    # Only the differences have no mean of their own in the store.
    assert fields - known in (set(), {"mean"} if name == "average_minus_lstm" else set())
    assert fields


def test_tau_is_counted_by_predicted_class(audited):
    rows = [row for row in drawn("tau_gradient", audited()) if row.get("count")]
    counts = {(row["group"], row["from"]): row["count"] for row in rows}
    assert counts == {
        **{("negative", 0.1): 1, ("negative", 0.3): 1, ("negative", 0.7): 1},
        **{
            ("positive", -0.5): 1,
            ("positive", 0.3): 1,
            ("positive", 0.5): 1,
            ("positive", 0.95): 1,
        },
    }


def test_average_minus_lstm_is_by_instance_whatever_the_order(audited):
    lstm, average = audited(), audited("sst", "average")
    found = result(average).analyses["correlation"]
    table = found.read_instances().to_pydict()
    order = [3, 1, 0, 2, 7, 6, 5]  # one is missing
    moved = {name: np.array(values)[order] for name, values in table.items()}
    moved["tau_loo"] = moved["tau_loo"] + 0.25
    found.write({"summary": []}, moved)
    rows = [row for row in drawn("average_minus_lstm", average, lstm) if row.get("count")]
    # 0 may lie on either side of its bin's edge.
    assert {row["group"] for row in rows} == {"leave-one-out", "gradient"}
    assert sum(row["count"] for row in rows if row["group"] == "leave-one-out") == 6
    for row in rows:
        middle = 0.25 if row["group"] == "leave-one-out" else 0
        assert row["from"] - 1e-9 <= middle <= row["to"] + 1e-9
    assert drawn("average_minus_lstm", lstm, lstm) == []


def test_significance_is_counted_by_length(audited):
    rows = [row for row in drawn("significance", audited()) if row["count"]]
    assert [(row["from"], row["group"], row["count"], row["of"]) for row in rows] == [
        (4, "p > 0.05", 1, 1),
        (8, "p > 0.05", 4, 4),
        (16, "p \u2264 0.05", 1, 2),
        (16, "p > 0.05", 1, 2),
    ]


def test_the_plot_itself_says_that_long_texts_are_always_significant(audited):
    import altair as alt

    spec = CHARTS["significance"].draw(alt.NamedData(name="cell"), Ends(4, 32)).to_dict()
    assert "significant" in spec["title"]["text"]
    assert "Long texts" in spec["title"]["subtitle"]


def test_search_and_exact_maximum_are_over_one_another(audited):
    rows = drawn("eps_max_jsd", audited())
    assert {row["group"] for row in rows} == {"search", "exact maximum"}
    exact = [row for row in rows if row["group"] == "exact maximum" and row.get("count")]
    assert [(row["from"], row["to"], row["count"]) for row in exact] == [(0.65, 0.675, 8)]


def test_the_frontier_is_the_stores(audited):
    assert drawn("frontier", audited()) == [
        {"epsilon": 0.01, "jsd": 0.5, "lo": 0.375, "hi": 0.625, "n": 40},
        {"epsilon": 0.1, "jsd": 0.5, "lo": 0.375, "hi": 0.625, "n": 40},
    ]


def test_published_scores_stand_beside_those_of_the_same_model_only(audited):
    rows = drawn("uniform", second_paper(audited()))
    assert [(row["model"], row["value"]) for row in rows if row["whose"] != "ours"] == [
        ("attention, learned", 0.831),
        ("attention frozen to uniform", 0.822),
    ]
    assert [row["value"] for row in rows if row["whose"] == "ours"] == [0.5, 0.6, 0.7]
    for other in (audited("sst", "cnn"), audited("adr"), audited("imdb", differs="a part")):
        assert {row["whose"] for row in drawn("uniform", second_paper(other))} == {"ours"}


def test_seeds_are_drawn_where_there_are_instances(audited):
    [row] = drawn("seeds", second_paper(audited()))
    assert (row["median"], row["middle"]) == (0.2, 0.25)


def test_plots_beside_each_other_share_their_ends():
    chart = CHARTS["uniform"]
    rows = [[{"value": 0.5, "lo": 0.4, "hi": 0.6}], [{"value": 0.9}]]
    assert ends_of(chart, rows) == (0.4, 0.9)
    assert ends_of(CHARTS["permutation"], rows) == (0, 1)


def test_a_trajectory_is_drawn_in_the_order_of_its_epochs(audited):
    rows = drawn("trajectory", trained(audited("sst", "lstm")))
    by_group = {}
    for row in rows:
        by_group.setdefault(row["group"], []).append((row["epoch"], row["value"]))
    assert list(by_group) == [
        "JSD to the last",
        "tau: gradient",
    ]
    assert all(points == [(1, 0.1), (2, 0.2), (10, 1.0)] for points in by_group.values())


def test_words_are_points_the_most_frequent_first_and_unnamed(audited, monkeypatch):
    cell = trained(audited("sst", "lstm"))
    rows = drawn("contexts", cell)
    assert [(row["occurrences"], row["mean"]) for row in rows] == [(20, 0.5), (9, 1.0), (9, 2.0)]
    assert all("word" not in row for row in rows)
    note = CHARTS["contexts"].note(result(cell), rows)
    assert note == "n = 3 words; 25 % of attention's variance lies within words [20, 30]"
    monkeypatch.setattr(training, "MOST_WORDS", 2)
    assert drawn("contexts", cell) == rows[:2]


@pytest.mark.parametrize(
    ("name", "said"),
    {
        "tau_gradient": "n = 7 (negative: 3, positive: 4); 2 more where tau is undefined",
        "gaps": "n = 7",
        "significance": "n = 7 (p \u2264 0.05: 1, p > 0.05: 6); 2 more where tau is undefined",
        "permutation": "n = 8 (negative: 4, positive: 4)",
        "eps_max_jsd": "n = 8; epsilon 0.01 (TVD)",
        "eps_max_jsd_by_max_attention": "n = 8 (negative: 4, positive: 4); epsilon 0.01 (TVD)",
        "frontier": "n = 40",
        "uniform": "Score: F1; n = 1,725",
        "seeds": "n = 8",
        "trajectory": "n = 40 to 50, where tau is defined",
    }.items(),
)
def test_every_plot_says_of_how_many_instances_it_is(name, said, audited):
    one = result(second_paper(audited()))
    assert CHARTS[name].note(one, CHARTS[name].rows(one, None)) == said


def test_of_measures_with_different_gaps_each_says_its_own_number(audited):
    cell = audited()
    found = result(cell).analyses["correlation"]
    table = found.read_instances().to_pydict()
    table["gap_loo"][1] = np.nan
    found.write(found.read_summary(), table)
    one = result(cell)
    rows = CHARTS["gaps"].rows(one, None)
    assert CHARTS["gaps"].note(one, rows) == "n of leave-one-out: 6, gradient: 7"
