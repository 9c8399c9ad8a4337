"""Every encoder x attention x task as a small model, and batches for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest
import torch

from attention_audit.batch import Batch, collate
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive, Dot, Uniform
from attention_audit.models.encoders import CNN, LSTM, Average

WORDS = 16
ENCODERS = {
    "lstm": partial(LSTM, hidden=3),
    "cnn": partial(CNN, filters=2, kernels=(1, 3, 5)),
    "average": partial(Average, hidden=6),
    "average_tanh": partial(Average, hidden=6, activation="tanh"),
}
ATTENTIONS = {"additive": Additive, "dot": Dot, "uniform": Uniform}
OUTPUTS = {"binary": 2, "classes": 3, "answers": 4, "relations": 3}
ALLOWED = [[0, 1], [1, 2, 3], [0, 3], [0, 1, 2, 3], [2], [1, 3]]


@dataclass(frozen=True)
class Case:
    """A float64 model in evaluation mode, and how to make a batch for it."""

    task: str
    model: AttentionModel

    @property
    def asks(self) -> bool:
        return self.task in ("answers", "relations")

    @property
    def narrows(self) -> bool:
        """Each row names the answers that it may give."""
        return self.task == "answers"

    def batch(self, documents: list[list[int]], questions: list[list[int]] | None = None) -> Batch:
        """Labels, candidates and, unless given, questions follow from the row's number."""
        rows = range(len(documents))
        questions = questions or [[4 + row % 9, *range(4, 4 + row % 4)] for row in rows]
        allowed = [ALLOWED[row % len(ALLOWED)] for row in rows]
        labels = [allowed[row][0] if self.narrows else row % OUTPUTS[self.task] for row in rows]
        return collate(
            documents,
            labels,
            [100 + row for row in rows],
            questions if self.asks else None,
            allowed if self.narrows else None,
            OUTPUTS[self.task],
        )

    def alone(self, batch: Batch, row: int) -> Batch:
        """One row of a batch as if nothing longer had been beside it."""
        words = batch.tokens[row, 1 : batch.lengths[row] - 1].tolist()
        question = candidates = None
        if self.asks:
            question = [batch.query_tokens[row, 1 : batch.query_lengths[row] - 1].tolist()]
        if self.narrows:
            candidates = [batch.candidates[row].nonzero().flatten().tolist()]
        one = batch.rows(slice(row, row + 1))
        return collate(
            [words],
            one.labels.tolist(),
            one.ids.tolist(),
            question,
            candidates,
            OUTPUTS[self.task],
        )


def _case(encoder: str, attention: str, task: str) -> Case:
    torch.manual_seed(3)
    model = assemble(
        torch.randn(WORDS, 5),
        ENCODERS[encoder],
        ATTENTIONS[attention],
        OUTPUTS[task],
        query=task in ("answers", "relations"),
    )
    return Case(task, model.double().eval())


@pytest.fixture(
    scope="module",
    params=[(e, a, t) for e in ENCODERS for a in ATTENTIONS for t in OUTPUTS],
    ids="+".join,
)
def case(request: pytest.FixtureRequest) -> Case:
    return _case(*request.param)


@pytest.fixture(scope="module")
def build() -> Callable[..., Case]:
    """One case by the names of its encoder, attention and task."""
    return _case
