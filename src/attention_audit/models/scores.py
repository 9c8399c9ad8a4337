"""Test and dev scores, by torchmetrics, with what cannot be said left undefined."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torchmetrics import Metric
from torchmetrics.classification import (
    BinaryAUROC,
    BinaryAveragePrecision,
    MulticlassAccuracy,
    MulticlassF1Score,
    MulticlassStatScores,
)

Task = Literal["classification", "qa", "nli"]
OVERALL = "overall"


class Score(NamedTuple):
    """A score in [0, 1] (support: a count), NaN = undefined, of a class number or "overall"."""

    quantity: str
    klass: str
    value: float


class Scores(nn.Module):
    """Accumulates predictions and computes the scores of a task.

    Two classes: F1 of each class (class 1 is the positive class: *the* F1), accuracy, macro- and
    micro-F1, ROC-AUC, PR-AUC. More classes: the same without the two areas; inference likewise.
    Question answering: accuracy. A class without a single target has no F1, and one-class targets
    have no areas: they are NaN, where torchmetrics says 0.
    """

    def __init__(self, task: Task, classes: int) -> None:
        super().__init__()
        metrics: dict[str, Metric] = {"accuracy": MulticlassAccuracy(classes, average="micro")}
        if task != "qa":
            metrics |= {
                "f1": MulticlassF1Score(classes, average="none"),
                "micro_f1": MulticlassF1Score(classes, average="micro"),
                "counts": MulticlassStatScores(classes, average="none"),
            }
            if classes == 2:
                metrics |= {"roc_auc": BinaryAUROC(), "pr_auc": BinaryAveragePrecision()}
        # A module list moves the metrics' states with the model; the dictionary finds them.
        self.states = nn.ModuleList(metrics.values())
        self.metrics = metrics
        self.selection = "roc_auc" if "roc_auc" in metrics else "accuracy"

    def update(
        self, probabilities: Float[Tensor, "batch classes"], labels: Int[Tensor, " batch"]
    ) -> None:
        """Add a batch."""
        for name, metric in self.metrics.items():
            binary = name in ("roc_auc", "pr_auc")
            metric.update(probabilities[:, 1] if binary else probabilities, labels)

    def reset(self) -> None:
        """Forget all batches."""
        for metric in self.metrics.values():
            metric.reset()

    def compute(self) -> list[Score]:
        """Scores over everything added since the last reset."""
        if "counts" not in self.metrics:
            return [Score("accuracy", OVERALL, self._value("accuracy"))]
        support = self.metrics["counts"].compute()[:, -1]
        per_class = self.metrics["f1"].compute().where(support > 0, torch.nan)
        one_class = int((support > 0).sum()) < 2
        overall = {
            name: math.nan if one_class and name.endswith("_auc") else self._value(name)
            for name in self.metrics
            if name not in ("f1", "counts")
        }
        overall["macro_f1"] = float(per_class.nanmean())
        return [
            *(Score(name, OVERALL, value) for name, value in overall.items()),
            *(Score("f1", str(c), float(value)) for c, value in enumerate(per_class)),
            *(Score("support", str(c), float(value)) for c, value in enumerate(support)),
        ]

    def _value(self, name: str) -> float:
        return float(self.metrics[name].compute())
