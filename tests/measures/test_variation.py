"""The share of variance within groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.measures import within_share


def share(groups, values, instances=None, **more):
    groups = np.asarray(groups)
    instances = np.arange(len(groups)) if instances is None else np.asarray(instances)
    values = np.asarray(values, dtype=float)
    return within_share(groups, values, instances, seed=0, resamples=200, **more)


def test_by_hand():
    # Groups of means 1 and 4: between 4 * 1.5**2 = 9, within 2 * 1 + 0 = 2.
    assert share([0, 0, 1, 1], [0, 2, 4, 4]).value == pytest.approx(2 / 11)


def test_groups_that_say_all_or_nothing():
    assert share([3, 3, 7, 7], [1, 1, 2, 2]).value == 0
    assert share([0, 0, 1, 1], [1, 2, 1, 2]).value == 1
    assert share([0, 0, 0], [1, 2, 3]).value == 1


def test_undefined_where_nothing_varies_or_nothing_is_there():
    assert np.isnan(share([0, 1], [2, 2]).value)
    empty = share(np.zeros(0, int), [])
    assert np.isnan(empty.value)
    assert empty.n == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-9, 9)), min_size=2, max_size=30))
def test_it_is_a_share_whatever_the_scale_and_the_groups_names(pairs):
    groups, values = map(np.array, zip(*pairs, strict=True))
    found = share(groups, values).value
    assert np.isnan(found) or 0 <= found <= 1
    if np.ptp(values) > 1e-3:
        assert share(9 - groups, 5 - 3 * values).value == pytest.approx(found, abs=1e-9)


def test_the_interval_is_over_instances():
    generator = np.random.default_rng(0)
    groups, values = generator.integers(0, 4, 400), generator.normal(size=400) + 1
    values += groups
    alone = share(groups, values)
    together = share(groups, values, np.repeat(np.arange(8), 50))
    assert alone.lo < alone.value < alone.hi
    assert alone.hi - alone.lo != pytest.approx(together.hi - together.lo, rel=0.05)


def test_the_interval_holds_the_value_though_resamples_repeat_instances():
    generator = np.random.default_rng(1)
    groups = generator.integers(0, 60, 300)  # five values a group
    found = share(groups, generator.normal(size=300))
    assert found.lo < found.value < found.hi


def test_the_interval_covers_what_another_sample_gives():
    generator = np.random.default_rng(2)

    def sample():
        groups = generator.integers(0, 10, 200)
        return share(groups, groups / 5 + generator.normal(size=200))

    many = [sample() for _ in range(40)]
    middle = np.median([one.value for one in many])
    assert np.mean([one.lo <= middle <= one.hi for one in many]) > 0.8
