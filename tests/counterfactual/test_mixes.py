"""Single tokens and mixes of two, for decoders without an exact optimum."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.counterfactual import (
    Search,
    adversarial_search,
    ceiling,
    exact_adversary,
    mixes,
    optimum,
    sparse_adversary,
)
from attention_audit.measures import jsd, tvd

FRONTIER = (0.001, 0.01, 0.05, 0.3)


def test_for_a_sigmoid_it_is_the_exact_optimum(scene, monkeypatch):
    """Of a few words all are among the best, so that its mixes are all vertices."""
    decode, attention, mask, _, _ = scene(lengths=(6, 1, 8, 3, 0, 7, 5))
    scores, offset = decode.projection.values[..., 0], decode.projection.offset[:, 0]
    expected = exact_adversary(scores, offset, attention, mask, FRONTIER).jsd
    found = sparse_adversary(decode, attention, mask, FRONTIER).jsd
    assert ((found <= expected + 1e-9) | expected.isnan()).all()
    assert ((found >= expected - 0.02) | expected.isnan()).all()
    monkeypatch.setattr(mixes, "EXTENDED", 1000)
    found = sparse_adversary(decode, attention, mask, FRONTIER).jsd
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7, equal_nan=True)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=3),
    st.sampled_from([1, 2, 4]),
    st.floats(0.0, 20.0),
    st.integers(0, 9),
)
def test_what_is_found_lies_on_the_simplex_and_within_epsilon(linear, lengths, outputs, size, seed):
    torch.manual_seed(seed)
    position = torch.arange(max(lengths) + 2)
    mask = (position >= 1) & (position <= torch.tensor(lengths)[:, None])
    decode = linear(size * torch.randn(*mask.shape, outputs, dtype=torch.float64), mask)
    attention = torch.rand(mask.shape, dtype=torch.float64) * mask
    attention = attention / attention.sum(-1, keepdim=True).clamp(min=1e-30)
    found = sparse_adversary(decode, attention, mask, FRONTIER)
    weights = found.attention(attention)
    assert (weights >= 0).all()
    assert (weights[~mask[:, None].expand_as(weights)] == 0).all()
    empty = ~mask.any(1)
    assert torch.equal(found.jsd.isnan(), empty[:, None].expand_as(found.jsd))
    weights, jsds = weights[~empty], found.jsd[~empty]
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    torch.testing.assert_close(jsd(weights, attention[~empty][:, None]), jsds, rtol=0, atol=1e-9)
    moved = tvd(decode(found.attention(attention)), decode(attention[:, None]))[~empty]
    assert (moved <= torch.tensor(FRONTIER, dtype=torch.float64) + 1e-9 + 1e-12).all()
    assert (jsds.diff(dim=1) >= 0).all()
    assert (jsds <= ceiling(attention, mask)[~empty][:, None] + 1e-12).all()


def test_every_single_token_is_tried(scene):
    decode, attention, mask, _, _ = scene(lengths=(40, 33, 2), outputs=3)
    found = sparse_adversary(decode, attention, mask, [0.3], tokens=1)
    for row in range(3):
        kept = []
        for t in mask[row].nonzero()[:, 0]:
            only = torch.zeros_like(attention)
            only[:, t] = 1
            moved = tvd(decode(only[:, None]), decode(attention[:, None]))[row, 0]
            kept += [jsd(only, attention)[row].item()] if moved <= 0.3 + 1e-9 else []
        assert kept
        assert found.jsd[row, 0] >= max(kept) - 1e-12


def test_outputs_of_single_tokens_in_parts_give_the_same(scene, monkeypatch):
    decode, attention, mask, _, _ = scene(lengths=(20, 11), outputs=3)
    whole = sparse_adversary(decode, attention, mask, FRONTIER)
    monkeypatch.setattr(mixes, "NUMBERS_AT_ONCE", 30)
    parts = sparse_adversary(decode, attention, mask, FRONTIER)
    for found, expected in zip(vars(parts).values(), vars(whole).values(), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_where_nothing_else_is_found_the_original_stands(linear):
    values = torch.tensor([[[0.0, 1.0, 4.0], [3.0, 0.0, -1.0]]], dtype=torch.float64)
    mask, attention = torch.ones(1, 2, dtype=torch.bool), torch.tensor([[0.4, 0.6]]).double()
    found = sparse_adversary(linear(values, mask), attention, mask, [1e-12])
    assert found.jsd[0, 0] < 1e-6
    torch.testing.assert_close(found.attention(attention)[:, 0], attention, rtol=0, atol=1e-6)


def test_the_ceiling_is_the_largest_over_all_distributions():
    attention = torch.tensor([[0.5, 0.2, 0.3, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True] * 3 + [False], [False, True, False, False], [False] * 4])
    found = ceiling(attention, mask)
    torch.manual_seed(0)
    tried = torch.rand(5000, 3).double().pow(6)
    tried = torch.cat([tried / tried.sum(1, keepdim=True), torch.eye(3).double()])
    assert found[0] == pytest.approx(jsd(tried, attention[0, :3].double()).max().item(), abs=1e-7)
    assert found[1] == 0
    assert math.isnan(found[2])


@pytest.mark.parametrize("outputs", [1, 5])
def test_the_optimum_is_exact_or_the_best_of_all_that_was_found(scene, outputs):
    decode, attention, mask, ids, _ = scene(lengths=(9, 12, 4, 0), outputs=outputs)
    searched = adversarial_search(decode, attention, mask, ids, Search(epsilon=0.05, steps=200))
    found = optimum(decode, attention, FRONTIER, searched)
    alone = optimum(decode, attention, FRONTIER)
    assert found.exact == alone.exact == (outputs == 1)
    apart = jsd(found.attention, attention[:, None])
    torch.testing.assert_close(apart[:3], found.jsd[:3], rtol=0, atol=1e-9)
    assert found.jsd[3].isnan().all()
    moved = tvd(decode(found.attention), decode(attention[:, None]))
    assert (moved <= torch.tensor(FRONTIER, dtype=torch.float64) + 1e-9 + 1e-12).all()
    assert (found.jsd[:3, 2] >= searched.eps_max_jsd[:3] - 1e-12).all()
    if outputs == 5:
        assert (found.jsd[:3] >= alone.jsd[:3]).all()
        assert (found.jsd[:3] > alone.jsd[:3] + 1e-3).any()
