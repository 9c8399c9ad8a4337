"""What is true of rows, in known cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attention_audit.report.heatmap.attention import MASKED, OPEN, PADDING
from attention_audit.report.heatmap.rows import (
    MISSING,
    NEGATIVE,
    ON_MASK,
    ON_PADDING,
    SUM,
    examine,
    uniform_entropies,
)

STATES = np.array([[OPEN, OPEN, MASKED, PADDING]], dtype=np.uint8)


@pytest.mark.parametrize(
    ("row", "faults"),
    [
        ([0.5, 0.5, 0, 0], 0),
        ([0.5, 0.5009, 0, 0], 0),
        ([0.5, 0.502, 0, 0], SUM),
        ([0.49, 0.49, 0, 0], SUM),
        ([1.1, -0.1, 0, 0], NEGATIVE),
        ([0.5, np.nan, 0, 0], MISSING),
        ([0.5, np.inf, 0, 0], MISSING),
        ([0.5, 0.5, np.nan, -np.inf], 0),
        ([0.5, 0.5, 1e-9, 0], 0),
        ([0.4, 0.4, 0.2, 0], SUM | ON_MASK),
        ([0.5, 0.5, 0, -0.1], ON_PADDING),
        ([-1.0, np.nan, 0.5, 0.5], NEGATIVE | MISSING | ON_MASK | ON_PADDING),
    ],
)
def test_faults(row, faults):
    assert examine(np.array([row]), STATES).faults.tolist() == [faults]


def test_rows_that_need_not_sum_to_1_have_no_entropy():
    found = examine(np.array([[3.0, -1.0, 0, 0]]), STATES, normalised=False)
    assert (found.faults[0], found.sums[0]) == (0, 2.0)
    assert np.isnan(found.entropies[0])


def test_entropies_are_of_distributions_only():
    states = np.zeros((4, 2), dtype=np.uint8)
    weights = np.array([[0.5, 0.5], [1.0, 0.0], [0.49, 0.49], [np.nan, 1.0]])
    found = examine(weights, states).entropies
    assert found[:2].tolist() == pytest.approx([math.log(2), 0])
    assert math.copysign(1, found[1]) == 1
    assert np.isnan(found[2:]).all()


def test_a_row_where_attention_may_go_nowhere_has_no_numbers():
    states = np.array([[OPEN, OPEN], [MASKED, PADDING]], dtype=np.uint8)
    found = examine(np.array([[0.5, 0.5], [0.0, 0.0]]), states)
    assert found.faults.tolist() == [0, 0]
    assert np.isnan(found.sums[1])
    assert np.isnan(found.entropies[1])


def test_a_padded_querys_own_row_has_no_fault():
    states = np.array([[OPEN, PADDING], [PADDING, PADDING]], dtype=np.uint8)
    weights = np.array([[1.0, 0.0], [0.6, 0.4]])
    assert examine(weights, states).faults.tolist() == [0, 0]
    assert examine(weights[::-1], states).faults.tolist() == [SUM | ON_PADDING, 0]


def test_a_uniform_row_has_the_uniform_entropy(softmax):
    mask = np.tril(np.ones((5, 5), dtype=bool))
    uniform = uniform_entropies(mask)
    assert uniform.tolist() == pytest.approx([math.log(n) for n in range(1, 6)])
    states = np.where(mask, OPEN, MASKED).astype(np.uint8)
    even = mask / mask.sum(-1, keepdims=True)
    np.testing.assert_allclose(examine(even, states).entropies, uniform, atol=1e-12)
    others = examine(softmax(5, 5, mask=mask), states).entropies
    assert (others <= uniform + 1e-12).all()
    assert np.isnan(uniform_entropies(np.zeros((1, 3), dtype=bool))).all()
