"""What all analyses share: one pass over the test batches, rows by class, and their place."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from rich.console import Console
from rich.progress import track
from torch import Tensor

from attention_audit.batch import Batch, Projection, words
from attention_audit.counterfactual import Decoding
from attention_audit.measures import Summary, summarise
from attention_audit.store import Analysis, Cell

OVERALL = "overall"
# With more classes than these, a table by class says less than it costs to read.
MOST_CLASSES = 3

Row = dict[str, Any]


class Part(NamedTuple):
    """An analysis of one batch: by name, a value for each instance [B] or for each token [B, T]."""

    instances: Mapping[str, np.ndarray]
    tokens: Mapping[str, Tensor]


class _Stored(NamedTuple):
    """A `Part` as it is stored: named by instance, and only the words of each row of tokens."""

    instances: Mapping[str, np.ndarray]
    tokens: Mapping[str, list[np.ndarray]]


class AnalysisCallback(pl.Callback, ABC):
    """Analyses a fitted model on the test split after `trainer.test`, and stores what it found.

    A subclass says how one batch is analysed and how a group of instances is summarised. Raise its
    `version` by one when its numbers change meaning, so that old results are not taken for new.
    `histograms` names the quantities of its instances that are worth drawing.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    histograms: ClassVar[tuple[str, ...]] = ()
    # The precision that the model is analysed in.
    dtype: ClassVar[torch.dtype] = torch.float32
    stored: Analysis
    tokens: bool

    def place(self, cell: Cell, config: Mapping[str, Any], tokens: bool = True) -> Analysis:
        """Where this analysis of this cell is, or will be, stored.

        Without `tokens`, no number of a single word will be; with them it is another analysis, so
        that one is not taken for the other.
        """
        self.tokens = tokens
        settings = dict(config) if tokens else {**config, "tokens": False}
        self.stored = cell.analysis(self.name, settings, self.version)
        return self.stored

    @abstractmethod
    def analyse(self, model: Any, batch: Batch) -> Part:
        """Analyse one batch with the model in evaluation mode."""

    @abstractmethod
    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        """Rows for `summary.csv` about a group of instances, the class aside."""

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        loader = trainer.datamodule.test_dataloader()  # type: ignore[attr-defined]
        with torch.inference_mode(False), torch.enable_grad():
            model = copy.deepcopy(pl_module.model).to(self.dtype).eval()
            parts = [
                self._part(model, batch) for batch in _progress(loader, self.name, pl_module.device)
            ]
        instances = {
            name: np.concatenate([part.instances[name] for part in parts])
            for name in parts[0].instances
        }
        instances["predicted"] = _predicted(pl_module, instances["id"])
        tokens = {
            name: [row for part in parts for row in part.tokens[name]] for name in parts[0].tokens
        }
        self.stored.write(
            {"summary": self._rows(instances, pl_module.classes)},
            instances,
            {"id": instances["id"], **tokens} if tokens and self.tokens else None,
        )

    def _part(self, model: Any, batch: Batch) -> _Stored:
        found = self.analyse(model, batch)
        named = {"id": batch.ids.cpu().numpy()}
        tokens = {
            name: [row.numpy() for row in words(values.detach(), batch.mask)]
            for name, values in found.tokens.items()
        }
        return _Stored({**named, **found.instances}, tokens)

    def _rows(self, instances: Mapping[str, np.ndarray], classes: int) -> list[Row]:
        """Rows for all instances, then for those of each predicted class where classes are few."""
        predicted = instances["predicted"]
        groups = {OVERALL: np.ones(len(predicted), dtype=bool)}
        if classes <= MOST_CLASSES:
            groups |= {str(klass): predicted == klass for klass in np.unique(predicted)}
        return [
            {"klass": klass, **row}
            for klass, chosen in groups.items()
            for row in self.summarise({name: v[chosen] for name, v in instances.items()})
        ]


def _predicted(task: Any, ids: np.ndarray) -> np.ndarray:
    """The class that the task predicted, in its own precision, for each instance."""
    found = task.predictions()
    classes = found.probabilities.argmax(-1).tolist()
    by_id = dict(zip(found.ids.tolist(), classes, strict=True))
    return np.array([by_id[instance] for instance in ids.tolist()])


def decoder(model: Any, projection: Projection) -> Decoding:
    """Attention [B, K, T] -> probabilities [B, K, C], the hidden states held fixed."""
    return Decoding(model.decoder, projection)


def mean_rows(quantity: str, values: np.ndarray, resamples: int) -> list[Row]:
    """Mean with its bootstrap interval, and standard deviation, of the defined values."""
    summary: Summary = summarise(values, seed=0, resamples=resamples)
    counts = {"n": summary.n, "n_undefined": summary.n_undefined}
    mean = {"statistic": "mean", "value": summary.mean, "lo": summary.lo, "hi": summary.hi}
    std = {"statistic": "std", "value": summary.std}
    return [{"quantity": quantity, **row, **counts} for row in (mean, std)]


def _progress(loader: Iterable[Batch], name: str, device: torch.device) -> Iterable[Batch]:
    console = Console(stderr=True)
    batches = track(
        list(loader), name, console=console, transient=True, disable=not console.is_terminal
    )
    return (batch.to(device) for batch in batches)
