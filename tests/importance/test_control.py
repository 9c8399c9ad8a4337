import torch

from attention_audit.importance import random


def test_it_is_uniform_on_the_mask_and_zero_elsewhere(batch):
    found = random(None, batch, seed=0)
    assert (found[~batch.mask] == 0).all()
    assert found[batch.mask].unique().numel() == batch.mask.sum()
    assert ((found >= 0) & (found < 1)).all()


def test_it_follows_from_seed_and_instance_alone(batch):
    assert torch.equal(random(None, batch, seed=0), random(None, batch, seed=0))
    assert not torch.equal(random(None, batch, seed=0), random(None, batch, seed=1))
    turned = torch.arange(len(batch)).flip(0)
    found = random(None, batch.rows(turned), seed=0)
    assert torch.equal(found[turned], random(None, batch, seed=0))
