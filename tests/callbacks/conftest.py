"""A tiny fitted model on a tiny corpus, and `trainer.test` with callbacks in a fresh cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader

from attention_audit.batch import Batch, collate
from attention_audit.callbacks import AnalysisCallback, StorePredictions
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive, Uniform
from attention_audit.models.encoders import LSTM, Encoder
from attention_audit.models.training import AttentionTask, Training
from attention_audit.store import Cell, Store

DOCUMENTS = [
    [5, 6, 7, 8],
    [8],
    [],
    [9, 10, 11, 4, 5, 6, 7],
    [10, 10, 4],
    [7, 7, 4, 11, 5],
    [6, 9, 8],
    [4, 11, 9, 6],
]
ALLOWED = [[0, 1], [1, 2, 3], [0, 3], [0, 1, 2, 3]]
SMALL = partial(LSTM, hidden=3)


class Dropping(Encoder):
    """An LSTM whose hidden states are noise whenever dropout is active."""

    def __init__(self, embedding: int) -> None:
        super().__init__()
        self.inner = LSTM(embedding, hidden=3)
        self.width = self.inner.width
        self.dropout = nn.Dropout(0.5)

    def forward(self, embedded, lengths):
        hidden, summary = self.inner(embedded, lengths)
        return self.dropout(hidden), summary


@dataclass
class Bench:
    """A model, the test split's batches and a cell to store in."""

    task: AttentionTask
    batches: list[Batch]
    cell: Cell
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)

    def test(self, *callbacks: pl.Callback, **settings: Any) -> None:
        """Run `trainer.test` with these callbacks."""
        data = pl.LightningDataModule()
        data.test_dataloader = lambda: DataLoader(self.batches, batch_size=None)
        pl.Trainer(
            accelerator="cpu",
            callbacks=list(callbacks),
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            **{"inference_mode": False, **settings},
        ).test(self.task, datamodule=data, verbose=False)

    def run(self, *analyses: AnalysisCallback, **settings: Any) -> dict[str, Rows]:
        """Store predictions and analyses; the rows of each summary by analysis."""
        for analysis in analyses:
            analysis.place(self.cell, {})
        self.test(StorePredictions(self.cell, self.rows, resamples=50), *analyses, **settings)
        return {one.name: Rows(one.stored.read_summary()["summary"]) for one in analyses}


class Rows(list[dict[str, Any]]):
    """Rows of a summary."""

    def one(self, quantity: str, statistic: str, klass: str = "overall") -> dict[str, Any]:
        named = {"quantity": quantity, "statistic": statistic, "klass": klass}
        [row] = [row for row in self if named.items() <= row.items()]
        return row

    def classes(self) -> set[str]:
        return {row["klass"] for row in self}


def _batches(task: str, outputs: int, documents: Sequence[list[int]]) -> list[Batch]:
    """In an order that is not that of the ids, two batches of documents of several lengths."""
    rows = sorted(range(len(documents)), key=lambda row: len(documents[row]))
    parts = [part for part in (rows[::2], rows[1::2]) if part]
    return [
        collate(
            [documents[row] for row in part],
            [ALLOWED[row % 4][0] if task == "qa" else row % outputs for row in part],
            [100 + row for row in part],
            [[4 + row] * (row % 3) for row in part] if task != "classification" else None,
            [ALLOWED[row % 4] for row in part] if task == "qa" else None,
            outputs,
        )
        for part in parts
    ]


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    def make(
        task: str = "classification",
        outputs: int = 2,
        attention: Callable[..., nn.Module] = Additive,
        documents: Sequence[list[int]] = DOCUMENTS,
        encoder: Callable[..., Encoder] = SMALL,
    ) -> Bench:
        torch.manual_seed(2)
        model = assemble(
            torch.randn(20, 5), encoder, attention, outputs, query=task != "classification"
        )
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(3)  # far from an undecided model
            batches = _batches(task, outputs, documents)
            logits = torch.cat([model.eval()(batch).logits for batch in batches])
            model.decoder.output.bias -= logits.mean(0)  # so that it predicts several classes
        cell = Store(tmp_path / "multirun").cell(
            dataset="toy", encoder="lstm", attention="additive", seed=0, identity={}
        )
        cell.open({})
        rows = {
            100 + row: {
                "uid": f"uid-{row}",
                "tokens": [f"w{word}" for word in words],
                "evidence": list(range(0, len(words), 2)),
                **({"query_tokens": [f"q{row}"] * (row % 3)} if task != "classification" else {}),
            }
            for row, words in enumerate(documents)
        }
        fitted = AttentionTask(model, task, outputs, [1] * outputs, Training())
        return Bench(fitted, batches, cell, rows)

    return make


@pytest.fixture
def uniform() -> type[Uniform]:
    return Uniform


@pytest.fixture
def dropping() -> type[Dropping]:
    return Dropping
