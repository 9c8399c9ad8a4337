import pytest
import torch

from attention_audit.diagnostics import SPLITS, Fit
from attention_audit.predictions import Given


def test_a_split_is_read_once(told, speaking):
    subject = speaking(dev=told({1: [1.0]}), test=told({2: [1.0]}))
    first = subject.read("dev")
    assert subject.read("dev") is first
    assert subject.read("test").ids.tolist() == [2]
    assert subject.model.asked == ["dev", "test"]


@pytest.mark.parametrize("split", SPLITS)
def test_it_reads_in_evaluation_mode_without_gradients_each_row_once(reading, texts, split):
    subject = reading()
    subject.model.train()
    found = subject.read(split)
    assert not subject.model.training
    assert sorted(found.ids.tolist()) == sorted(texts[split])
    assert not found.probabilities.requires_grad
    for instance, row in zip(found.ids.tolist(), found.attention, strict=True):
        assert len(row) == len(texts[split][instance])
        assert float(row.sum()) == pytest.approx(1)


def test_it_gives_attention_and_outputs_of_all_splits_that_are_asked_for(reading, texts):
    subject = reading()
    given = subject.gives(("train", "dev"))
    assert given.ids.tolist() == sorted([*texts["train"], *texts["dev"]])
    for split in ("train", "dev"):
        for batch in subject.batches(split):
            with torch.no_grad():
                logits, attention = subject.model(batch)
            assert torch.equal(given.attention(batch.ids, batch.mask), attention)
            p = torch.sigmoid(logits[:, 0].double())
            torch.testing.assert_close(given.outputs(batch.ids)[:, 1], p)
    test = subject.batches("test")[0]
    with pytest.raises(ValueError, match="nothing is there for instance"):
        given.attention(test.ids, test.mask)


def test_under_other_attention_the_hidden_states_stay(reading):
    subject = reading()
    own = subject.read("test")
    again = subject.read_under(subject.gives(("test",)), "test")
    torch.testing.assert_close(again.probabilities, own.probabilities, rtol=0, atol=1e-7)
    turned = Given.of(own.ids, [row.flip(0) for row in own.attention])
    other = subject.read_under(turned, "test")
    assert subject.read("test") is own
    bias = subject.model.decoder.output.bias.detach()
    for place, row in enumerate(own.attention):
        assert torch.equal(other.attention[place], row.flip(0))
        logit = row.flip(0) @ own.token_logits[place] + bias
        p = torch.sigmoid(logit.double())
        torch.testing.assert_close(other.probabilities[place, 1:], p, rtol=0, atol=1e-6)
    assert not torch.allclose(other.probabilities, own.probabilities, rtol=0, atol=1e-4)


def test_what_fits_is_a_fit(noted):
    assert isinstance(noted(), Fit)
    assert not isinstance("a word", Fit)
