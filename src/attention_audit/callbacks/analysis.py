"""What all analyses share: one pass over the test batches, rows by class, and their place."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from rich.console import Console
from rich.progress import track
from torch import Tensor

from attention_audit.batch import Batch, Projection, words
from attention_audit.callbacks.stored import Row, StoredAnalysis, rows_by_class
from attention_audit.counterfactual import Decoding


class Part(NamedTuple):
    """An analysis of one batch: by name, a value for each instance [B] or for each token [B, T]."""

    instances: Mapping[str, np.ndarray]
    tokens: Mapping[str, Tensor]


class _Stored(NamedTuple):
    """A `Part` as it is stored: named by instance, and only the words of each row of tokens."""

    instances: Mapping[str, np.ndarray]
    tokens: Mapping[str, list[np.ndarray]]


class AnalysisCallback(StoredAnalysis):
    """Analyses a fitted model on the test split, batch by batch.

    A subclass says how one batch is analysed and how a group of instances is summarised.
    """

    # The precision that the model is analysed in.
    dtype: ClassVar[torch.dtype] = torch.float32

    @abstractmethod
    def analyse(self, model: Any, batch: Batch) -> Part:
        """Analyse one batch with the model in evaluation mode."""

    @abstractmethod
    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        """Rows for `summary.csv` about a group of instances, the class aside."""

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        loader = trainer.datamodule.test_dataloader()  # type: ignore[attr-defined]
        instances, tokens = analysed(pl_module, loader, self.analyse, self.name, self.dtype)
        # What the task predicted, in its own precision.
        own = pl_module.predictions().of(torch.from_numpy(instances["id"]))
        predicted = instances["predicted"] = own.classes.numpy()
        self.stored.write(
            {"summary": rows_by_class(instances, predicted, pl_module.classes, self.summarise)},
            instances,
            {"id": instances["id"], **tokens} if tokens and self.tokens else None,
        )


def analysed(
    task: Any,
    batches: Iterable[Batch],
    analyse: Callable[[Any, Batch], Part],
    name: str,
    dtype: torch.dtype,
) -> tuple[dict[str, np.ndarray], dict[str, list[np.ndarray]]]:
    """All batches, analysed by a copy of the task's model in evaluation mode.

    Returns:
        By name a value for each instance, `id` among them, and a row of its words' values.
    """
    with torch.inference_mode(False), torch.enable_grad():
        model = copy.deepcopy(task.model).to(dtype).eval()
        parts = [_stored(analyse(model, one), one) for one in _progress(batches, name, task.device)]
    instances = {
        key: np.concatenate([part.instances[key] for part in parts]) for key in parts[0].instances
    }
    tokens = {key: [row for part in parts for row in part.tokens[key]] for key in parts[0].tokens}
    return instances, tokens


def _stored(found: Part, batch: Batch) -> _Stored:
    named = {"id": batch.ids.cpu().numpy()}
    tokens = {
        name: [row.numpy() for row in words(values.detach(), batch.mask)]
        for name, values in found.tokens.items()
    }
    return _Stored({**named, **found.instances}, tokens)


def decoder(model: Any, projection: Projection) -> Decoding:
    """Attention [B, K, T] -> probabilities [B, K, C], the hidden states held fixed."""
    return Decoding(model.decoder, projection)


def _progress(loader: Iterable[Batch], name: str, device: torch.device) -> Iterable[Batch]:
    console = Console(stderr=True)
    batches = track(
        list(loader), name, console=console, transient=True, disable=not console.is_terminal
    )
    return (batch.to(device) for batch in batches)
