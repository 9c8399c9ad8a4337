"""Word weights without a network: by how much a word moves a linear classifier's log-odds."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix

from attention_audit.batch import words
from attention_audit.diagnostics.guided import FROZEN, SPLITS
from attention_audit.diagnostics.subject import Fit, Subject
from attention_audit.predictions import Given

Words: TypeAlias = Sequence[int] | Int[np.ndarray, "_"]

_log = logging.getLogger(__name__)

_STEPS = 1000
REGULARISED = "attention_audit.models.objectives.Regularised"
# The corpus, which the cell's identity holds, says the rest; raise it when the weights change.
SOURCE = {"log_odds": 1}


def give_log_odds(base: Subject) -> Given:
    """The log-odds attention of every instance; only the train split is learned from."""
    split = {name: _read(base, name) for name in SPLITS}
    _, labels, documents = split["train"]
    weights = fit_log_odds(documents, labels.numpy(), base.model.embedding.num_embeddings)
    texts = [text for _, _, some in split.values() for text in some]
    rows = [torch.from_numpy(log_odds_attention(text, weights)).float() for text in texts]
    return Given.of(torch.cat([ids for ids, _, _ in split.values()]), rows)


def _read(base: Subject, split: str) -> tuple[torch.Tensor, torch.Tensor, list[np.ndarray]]:
    """Ids, labels and word ids of a split's instances."""
    batches = list(base.batches(split))
    texts = [row.numpy() for batch in batches for row in words(batch.tokens, batch.mask)]
    ids, labels = (torch.cat([getattr(one, name) for one in batches]) for name in ("ids", "labels"))
    return ids, labels, texts


def fit_frozen(fit: Fit, given: Given) -> Subject:
    """The base's model with the log-odds frozen in the place of its attention."""
    change = {"attention": dict(FROZEN), "auxiliary": {"given": SOURCE}}
    return fit("log_odds_trained", change, given)


def fit_regularised(fit: Fit, given: Given, strength: float) -> Subject:
    """The base's model with attention of its own, drawn to the log-odds.

    Args:
        fit: fits it.
        given: the log-odds attention.
        strength: lambda, of KL(log-odds || attention).
    """
    objective = {"_target_": REGULARISED, "strength": float(strength)}
    return fit(
        "log_odds_regularised", {"auxiliary": {"objective": objective, "given": SOURCE}}, given
    )


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
