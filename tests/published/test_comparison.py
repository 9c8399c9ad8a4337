"""Our rows beside the published ones: joined by name, like with like."""

from __future__ import annotations

import math

import pytest

from attention_audit.published import compare, published

FIGURES = published("sst", "lstm", "additive")


def row(quantity="tau_gradient", klass="overall", statistic="mean", value=0.36, **more):
    return {"quantity": quantity, "klass": klass, "statistic": statistic, "value": value, **more}


def test_difference_is_ours_minus_published():
    [joined] = compare([row(lo=0.35, hi=0.37)], FIGURES)
    assert joined.figure.value == 0.3512
    assert joined.difference == pytest.approx(0.0088)
    assert (joined.ours, joined.lo, joined.hi) == (0.36, 0.35, 0.37)


def test_rows_read_back_from_summary_csv_join_too():
    [joined] = compare([row(klass="1", value="0.4", lo="", hi="")], FIGURES)
    assert joined.difference == pytest.approx(0.4 - 0.3637)
    assert joined.lo is None


@pytest.mark.parametrize("undefined", [None, "", math.nan])
def test_an_undefined_value_has_no_difference(undefined):
    [joined] = compare([row(value=undefined)], FIGURES)
    assert joined.ours is None
    assert joined.difference is None


@pytest.mark.parametrize(("epsilon", "comparable"), [(0.05, True), (0.01, False), (None, False)])
def test_eps_max_jsd_is_only_compared_at_the_same_epsilon(epsilon, comparable):
    [joined] = compare([row("eps_max_jsd", "0", value=0.5)], FIGURES, epsilon=epsilon)
    assert joined.figure.value == 0.4804
    assert (joined.difference is not None) == comparable


def test_unmatched_rows_are_left_out_and_order_is_ours():
    rows = [row("accuracy", statistic="value"), row("delta_y_med"), row()]
    assert [c.quantity for c in compare(rows, FIGURES)] == ["accuracy", "tau_gradient"]


def test_no_figures_no_comparison():
    assert compare([row()], published("planted", "lstm", "additive")) == []
