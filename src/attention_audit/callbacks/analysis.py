"""What all analyses share: one pass over the test batches, rows by class, and their place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from rich.console import Console
from rich.progress import track
from torch import Tensor

from attention_audit.batch import Batch, Projection
from attention_audit.measures import Summary, probabilities, summarise
from attention_audit.store import Analysis, Cell

OVERALL = "overall"
# With more predicted classes than these, a table by class says less than it costs to read.
MOST_CLASSES = 3

Row = dict[str, Any]


class Part(NamedTuple):
    """An analysis of one batch: by name, a value for each instance [B] or for each token [B, T]."""

    instances: Mapping[str, np.ndarray]
    tokens: Mapping[str, list[np.ndarray]]


class AnalysisCallback(pl.Callback, ABC):
    """Analyses a fitted model on the test split after `trainer.test`, and stores what it found.

    A subclass says how one batch is analysed and how its instances are summarised; it is raised
    by one in `version` whenever its numbers change meaning, so that old results are not reused.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    histograms: ClassVar[tuple[str, ...]] = ()

    def place(self, cell: Cell, config: Mapping[str, Any]) -> Analysis:
        """Where this analysis of this cell is, or will be, stored."""
        self.stored = cell.analysis(self.name, config, self.version)
        return self.stored

    @abstractmethod
    def analyse(self, model: Any, batch: Batch) -> Part:
        """Analyse one batch with the model in evaluation mode."""

    @abstractmethod
    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        """Rows for `summary.csv` from the values of all instances."""

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        model = pl_module.model.eval()
        loader = trainer.datamodule.test_dataloader()  # type: ignore[attr-defined]
        with torch.inference_mode(False), torch.enable_grad():
            parts = [
                (batch.ids, self._predicted(model, batch), self.analyse(model, batch))
                for batch in _progress(loader, self.name, pl_module.device)
            ]
        instances = {
            "id": np.concatenate([ids.cpu().numpy() for ids, _, _ in parts]),
            "predicted": np.concatenate([predicted for _, predicted, _ in parts]),
            **_joined([part.instances for _, _, part in parts], np.concatenate),
        }
        tokens = _joined([part.tokens for _, _, part in parts], _chained)
        self.stored.write(
            {"summary": self.summarise(instances)},
            instances,
            {"id": instances["id"], **tokens} if tokens else None,
        )

    @torch.no_grad()
    def _predicted(self, model: Any, batch: Batch) -> np.ndarray:
        return probabilities(model(batch).logits).argmax(-1).cpu().numpy()


def decoder(model: Any, projection: Projection) -> Callable[[Tensor], Tensor]:
    """Attention [B, K, T] -> probabilities [B, K, C], the hidden states held fixed."""

    def decode(attention: Tensor) -> Tensor:
        return probabilities(model.decode(projection, attention))

    return decode


def by_class(predicted: np.ndarray, describe: Callable[[str, np.ndarray], list[Row]]) -> list[Row]:
    """Rows for all instances, then for those of each predicted class where these are few."""
    found = np.unique(predicted)
    everyone = np.ones(len(predicted), dtype=bool)
    rows = describe(OVERALL, everyone)
    if found.size and found.max() < MOST_CLASSES:
        for klass in found:
            rows += describe(str(klass), predicted == klass)
    return rows


def mean_rows(quantity: str, klass: str, values: np.ndarray, resamples: int) -> list[Row]:
    """Mean with its bootstrap interval, and standard deviation, of the defined values."""
    summary: Summary = summarise(values, seed=0, resamples=resamples)
    counts = {"n": summary.n, "n_undefined": summary.n_undefined}
    named = {"quantity": quantity, "klass": klass}
    return [
        {**named, "statistic": "mean", "value": summary.mean, "lo": summary.lo, "hi": summary.hi}
        | counts,
        {**named, "statistic": "std", "value": summary.std} | counts,
    ]


def _progress(loader: Iterable[Batch], name: str, device: torch.device) -> Iterable[Batch]:
    console = Console(stderr=True)
    batches = track(
        list(loader), name, console=console, transient=True, disable=not console.is_terminal
    )
    return (batch.to(device) for batch in batches)


def _joined(parts: list[Mapping[str, Any]], join: Callable[[list[Any]], Any]) -> dict[str, Any]:
    return {name: join([part[name] for part in parts]) for name in parts[0]}


def _chained(lists: list[list[np.ndarray]]) -> list[np.ndarray]:
    return [row for rows in lists for row in rows]
