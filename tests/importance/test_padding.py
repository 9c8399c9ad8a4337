"""A document alone and the same one batched with longer ones get the same importance."""

from functools import partial

import pytest
import torch

from attention_audit.importance import gradient, leave_one_out, random

IMPORTANCES = {
    "gradient": gradient,
    "gradient_full": partial(gradient, through_attention=True),
    "loo": leave_one_out,
    "loo_frozen": partial(leave_one_out, frozen=True),
    "random": partial(random, seed=3),
}


def _alone(batch, row):
    length = int(batch.lengths[row])
    one = batch.rows(slice(row, row + 1))
    return type(one)(
        **{
            **vars(one),
            "tokens": one.tokens[:, :length],
            "mask": one.mask[:, :length],
        }
    )


@pytest.mark.parametrize("name", IMPORTANCES)
def test_padding_never_changes_anything(fitted, name):
    model, batch = fitted
    together = IMPORTANCES[name](model, batch)
    for row in range(len(batch)):
        length = int(batch.lengths[row])
        alone = IMPORTANCES[name](model, _alone(batch, row))[0]
        torch.testing.assert_close(
            together[row, :length], alone, rtol=0, atol=1e-12, equal_nan=True
        )
