"""Fits that want something else than right labels, or something besides, of a given attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import NonNegativeFloat
from torch import Tensor

from attention_audit.batch import Batch
from attention_audit.measures import kl, probabilities, tvd
from attention_audit.models.attention_model import AttentionModel, Output
from attention_audit.models.scores import Task
from attention_audit.models.training import AttentionTask, Training
from attention_audit.predictions import Given

# Both sides of a Kullback-Leibler divergence are at least this, as in Wiegreffe & Pinter's program.
FLOOR = 1e-10


class Guided(AttentionTask):
    """Base of the fits that know what another model gave for each instance.

    What they know is looked up by the instance's id, and made before the fit: the model that gave
    it takes no part in the fit, and cannot change.

    Args:
        model, task, classes, class_counts, training: of `AttentionTask`.
        given: attention, and where it is asked for outputs, of every train and dev instance.
        strength: lambda, of the divergence between the attentions, for each instance.
    """

    def __init__(
        self,
        model: AttentionModel,
        task: Task,
        classes: int,
        class_counts: Sequence[int],
        training: Training,
        *,
        given: Given,
        strength: NonNegativeFloat,
    ) -> None:
        super().__init__(model, task, classes, class_counts, training)
        self.given = given
        self.strength = strength

    def _given_attention(self, output: Output, batch: Batch) -> Float[Tensor, "batch tokens"]:
        return self.given.attention(batch.ids, batch.mask).to(output.attention)

    def _reduced(self, each: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
        return each.sum() if self.training_settings.reduction == "sum" else each.mean()


class ModelConsistent(Guided):
    """Predicts as the base model does, and attends elsewhere (Wiegreffe & Pinter 2019, section 4).

    It makes TVD(y_a, y_b) - lambda KL(a_a || a_b) small, and is chosen by that on the dev split.

    Args:
        weighted: multiply an instance's loss with its class's weight, as the program does.
    """

    better: ClassVar[int] = -1

    def __init__(
        self,
        model: AttentionModel,
        task: Task,
        classes: int,
        class_counts: Sequence[int],
        training: Training,
        *,
        given: Given,
        strength: NonNegativeFloat,
        weighted: bool = False,
    ) -> None:
        super().__init__(
            model, task, classes, class_counts, training, given=given, strength=strength
        )
        self.weighted = weighted

    def objective(self, output: Output, batch: Batch) -> Float[Tensor, ""]:
        moved = tvd(probabilities(output.logits), self.given.outputs(batch.ids))
        apart = kl(output.attention, self._given_attention(output, batch), floor=FLOOR)
        each = moved - self.strength * apart
        return self._reduced(each * self._weight(batch) if self.weighted else each)

    def _weight(self, batch: Batch) -> Float[Tensor, " batch"] | float:
        """One weight is that of the positive class."""
        if self.class_weights is None:
            return 1.0
        if len(self.class_weights) == 1:
            return torch.where(batch.labels == 1, self.class_weights, 1.0)
        return self.class_weights[batch.labels]

    def selection(self) -> tuple[str, float]:
        return "loss", float(self.dev_loss.compute())


class Regularised(Guided):
    """The loss, plus lambda KL(given || attention): attention is drawn to what was given."""

    def objective(self, output: Output, batch: Batch) -> Float[Tensor, ""]:
        apart = kl(self._given_attention(output, batch), output.attention, floor=FLOOR)
        return self.loss(output.logits, batch.labels) + self.strength * self._reduced(apart)
