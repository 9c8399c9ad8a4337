"""What every analysis of a cell has: a name, a version, its place in the store, rows by class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import pytorch_lightning as pl

from attention_audit.measures import Summary, summarise
from attention_audit.store import Analysis, Cell

OVERALL = "overall"
# With more classes than these, a table by class says less than it costs to read.
MOST_CLASSES = 3

Row = dict[str, Any]


class StoredAnalysis(pl.Callback, ABC):
    """Analyses a fitted model after `trainer.test`, and stores what it found.

    Raise a subclass's `version` by one when its numbers change meaning, so that old results are
    not taken for new. `histograms` names the quantities of its instances that are worth drawing.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    histograms: ClassVar[tuple[str, ...]] = ()
    stored: Analysis
    tokens: bool

    def accept(self, config: Mapping[str, Any]) -> None:
        """Refuse, by a ValueError, a cell of this configuration that it cannot analyse."""

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
    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Analyse, and write to `stored`."""


def rows_by_class(
    instances: Mapping[str, np.ndarray],
    predicted: np.ndarray,
    classes: int,
    summarise: Callable[[Mapping[str, np.ndarray]], list[Row]],
) -> list[Row]:
    """Rows for all instances, then for those of each predicted class where classes are few."""
    groups = {OVERALL: np.ones(len(predicted), dtype=bool)}
    if classes <= MOST_CLASSES:
        groups |= {str(klass): predicted == klass for klass in np.unique(predicted)}
    return [
        {"klass": klass, **row}
        for klass, chosen in groups.items()
        for row in summarise({name: v[chosen] for name, v in instances.items()})
    ]


def mean_rows(quantity: str, values: np.ndarray, resamples: int) -> list[Row]:
    """Mean with its bootstrap interval, and standard deviation, of the defined values."""
    summary: Summary = summarise(values, seed=0, resamples=resamples)
    counts = {"n": summary.n, "n_undefined": summary.n_undefined}
    mean = {"statistic": "mean", "value": summary.mean, "lo": summary.lo, "hi": summary.hi}
    std = {"statistic": "std", "value": summary.std}
    return [{"quantity": quantity, **row, **counts} for row in (mean, std)]
