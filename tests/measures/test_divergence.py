import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy

from attention_audit.measures import entropy, jsd, kl, tvd


@st.composite
def two_distributions(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    size = draw(st.integers(1, 6))
    weights = st.lists(
        st.one_of(st.just(0.0), st.floats(1e-12, 1.0)), min_size=size, max_size=size
    ).filter(any)
    a, b = (torch.tensor(draw(weights), dtype=torch.float64) for _ in range(2))
    return a / a.sum(), b / b.sum()


@settings(deadline=None)
@given(two_distributions())
def test_tvd_is_symmetric_and_between_0_and_1(pair):
    p, q = pair
    assert tvd(p, q) == tvd(q, p)
    assert 0 <= tvd(p, q) <= 1 + 1e-12
    assert tvd(p, p) == 0


@settings(deadline=None)
@given(two_distributions())
def test_jsd_is_symmetric_and_between_0_and_ln_2(pair):
    a, b = pair
    assert 0 <= jsd(a, b) <= math.log(2) + 1e-12
    assert jsd(a, b) == pytest.approx(float(jsd(b, a)), abs=1e-15)
    assert jsd(a, a) == 0


@settings(deadline=None)
@given(two_distributions())
def test_jsd_is_the_square_of_scipys_distance(pair):
    a, b = pair
    assert jsd(a, b) == pytest.approx(jensenshannon(a.numpy(), b.numpy()) ** 2, abs=1e-12)


@settings(deadline=None)
@given(two_distributions())
def test_kl_and_entropy_equal_scipys(pair):
    p, q = pair
    assert kl(p, q) == pytest.approx(scipy_entropy(p.numpy(), q.numpy()), abs=1e-12)
    assert entropy(p) == pytest.approx(scipy_entropy(p.numpy()), abs=1e-12)


@settings(deadline=None)
@given(two_distributions())
def test_a_floor_keeps_kl_and_its_gradient_finite(pair):
    p, q = (side.clone().requires_grad_() for side in pair)
    found = kl(p, q, floor=1e-10)
    found.backward()
    assert 0 <= found <= 10 * math.log(10) + 1e-12
    assert p.grad.isfinite().all()
    assert q.grad.isfinite().all()
    low = zip(p.tolist(), q.tolist(), strict=True)
    expected = sum(a * math.log(max(a, 1e-10) / max(b, 1e-10)) for a, b in low)
    assert found.item() == pytest.approx(max(expected, 0), abs=1e-12)
    if min(*pair[0], *pair[1]) >= 1e-10:
        assert found == kl(p, q)


def test_a_floors_gradient_is_right_at_exact_zeros():
    p = torch.tensor([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], dtype=torch.float64)
    q = torch.tensor([[0.3, 0.0, 0.7, 0.0], [0.5, 0.2, 0.0, 0.3]], dtype=torch.float64)
    sides = p.requires_grad_(), q.requires_grad_()
    assert torch.autograd.gradcheck(lambda p, q: kl(p, q, floor=1e-3), sides)
    assert kl(p, q).isinf().all()


def test_jsd_of_disjoint_attention_is_ln_2_and_not_its_square_root():
    a, b = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 0.5, 0.5])
    assert jsd(a, b) == pytest.approx(math.log(2), abs=1e-15)


def test_float32_input_is_computed_in_float64():
    a, b = torch.rand(4, 9), torch.rand(4, 9)
    for measure in (tvd, kl, jsd):
        assert measure(a, b).dtype == torch.float64
        assert torch.equal(measure(a, b), measure(a.double(), b.double()))


def test_leading_axes_broadcast():
    alternatives, original = torch.rand(2, 3, 5), torch.rand(2, 5)
    together = jsd(alternatives, original[:, None])
    assert together.shape == (2, 3)
    assert together[1, 2] == jsd(alternatives[1, 2], original[1])


def test_padding_with_zeros_changes_nothing():
    a, b = torch.rand(5, dtype=torch.float64), torch.rand(5, dtype=torch.float64)
    padded = [torch.cat([x, torch.zeros(3, dtype=torch.float64)]) for x in (a, b)]
    for measure in (tvd, kl, jsd):
        torch.testing.assert_close(measure(*padded), measure(a, b), rtol=0, atol=1e-15)


def test_a_row_without_any_weight_is_not_nan():
    empty = torch.zeros(4)
    assert jsd(empty, empty) == 0
    assert entropy(empty) == 0
