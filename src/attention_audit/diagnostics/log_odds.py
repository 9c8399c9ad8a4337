"""Word weights without a network: by how much a word moves a linear classifier's log-odds."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix

Words: TypeAlias = Sequence[int] | Int[np.ndarray, "_"]

_log = logging.getLogger(__name__)

_STEPS = 1000


def fit_log_odds(
    documents: Sequence[Words], labels: Int[np.ndarray, " documents"], vocabulary_size: int
) -> Float[np.ndarray, " vocabulary"]:
    """Each word's weight by its id, >= 0: how far the log-odds move per unit of its tf-idf.

    The weight is abs(coefficient) in a logistic regression on tf-idf vectors of the documents'
    words, with classes balanced; of more than two classes, the mean over them. A word that no
    document has weighs 0. The same input gives the same weights: nothing is drawn.

    Raises ValueError if fewer than two classes occur, labels and documents differ in number, or
    a word's id is outside 0..vocabulary_size-1.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    _check(documents, labels)
    frequencies = TfidfTransformer().fit_transform(_counted(documents, vocabulary_size))
    regression = LogisticRegression(class_weight="balanced", tol=1e-6, max_iter=_STEPS)
    with warnings.catch_warnings():
        # Also given where the last bits leave nothing to gain.
        warnings.simplefilter("ignore", ConvergenceWarning)
        regression.fit(frequencies, labels)
    if regression.n_iter_.max() >= _STEPS:
        _log.warning("log-odds: no optimum within %d steps; the last weights count", _STEPS)
    return np.abs(regression.coef_).mean(0)


def log_odds_attention(
    words: Words, weights: Float[np.ndarray, " vocabulary"]
) -> Float[np.ndarray, " words"]:
    """The weights of a text's words as attention: >= 0, sum 1; uniform where all weigh 0.

    A word that occurs twice has its weight at both places; a text without words has no weights.
    """
    found = weights[np.asarray(words, dtype=np.int64)]
    if not found.any():
        found = np.ones(len(found))
    return found / found.sum()


def _check(documents: Sequence[Words], labels: Int[np.ndarray, " documents"]) -> None:
    if len(documents) != len(labels):
        raise ValueError(
            f"log-odds: found {len(documents)} documents and {len(labels)} labels; "
            "expected one label per document"
        )
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"log-odds: found {len(labels)} training documents of {_named(classes)}; "
            "expected two classes or more: train on documents of each"
        )


def _named(classes: Int[np.ndarray, " classes"]) -> str:
    return f"class {classes[0]} alone" if len(classes) else "no class"


def _counted(documents: Sequence[Words], vocabulary_size: int) -> csr_matrix:
    """How often each document has each word, [documents, vocabulary]."""
    words = np.concatenate([np.asarray(each, dtype=np.int64) for each in documents])
    outside = words[(words < 0) | (words >= vocabulary_size)]
    if len(outside):
        raise ValueError(
            f"log-odds: found word id {outside[0]}; expected 0 to {vocabulary_size - 1}"
        )
    ends = np.cumsum([0, *map(len, documents)])
    shape = (len(documents), vocabulary_size)
    counts = csr_matrix((np.ones(len(words)), words, ends), shape=shape)
    counts.sum_duplicates()
    return counts
