import pytest
import torch

from attention_audit.measures import probabilities


def test_one_logit_gives_both_columns_without_cancellation():
    found = probabilities(torch.tensor([[60.0], [-60.0]]))
    assert found.dtype == torch.float64
    assert found[0, 0] == found[1, 1] == pytest.approx(8.75651076e-27, rel=1e-8)


def test_several_logits_give_their_softmax():
    logits = torch.randn(2, 3, 4)
    torch.testing.assert_close(probabilities(logits), logits.double().softmax(-1))
