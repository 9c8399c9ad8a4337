"""All deletions at once are the deletions one by one, by the definition of leave-one-out."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.batch import collate
from attention_audit.importance import leave_one_out
from attention_audit.importance.deletion import rerun
from attention_audit.measures import level
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive, Dot, Uniform
from attention_audit.models.decoders import Classification
from attention_audit.models.deletions import Told
from attention_audit.models.encoders import CNN, LSTM, Average, Encoder

ENCODERS = {
    "lstm": partial(LSTM, hidden=4),
    "cnn": partial(CNN, filters=2),
    "average": partial(Average, hidden=8),
}
ATTENTIONS = {"additive": Additive, "dot": Dot, "uniform": Uniform}
OUTPUTS = {"binary": 2, "classes": 3, "answers": 4, "relations": 3}


def _build(encoder="average", attention="additive", task="binary", size=1.0):
    torch.manual_seed(1)
    asked = task in ("answers", "relations")
    model = assemble(
        torch.randn(20, 6), ENCODERS[encoder], ATTENTIONS[attention], OUTPUTS[task], query=asked
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(size)
    return model.double().eval()


def _batch(documents, task="binary"):
    rows = range(len(documents))
    asked = [[4 + row % 9, 5] for row in rows] if task in ("answers", "relations") else None
    allowed = [[0, 1 + row % 3] for row in rows] if task == "answers" else None
    ids = [60 + row for row in rows]
    return collate(documents, [0] * len(ids), ids, asked, allowed, OUTPUTS[task])


def _close(found, expected, tolerance):
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance, equal_nan=True)


@pytest.fixture(
    params=[(e, a, t) for e in ENCODERS for a in ATTENTIONS for t in OUTPUTS], ids="+".join
)
def cell(request):
    encoder, attention, task = request.param
    return _build(encoder, attention, task, size=2.0), task


DOCUMENTS = [[5, 6, 7], [8], [], [9, 10, 11, 12, 13, 14, 5, 5, 9, 4], [15, 15], [7, 7, 4]]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@torch.no_grad()
def test_at_once_is_one_by_one(cell, dtype, tolerance):
    model, task = cell
    model, batch = model.to(dtype), _batch(DOCUMENTS, task)
    assert model.without_each(batch) is not None
    _close(leave_one_out(model, batch), rerun(model, batch), tolerance)


texts = st.lists(st.lists(st.integers(1, 19), max_size=15), min_size=1, max_size=5)


@pytest.mark.parametrize("encoder", ENCODERS)
@settings(max_examples=15)
@given(documents=texts, holes=st.integers(0, 2**20), size=st.sampled_from([0.3, 2.0, 6.0]))
@torch.no_grad()
def test_documents_of_any_lengths_and_words_without_attention(encoder, documents, holes, size):
    batch = _batch(documents)
    may = torch.tensor([holes >> place & 1 for place in range(batch.mask.shape[1])]).bool()
    batch = replace(batch, mask=batch.mask & ~may)
    model = _build(encoder, size=size)
    _close(leave_one_out(model, batch), rerun(model, batch), 1e-12)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("task", ["binary", "answers"])
@torch.no_grad()
def test_attention_that_is_all_but_one_on_a_word(encoder, task):
    """What the other words would do without it is only seen in the last bits of its weight."""
    model, batch = _build(encoder, "dot", task, size=2.0), _batch([[5, 6, 9, 7, 8]], task)
    for _ in range(60):
        if model(batch).attention.max() > 1 - 1e-12:
            break
        model.attention.scale *= 1.3
    assert 1 - 1e-10 < model(batch).attention.max() <= 1
    expected = rerun(model, batch)
    assert expected[batch.mask].max() > 1e-3
    _close(leave_one_out(model, batch), expected, 1e-11)


@torch.no_grad()
def test_equal_words_are_equally_important_whatever_stands_beside_the_text():
    model = _build(size=2.0)
    text = [5, 6, 5, 7, 6, 5, 8]
    alone, among = _batch([text]), _batch([[9, 4], text, [4] * 40])
    one = level(leave_one_out(model, alone), alone.mask)[0]
    other = level(leave_one_out(model, among), among.mask)[1, : len(one)]
    assert torch.equal(one[alone.mask[0]], other[alone.mask[0]])
    for word in set(text):
        assert len(one[alone.tokens[0] == word].unique()) == 1


class _Own(Encoder):
    """Every state is the embedding; nothing is said about deletions."""

    def __init__(self, embedding):
        super().__init__()
        self.width = embedding

    def forward(self, embedded, lengths):
        return embedded, embedded.sum(1)


class _Turned(LSTM):
    def forward(self, embedded, lengths):
        hidden, summary = super().forward(embedded, lengths)
        return -hidden, summary


class _Squared(Additive):
    def normalise(self, scores, mask):
        weights = scores.square() * mask
        return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)


class _Doubled(Dot):
    def forward(self, encoding):
        return 2 * super().forward(encoding)


class _Bent(Classification):
    def project(self, encoding):
        projection = super().project(encoding)
        return replace(projection, values=projection.values.tanh())


@pytest.mark.parametrize(
    ("encoder", "attention", "decoder"),
    [
        (_Own, Additive, None),
        (_Turned, Additive, None),
        (LSTM, _Squared, None),
        (CNN, _Doubled, None),
        (Average, Additive, _Bent),
    ],
)
@torch.no_grad()
def test_parts_of_your_own_are_read_again_without_each_word(encoder, attention, decoder):
    torch.manual_seed(4)
    model = assemble(torch.randn(20, 6), encoder, attention, outputs=2)
    if decoder is not None:
        model.decoder = decoder(model.encoder.width, 1)
    model, batch = model.double().eval(), _batch(DOCUMENTS)
    assert model.without_each(batch) is None
    found = leave_one_out(model, batch)
    _close(found, rerun(model, batch), 1e-12)
    assert (found[batch.mask.sum(1) > 1].nan_to_num() > 0).any()


@torch.no_grad()
def test_parts_of_your_own_may_say_how_it_goes():
    class Shifted(Average):
        def forward(self, embedded, lengths):
            hidden, summary = super().forward(embedded, lengths)
            return hidden + 1, summary

        def without_each(self, embedded, lengths, reading):
            hidden, _ = self(embedded, lengths)
            return Told(hidden, reading.each(hidden).beyond(0))

    torch.manual_seed(4)
    model = assemble(torch.randn(20, 6), Shifted, Additive, outputs=2).double().eval()
    batch = _batch(DOCUMENTS)
    assert model.without_each(batch) is not None
    _close(leave_one_out(model, batch), rerun(model, batch), 1e-12)


@pytest.mark.parametrize("encoder", ENCODERS)
@torch.no_grad()
def test_no_text_is_embedded_twice(encoder):
    model, batch = _build(encoder), _batch([[5] * 40, [6, 7], [8, 9, 10]])
    read = []
    model.embedding.register_forward_hook(lambda _, given, __: read.append(len(given[0])))
    leave_one_out(model, batch)
    assert sum(read) == len(batch)
