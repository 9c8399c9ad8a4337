import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.counterfactual import permutation
from attention_audit.counterfactual.permute import draw_permutations
from attention_audit.measures import tvd


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(0, 2**31), st.integers(0, 9)
)
def test_the_weights_are_kept_as_a_multiset_and_stay_on_the_mask(lengths, seed, first_id):
    position = torch.arange(max(lengths) + 2)
    mask = (position >= 1) & (position <= torch.tensor(lengths)[:, None])
    attention = torch.rand(mask.shape, dtype=torch.float64) * mask
    seen = []
    permutation(
        lambda given: seen.append(given) or torch.stack([given.sum(-1), 1 - given.sum(-1)], -1),
        attention,
        mask,
        torch.arange(len(mask)) + first_id,
        permutations=4,
        seed=seed,
    )
    _, permuted = seen
    expected = attention[:, None].expand_as(permuted)
    assert torch.equal(permuted.sort(-1).values, expected.sort(-1).values)
    assert (permuted[~mask[:, None].expand_as(permuted)] == 0).all()


def test_delta_is_the_tvd_to_the_original_and_median_numpys(scene):
    decode, attention, mask, ids, _ = scene(outputs=3)
    found = permutation(decode, attention, mask, ids, permutations=10, seed=1)
    index = draw_permutations(mask, ids, permutations=10, seed=1)
    again = torch.stack(
        [torch.where(mask, attention.gather(1, index[:, k].clamp(min=0)), 0.0) for k in range(10)],
        dim=1,
    )
    torch.testing.assert_close(found.outputs, decode(again))
    torch.testing.assert_close(found.delta, tvd(decode(again), decode(attention[:, None])))
    np.testing.assert_allclose(found.median, np.median(found.delta, axis=1))
    assert (found.delta[1] == 0).all()  # one word: nothing to permute


@pytest.mark.parametrize("row", range(4))
def test_a_document_alone_gives_the_same_permutations(scene, alone, row):
    together = scene()
    batched = permutation(*together[:4], permutations=20, seed=5)
    single = permutation(*alone(together, row), permutations=20, seed=5)
    torch.testing.assert_close(single.outputs[0], batched.outputs[row], rtol=0, atol=1e-14)
    torch.testing.assert_close(single.median[0], batched.median[row], rtol=0, atol=1e-14)


def test_the_seed_changes_them(scene):
    decode, attention, mask, ids, _ = scene()
    first = permutation(decode, attention, mask, ids, seed=0)
    assert torch.equal(permutation(decode, attention, mask, ids, seed=0).delta, first.delta)
    assert not torch.equal(permutation(decode, attention, mask, ids, seed=1).delta, first.delta)


def test_every_order_of_three_tokens_comes_up_equally_often():
    index = draw_permutations(
        torch.ones(1, 3, dtype=torch.bool), torch.tensor([0]), permutations=6000, seed=0
    )
    orders, counts = index[0].unique(dim=0, return_counts=True)
    assert len(orders) == 6
    assert ((counts > 850) & (counts < 1150)).all()


def test_given_permutations_are_used(scene):
    decode, attention, mask, ids, _ = scene(lengths=(3,))
    index = torch.tensor([[[-1, 3, 1, 2, -1], [-1, 1, 2, 3, -1]]])
    found = permutation(decode, attention, mask, ids, index=index)
    assert found.delta.shape == (1, 2)
    assert found.delta[0, 1] == 0
    turned = attention[:, [0, 3, 1, 2, 4]]
    torch.testing.assert_close(found.outputs[0, 0], decode(turned[:, None])[0, 0])


def test_a_document_without_words_is_undefined(scene):
    decode, attention, mask, ids, _ = scene(lengths=(0, 4))
    found = permutation(decode, attention, mask, ids, permutations=5)
    assert found.median.isnan().tolist() == [True, False]
    assert not found.outputs.isnan().any()
