"""Pools of attention merge to what a softmax over the same positions gives."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from attention_audit.models.deletions import NEVER, Pool, Reading, Scoring
from attention_audit.models.encoders import CNN, LSTM, Average

scores = st.floats(-3, 3) | st.floats(-1e5, 1e5) | st.sampled_from([0.0, 30.0, 745.0, -745.0])
positions = st.lists(st.tuples(scores, st.floats(-5, 5), st.booleans()), min_size=1, max_size=12)


def _pool(positions):
    score, value, kept = zip(*positions, strict=True)
    return Pool.each(
        torch.tensor([score], dtype=torch.float64),
        torch.tensor(value, dtype=torch.float64)[None, :, None],
        torch.tensor([kept]),
    )


def _attended(positions):
    """By long doubles, only the positions themselves; 0 without any."""
    kept = [(score, value) for score, value, is_kept in positions if is_kept]
    if not kept:
        return 0.0
    score, value = np.array(kept, dtype=np.longdouble).T
    weight = np.exp(score - score.max())
    return float((weight * value).sum() / weight.sum())


@given(positions)
def test_others_are_a_softmax_without_the_position_however_large_its_weight(positions):
    found = _pool(positions).beyond(0).context()[0, :, 0]
    for place in range(len(positions)):
        expected = _attended(positions[:place] + positions[place + 1 :])
        assert float(found[place]) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(positions, st.integers(1, 15))
def test_beyond_a_reach(positions, reach):
    found = _pool(positions).beyond(reach).context()[0, :, 0]
    for place in range(len(positions)):
        expected = _attended(positions[: max(0, place - reach)] + positions[place + reach + 1 :])
        assert float(found[place]) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def _added(positions):
    """One place, to which one position after the other is added."""
    pool = _pool([(0.0, 0.0, False)])
    for position in positions:
        one = _pool([position])
        pool.add(slice(None), one.top, one.weighted, one.total > 0)
    return pool


@given(positions, positions)
def test_parts_make_the_whole_one_by_one_and_merged(first, second):
    expected = pytest.approx(_attended(first + second), rel=1e-12, abs=1e-12)
    assert float(_added(first + second).context()) == expected
    assert float(_added(first).merge(_added(second)).context()) == expected


def test_nothing_merged_with_nothing_is_nothing():
    empty = _pool([(1.0, 2.0, False), (5.0, 3.0, False)])
    both = empty.merge(empty)
    assert (both.top == NEVER).all()
    assert (both.total == 0).all()
    assert (both.context() == 0).all()


def _plain(width, mask):
    """Reads hidden states as they are, with the same weight for all."""
    uniform = Scoring(lambda hidden, columns: hidden[..., :0], lambda energy: energy.sum(-1))
    return Reading(uniform, torch.eye(width, dtype=torch.float64), mask)


ENCODERS = {
    "lstm": lambda: LSTM(embedding=4, hidden=3),
    "cnn": lambda: CNN(embedding=4, filters=2, kernels=(1, 3, 5, 7)),
    "cnn_wide": lambda: CNN(embedding=4, filters=2, kernels=(9, 3)),
    "average": lambda: Average(embedding=4, hidden=5),
}


@pytest.fixture(params=ENCODERS)
def encoder(request):
    torch.manual_seed(2)
    return ENCODERS[request.param]().double().eval()


@pytest.mark.parametrize("holes", [False, True])
@torch.no_grad()
def test_every_encoder_reads_what_is_left_of_a_text(encoder, holes):
    lengths = torch.tensor([9, 1, 4, 2, 7, 3])
    torch.manual_seed(3)
    embedded = torch.randn(6, 9, 4, dtype=torch.float64)
    mask = torch.arange(9) < lengths[:, None]
    if holes:
        mask &= torch.rand(mask.shape) < 0.5
    told = encoder.without_each(embedded, lengths, _plain(encoder.width, mask))
    whole, _ = encoder(embedded, lengths)
    real = torch.arange(9) < lengths[:, None]
    torch.testing.assert_close(told.hidden[real], whole[real], rtol=0, atol=1e-13)
    found = told.pool.context()
    for row, length in enumerate(lengths.tolist()):
        for place in mask[row].nonzero().flatten().tolist():
            left = [other for other in range(length) if other != place]
            if not left:
                continue
            hidden, _ = encoder(embedded[row : row + 1, left], torch.tensor([length - 1]))
            states = hidden[0, mask[row, left]]
            expected = states.mean(0) if len(states) else torch.zeros(encoder.width).double()
            torch.testing.assert_close(found[row, place], expected, rtol=0, atol=1e-13)


class _Largest(TorchDispatchMode):
    """The most numbers that a tensor held."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            self.numbers = max(self.numbers, made.numel())
        return made


@torch.no_grad()
def test_memory_grows_with_the_text_and_not_with_its_square(encoder):
    def largest(tokens):
        embedded = torch.randn(1, tokens, 4, dtype=torch.float64)
        mask = torch.ones(1, tokens, dtype=torch.bool)
        with _Largest() as seen:
            encoder.without_each(embedded, torch.tensor([tokens]), _plain(encoder.width, mask))
        return seen.numbers

    assert largest(160) <= 2.3 * largest(80)
