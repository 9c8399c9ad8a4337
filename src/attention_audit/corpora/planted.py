"""A generated classification corpus whose labels have a known reason.

A document of class c holds `evidence` words of c among filler words, and `distractors` words of
the other classes, always fewer than c's own: the majority decides, and no single word does.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, PositiveInt

from attention_audit.corpora.corpus import Corpus, Example, labelled

_SYLLABLES = tuple(c + v for c in "bdfgklmnprstvz" for v in "aeiou")


class Planted:
    """Generates train, dev and test splits; `evidence` keeps the deciding positions.

    evidence: words of the document's own class, at the positions kept as the truth.
    distractors: words of other classes in the document, fewer than `evidence`.
    spread: share of a document's positions, in one contiguous window at a random place, that
        evidence and distractors lie in: 1 scatters them, near 0 packs them side by side.
    shortest, longest: words of a document, uniform.
    evidence_words: distinct words of each class.
    vocabulary: distinct filler words, drawn with Zipf's frequencies.
    """

    VERSION = 1

    def __init__(
        self,
        classes: Sequence[str] = ("negative", "positive"),
        train: PositiveInt = 4_000,
        dev: PositiveInt = 500,
        test: PositiveInt = 1_000,
        evidence: PositiveInt = 3,
        distractors: NonNegativeInt = 1,
        spread: Annotated[float, Field(gt=0, le=1)] = 1.0,
        shortest: PositiveInt = 10,
        longest: PositiveInt = 40,
        evidence_words: PositiveInt = 20,
        vocabulary: PositiveInt = 500,
        seed: int = 0,
    ) -> None:
        self.classes = tuple(classes)
        self.sizes = {"train": train, "dev": dev, "test": test}
        self.evidence, self.distractors, self.spread = evidence, distractors, spread
        self.shortest, self.longest = shortest, longest
        self.evidence_words, self.vocabulary = evidence_words, vocabulary
        self.seed = seed
        self._check()

    def missing(self) -> str | None:
        return None

    def files(self) -> list[Path]:
        return []

    def identity(self) -> dict[str, Any]:
        return {
            "reader": "planted",
            "version": self.VERSION,
            "classes": list(self.classes),
            **self.sizes,
            "evidence": self.evidence,
            "distractors": self.distractors,
            "spread": self.spread,
            "shortest": self.shortest,
            "longest": self.longest,
            "evidence_words": self.evidence_words,
            "vocabulary": self.vocabulary,
            "seed": self.seed,
        }

    def load(self) -> Corpus:
        """The generated splits; classes take turns, so they are balanced."""
        splits = {split: labelled(self._examples(split), evidence=True) for split in self.sizes}
        return Corpus(splits, self.classes, f"planted generator v{self.VERSION}")

    def _check(self) -> None:
        if len(self.classes) < 2 or not all(name.isalpha() for name in self.classes):
            raise ValueError(
                f"classes: found {list(self.classes)}, expected two or more names made of letters"
            )
        marks = [word.lower() for c in range(len(self.classes)) for word in self._marks(c)]
        fillers = {_word(n) for n in range(self.vocabulary)}
        if len(set(marks) - fillers) < len(marks):
            raise ValueError(
                f"classes: found {list(self.classes)}, whose evidence words (name + syllables) "
                "coincide with each other or with filler words; choose other names"
            )
        if self.distractors >= self.evidence:
            raise ValueError(
                f"distractors: found {self.distractors}, expected fewer than evidence="
                f"{self.evidence}, else another class could have the majority"
            )
        if not self.evidence + self.distractors <= self.shortest <= self.longest:
            raise ValueError(
                f"shortest: found {self.shortest}, expected at least evidence + distractors = "
                f"{self.evidence + self.distractors} and at most longest={self.longest}"
            )

    def _marks(self, label: int) -> list[str]:
        return [self.classes[label] + _word(n) for n in range(self.evidence_words)]

    def _examples(self, split: str) -> list[Example]:
        rng = random.Random(f"planted {split} {self.seed}")
        fillers = [_word(n) for n in range(self.vocabulary)]
        zipf = list(accumulate(1 / (rank + 1) for rank in range(self.vocabulary)))
        examples = []
        for row in range(self.sizes[split]):
            label = row % len(self.classes)
            length = self.shortest + _below(rng, self.longest - self.shortest + 1)
            words = [fillers[bisect(zipf, rng.random() * zipf[-1])] for _ in range(length)]
            positions = self._place(rng, words, label)
            examples.append(Example(f"{split}-{row}", " ".join(words), label, positions))
        return examples

    def _place(self, rng: random.Random, words: list[str], label: int) -> list[int]:
        """Put evidence and distractors into `words`; the evidence's positions, in order."""
        planted = self.evidence + self.distractors
        width = max(planted, round(self.spread * len(words)))
        start = _below(rng, len(words) - width + 1)
        window = list(range(start, start + width))
        positions = [window.pop(_below(rng, len(window))) for _ in range(planted)]
        others = [c for c in range(len(self.classes)) if c != label]
        for n, position in enumerate(positions):
            owner = label if n < self.evidence else others[_below(rng, len(others))]
            words[position] = self._marks(owner)[_below(rng, self.evidence_words)]
        return sorted(positions[: self.evidence])


def _below(rng: random.Random, bound: int) -> int:
    # Of Python's generators only random() is promised to stay the same between versions.
    return int(rng.random() * bound)


def _word(number: int) -> str:
    """A pronounceable word for a number: letters only, so that every tokeniser keeps it whole."""
    first, rest = number % len(_SYLLABLES), number // len(_SYLLABLES)
    return _SYLLABLES[first] + (_word(rest - 1) if rest else "")
