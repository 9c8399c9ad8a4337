"""The model's own predictions on the test split: what every analysis is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from attention_audit.measures import entropy, interval
from attention_audit.store import Cell

# What else a corpus may know of an instance, by its column in `tokens.parquet`: the words of its
# question or hypothesis; the positions in `token` of the words that decide its label.
_KNOWN = {"query": "query_tokens", "evidence": "evidence"}


class StorePredictions(pl.Callback):
    """Stores test scores, and for each instance its prediction, its attention and its words.

    Args:
        cell: where to store.
        rows: instance id -> its row of the test split: uid, tokens, query_tokens where its task
            asks a question or states a hypothesis, and evidence where known.
        resamples: of the bootstrap interval of the accuracy.
        tokens: store the words and what belongs to each of them.
    """

    def __init__(
        self,
        cell: Cell,
        rows: Mapping[int, Mapping[str, Any]],
        resamples: int,
        tokens: bool = True,
    ) -> None:
        self.cell = cell
        self.rows = rows
        self.resamples = resamples
        self.tokens = tokens

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        found = pl_module.predictions()
        ids = found.ids.tolist()
        attention = [row.double() for row in found.attention]
        self.cell.write_table(
            "instances",
            {
                "id": found.ids.numpy(),
                "uid": [self.rows[i]["uid"] for i in ids],
                "label": found.labels.numpy(),
                "prediction": found.classes.numpy(),
                "probability": list(found.probabilities.numpy()),
                "length": np.array([len(row) for row in attention]),
                "max_attention": _each(torch.max, attention),
                "entropy": _each(entropy, attention),
            },
        )
        if self.tokens:
            self.cell.write_table("tokens", self._tokens(found, ids))
        correct = found.classes == found.labels
        lo, hi = interval(correct.double().numpy(), seed=0, resamples=self.resamples)
        known = {"accuracy": {"lo": lo, "hi": hi, "n": len(correct), "n_undefined": 0}}
        scores = [
            score._asdict() | {"statistic": "value"} | known.get(score.quantity, {})
            for score in pl_module.test_scores()
        ]
        self.cell.write_json("metrics", {"summary": scores})

    def _tokens(self, found: Any, ids: list[int]) -> dict[str, Any]:
        """Columns of `tokens.parquet`: for each instance, what belongs to each of its words."""
        tokens: dict[str, Any] = {
            "id": found.ids.numpy(),
            "token": [self.rows[i]["tokens"] for i in ids],
            "attention": [row.numpy() for row in found.attention],
        }
        if found.token_logits is not None:
            tokens["token_logit"] = [row.tolist() for row in found.token_logits]
        for column, key in _KNOWN.items():
            if all(key in self.rows[i] for i in ids):
                tokens[column] = [self.rows[i][key] for i in ids]
        return tokens


def _each(measure: Callable[[Tensor], Tensor], attention: list[Tensor]) -> np.ndarray:
    """A measure of each instance's attention; NaN where it has no word."""
    return np.array([float(measure(row)) if len(row) else np.nan for row in attention])
