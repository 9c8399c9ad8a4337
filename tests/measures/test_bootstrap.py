import tracemalloc

import numpy as np
import pytest

from attention_audit.measures import interval, summarise, summarise_difference


def test_the_interval_is_that_of_a_mean():
    values = np.random.default_rng(0).normal(2.0, 3.0, 900)
    lo, hi = interval(values, seed=1)
    half = 1.96 * values.std() / 30
    assert lo == pytest.approx(values.mean() - half, abs=0.02)
    assert hi == pytest.approx(values.mean() + half, abs=0.02)


def test_the_interval_is_the_middle_of_the_means_of_resamples():
    values = np.random.default_rng(0).random(30)
    drawn = np.random.default_rng(3).integers(0, 30, size=(200, 30), dtype=np.int32)
    expected = np.quantile(values[drawn].mean(1), [0.1, 0.9])
    found = interval(values, seed=3, resamples=200, confidence=0.8)
    assert found == pytest.approx(expected, abs=1e-15)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        lo, hi = interval(generator.normal(size=80), seed=0, resamples=300)
        covered += lo <= 0 <= hi
    assert 0.90 <= covered / 300 <= 0.98


def test_the_seed_alone_decides():
    values = np.random.default_rng(0).random(50)
    assert interval(values, seed=3) == interval(values, seed=3)
    assert interval(values, seed=3) != interval(values, seed=4)


def test_undefined_values_are_counted_and_not_used():
    values = np.array([0.5, np.nan, 1.5, np.nan])
    summary = summarise(values, seed=0)
    assert (summary.mean, summary.std, summary.n, summary.n_undefined) == (1.0, 0.5, 2, 2)
    assert (summary.lo, summary.hi) == interval(np.array([0.5, 1.5]), seed=0)


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_nothing_defined_is_nan_and_no_warning(values):
    summary = summarise(np.array(values), seed=0)
    assert np.isnan([summary.mean, summary.std, summary.lo, summary.hi]).all()
    assert (summary.n, summary.n_undefined) == (0, len(values))


def test_differences_are_paired():
    generator = np.random.default_rng(0)
    common = generator.normal(0, 10, 400)
    a, b = common + 1, common + generator.normal(0, 0.1, 400)
    summary = summarise_difference(a, b, seed=0)
    assert summary.mean == pytest.approx(1, abs=0.02)
    assert summary.hi - summary.lo < 0.05
    a[0] = np.nan
    assert summarise_difference(a, b, seed=0).n_undefined == 1
    # A TypeError where the suite runs with annotations checked.
    with pytest.raises((ValueError, TypeError), match="instances"):
        summarise_difference(a, b[1:], seed=0)


def test_memory_does_not_grow_with_the_instances():
    values = np.random.default_rng(0).random(50_000)
    tracemalloc.start()
    interval(values, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
