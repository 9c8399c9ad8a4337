import torch

from attention_audit.importance import random


def test_it_is_uniform_on_the_mask_and_zero_elsewhere(linear, batch):
    found = random(linear(1), batch, seed=0)
    assert (found[~batch.mask] == 0).all()
    assert found[batch.mask].unique().numel() == batch.mask.sum()
    assert ((found >= 0) & (found < 1)).all()


def test_it_follows_from_seed_and_instance_alone(linear, batch):
    model = linear(1)
    found = random(model, batch, seed=0)
    assert torch.equal(random(model, batch, seed=0), found)
    assert not torch.equal(random(model, batch, seed=1), found)
    turned = torch.arange(len(batch)).flip(0)
    assert torch.equal(random(model, batch.rows(turned), seed=0)[turned], found)
