"""From examples to word ids: tokenise, filter, split, vocabulary, word vectors, batches.

The names are loaded on first use, so that naming word vectors in a config does not load torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention_audit.text.batching import BucketSampler, BudgetSampler
    from attention_audit.text.data import Documents, TextDataModule
    from attention_audit.text.embeddings import Embeddings
    from attention_audit.text.preparation import Preparation
    from attention_audit.text.prepared import Prepared, prepare
    from attention_audit.text.vectors import RandomVectors, WordVectors
    from attention_audit.text.vocabulary import Vocabulary
    from attention_audit.text.word2vec import Word2Vec

_HOME = {
    "BucketSampler": "batching",
    "BudgetSampler": "batching",
    "Documents": "data",
    "TextDataModule": "data",
    "Preparation": "preparation",
    "Prepared": "prepared",
    "prepare": "prepared",
    "Embeddings": "embeddings",
    "RandomVectors": "vectors",
    "WordVectors": "vectors",
    "Vocabulary": "vocabulary",
    "Word2Vec": "word2vec",
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
    "Word2Vec",
    "WordVectors",
    "prepare",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
