"""Across contexts: how much does the same word's attention vary over the test set?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytorch_lightning as pl
from pydantic import PositiveInt

from attention_audit.batch import UNK
from attention_audit.callbacks.stored import OVERALL, Row, StoredAnalysis
from attention_audit.measures import within_share

# To so many decimals: equal weights differ by float32's last bits, which are no variance.
ROUNDED = 5


class Contexts(StoredAnalysis):
    """Whether attention goes by the word or by what stands around it.

    A word's weight in a text of n words is taken n-fold, so that 1 is its fair share everywhere.
    `context_share` is the share of the variance of the logarithms of these that lies within words:
    0, a word has the same wherever it stands; 1, the word says nothing. Over the words that occur
    `least` times at least. The table has a row a word: its id in the vocabulary, how often it
    occurs, and mean and standard deviation of its n-fold weight.

    Args:
        least: occurrences in the test split that a word must have.
        resamples: of the bootstrap interval, over instances.
    """

    name = "contexts"

    def __init__(self, least: PositiveInt = 5, resamples: PositiveInt = 2000) -> None:
        self.least = least
        self.resamples = resamples

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        found = pl_module.predictions()
        documents = trainer.datamodule.documents("test")  # type: ignore[attr-defined]
        row = {instance: place for place, instance in enumerate(documents.ids.tolist())}
        texts = [documents.words[row[instance]] for instance in found.ids.tolist()]
        words = np.concatenate([np.asarray(text, dtype=np.int64) for text in texts])
        fair = np.concatenate([len(one) * one.double().numpy() for one in found.attention])
        instances = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        words, fair, instances = self._frequent(words, fair, instances)
        # Weights of 0 have no logarithm: as small as a float32 of a softmax can be.
        logs = np.log(np.maximum(fair, np.finfo(np.float32).tiny)).round(ROUNDED)
        share = within_share(words, logs, instances, seed=0, resamples=self.resamples)
        known, place, occurrences = np.unique(words, return_inverse=True, return_counts=True)
        mean = np.bincount(place, fair) / occurrences
        spread = np.sqrt(np.bincount(place, (fair - mean[place]) ** 2) / occurrences)
        rows: list[Row] = [
            {"quantity": "context_share", "statistic": "value", **share._asdict()},
            {"quantity": "context_words", "statistic": "value", "value": float(len(known))},
        ]
        self.stored.write(
            {"summary": [{"klass": OVERALL, **one, "n_undefined": 0} for one in rows]},
            {"word": known, "occurrences": occurrences, "mean": mean, "std": spread},
        )

    def _frequent(self, words: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
        _, place, occurrences = np.unique(words, return_inverse=True, return_counts=True)
        kept = (occurrences[place] >= self.least) & (words != UNK)  # that would be many words
        return words[kept], *(other[kept] for other in others)
