import pytest
import torch
from torch import nn

from attention_audit.measures import probabilities
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Dot
from attention_audit.models.encoders import Average

DOCUMENTS = [[5, 6, 7], [8], [9, 10, 11, 12, 13, 14, 5], [15, 15], []]


def _alternatives(batch, k=4):
    torch.manual_seed(5)
    weights = torch.rand(len(batch), k, batch.mask.shape[1], dtype=torch.float64)
    weights = weights * batch.mask[:, None]
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)


@torch.no_grad()
def test_the_embedding_can_be_given(case):
    batch = case.batch(DOCUMENTS)
    found = case.model.encode(batch, embedded=case.model.embed(batch))
    expected = case.model.encode(batch)
    for name, value in vars(expected).items():
        given = getattr(found, name)
        assert (given is None) == (value is None)
        assert value is None or torch.equal(given, value), name


@torch.no_grad()
def test_a_given_embedding_replaces_the_models_own(case):
    batch = case.batch(DOCUMENTS)
    moved = case.model.encode(batch, embedded=case.model.embed(batch) + 1)
    assert not torch.equal(moved.hidden, case.model.encode(batch).hidden)


@torch.no_grad()
def test_alternatives_at_once_are_alternatives_one_by_one(case):
    batch = case.batch(DOCUMENTS)
    projection = case.model.project(case.model.encode(batch))
    weights = _alternatives(batch)
    together = case.model.decode(projection, weights)
    for k in range(weights.shape[1]):
        one = case.model.decode(projection, weights[:, k])
        torch.testing.assert_close(together[:, k], one, rtol=0, atol=1e-12)


@torch.no_grad()
def test_projecting_first_is_the_decoders_own_formula(case):
    batch = case.batch(DOCUMENTS)
    encoding = case.model.encode(batch)
    attention = case.model.attend(encoding)
    decoder = case.model.decoder
    context = (attention[:, :, None] * encoding.hidden).sum(1)
    if case.asks:
        joined = decoder.passage(context) + decoder.query(encoding.query)
        expected = decoder.output(torch.tanh(joined))
        if case.narrows:
            expected = expected.masked_fill(~batch.candidates, -1e9)
    else:
        expected = decoder.output(context)
    found = case.model(batch)
    torch.testing.assert_close(found.logits, expected, rtol=0, atol=1e-12)
    assert torch.equal(found.attention, attention)
    assert decoder.linear == (not case.asks)


@torch.no_grad()
def test_probabilities_have_a_column_for_every_class(case):
    batch = case.batch(DOCUMENTS)
    logits = case.model(batch).logits
    found = probabilities(logits)
    assert logits.shape[1] == {"binary": 1, "classes": 3, "answers": 4, "relations": 3}[case.task]
    assert found.shape == (5, logits.shape[1] if case.task != "binary" else 2)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found.sum(1), torch.ones(5, dtype=torch.float64))
    if case.task == "binary":
        torch.testing.assert_close(found[:, 1], torch.sigmoid(logits[:, 0]))


@pytest.mark.parametrize("encoder", ["lstm", "cnn", "average"])
def test_answers_that_are_no_candidates_are_impossible(build, encoder):
    case = build(encoder, "additive", "answers")
    batch = case.batch(DOCUMENTS)
    projection = case.model.project(case.model.encode(batch))
    weights = _alternatives(batch)
    for logits, barred in (
        (case.model(batch).logits, ~batch.candidates),
        (case.model.decode(projection, weights), ~batch.candidates[:, None].expand(-1, 4, -1)),
    ):
        found = probabilities(logits)
        assert (found[barred] == 0).all()
        assert (found[~barred] > 0).all()
    nn.functional.cross_entropy(case.model(batch).logits, batch.labels).backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in case.model.parameters())


@pytest.mark.parametrize("encoder", ["lstm", "cnn", "average"])
@torch.no_grad()
def test_every_question_has_its_own_vector(build, encoder):
    case = build(encoder, "dot", "answers")
    questions = [[4], [5], [4, 5], [5, 4, 6], [7, 8, 9, 10]]
    batch = case.batch([[5, 6, 7]] * 5, questions)
    vectors = case.model.encode(batch).query
    assert len(vectors.unique(dim=0)) == 5
    # Only the question differs, so attention and answers may, and do, follow it.
    assert len(case.model(batch).attention.unique(dim=0)) == 5
    hidden = case.model.encode(batch).hidden
    # A matrix product may round its last rows in another way than its first.
    torch.testing.assert_close(hidden, hidden[:1].expand_as(hidden))


@torch.no_grad()
def test_the_question_is_read_by_parts_of_its_own(build):
    model: AttentionModel = build("lstm", "additive", "answers").model
    shared = {id(p) for p in model.encoder.parameters()} & {
        id(p) for p in model.query_encoder.parameters()
    }
    assert shared == set()
    assert model.embedding.weight is not model.query_embedding.weight
    assert torch.equal(model.embedding.weight, model.query_embedding.weight)


def test_training_leaves_the_given_vectors_as_they_are():
    vectors = torch.ones(6, 3)
    model = assemble(vectors, Average, Dot, outputs=2)
    with torch.no_grad():
        model.embedding.weight.add_(1)
    assert (vectors == 1).all()
