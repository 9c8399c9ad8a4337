"""Training: the loss, the optimiser and the choice of epoch, as a LightningModule."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import pytorch_lightning as pl
import torch
from jaxtyping import Float, Int
from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat
from torch import Tensor
from torch.nn import functional as F
from torchmetrics import MeanMetric

from attention_audit.batch import Batch
from attention_audit.measures import probabilities
from attention_audit.models.attention_model import AttentionModel, Output
from attention_audit.models.scores import Score, Scores, Task
from attention_audit.predictions import Predictions

SELECTION = "dev/selection"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model is fitted: Adam, the loss and which epochs may be chosen.

    `decay_attention` false exempts the attention's parameters from the weight decay, as the
    original program does for classification. `reduction` sum instead of mean makes the weight
    decay weaker relative to the loss by the batch size. Epochs before `first_epoch` (from 0) are
    never chosen, unless there are no later ones. `class_weights` balanced: positives weigh
    N/N_pos - 1 in binary tasks, class c weighs N/(C N_c) otherwise; tasks with a query are never
    weighted, as in the original program.
    """

    learning_rate: PositiveFloat = 1e-3
    amsgrad: bool = True
    weight_decay: NonNegativeFloat = 1e-5
    decay_attention: bool = False
    class_weights: Literal["balanced", "none"] = "balanced"
    reduction: Literal["mean", "sum"] = "mean"
    first_epoch: NonNegativeInt = 0


class AttentionTask(pl.LightningModule):
    """Fits an `AttentionModel` and predicts with it; the best epoch is chosen on the dev split.

    Args:
        model: the model to fit.
        task: classification, qa (question answering) or nli (inference).
        classes: number of classes or answers, at least 2.
        class_counts: training instances of each class; only used for classification.
        training: loss and optimiser.
    """

    # Of what epochs are chosen by the largest is the best; -1: the smallest.
    better: ClassVar[int] = 1

    def __init__(
        self,
        model: AttentionModel,
        task: Task,
        classes: int,
        class_counts: Sequence[int],
        training: Training,
    ) -> None:
        super().__init__()
        self.model = model
        self.task = task
        self.training_settings = training
        self.scores = Scores(task, classes)
        # What is not finite is refused below, by the outputs that it leads to.
        self.train_loss = MeanMetric(nan_strategy="ignore")
        self.dev_loss = MeanMetric(nan_strategy="ignore")
        self.classes = classes
        self._predicted: list[Predictions] = []
        self.class_weights: Tensor | None
        self.register_buffer("class_weights", self._weights(class_counts), persistent=False)

    def _weights(self, counts: Sequence[int]) -> Tensor | None:
        if self.task != "classification" or self.training_settings.class_weights == "none":
            return None
        total = sum(counts)
        if len(counts) == 2:
            return torch.tensor([total / counts[1] - 1])
        return torch.tensor([total / (len(counts) * max(count, 1)) for count in counts])

    def loss(
        self, logits: Float[Tensor, "batch outputs"], labels: Int[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Cross-entropy in nats, reduced over the batch."""
        reduction = self.training_settings.reduction
        if logits.shape[-1] == 1:
            return F.binary_cross_entropy_with_logits(
                logits[:, 0], labels.float(), pos_weight=self.class_weights, reduction=reduction
            )
        return F.cross_entropy(logits, labels, weight=self.class_weights, reduction=reduction)

    def objective(self, output: Output, batch: Batch) -> Float[Tensor, ""]:
        """What a fit makes small: the loss, unless a subclass says else."""
        return self.loss(output.logits, batch.labels)

    def training_step(self, batch: Batch) -> Tensor:
        loss = self.objective(self.model(batch), batch)
        self._add(self.train_loss, loss.detach(), batch)
        return loss

    def on_train_epoch_end(self) -> None:
        self.log("train/loss", self.train_loss)

    def validation_step(self, batch: Batch) -> None:
        output = self.model(batch)
        if not output.logits.isfinite().all():
            raise ValueError(
                f"training diverged: after epoch {self.current_epoch + 1} the model's outputs are "
                f"not finite; lower training.learning_rate ({self.training_settings.learning_rate})"
            )
        self.scores.update(probabilities(output.logits), batch.labels)
        self._add(self.dev_loss, self.objective(output, batch), batch)

    def _add(self, mean: MeanMetric, loss: Tensor, batch: Batch) -> None:
        """To the epoch's mean per instance; `self.log` at each step would cost more than this."""
        each = loss / len(batch) if self.training_settings.reduction == "sum" else loss
        mean.update(each, len(batch))

    def on_validation_epoch_start(self) -> None:
        self.scores.reset()

    def on_validation_epoch_end(self) -> None:
        name, value = self.selection()
        last = (self.trainer.max_epochs or 1) - 1
        eligible = self.current_epoch >= min(self.training_settings.first_epoch, last)
        self.log("dev/loss", self.dev_loss)
        if name != "loss":
            self.log(f"dev/{name}", value, prog_bar=True)
        self.log(SELECTION, self.better * value if eligible else -math.inf)
        _log.info(
            "epoch %d/%d: dev %s %.4f", self.current_epoch + 1, self.trainer.max_epochs, name, value
        )

    def selection(self) -> tuple[str, float]:
        """Name and value of what epochs are chosen by on the dev split: the largest score."""
        found = {score.quantity: score.value for score in self.scores.compute()}
        return self.scores.selection, found[self.scores.selection]

    def on_test_epoch_start(self) -> None:
        self.scores.reset()
        self._predicted.clear()

    def test_step(self, batch: Batch) -> None:
        found = self.model.predict(batch)
        self.scores.update(found.probabilities.to(self.device), found.labels.to(self.device))
        self._predicted.append(found)

    def test_scores(self) -> list[Score]:
        """Scores of the last test run."""
        return self.scores.compute()

    def predictions(self) -> Predictions:
        """Predictions of the last test run."""
        return Predictions.joined(self._predicted)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        settings = self.training_settings
        attention = list(self.model.attention.parameters())
        spared = {id(parameter) for parameter in attention}
        rest = [p for p in self.model.parameters() if id(p) not in spared]
        decay = settings.weight_decay
        return torch.optim.Adam(
            [
                {"params": rest, "weight_decay": decay},
                {
                    "params": attention,
                    "weight_decay": decay if settings.decay_attention else 0.0,
                },
            ],
            lr=settings.learning_rate,
            amsgrad=settings.amsgrad,
            # One pass over each parameter instead of ten: the embedding's make most of a step. On
            # a GPU there is little to gain, and mixed precision could not be clipped.
            fused=self.device.type == "cpu",
        )
