"""An embedding for every word of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from attention_audit.text.vocabulary import Vocabulary

Fill = Literal["normal", "zeros"]


@dataclass(frozen=True)
class Embeddings:
    """An embedding for every vocabulary word.

    Attributes:
        matrix: float32 [words, width], row = word id; the row of `<pad>` is zero.
        found: words, special tokens aside, that were given a vector; the others' were drawn.
        coverage: `found` as a share of those words, in [0, 1]; 0 where all are drawn.
        missing: the most widespread words that no vector was given for, ten at most.
    """

    matrix: Tensor
    found: int
    coverage: float
    missing: tuple[str, ...]

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        vectors: Mapping[bytes, np.ndarray],
        dimension: int,
        seed: int,
        fill: Fill,
    ) -> Embeddings:
        """The vectors of the words that have one; for the others, what `fill` says.

        The whole matrix is drawn before the vectors are put in, so that a missing word's vector
        depends on seed, vocabulary and width, not on which words have one.

        Args:
            vocabulary: the words.
            vectors: word, as UTF-8 -> float32 [dimension].
            dimension: the width.
            seed: of the drawn vectors.
            fill: a word without vector is drawn from N(0, 1) (`normal`) or is zero (`zeros`).
        """
        import torch

        matrix = drawn(len(vocabulary), dimension, seed)
        if fill == "zeros":
            matrix.zero_()
        for i, word in enumerate(vocabulary.words[1:], start=1):
            if (vector := vectors.get(key(word))) is not None:
                matrix[i] = torch.tensor(vector)
        absent = [word for word in vocabulary.own if key(word) not in vectors]
        found = len(vocabulary.own) - len(absent)
        return cls(matrix, found, found / len(vocabulary.own), tuple(absent[:10]))


def key(word: str) -> bytes:
    """A word as vectors are named; any string has one, lone surrogates included."""
    return word.encode("utf-8", "surrogatepass")


def drawn(words: int, dimension: int, seed: int) -> Tensor:
    """float32 [words, dimension] from N(0, 1), as the seed has them; the row of `<pad>` is zero."""
    import torch

    from attention_audit.batch import PAD

    matrix = torch.randn(words, dimension, generator=torch.Generator().manual_seed(seed))
    matrix[PAD] = 0
    return matrix
