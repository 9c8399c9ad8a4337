from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_audit.batch import Batch, collate
from attention_audit.importance import leave_one_out
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive, Dot, Uniform
from attention_audit.models.encoders import CNN, LSTM, Average, Summarised

LENGTHS = torch.tensor([4, 2, 7, 3])


def _embedded(lengths, width=5, dtype=torch.float64):
    """Random at real positions, and rubbish at padding: it must not matter."""
    torch.manual_seed(1)
    return torch.randn(len(lengths), int(lengths.max()), width, dtype=dtype)


def _torchs(ours):
    theirs = nn.LSTM(5, 3, batch_first=True, bidirectional=True)
    weights = {}
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        weights[name] = getattr(ours.forward_lstm, name)
        weights[f"{name}_reverse"] = getattr(ours.backward_lstm, name)
    theirs.load_state_dict(weights)
    return theirs


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5).map(torch.tensor))
@torch.no_grad()
def test_lstm_is_torchs_bidirectional_lstm_over_packed_sequences(lengths):
    torch.manual_seed(0)
    ours = LSTM(embedding=5, hidden=3)
    embedded = _embedded(lengths, dtype=torch.float32)
    packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    states, (last, _) = _torchs(ours)(packed)
    states, _ = pad_packed_sequence(states, batch_first=True)
    hidden, summary = ours(embedded, lengths)
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(hidden[row, :length], states[row, :length], rtol=0, atol=1e-6)
    torch.testing.assert_close(summary, torch.cat([last[0], last[1]], -1), rtol=0, atol=1e-6)
    assert hidden.shape[-1] == ours.width == 6


@torch.no_grad()
def test_cnn_sees_zeros_beyond_a_documents_ends():
    encoder = CNN(embedding=5, filters=2, kernels=(1, 3, 5)).double()
    embedded = _embedded(LENGTHS)
    hidden, summary = encoder(embedded, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        expected = torch.zeros(length, 6, dtype=torch.float64)
        for block, kernel in enumerate((1, 3, 5)):
            conv, reach = encoder.convolutions[block], kernel // 2
            for position in range(length):
                total = conv.bias.clone()
                for offset in range(-reach, reach + 1):
                    if 0 <= position + offset < length:
                        weight = conv.weight[:, :, offset + reach]
                        total += weight @ embedded[row, position + offset]
                expected[position, 2 * block : 2 * block + 2] = total.clamp(min=0)
        torch.testing.assert_close(hidden[row, :length], expected)
        torch.testing.assert_close(summary[row], expected.amax(0))


@pytest.mark.parametrize("kernels", [(1, 2), (4,), ()])
def test_cnn_kernels_are_odd(kernels):
    with pytest.raises(ValueError, match=r"encoder\.kernels: found .*expected odd widths"):
        CNN(embedding=5, kernels=kernels)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@torch.no_grad()
def test_average_is_token_by_token_and_its_summary_a_mean_over_the_real_ones(activation):
    encoder = Average(embedding=5, hidden=4, activation=activation).double()
    embedded = _embedded(LENGTHS)
    hidden, summary = encoder(embedded, LENGTHS)
    function = getattr(torch, activation)
    for row, length in enumerate(LENGTHS.tolist()):
        expected = torch.stack([function(encoder.projection(e)) for e in embedded[row, :length]])
        torch.testing.assert_close(hidden[row, :length], expected)
        torch.testing.assert_close(summary[row], expected.mean(0))


@pytest.mark.parametrize("encoder", [LSTM, CNN, Average])
@torch.no_grad()
def test_what_stands_at_padding_does_not_matter(encoder):
    built = encoder(embedding=5).double()
    embedded = _embedded(LENGTHS)
    real = torch.arange(7) < LENGTHS[:, None]
    other = torch.where(real[..., None], embedded, 1e6)
    for one, two in zip(built(embedded, LENGTHS), built(other, LENGTHS), strict=True):
        if one.dim() == 3:
            one, two = one[real], two[real]
        torch.testing.assert_close(one, two, rtol=0, atol=0)


def test_widths_are_the_papers():
    assert [built(embedding=5).width for built in (LSTM, CNN, Average)] == [256, 256, 256]


def test_an_encoder_that_is_not_as_wide_as_it_says_is_refused():
    def wrong(embedding):
        encoder = Average(embedding, hidden=6)
        encoder.width = 5
        return encoder

    with pytest.raises(ValueError, match="its width is 5, its hidden states are 6 wide"):
        assemble(torch.randn(9, 4), wrong, Additive, outputs=2)


PLAIN = {
    "lstm": partial(LSTM, hidden=3),
    "cnn": partial(CNN, filters=2, kernels=(1, 3)),
    "average": partial(Average, hidden=6),
}


def _plain(encoder, attention=Additive, outputs=3, query=False) -> AttentionModel:
    torch.manual_seed(6)
    vectors = 3 * torch.randn(16, 5)
    model = assemble(
        vectors, partial(Summarised, of=PLAIN[encoder]), attention, outputs, query=query
    )
    return model.double().eval()


def _read(*texts) -> Batch:
    questions = [[4 + row] for row in range(len(texts))]
    return collate([*texts], [0] * len(texts), list(range(len(texts))), questions)


@pytest.mark.parametrize("attention", [Additive, Dot, Uniform])
@pytest.mark.parametrize("encoder", PLAIN)
@torch.no_grad()
def test_a_summarised_models_output_is_the_decoders_on_the_summary(encoder, attention):
    model, batch = _plain(encoder, attention), _read([5, 6, 7, 8], [9], [10, 5, 11])
    _, summary = model.encoder.of(model.embed(batch), batch.lengths)
    assert model.encoder.width == model.encoder.of.width == summary.shape[1]
    expected = model.decoder.output(summary)
    torch.testing.assert_close(model(batch).logits, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("encoder", PLAIN)
@torch.no_grad()
def test_whatever_attention_says_the_decoder_gets_the_summary(encoder):
    model, batch = _plain(encoder), _read([5, 6, 7, 8], [9, 10])
    encoding = model.encode(batch)
    scores = 5 * torch.randn(7, *batch.mask.shape, dtype=torch.float64)
    weights = torch.stack([model.attention.normalise(one, batch.mask) for one in scores], 1)
    assert (weights.std(1)[batch.mask] > 0.01).all(), "the test needs attentions that differ"
    logits = model.decode(model.project(encoding), weights)
    expected = model(batch).logits[:, None].expand_as(logits)
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("encoder", PLAIN)
@torch.no_grad()
def test_a_summary_is_the_same_alone_and_beside_longer_texts(encoder):
    model, texts = _plain(encoder), [[5, 6, 7, 8, 9, 10], [9], [10, 5, 11]]
    together = model(_read(*texts)).logits
    for row, text in enumerate(texts):
        alone = model(_read(text)).logits[0]
        torch.testing.assert_close(together[row], alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("encoder", PLAIN)
@torch.no_grad()
def test_a_summarised_model_with_a_question_asks_by_its_summary(encoder):
    model, batch = _plain(encoder, query=True), _read([5, 6, 7], [9])
    _, passage = model.encoder.of(model.embed(batch), batch.lengths)
    embedded = model.query_embedding(batch.query_tokens)
    _, question = model.query_encoder.of(embedded, batch.query_lengths)
    joined = model.decoder.passage(passage) + model.decoder.query(question)
    expected = model.decoder.output(torch.tanh(joined))
    torch.testing.assert_close(model(batch).logits, expected, rtol=0, atol=1e-12)


def test_without_a_word_a_summarised_model_reads_the_text_again():
    model, batch = _plain("lstm"), _read([5, 6, 7])
    found = leave_one_out(model, batch)[0, 1:4]
    whole = model(batch).logits.softmax(-1)
    shorter = model(_read([6, 7], [5, 7], [5, 6])).logits.softmax(-1)
    expected = (shorter - whole).abs().sum(1) / 2
    torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-10)
