import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from attention_audit.measures import kendall, kendall_tau, sig_frac, summarise
from attention_audit.measures.kendall import LONGEST


def _rows(seed: int, rows: int = 30, width: int = 14) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    a, b = generator.random((2, rows, width))
    a[::2] = a[::2].round(1)  # ties in every other row
    mask = np.arange(width) < generator.integers(2, width + 1, rows)[:, None]
    return a, b, mask


def test_every_row_is_scipys():
    a, b, mask = _rows(0)
    found = kendall_tau(a, b, mask)
    for row in range(len(a)):
        expected = kendalltau(a[row, mask[row]], b[row, mask[row]])
        assert found.tau[row] == expected.statistic
        assert found.pvalue[row] == expected.pvalue


def _scipys(a, b, mask):
    found = np.full((2, len(a)), np.nan)
    for row in np.flatnonzero(mask.sum(1) > 1):
        one = kendalltau(a[row, mask[row]], b[row, mask[row]])
        found[:, row] = one.statistic, one.pvalue
    return found


def _is_scipys(a, b, mask):
    for found, expected in zip(kendall_tau(a, b, mask), _scipys(a, b, mask), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


# Few values, so that ties in one, in both and in all positions are common; infinities among them.
tied = st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1e-300, 1.0, 1.0 + 2**-52, 7.0, np.inf])
pair = st.tuples(tied | st.floats(-9, 9), tied | st.floats(-9, 9))
row = st.lists(st.tuples(pair, st.booleans()), max_size=45)


@settings(deadline=None)
@given(st.lists(row, min_size=1, max_size=6))
def test_rows_of_any_lengths_ties_and_masks_are_scipys(rows):
    width = max(1, *(len(row) for row in rows))
    a, b = np.full((2, len(rows), width), np.nan)
    mask = np.zeros(a.shape, dtype=bool)
    for number, row in enumerate(rows):
        for place, ((x, y), kept) in enumerate(row):
            a[number, place], b[number, place], mask[number, place] = x, y, kept
    _is_scipys(a, b, mask)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 32, 33, 34, 60, 170, 171, 172, 200])
def test_counted_and_normal_p_values_are_scipys(size):
    generator = np.random.default_rng(size)
    swapped, turned = np.arange(size), np.arange(size)[::-1]
    swapped[:2] = 1, 0
    b = np.stack(
        [np.arange(size), swapped, turned, -swapped, *generator.random((9, size)).argsort(1)]
    )
    tied = b // 2
    a = np.tile(np.arange(size), (2 * len(b), 1))
    _is_scipys(a, np.concatenate([b, tied]), np.ones(a.shape, dtype=bool))


@pytest.mark.parametrize("width", [254, 255, 256, LONGEST, LONGEST + 1])
def test_long_rows_are_scipys(width):
    a, b, mask = _rows(5, rows=5, width=width)
    mask[0] = True
    b[1] = -a[1]
    a[2] = 1.0
    _is_scipys(a, b, mask)


def test_more_rows_than_are_compared_at_once(monkeypatch):
    a, b, mask = _rows(6)
    whole = kendall_tau(a, b, mask)
    monkeypatch.setattr(kendall, "AT_ONCE", 40)
    np.testing.assert_array_equal(kendall_tau(a, b, mask), whole)


def test_sos_eos_and_padding_are_never_counted():
    a, b, _ = _rows(1)
    mask = np.zeros(a.shape, dtype=bool)
    mask[:, 1:7] = True
    inside = kendall_tau(a, b, mask)
    a[~mask], b[~mask] = np.nan, 1e9
    np.testing.assert_array_equal(kendall_tau(a, b, mask), inside)
    np.testing.assert_array_equal(kendall_tau(a[:, 1:7], b[:, 1:7], np.ones((len(a), 6))), inside)


def test_constant_attention_is_undefined_and_poisons_no_mean():
    a, b, mask = _rows(2, rows=3, width=8)
    a[1] = 0.125
    tau, pvalue = kendall_tau(a, b, mask)
    assert np.isnan([tau[1], pvalue[1]]).all()
    summary = summarise(tau, seed=0)
    assert summary.mean == pytest.approx((tau[0] + tau[2]) / 2)
    assert (summary.n, summary.n_undefined) == (2, 1)
    assert not np.isnan(sig_frac(pvalue))


@pytest.mark.parametrize("kept", [0, 1])
def test_fewer_than_two_tokens_are_undefined(kept):
    mask = np.arange(4)[None] < kept
    found = kendall_tau(np.arange(4.0)[None], np.arange(4.0)[None], mask)
    assert np.isnan(found.tau).all()
    assert np.isnan(found.pvalue).all()


def test_a_nan_under_the_mask_is_undefined():
    found = kendall_tau([[1.0, np.nan, 3.0]], [[1.0, 2.0, 3.0]], np.ones((1, 3)))
    assert np.isnan(found.tau[0])


def test_tensors_of_any_float_are_taken():
    a, b, mask = _rows(3)
    tensors = torch.from_numpy(a).requires_grad_(), torch.from_numpy(b), torch.from_numpy(mask)
    np.testing.assert_array_equal(kendall_tau(*tensors), kendall_tau(a, b, mask))


# 1e-3 apart, so that no map below merges two values or splits a tie by rounding.
spaced = st.lists(st.integers(-3000, 3000).map(lambda n: n / 1000), min_size=2, max_size=9)


@settings(deadline=None)
@given(spaced, st.randoms(use_true_random=False))
def test_tau_is_invariant_under_monotone_maps(values, shuffler):
    a = np.array(values)
    b = np.array(shuffler.sample(values, len(values)))
    mask = np.ones((1, len(a)))
    plain = kendall_tau(a[None], b[None], mask)
    mapped = kendall_tau(np.exp(a)[None], (3 * b + 1)[None], mask)
    np.testing.assert_allclose(mapped, plain, atol=1e-12)


def test_shapes_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"found shapes \(1, 3\), \(1, 4\)"):
        kendall_tau(np.zeros((1, 3)), np.zeros((1, 4)), np.ones((1, 3)))


def test_significance_counts_defined_rows_only():
    assert sig_frac(np.array([0.05, 0.051, np.nan])) == 0.5
    assert np.isnan(sig_frac(np.array([np.nan])))
