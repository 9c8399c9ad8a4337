"""Bins hold every defined value once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_audit.report.charts.binning import ALL, by_class, columns, histogram, means, violins
from attention_audit.report.results import result

NUMBERS = st.one_of(st.floats(-3, 3), st.just(float("nan")))


@given(arrays(float, st.integers(0, 40), elements=NUMBERS))
def test_every_defined_value_is_counted_once(values):
    rows = histogram(values, -1.0, 1.0, 40, "all")
    defined = int((~np.isnan(values)).sum())
    assert sum(row["count"] for row in rows) == defined
    assert sum(row["share"] for row in rows) == pytest.approx(1 if defined else 0)


def test_values_are_in_their_bins_and_those_beyond_in_the_outermost():
    rows = histogram(np.array([-5, -1, 0.01, 0.02, 1, 7]), -1.0, 1.0, 4, "all")
    assert [(row["from"], row["to"], row["count"]) for row in rows] == [
        *((-1, -0.5, 2), (0, 0.5, 2), (0.5, 1, 2))
    ]


def test_violins_stay_in_their_lanes():
    values, places = np.array([0.1, 0.1, 0.5, 0.9]), np.array([0.0, 0.1, 0.3, 1.0])
    groups = {"a": np.array([True, True, True, False]), "b": np.array([False, False, False, True])}
    drawn = [row for row in violins(values, places, groups, 1.0, 10) if row.get("count")]
    lanes = {(row["group"], row["from"]): (row["left"], row["right"]) for row in drawn}
    assert lanes == {
        ("a", 0.1): pytest.approx((0.0625 - 0.05625, 0.0625 + 0.05625)),
        ("a", 0.5): pytest.approx((0.3125 - 0.05625, 0.3125 + 0.05625)),
        ("b", 0.9): pytest.approx((0.9375 - 0.05625, 0.9375 + 0.05625)),
    }
    assert [row["count"] for row in drawn] == [2, 1, 1]
    rows = violins(values, places, groups, 1.0, 10)
    said = [(row["group"], row["said"]) for row in rows if "said" in row]
    assert said == [("a", "n 2"), ("a", "n 1"), ("b", "n 1")]


def test_classes_are_named_and_one_that_is_never_predicted_is_there(audited):
    one = result(audited(classes=("a", "b", "never")))
    chosen = by_class(one, columns(one, "correlation"))
    assert {name: int(which.sum()) for name, which in chosen.items()} == {
        "a": 4,
        "b": 4,
        "never": 0,
    }


def test_many_classes_are_drawn_as_one(audited):
    one = result(audited(classes=tuple("abcd")))
    assert [*by_class(one, columns(one, "correlation"))] == [ALL]
    assert means(one, "tau_gradient") == [{"group": ALL, "mean": 0.25}]


def test_means_are_the_stores(audited):
    one = result(audited())
    assert means(one, "tau_loo") == [
        {"group": "negative", "mean": 0.25},
        {"group": "positive", "mean": 0.25},
    ]


def test_an_analysis_that_was_made_again_is_read_again(audited):
    cell = audited()
    before = columns(result(cell), "permutation")["delta_y_med"]
    found = result(cell).analyses["permutation"]
    found.write({"summary": []}, {"id": np.arange(1), "delta_y_med": np.zeros(1)})
    assert len(before) == 8
    assert len(columns(result(cell), "permutation")["delta_y_med"]) == 1
