from functools import partial

import pytest
import torch
from torch import nn

from attention_audit.batch import Batch, Encoding, Projection, collate
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive, Dot
from attention_audit.models.encoders import CNN, LSTM, Average

WORDS = 20


class Linear(nn.Module):
    """Hidden states are the embeddings and everything is linear, so gradients are known."""

    def __init__(self, outputs: int, size: float = 1.0) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 4, padding_idx=0)
        self.scorer = nn.Parameter(torch.randn(4))
        self.weight = nn.Parameter(size * torch.randn(outputs, 4))

    def embed(self, batch: Batch) -> torch.Tensor:
        return self.embedding(batch.tokens)

    def encode(self, batch: Batch, embedded: torch.Tensor | None = None) -> Encoding:
        hidden = self.embed(batch) if embedded is None else embedded
        return Encoding(hidden, None, batch.mask, batch.candidates, batch.ids)

    def attend(self, encoding: Encoding) -> torch.Tensor:
        weights = (encoding.hidden @ self.scorer).exp() * encoding.mask
        return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)

    def project(self, encoding: Encoding) -> Projection:
        values = encoding.hidden @ self.weight.T
        return Projection(
            values, values.new_zeros(values[:, 0].shape), encoding.mask, None, encoding.ids
        )

    def decode(self, projection: Projection, attention: torch.Tensor) -> torch.Tensor:
        if attention.dim() == 2:
            return torch.einsum("bt,bto->bo", attention, projection.values)
        return attention @ projection.values

    def without_each(self, batch: Batch) -> None:
        return None


@pytest.fixture
def linear():
    def build(outputs: int, size: float = 1.0) -> Linear:
        torch.manual_seed(0)
        return Linear(outputs, size).eval()

    return build


DOCUMENTS = [[5, 6, 7], [8], [9, 10, 11, 12, 13, 14, 5], [15, 16], [7, 7, 4, 19]]
QUERIES = [[4, 5], [6], [7, 8, 9], [10], [11, 12]]


@pytest.fixture
def batch() -> Batch:
    return collate(DOCUMENTS, [0, 1, 0, 1, 0], [40, 41, 42, 43, 44])


@pytest.fixture
def question_batch() -> Batch:
    candidates = [[0, 1], [1, 2, 3], [0, 3], [0, 1, 2, 3], [2]]
    return collate(DOCUMENTS, [0, 1, 0, 1, 2], [40, 41, 42, 43, 44], QUERIES, candidates, 4)


@pytest.fixture
def pair_batch() -> Batch:
    return collate(DOCUMENTS, [0, 1, 0, 1, 2], [40, 41, 42, 43, 44], QUERIES)


CELLS = [
    pytest.param((encoder, attention, task), id=f"{encoder}+{attention}+{task}")
    for encoder in ("lstm", "cnn", "average")
    for attention in ("additive", "dot")
    for task in ("binary", "classes", "answers", "relations")
]


@pytest.fixture(params=CELLS)
def fitted(request, batch, question_batch, pair_batch) -> tuple[AttentionModel, Batch]:
    """Every encoder x attention x task with random float64 weights, and a batch for it."""
    encoder, attention, task = request.param
    torch.manual_seed(0)
    model = assemble(
        torch.randn(WORDS, 6),
        {
            "lstm": partial(LSTM, hidden=4),
            "cnn": partial(CNN, filters=2),
            "average": partial(Average, hidden=8),
        }[encoder],
        {"additive": Additive, "dot": Dot}[attention],
        {"binary": 2, "classes": 3, "answers": 4, "relations": 3}[task],
        query=task in ("answers", "relations"),
    )
    batches = {"answers": question_batch, "relations": pair_batch}
    return model.double().eval(), batches.get(task, batch)
