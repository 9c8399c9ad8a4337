"""The model's own predictions on the test split: what every analysis is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from attention_audit.measures import entropy
from attention_audit.store import Cell


class StorePredictions(pl.Callback):
    """Stores test scores, and for each instance its prediction, its attention and its words.

    Args:
        cell: where to store.
        words: instance id -> (the user's own id, the words), for the tables.
    """

    def __init__(self, cell: Cell, words: dict[int, tuple[str, list[str]]]) -> None:
        self.cell = cell
        self.words = words

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        found = pl_module.predictions()
        ids = found.ids.tolist()
        attention = [row.double() for row in found.attention]
        self.cell.write_table(
            "instances",
            {
                "id": found.ids.numpy(),
                "uid": [self.words[i][0] for i in ids],
                "label": found.labels.numpy(),
                "prediction": found.probabilities.argmax(-1).numpy(),
                "probability": list(found.probabilities.numpy()),
                "length": np.array([len(row) for row in attention]),
                "max_attention": _each(torch.max, attention),
                "entropy": _each(entropy, attention),
            },
        )
        tokens = {
            "id": found.ids.numpy(),
            "token": [self.words[i][1] for i in ids],
            "attention": [row.numpy() for row in found.attention],
        }
        if found.token_logits is not None:
            tokens["token_logit"] = [row.tolist() for row in found.token_logits]
        self.cell.write_table("tokens", tokens)
        scores = [score._asdict() | {"statistic": "value"} for score in pl_module.test_scores()]
        self.cell.write_json("metrics", {"summary": scores})


def _each(measure: Callable[[Tensor], Tensor], attention: list[Tensor]) -> np.ndarray:
    """A measure of each instance's attention; NaN where it has no word."""
    return np.array([float(measure(row)) if len(row) else np.nan for row in attention])
