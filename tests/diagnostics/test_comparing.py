import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.diagnostics import attention_jsd, comparing, differences, output_tvd
from attention_audit.measures import jsd

ROWS = {3: [0.5, 0.5], 1: [0.25, 0.25, 0.5], 8: [1.0], 5: [0.0, 1.0]}
OTHER = {5: [1.0, 0.0], 1: [0.25, 0.25, 0.5], 3: [0.25, 0.75], 8: [1.0]}


def test_by_hand_in_the_order_of_the_first(told):
    one = told(ROWS, {3: 0.5, 1: 0.1, 8: 0.9, 5: 0.2})
    other = told(OTHER, {3: 0.75, 1: 0.1, 8: 0.5, 5: 1.0})
    found = differences(one, other)
    middle = [0.375, 0.625]
    by_hand = 0.5 * sum(
        p * math.log(p / m)
        for side in (ROWS[3], OTHER[3])
        for p, m in zip(side, middle, strict=True)
    )
    assert found.jsd == pytest.approx([by_hand, 0, 0, math.log(2)], abs=1e-7)
    assert found.tvd == pytest.approx([0.25, 0, 0.4, 0.8])
    assert found.jsd.dtype == found.tvd.dtype == np.float64


WEIGHTS = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=5)


@given(st.data(), st.lists(WEIGHTS, min_size=1, max_size=6), st.randoms())
def test_the_second_models_order_does_not_matter(told, data, weights, random):
    sides = []
    for _ in range(2):
        rows = {}
        for number, row in enumerate(weights):
            drawn = data.draw(st.lists(st.floats(0.01, 1), min_size=len(row), max_size=len(row)))
            rows[10 * number] = [value / sum(drawn) for value in drawn]
        sides.append(rows)
    outputs = {one: one / 100 for one in sides[1]}
    shuffled = random.sample([*sides[1]], len(weights))
    one = told(sides[0])
    found = differences(one, told(sides[1], outputs))
    again = differences(one, told({one: sides[1][one] for one in shuffled}, outputs))
    assert np.array_equal(found.jsd, again.jsd)
    assert np.array_equal(found.tvd, again.tvd)
    for place, instance in enumerate(sides[0]):
        pair = [torch.tensor(side[instance]) for side in sides]
        assert found.jsd[place] == pytest.approx(float(jsd(*pair)), abs=1e-12)
    assert found.tvd == pytest.approx([abs(0.5 - p) for p in outputs.values()])


def test_more_rows_than_are_compared_at_once(told, monkeypatch):
    one, other = told(ROWS), told(OTHER)
    whole = attention_jsd(one, other)
    monkeypatch.setattr(comparing, "ROWS", 3)
    assert np.array_equal(attention_jsd(one, other), whole)


def test_a_text_without_words_has_no_distance(told):
    rows = {4: [], 2: [0.5, 0.5], 7: [1.0]}
    found = attention_jsd(told(rows), told({2: [0.0, 1.0], 7: [1.0], 4: []}))
    assert np.isnan(found).tolist() == [True, False, False]
    assert found[2] == 0


def test_another_number_of_words_is_refused(told):
    other = {**OTHER, 1: [0.5, 0.5]}
    with pytest.raises(ValueError, match=r"^instance 1: one model read 3 words, the other 2"):
        differences(told(ROWS), told(other))


@pytest.mark.parametrize("compare", [differences, attention_jsd, output_tvd])
@pytest.mark.parametrize("other", [{3: [1.0]}, {**OTHER, 9: [1.0]}, {3: [1.0], 1: [1.0], 8: [1.0]}])
def test_other_instances_are_refused(told, compare, other):
    with pytest.raises(ValueError, match=r"^predictions: "):
        compare(told(ROWS), told(other))
