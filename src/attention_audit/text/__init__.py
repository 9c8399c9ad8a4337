"""From examples to word ids: tokenise, filter, split, vocabulary, word vectors, batches.

The names are loaded on first use, so that naming word vectors in a config does not load torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention_audit.text.batching import BucketSampler, BudgetSampler
    from attention_audit.text.data import Documents, TextDataModule
    from attention_audit.text.preparation import Preparation
    from attention_audit.text.prepared import Prepared, prepare
    from attention_audit.text.vectors import Embeddings, RandomVectors, WordVectors
    from attention_audit.text.vocabulary import Vocabulary

_HOME = {
    "BucketSampler": "batching",
    "BudgetSampler": "batching",
    "Documents": "data",
    "TextDataModule": "data",
    "Preparation": "preparation",
    "Prepared": "prepared",
    "prepare": "prepared",
    "Embeddings": "vectors",
    "RandomVectors": "vectors",
    "WordVectors": "vectors",
    "Vocabulary": "vocabulary",
}

__all__ = [
    "BucketSampler",
    "BudgetSampler",
    "Documents",
    "Embeddings",
    "Preparation",
    "Prepared",
    "RandomVectors",
    "TextDataModule",
    "Vocabulary",
    "WordVectors",
    "prepare",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
