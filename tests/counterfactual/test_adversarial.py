import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.counterfactual import Search, adversarial_search
from attention_audit.measures import jsd, tvd

QUICK = Search(candidates=3, steps=60)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.sampled_from([1, 3]),
    st.sampled_from([0.0, 0.01, 0.2]),
    st.sampled_from(["paper", "program"]),
    st.floats(0.0, 50.0),
)
def test_adversaries_lie_on_the_simplex_and_within_epsilon(
    linear, lengths, outputs, epsilon, objective, size
):
    position = torch.arange(max(lengths) + 2)
    mask = (position >= 1) & (position <= torch.tensor(lengths)[:, None])
    values = size * torch.randn(*mask.shape, outputs, dtype=torch.float64)
    attention = mask / mask.sum(-1, keepdim=True, dtype=torch.float64)
    search = Search(candidates=2, steps=15, epsilon=epsilon, objective=objective)
    decode = linear(values, mask)
    found = adversarial_search(decode, attention, mask, torch.arange(len(mask)), search)
    for weights in (found.attention, found.best_attention[:, None]):
        assert (weights >= 0).all()
        assert (weights[~mask[:, None].expand_as(weights)] == 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    chosen = found.best_attention[:, None]
    moved = tvd(decode(chosen), decode(attention[:, None]))
    assert (moved <= epsilon + 1e-9 + 1e-12).all()
    torch.testing.assert_close(jsd(chosen, attention[:, None])[:, 0], found.eps_max_jsd)
    assert ((found.eps_max_jsd >= 0) & (found.eps_max_jsd <= math.log(2) + 1e-12)).all()


def test_it_reports_what_its_candidates_are(scene):
    decode, attention, mask, ids, _ = scene(outputs=3)
    found = adversarial_search(decode, attention, mask, ids, QUICK)
    torch.testing.assert_close(found.outputs, decode(found.attention))
    torch.testing.assert_close(found.tvd, tvd(found.outputs, decode(attention[:, None])))
    torch.testing.assert_close(found.jsd, jsd(found.attention, attention[:, None]))
    feasible = torch.where(found.tvd <= 0.01 + 1e-9, found.jsd, 0.0)
    torch.testing.assert_close(found.eps_max_jsd, feasible.amax(1))


def test_it_finds_the_best_of_a_fine_grid_over_three_tokens(linear):
    values = torch.tensor([[[0.0], [2.0], [-1.0], [0.4], [0.0]]], dtype=torch.float64)
    mask = torch.tensor([[False, True, True, True, False]])
    attention = torch.tensor([[0.0, 0.2, 0.3, 0.5, 0.0]], dtype=torch.float64)
    decode = linear(values, mask)
    steps = torch.linspace(0, 1, 301, dtype=torch.float64)
    first, second = torch.meshgrid(steps, steps, indexing="ij")
    grid = torch.stack([0 * first, first, second, 1 - first - second, 0 * first], -1)
    grid = grid[(grid >= 0).all(-1)][None]
    near = tvd(decode(grid), decode(attention[:, None])) <= 0.05
    best = jsd(grid, attention[:, None])[near].max()
    found = adversarial_search(
        decode, attention, mask, torch.tensor([0]), Search(epsilon=0.05, steps=1000)
    )
    assert found.eps_max_jsd[0] <= best + 0.005
    assert found.eps_max_jsd[0] >= best - 0.02


@pytest.mark.parametrize("objective", ["paper", "program"])
@pytest.mark.parametrize("row", range(4))
def test_a_document_alone_gives_the_same_adversaries(scene, alone, objective, row):
    together = scene()
    search = Search(candidates=3, steps=60, objective=objective)
    batched = adversarial_search(*together[:4], search, seed=2)
    single = adversarial_search(*alone(together, row), search, seed=2)
    end = single.attention.shape[-1]
    torch.testing.assert_close(
        single.attention[0], batched.attention[row, :, :end], rtol=0, atol=1e-8
    )
    torch.testing.assert_close(single.eps_max_jsd[0], batched.eps_max_jsd[row], rtol=0, atol=1e-8)


def test_the_papers_search_keeps_the_best_feasible_iterate(scene):
    decode, attention, mask, ids, _ = scene(lengths=(8, 7, 9), size=3.0)
    largest = [
        adversarial_search(decode, attention, mask, ids, Search(steps=steps)).eps_max_jsd
        for steps in (1, 50, 100, 101)
    ]
    for fewer, more in pairwise(largest):
        assert (more >= fewer).all()
    assert (largest[-1] > largest[0]).any()


def test_where_nothing_else_is_feasible_the_original_counts(scene):
    decode, attention, mask, ids, _ = scene(lengths=(5, 1))
    found = adversarial_search(decode, attention, mask, ids, Search(steps=1, epsilon=0.0))
    assert found.eps_max_jsd.tolist() == [0, 0]
    assert found.best.tolist() == [-1, -1]
    assert torch.equal(found.best_attention, attention)


def test_a_document_without_words_is_undefined_and_disturbs_no_other(scene):
    decode, attention, mask, ids, _ = scene(lengths=(0, 4))
    found = adversarial_search(decode, attention, mask, ids, QUICK)
    assert found.eps_max_jsd.isnan().tolist() == [True, False]
    assert not found.attention.isnan().any()


def test_weights_that_underflow_to_zero_give_no_nan(scene):
    decode, attention, mask, ids, _ = scene(dtype=torch.float32)
    noise = 1000 * torch.randn(4, 5, mask.shape[1])
    found = adversarial_search(decode, attention, mask, ids, Search(steps=5), noise=noise)
    assert (found.attention == 0).any()
    assert not found.attention.isnan().any()
    assert not found.eps_max_jsd.isnan().any()


@pytest.mark.parametrize("surroundings", [torch.no_grad, torch.inference_mode])
def test_it_works_where_gradients_are_off(scene, surroundings):
    decode, attention, mask, ids, _ = scene()
    expected = adversarial_search(decode, attention, mask, ids, QUICK)
    with surroundings():
        inside = adversarial_search(decode, 1 * attention, mask, ids, QUICK)
        assert torch.equal(inside.attention, expected.attention)


def test_progress_is_reported(scene):
    steps = []
    adversarial_search(*scene()[:4], Search(steps=4), progress=steps.append)
    assert steps == [1, 2, 3, 4]


def test_the_objectives_weights_are_the_papers_and_the_programs():
    assert Search().weights(2) == pytest.approx((1 / 20, 100, 0.01))
    assert Search(epsilon=0.05).weights(7) == pytest.approx((1 / 20, 100, 0.05))
    program = Search(objective="program", epsilon=0.05)
    assert program.weights(2) == pytest.approx((2 / 25, 500, 0.01))
    assert program.weights(7) == pytest.approx((2 / 25, 1000, 0.005))  # 500 relu(2 tvd - 0.01)
    assert Search(candidates=1).weights(2).hinge == 500


@pytest.mark.parametrize(
    ("setting", "value"),
    [("candidates", 0), ("steps", -1), ("learning_rate", 0.0), ("epsilon", 2.0)],
)
def test_impossible_settings_are_refused(setting, value):
    with pytest.raises(ValueError, match=f"adversarial {setting}: found {value}"):
        Search(**{setting: value})


def test_an_unknown_objective_is_refused():
    # A TypeError where the suite runs with annotations checked.
    with pytest.raises((ValueError, TypeError), match=r"paper.*program"):
        Search(objective="other")
