import pytest
import torch

from attention_audit.batch import Projection
from attention_audit.counterfactual import Decoding


class Linear:
    """The readout of a linear decoder: the attended sums are the logits."""

    linear = True

    def logits(self, projection, context):
        return context

    def pull_back(self, context, slope):
        return slope


@pytest.fixture(scope="session")
def linear():
    """A linear decoder over given values [B, T, O], without a bias."""

    def build(values, mask):
        offset = values.new_zeros(len(values), values.shape[-1])
        ids = torch.arange(len(values))
        return Decoding(Linear(), Projection(values, offset, mask, None, ids))

    return build


@pytest.fixture
def scene(linear):
    """A linear decoder over random hidden states: decode, attention, mask, ids of ragged rows."""

    def build(lengths=(6, 1, 9, 3), outputs=1, size=2.0, dtype=torch.float64, seed=0):
        torch.manual_seed(seed)
        width = max(lengths) + 2
        position = torch.arange(width)
        mask = (position >= 1) & (position <= torch.tensor(lengths)[:, None])
        values = size * torch.randn(len(lengths), width, outputs, dtype=dtype)
        scores = torch.randn(len(lengths), width, dtype=dtype)
        attention = scores.masked_fill(~mask, -1e30).softmax(-1) * mask
        ids = torch.arange(len(lengths)) + 70
        return linear(values, mask), attention, mask, ids, values

    return build


@pytest.fixture
def alone(linear):
    """Row `row` of a scene, without its padding."""

    def take(scene, row):
        _, attention, mask, ids, values = scene
        end = int(mask[row].nonzero().max()) + 2
        cut = slice(row, row + 1), slice(0, end)
        part = values[cut]
        return linear(part, mask[cut]), attention[cut], mask[cut], ids[cut[0]]

    return take
