"""Whether a cell's corpus is the papers' own, so that their figures say something about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention_audit.published.figures import corpus_statistics

# Our number of rows as a share of the published one; beyond, the corpora are not the same.
ALIKE = (0.7, 1.4)


def unlike(dataset: str, corpus: Mapping[str, Any]) -> str | None:
    """Why the figures, made on the papers' corpus, say nothing about this one; None: they do.

    Args:
        dataset: its name.
        corpus: of a cell's manifest: how it differs, and the rows kept of each split.
    """
    if corpus["differs"]:
        return f"no published figures: {corpus['differs']}"
    for statistics in corpus_statistics(dataset):
        for split, sizes in (("train", statistics.train_size), ("test", statistics.test_size)):
            ours, theirs = corpus["splits"][split]["kept"], sum(sizes)
            if theirs and not ALIKE[0] <= ours / theirs <= ALIKE[1]:
                return f"no published figures: their {split} split has {theirs} rows, ours {ours}"
    return None
