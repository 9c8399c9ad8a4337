"""A fitted model that is asked, and how further ones are fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import torch

from attention_audit.batch import Batch
from attention_audit.predictions import Given, Predictions


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model, with the splits that it can read.

    Attributes:
        model: an AttentionModel.
        batches: a split's batches, each row once: train, dev or test.
        weights: names the fitted weights by their content.
        epochs: the weights after each epoch, where the fit kept them.
    """

    model: Any
    batches: Callable[[str], Iterable[Batch]]
    weights: str
    epochs: Callable[[], list[Mapping[str, Any]]] = list
    _read: dict[str, Predictions] = field(default_factory=dict)

    def read(self, split: str) -> Predictions:
        """What the model, in evaluation mode, says of a split; read once."""
        if split not in self._read:
            self._read[split] = self.read_under(None, split)
        return self._read[split]

    @torch.no_grad()
    def read_under(self, given: Given | None, split: str) -> Predictions:
        """The same with attention that it is given, its hidden states held fixed."""
        device = next(self.model.parameters()).device
        self.model.eval()
        parts = [self.model.predict(batch.to(device), given) for batch in self.batches(split)]
        return Predictions.joined(parts)

    def gives(self, splits: Sequence[str]) -> Given:
        """Its attention and outputs for every instance of these splits."""
        found = Predictions.joined([self.read(split) for split in splits])
        return Given.of(found.ids, found.attention, found.probabilities)


@runtime_checkable
class Fit(Protocol):
    """Fits a model beside the base's, or loads it where that was done before.

    A model with the base's own configuration is the base.
    """

    def __call__(self, role: str, change: Mapping[str, Any], given: Given | None = None) -> Subject:
        """The fitted model.

        Args:
            role: what it serves, in a word.
            change: what its configuration has that the base's has not, by dotted key.
            given: attention and outputs that the fit knows, described in `change`.
        """
