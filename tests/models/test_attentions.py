from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from attention_audit.batch import Batch, Encoding, collate
from attention_audit.importance import leave_one_out
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive, Dot, Frozen, Uniform, masked_softmax
from attention_audit.models.encoders import LSTM
from attention_audit.predictions import Given


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


TEXTS = {9: [5, 6, 7, 8], 4: [9], 6: [10, 5, 11], 2: [], 3: [7, 7]}
WEIGHTS = {9: [0.5, 0.0, 0.5, 0.0], 4: [1.0], 6: [0.0, 0.25, 0.75], 2: [], 3: [0.0, 1.0]}


def _frozen(dtype=torch.float64) -> AttentionModel:
    torch.manual_seed(4)
    rows = [torch.tensor(row, dtype=torch.float64) for row in WEIGHTS.values()]
    attention = partial(Frozen, given=Given.of(torch.tensor([*WEIGHTS]), rows))
    model = assemble(torch.randn(16, 5), partial(LSTM, hidden=3), attention, outputs=2)
    return model.to(dtype).eval()


def _texts(*ids: int) -> Batch:
    return collate([TEXTS[one] for one in ids], [0] * len(ids), [*ids])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@torch.no_grad()
def test_frozen_attends_as_it_is_given_and_nowhere_else(dtype):
    model, batch = _frozen(dtype), _texts(*TEXTS)
    logits, attention = model(batch)
    assert attention.dtype == logits.dtype == dtype
    assert (attention[~batch.mask] == 0).all()
    for row, instance in enumerate(TEXTS):
        assert attention[row][batch.mask[row]].tolist() == WEIGHTS[instance]


@pytest.mark.parametrize("instance", TEXTS)
@torch.no_grad()
def test_frozen_is_the_same_alone_and_beside_longer_texts(instance):
    model = _frozen()
    together, alone = _texts(9, 2, 3, 6, 4), _texts(instance)
    row = together.ids.tolist().index(instance)
    one, many = model(alone), model(together)
    torch.testing.assert_close(many.logits[row], one.logits[0], rtol=0, atol=1e-12)
    width = alone.mask.shape[1]
    assert torch.equal(many.attention[row, :width], one.attention[0])
    assert (many.attention[row, width:] == 0).all()


@torch.no_grad()
def test_a_frozen_models_output_is_the_decoders_under_what_was_given():
    model, batch = _frozen(), _texts(9, 6)
    hidden = model.encode(batch).hidden
    for row, instance in enumerate((9, 6)):
        weights = torch.tensor(WEIGHTS[instance], dtype=torch.float64)
        context = weights @ hidden[row][batch.mask[row]]
        expected = model.decoder.output(context)
        torch.testing.assert_close(model(batch).logits[row], expected, rtol=0, atol=1e-12)


def test_a_frozen_attention_learns_nothing():
    model, batch = _frozen(), _texts(9, 6)
    assert list(model.attention.parameters()) == []
    assert not any("attention" in name for name in model.state_dict())
    (model(batch).logits ** 2).sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.encoder.parameters())


def test_a_frozen_model_cannot_read_a_text_without_one_of_its_words():
    model = _frozen()
    said = "^given attention: instance 3: found 1 words, expected 2: weights are of whole texts"
    with pytest.raises(ValueError, match=said):
        leave_one_out(model, _texts(3))
    without_weight = leave_one_out(model, _texts(9), frozen=True)[0, 1:5]
    assert without_weight[1] == without_weight[3] == 0
    assert without_weight[0] > 0


@torch.no_grad()
def test_a_frozen_model_refuses_a_text_that_it_was_not_given():
    with pytest.raises(ValueError, match="nothing is there for instance 5"):
        _frozen()(collate([[4]], [0], [5]))
