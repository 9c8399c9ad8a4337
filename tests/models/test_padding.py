"""Padding never changes anything, and positions without a word count for nothing."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.measures import probabilities

DOCUMENTS = [[5, 6, 7], [8], [], [9, 10, 11, 12, 13, 14, 5], [15, 15], [7, 7, 4]]
QUESTIONS = [[4, 5], [], [6], [7, 8, 9, 10], [11, 12, 4], [5]]

word = st.integers(1, 15)
texts = st.lists(st.lists(word, max_size=6), min_size=1, max_size=4)


def _close(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def _read_alone_as_together(case, batch):
    encoding = case.model.encode(batch)
    logits, attention = case.model(batch)
    for row in range(len(batch)):
        one = case.alone(batch, row)
        length = int(one.lengths)
        lone = case.model.encode(one)
        lone_logits, lone_attention = case.model(one)
        _close(probabilities(logits)[row], probabilities(lone_logits)[0])
        _close(attention[row, :length], lone_attention[0])
        assert (attention[row, length:] == 0).all()
        _close(encoding.hidden[row, :length], lone.hidden[0])
        if case.asks:
            _close(encoding.query[row], lone.query[0])


@torch.no_grad()
def test_a_document_reads_alone_as_among_others(case):
    _read_alone_as_together(case, case.batch(DOCUMENTS, QUESTIONS))


@settings(deadline=None, max_examples=5)
@given(documents=texts, questions=texts)
@torch.no_grad()
def test_so_do_documents_and_questions_of_any_lengths(case, documents, questions):
    asked = [questions[row % len(questions)] for row in range(len(documents))]
    _read_alone_as_together(case, case.batch(documents, asked))


def _gradients(case, batch, size=1.0):
    """Of the sum of all rows' losses, each weighted by the row's id."""
    case.model.zero_grad()
    chosen = probabilities(case.model(batch).logits)[torch.arange(len(batch)), batch.labels]
    (-chosen.log() * batch.ids * size).sum().backward()
    return {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
        for name, p in case.model.named_parameters()
    }


def test_a_batchs_gradients_are_the_sum_of_its_documents_gradients(case):
    batch = case.batch(DOCUMENTS, QUESTIONS)
    alone = [_gradients(case, case.alone(batch, row)) for row in range(len(batch))]
    for name, found in _gradients(case, batch).items():
        expected = sum(gradients[name] for gradients in alone)
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-9)


@torch.no_grad()
def test_attention_is_a_distribution_over_words_and_exactly_zero_elsewhere(case):
    batch = case.batch(DOCUMENTS, QUESTIONS)
    attention = case.model(batch).attention
    assert (attention[~batch.mask] == 0).all()
    assert (attention[batch.mask] > 0).all()
    _close(attention.sum(1), batch.mask.any(1).double())


@pytest.mark.parametrize("size", [1.0, 1e30])
def test_documents_and_questions_without_words_are_never_nan(case, size):
    batch = case.batch([[], []], [[], []])
    logits, attention = case.model(batch)
    assert logits.isfinite().all()
    assert (attention == 0).all()
    for name, gradient in _gradients(case, batch, size).items():
        assert gradient.isfinite().all(), name
        if name.startswith("attention."):
            assert (gradient == 0).all(), name


def test_the_padding_vector_is_not_trained(case):
    gradients = _gradients(case, case.batch(DOCUMENTS, QUESTIONS))
    for name in ("embedding", *(["query_embedding"] if case.asks else [])):
        assert (gradients[f"{name}.weight"][0] == 0).all()
        assert (gradients[f"{name}.weight"] != 0).any()
