import pytest
import torch

from attention_audit.batch import collate
from attention_audit.importance import gradient, signed_gradient


def test_a_linear_models_gradient_is_known(linear, batch):
    model = linear(outputs=1)
    encoding = model.encode(batch)
    attention, values = model.attend(encoding), model.project(encoding).values[..., 0]
    p = torch.sigmoid((attention * values).sum(-1, keepdim=True))
    expected = p * (1 - p) * attention * values
    torch.testing.assert_close(
        signed_gradient(model, batch), expected.detach().double(), rtol=1e-5, atol=1e-7
    )
    torch.testing.assert_close(gradient(model, batch), signed_gradient(model, batch).abs())


@pytest.mark.parametrize("through_attention", [False, True])
def test_it_is_autograds_gradient_of_the_probability(fitted, through_attention):
    model, batch = fitted
    for row in range(len(batch)):
        one = batch.rows(slice(row, row + 1))
        embedded = model.embed(one).detach().requires_grad_()
        encoding = model.encode(one, embedded)
        attention = model.attend(encoding)
        if not through_attention:
            attention = attention.detach()
        logits = model.decode(model.project(encoding), attention)[0]
        y = torch.sigmoid(logits[0]) if len(logits) == 1 else logits.softmax(0).max()
        (moved,) = torch.autograd.grad(y, embedded)
        expected = (moved * embedded).sum(-1).abs()[0] * one.mask[0]
        found = gradient(model, batch, through_attention=through_attention)[row]
        torch.testing.assert_close(found, expected.detach(), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_saturated_probability_keeps_its_gradient(linear, batch, outputs):
    # In float32 the probability is exactly 1 or 0 here; in float64 it is not yet.
    sure, same = linear(outputs, size=100.0), linear(outputs, size=100.0).double()
    found = gradient(sure, batch)
    assert (found[batch.mask] > 0).all()
    torch.testing.assert_close(found, gradient(same, batch), rtol=1e-3, atol=0)
    assert found.max() < 1e-3


def test_it_is_zero_off_the_mask_and_never_nan(linear):
    batch = collate([[5, 6], [], [7, 8, 9]], [0, 0, 0], [1, 2, 3])
    for outputs in (1, 3):
        found = gradient(linear(outputs), batch)
        assert (found[~batch.mask] == 0).all()
        assert found.isfinite().all()
        assert (found[1] == 0).all()


@pytest.mark.parametrize("surroundings", [torch.no_grad, torch.inference_mode])
def test_it_works_where_gradients_are_off(linear, batch, surroundings):
    model = linear(outputs=3)
    expected = gradient(model, batch)
    with surroundings():
        inside = batch.rows(torch.arange(len(batch)))  # made inside, as by a data loader
        assert torch.equal(gradient(model, inside), expected)


def test_the_parameters_gradients_are_left_alone(linear, batch):
    model = linear(outputs=1)
    gradient(model, batch)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_dropout_can_not_be_active(linear, batch):
    with pytest.raises(ValueError, match="train mode"):
        gradient(linear(outputs=1).train(), batch)


def test_an_infinite_logit_of_a_forbidden_answer_is_no_nan(linear, batch):
    model = linear(outputs=3)
    free, open_answers = model.decode, torch.tensor([True, True, False])
    model.decode = lambda *given: free(*given).masked_fill(~open_answers, float("-inf"))
    assert (gradient(model, batch)[batch.mask] > 0).all()
    model.decode = lambda *given: free(*given).masked_fill(
        torch.tensor([False, True, True]), float("-inf")
    )
    assert (gradient(model, batch) == 0).all()
