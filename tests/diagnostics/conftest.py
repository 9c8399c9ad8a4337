"""Models that say what they are told to, and fits that note what they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from attention_audit.batch import Batch, collate
from attention_audit.diagnostics import Subject
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import Average
from attention_audit.predictions import Given, Predictions

# Of each split, by id; an id tells the split.
TEXTS = {
    "train": {11: [4, 5, 6], 12: [7, 8], 13: [9, 9, 5, 4], 14: [6]},
    "dev": {21: [5, 5], 22: [8, 4, 6]},
    "test": {31: [9, 4], 32: [10, 11, 5]},
}


def told(rows: Mapping[int, list[float]], outputs: Mapping[int, float] | None = None):
    """Predictions with these weights, by id, and these probabilities of class 1."""
    given = [(outputs or {}).get(one, 0.5) for one in rows]
    return Predictions(
        ids=torch.tensor([*rows]),
        labels=torch.tensor([one % 2 for one in rows]),
        probabilities=torch.tensor([[1 - p, p] for p in given], dtype=torch.float64),
        attention=[torch.tensor(row) for row in rows.values()],
        token_logits=None,
    )


class Speaking(nn.Module):
    """Says of each split what it is told, and is not asked twice."""

    def __init__(self, said: Mapping[str, Predictions]) -> None:
        super().__init__()
        self.said = dict(said)
        self.nothing = nn.Parameter(torch.zeros(1))
        self.asked: list[str] = []

    def predict(self, batch: Split, given: Given | None = None) -> Predictions:
        assert not self.training
        self.asked.append(batch.name)
        return self.said[batch.name]


@dataclass(frozen=True)
class Split:
    """Stands for a split's only batch."""

    name: str

    def to(self, device: torch.device) -> Split:
        return self


def speaking(weights: str = "w", **said: Predictions) -> Subject:
    """A model that says this of the splits, in one batch each."""
    return Subject(Speaking(said), lambda split: [Split(split)], weights)


@dataclass
class Noted:
    """A `Fit` that notes what it was asked for; what it fits is made by `make`."""

    make: Callable[..., Subject] = field(default=lambda **asked: speaking(str(asked)))
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, role: str, change: Mapping[str, Any], given: Given | None = None) -> Subject:
        asked = {"role": role, "change": change, "given": given}
        self.asked.append(asked)
        return self.make(**asked)


def reading(outputs: int = 2, seed: int = 0) -> Subject:
    """A small model, never fitted, on `TEXTS`, two texts a batch, in an order of its own."""
    torch.manual_seed(seed)
    model: AttentionModel = assemble(
        torch.randn(12, 4), partial(Average, hidden=4), Additive, outputs
    )
    return Subject(model, batches, f"weights-{seed}")


def batches(split: str) -> list[Batch]:
    texts = TEXTS[split]
    order = [*texts][::-1]
    return [
        collate([texts[one] for one in part], [one % 2 for one in part], part)
        for part in (order[:2], order[2:])
        if part
    ]


@pytest.fixture(scope="session", name="told")
def _told():
    return told


@pytest.fixture(scope="session", name="speaking")
def _speaking():
    return speaking


@pytest.fixture(scope="session", name="reading")
def _reading():
    return reading


@pytest.fixture(scope="session", name="texts")
def _texts():
    return TEXTS


@pytest.fixture(scope="session")
def noted() -> type[Noted]:
    return Noted
