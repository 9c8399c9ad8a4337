"""The words that a model knows, and their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attention_audit.batch import SPECIAL_TOKENS, UNK


@dataclass(frozen=True)
class Vocabulary:
    """Words by id: the special tokens (`<pad>` 0, `<unk>` 1, `<sos>` 2, `<eos>` 3), then words.

    A word's id is its place in `words`. A token of a text that is spelt like a special token is
    an unknown word: no text can smuggle padding in.

    Raises:
        ValueError: `words` does not begin with the special tokens, or repeats a word.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.words[: len(SPECIAL_TOKENS)] != SPECIAL_TOKENS:
            raise ValueError(
                f"vocabulary begins with {list(self.words[:4])}, expected {list(SPECIAL_TOKENS)}"
            )
        if len(set(self.words)) != len(self.words):
            word = next(word for word, n in Counter(self.words).items() if n > 1)
            raise ValueError(f"vocabulary lists {word!r} more than once")

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Sequence[str]],
        min_df: int = 1,
        always: Collection[str] = (),
    ) -> Vocabulary:
        """The words found in at least `min_df` documents, the most widespread first.

        The words of `always` are kept however rare they are. Words that are equally widespread
        stand in alphabetical order, so that the ids depend on the documents only, not on their
        order.
        """
        frequency: Counter[str] = Counter()
        for document in documents:
            frequency.update(set(document))
        kept = {word for word, n in frequency.items() if n >= min_df} | set(always)
        kept -= set(SPECIAL_TOKENS)
        ranked = sorted(kept, key=lambda word: (-frequency[word], word))
        return cls((*SPECIAL_TOKENS, *ranked))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Vocabulary:
        """The vocabulary that `to_dict` wrote."""
        return cls(tuple(stored["words"]))

    def to_dict(self) -> dict[str, Any]:
        """Plain containers, for JSON."""
        return {"words": list(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    @property
    def own(self) -> tuple[str, ...]:
        """The words without the special tokens, in id order."""
        return self.words[len(SPECIAL_TOKENS) :]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: len(SPECIAL_TOKENS) + place for place, word in enumerate(self.own)}

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Word ids in token order; an unknown word is `<unk>`; nothing is put around them."""
        return [self._ids.get(token, UNK) for token in tokens]

    def encode_flat(self, tokens: Any) -> np.ndarray:
        """`encode` for an Arrow string array: int64 ids, at the speed of Arrow."""
        import pyarrow as pa
        import pyarrow.compute as pc

        place = pc.index_in(tokens, value_set=pa.array(self.own, pa.string()))
        known = pc.add(pc.cast(place, pa.int64()), len(SPECIAL_TOKENS))
        ids = pc.fill_null(known, UNK)
        return np.asarray(ids, dtype=np.int64)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words with these ids."""
        return [self.words[i] for i in ids]
