"""What was measured of one sentence, as terminal and page show it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

Kind = Literal["exact", "found", "search"]
ADVERSARIES: dict[Kind, str] = {
    "exact": "the exact maximum",
    "found": "the best of search, single words and mixes of two; another may be more different",
    "search": "the best of the search; another may be more different",
}


class Word(NamedTuple):
    """A word as the model read it; `known` to its vocabulary, or None where that is not told."""

    text: str
    known: bool | None


class Output(NamedTuple):
    """A class or answer, and its probability under the original attention and the adversary's."""

    name: str
    before: float
    after: float


class Quantity(NamedTuple):
    """A number of the sentence as a whole, NaN where it is undefined, and what it is."""

    name: str
    value: float
    meaning: str
    pvalue: float | None = None


class Column(NamedTuple):
    """A number of each word that is drawn, in [-1, 1], NaN where it is undefined."""

    name: str
    meaning: str
    values: Float[np.ndarray, " words"]
    signed: bool = False


@dataclass(frozen=True)
class Measured:
    """A sentence, the attention over it, two importances, and the most different attention.

    Attributes:
        cell: whose model it was, for people.
        words: the sentence, as the model read it.
        query: the question, or hypothesis; () where the task has none.
        attention: sums to 1.
        gradient: >= 0, without a fixed scale.
        leave_one_out: in [0, 1]; NaN where nothing would be left.
        adversary: attention with the output within `epsilon`; the original one where no other
            was found.
        kind: how the adversary was come by.
        epsilon: total variation distance within which an output counts as unchanged.
        outputs: the classes, or the most probable answers; the predicted one before is the first
            of the most probable.
        others: how many more outputs there are.
        quantities: of the sentence as a whole.
        origin: whose text it is, where it is not the reader's own.
    """

    cell: str
    words: tuple[Word, ...]
    query: tuple[Word, ...]
    attention: Float[np.ndarray, " words"]
    gradient: Float[np.ndarray, " words"]
    leave_one_out: Float[np.ndarray, " words"]
    adversary: Float[np.ndarray, " words"]
    kind: Kind
    epsilon: float
    outputs: tuple[Output, ...]
    others: int
    quantities: tuple[Quantity, ...]
    origin: str = ""

    @property
    def difference(self) -> Float[np.ndarray, " words"]:
        """Adversary minus attention, in [-1, 1]; sums to 0."""
        return self.adversary - self.attention

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is drawn of each word, all on one scale: the importances as shares of their sum."""
        return (
            Column("attention", "the model's own; sums to 1", self.attention),
            Column(
                "gradient",
                "|e . dy/de| of the word's embedding, attention held fixed; as a share of its sum",
                shares(self.gradient),
            ),
            Column(
                "leave-one-out",
                "output change (TVD) without the word; as a share of its sum",
                shares(self.leave_one_out),
            ),
            Column("adversary", self._adversary, self.adversary),
            Column("difference", "adversary minus attention", self.difference, signed=True),
        )

    @property
    def _adversary(self) -> str:
        if not self.difference.any():
            none = "there is no other" if self.kind == "exact" else "no other was found"
            return f"the model's own: {none} whose output is within {self.epsilon:g} (TVD)"
        return (
            f"the most different attention whose output is within {self.epsilon:g} (TVD): "
            f"{ADVERSARIES[self.kind]}"
        )

    @property
    def notes(self) -> Iterator[str]:
        """What has to be known of the words."""
        words = [*self.words, *self.query]
        if any(word.known is None for word in words):
            yield (
                "The corpus is private: which of the words its vocabulary lacks, and were read as "
                "<unk>, is not told."
            )
        if count := sum(word.known is False for word in words):
            yield (
                f"{count} of {len(words)} words marked [unk]: not in the vocabulary, all read as "
                "the same <unk>."
            )


def shares(values: Float[np.ndarray, " words"]) -> Float[np.ndarray, " words"]:
    """Values >= 0 as shares of their sum, to be drawn on the scale of attention; NaN stays.

    NaN everywhere if all of them are 0.
    """
    total = float(np.nansum(values))
    return values / total if total > 0 else np.full_like(values, math.nan)
