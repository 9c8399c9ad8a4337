import pytest
import torch

from attention_audit.measures import probabilities


@pytest.fixture
def scene():
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

        def decode(alternatives):
            return probabilities(alternatives @ values)

        return decode, attention, mask, ids, values

    return build


@pytest.fixture
def alone():
    """Row `row` of a scene, without its padding."""

    def take(scene, row):
        _, attention, mask, ids, values = scene
        end = int(mask[row].nonzero().max()) + 2
        cut = slice(row, row + 1), slice(0, end)
        part = values[cut]
        return lambda given: probabilities(given @ part), attention[cut], mask[cut], ids[cut[0]]

    return take
