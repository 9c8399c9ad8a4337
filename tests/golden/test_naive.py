"""Agreement with `naive.py`: loops that share nothing with the package, on random weights."""

import importlib.util
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from attention_audit.batch import collate
from attention_audit.counterfactual import Decoding, Search, adversarial_search, permutation
from attention_audit.counterfactual.permute import draw_permutations
from attention_audit.importance import gradient, leave_one_out
from attention_audit.measures import jsd
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive, Dot
from attention_audit.models.encoders import CNN, LSTM, Average

WORDS = [[4, 5, 6], [7], [8, 9, 4, 10, 11, 5], [12, 12], [6, 4, 9, 13], [9, 5, 8, 10, 7]]
QUESTIONS = [[4, 5], [6], [7, 8, 9], [10], [11, 12], [13, 4, 5, 6]]
ALLOWED = [[0, 1], [1, 2, 3], [0, 3], [0, 1, 2, 3], [1, 2], [0, 2, 3]]
ENCODERS = {
    "lstm": partial(LSTM, hidden=3),
    "cnn": partial(CNN, filters=2),
    "average": partial(Average, hidden=6),
}
ATTENTIONS = {"additive": Additive, "dot": Dot}
OUTPUTS = {"binary": 2, "classes": 3, "answers": 4}


def _naive() -> ModuleType:
    spec = importlib.util.spec_from_file_location("naive", Path(__file__).with_name("naive.py"))
    module = importlib.util.module_from_spec(spec)
    # dataclasses look their module up by name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "naive", module)
        spec.loader.exec_module(module)
    return module


naive = _naive()


class Case:
    """One model twice: ours over one padded batch, and the naive one with its documents."""

    def __init__(self, encoder: str, attention: str, task: str) -> None:
        asked = task == "answers"
        torch.manual_seed(7)
        self.model = assemble(
            torch.randn(14, 5), ENCODERS[encoder], ATTENTIONS[attention], OUTPUTS[task], asked
        )
        self.model.double().eval()
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.mul_(2)  # outputs far enough apart for the hinge to matter
        numbers = range(len(WORDS))
        self.batch = collate(
            WORDS,
            [0 for _ in numbers],
            list(numbers),
            QUESTIONS if asked else None,
            ALLOWED if asked else None,
            OUTPUTS[task],
        )
        arrays = {name: array.numpy() for name, array in self.model.state_dict().items()}
        self.naive = naive.Model(arrays, encoder, attention)
        self.documents = [
            naive.Document(
                [2, *WORDS[n], 3],
                [2, *QUESTIONS[n], 3] if asked else None,
                ALLOWED[n] if asked else None,
            )
            for n in numbers
        ]
        with torch.no_grad():
            encoding = self.model.encode(self.batch)
            self.attention = self.model.attend(encoding)
            self.decode = Decoding(self.model.decoder, self.model.project(encoding))

    def agrees(self, found: torch.Tensor, expected: list[np.ndarray], atol: float) -> None:
        """Compare row by row over each document's own length."""
        for row, theirs in enumerate(expected):
            ours = found[row][..., : theirs.shape[-1]]
            np.testing.assert_allclose(ours.detach(), theirs, rtol=0, atol=atol)


@pytest.fixture(
    scope="module",
    params=[(e, a, t) for e in ENCODERS for a in ATTENTIONS for t in OUTPUTS],
    ids="+".join,
)
def case(request) -> Case:
    return Case(*request.param)


def test_predictions_and_attention(case):
    expected = [naive.predict(case.naive, document) for document in case.documents]
    case.agrees(case.decode(case.attention[:, None])[:, 0], [p for p, _ in expected], 1e-12)
    case.agrees(case.attention, [attention for _, attention in expected], 1e-12)


@pytest.mark.parametrize("through_attention", [False, True])
def test_gradient(case, through_attention):
    found = gradient(case.model, case.batch, through_attention=through_attention)
    expected = [naive.gradient(case.naive, d, through_attention) for d in case.documents]
    assert max(row.max() for row in expected) > 1e-3
    case.agrees(found, expected, 1e-8)


def test_leave_one_out(case):
    expected = [naive.leave_one_out(case.naive, document) for document in case.documents]
    case.agrees(leave_one_out(case.model, case.batch), expected, 1e-12)


def test_leave_one_out_with_hidden_states_frozen(case):
    expected = [naive.leave_one_weight_out(case.naive, document) for document in case.documents]
    case.agrees(leave_one_out(case.model, case.batch, frozen=True), expected, 1e-12)


def test_permutations_and_their_divergence(case):
    index = draw_permutations(case.batch.mask, case.batch.ids, permutations=4, seed=0)
    found = permutation(case.decode, case.attention, case.batch.mask, case.batch.ids, index=index)
    source = case.attention[:, None].expand_as(index).gather(2, index.clamp(min=0))
    apart = jsd(source * (index >= 0), case.attention[:, None])
    for row, document in enumerate(case.documents):
        for k in range(4):
            moved, weights = naive.permuted(case.naive, document, index[row, k].tolist())
            assert found.delta[row, k] == pytest.approx(moved, abs=1e-12)
            original = naive.predict(case.naive, document)[1]
            assert apart[row, k] == pytest.approx(naive.jsd(weights, original), abs=1e-12)


@pytest.mark.parametrize("rule", ["paper", "program"])
def test_adversarial_search(case, rule):
    rows, steps, candidates = [0, 4], 12, 2
    torch.manual_seed(11)
    noise = torch.randn(len(WORDS), candidates, case.batch.mask.shape[1], dtype=torch.float64)
    search = Search(candidates=candidates, epsilon=0.05, objective=rule, steps=steps)
    found = adversarial_search(
        case.decode, case.attention, case.batch.mask, case.batch.ids, search, noise=noise
    )
    for row in rows:
        start = noise[row][:, case.batch.mask[row]].numpy()
        expected = naive.adversaries(case.naive, case.documents[row], start, steps, rule, 0.05)
        end = expected.shape[1]
        np.testing.assert_allclose(found.attention[row, :, :end], expected, rtol=0, atol=1e-6)
