import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_audit.batch import Encoding
from attention_audit.models.attentions import Additive, Dot, Uniform, masked_softmax


@st.composite
def scores_and_mask(draw):
    shape = draw(array_shapes(min_dims=2, max_dims=2, max_side=6))
    numbers = st.floats(-1e4, 1e4, width=32)
    return (
        torch.from_numpy(draw(arrays("float32", shape, elements=numbers))),
        torch.from_numpy(draw(arrays("bool", shape))),
    )


@settings(deadline=None)
@given(scores_and_mask())
def test_softmax_over_the_mask_only(drawn):
    scores, mask = drawn
    scores.requires_grad_()
    found = masked_softmax(scores, mask)
    assert (found[~mask] == 0).all()
    torch.testing.assert_close(found.sum(1), mask.any(1).float())
    for row, kept, weights in zip(scores, mask, found, strict=True):
        torch.testing.assert_close(weights[kept], row[kept].softmax(0))
    (found**2).sum().backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[~mask] == 0).all()


@settings(deadline=None)
@given(scores_and_mask(), st.floats(-100, 100, width=32))
def test_softmax_ignores_a_common_shift_and_what_is_masked(drawn, shift):
    scores, mask = drawn
    scores = scores / 100
    rubbish = torch.where(mask, scores + shift, torch.nan)
    torch.testing.assert_close(
        masked_softmax(scores, mask), masked_softmax(rubbish, mask), rtol=1e-3, atol=1e-5
    )


def test_an_empty_row_has_no_gradient_however_large_the_loss():
    scores = torch.zeros(2, 3, requires_grad=True)
    mask = torch.tensor([[False] * 3, [True, True, False]])
    (masked_softmax(scores, mask) * torch.tensor([1e30, -1e30, 1.0])).sum().backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[0] == 0).all()


def _encoding(query: int | None) -> Encoding:
    torch.manual_seed(0)
    mask = torch.ones(2, 3, dtype=torch.bool)
    vector = None if query is None else torch.randn(2, query)
    return Encoding(torch.randn(2, 3, 4), vector, mask, None, torch.arange(2))


@pytest.mark.parametrize("query", [None, 6])
def test_additive(query):
    attention, encoding = Additive(hidden=4, query=query), _encoding(query)
    weights = {name: p.detach() for name, p in attention.named_parameters()}
    assert weights["vector.weight"].shape == (1, 2)
    assert "vector.bias" not in weights
    found = attention(encoding)
    for b in range(2):
        for t in range(3):
            energy = weights["hidden.weight"] @ encoding.hidden[b, t] + weights["hidden.bias"]
            if query:
                energy = energy + weights["query.weight"] @ encoding.query[b]
                energy = energy + weights["query.bias"]
            expected = (weights["vector.weight"][0] * torch.tanh(energy)).sum()
            torch.testing.assert_close(found[b, t], expected)


@pytest.mark.parametrize("query", [None, 4])
def test_dot(query):
    attention, encoding = Dot(hidden=4, query=query), _encoding(query)
    assert len(list(attention.parameters())) == (query is None)
    found = attention(encoding)
    for b in range(2):
        vector = encoding.query[b] if query else attention.vector.weight[0]
        for t in range(3):
            torch.testing.assert_close(found[b, t], encoding.hidden[b, t] @ vector / 2)


def test_dot_needs_a_query_as_wide_as_the_hidden_states():
    with pytest.raises(ValueError, match="hidden width 4 and query width 6 differ"):
        Dot(hidden=4, query=6)


def test_uniform_gives_every_word_the_same():
    attention, encoding = Uniform(hidden=4, query=None), _encoding(None)
    mask = torch.tensor([[True, True, False], [False, True, False]])
    found = attention.normalise(attention(encoding), mask)
    assert found.tolist() == [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
