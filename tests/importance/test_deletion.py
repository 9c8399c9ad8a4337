import pytest
import torch

from attention_audit.batch import collate
from attention_audit.importance import leave_one_out
from attention_audit.measures import probabilities, tvd


def _naive(model, batch):
    """One document at a time, one deletion at a time."""
    found = torch.full(batch.mask.shape, torch.nan, dtype=torch.float64)
    for row in range(len(batch)):
        one = batch.rows(slice(row, row + 1))
        words = one.tokens[0][one.mask[0]].tolist()
        whole = probabilities(model(_with(one, words)).logits)
        for place in range(len(words)) if len(words) > 1 else ():
            reduced = _with(one, words[:place] + words[place + 1 :])
            found[row, place + 1] = tvd(probabilities(model(reduced).logits), whole)
    return found


def _with(one, words):
    query = candidates = None
    answers = 0
    if one.query_tokens is not None:
        query = [one.query_tokens[0, 1 : int(one.query_lengths) - 1].tolist()]
    if one.candidates is not None:
        candidates = [one.candidates[0].nonzero().flatten().tolist()]
        answers = one.candidates.shape[1]
    return collate([words], one.labels.tolist(), one.ids.tolist(), query, candidates, answers)


@torch.no_grad()
def test_it_is_a_rerun_without_the_token(fitted):
    model, batch = fitted
    torch.testing.assert_close(
        leave_one_out(model, batch), _naive(model, batch), rtol=0, atol=1e-12, equal_nan=True
    )


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("max_tokens", [1, 20, 37])
def test_the_size_of_the_pieces_does_not_matter(fitted, frozen, max_tokens):
    model, batch = fitted
    torch.testing.assert_close(
        leave_one_out(model, batch, frozen=frozen, max_tokens=max_tokens),
        leave_one_out(model, batch, frozen=frozen),
        rtol=0,
        atol=1e-12,
        equal_nan=True,
    )


@torch.no_grad()
def test_frozen_drops_the_weight_and_renormalises(fitted):
    model, batch = fitted
    encoding = model.encode(batch)
    attention, projection = model.attend(encoding), model.project(encoding)
    whole = probabilities(model.decode(projection, attention))
    found = leave_one_out(model, batch, frozen=True)
    for position in range(1, 3):
        left = attention.clone()
        left[:, position] = 0
        left = left / left.sum(1, keepdim=True)
        moved = tvd(probabilities(model.decode(projection, left)), whole)
        kept = batch.mask[:, position] & (batch.mask.sum(1) > 1)
        torch.testing.assert_close(found[kept, position], moved[kept], rtol=0, atol=1e-12)


@pytest.mark.parametrize("frozen", [False, True])
def test_it_is_undefined_off_the_mask_and_where_nothing_is_left(fitted, frozen):
    model, batch = fitted
    found = leave_one_out(model, batch, frozen=frozen)
    several = batch.mask & (batch.mask.sum(1, keepdim=True) > 1)
    assert torch.equal(found.isnan(), ~several)
    assert ((found[several] >= 0) & (found[several] <= 1)).all()


@pytest.mark.parametrize("frozen", [False, True])
def test_documents_without_words_are_undefined(linear, frozen):
    batch = collate([[], [5], []], [0, 0, 0], [1, 2, 3])
    assert leave_one_out(linear(1), batch, frozen=frozen).isnan().all()


def test_a_long_document_is_run_in_pieces(linear):
    model = linear(outputs=1)
    batch = collate([[4 + n % 10 for n in range(2000)], [5, 6]], [0, 0], [1, 2])
    seen = []
    encode = model.encode
    model.encode = lambda part: seen.append(part.tokens.numel()) or encode(part)
    found = leave_one_out(model, batch, max_tokens=50_000)
    assert max(seen[1:]) <= 50_000
    assert found[0, 1:2001].isfinite().all()


def test_dropout_can_not_be_active(linear, batch):
    with pytest.raises(ValueError, match="train mode"):
        leave_one_out(linear(outputs=1).train(), batch)
