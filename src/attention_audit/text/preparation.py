"""The `text:` settings of a dataset: how its documents are tokenised, split and filtered."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

Share = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True)
class Preparation:
    """How raw documents become the rows of the three splits.

    Lengths count words, without `<sos>` and `<eos>`; both bounds are strict. Shares lie in (0, 1).

    Args:
        tokenizer: `spacy` for raw text, `whitespace` for text that is tokenised already.
        lowercase: lower-case every token.
        digits: `qqq` replaces each token that holds a digit by `qqq`; `keep` leaves it.
        longer_than: a row is kept if it has more words than this.
        shorter_than: a row is kept if it has fewer words than this.
        drop_longest: where `shorter_than` is not set, the split's own longest length is the strict
            upper bound, so that its longest documents are dropped (the original program).
        drop_shortest: the same of `longer_than` and the shortest documents.
        dev_fraction: share of the train split carved as dev where the corpus has none.
        test_fraction: share of the train split carved as test where the corpus has none.
        test_sample: share of the test split that is kept; None keeps all.
        split_seed: seed of carving and of every sample.
        min_df: a word of the vocabulary occurs in at least this many documents.
        vocabulary: `train` takes words from the train rows that are kept; `corpus` from all rows
            of all splits, before any is dropped, as the original program does: words that only
            the test split has then keep their pretrained vectors.

    Raises:
        ValueError: a value of the wrong type or out of range, or bounds that exclude every length.
    """

    tokenizer: Literal["spacy", "whitespace"] = "spacy"
    lowercase: bool = True
    digits: Literal["qqq", "keep"] = "qqq"
    longer_than: NonNegativeInt | None = None
    shorter_than: PositiveInt | None = None
    drop_longest: bool = False
    drop_shortest: bool = False
    dev_fraction: Share = 0.15
    test_fraction: Share = 0.2
    test_sample: Share | None = None
    split_seed: NonNegativeInt = 0
    min_df: PositiveInt = 1
    vocabulary: Literal["train", "corpus"] = "train"

    def __post_init__(self) -> None:
        hints = get_type_hints(Preparation, include_extras=True)
        for field in fields(self):
            _check(field.name, getattr(self, field.name), hints[field.name])
        if self.dev_fraction + self.test_fraction >= 1:
            raise ValueError(
                f"dataset.text: dev_fraction {self.dev_fraction} and test_fraction "
                f"{self.test_fraction} leave nothing to train on; expected a sum below 1"
            )
        if self.shorter_than is not None and self.shorter_than - 1 <= (self.longer_than or 0):
            raise ValueError(
                f"dataset.text: no document is longer than {self.longer_than or 0} and shorter "
                f"than {self.shorter_than} words (both bounds are strict); widen one of them"
            )

    def tokenising(self) -> dict[str, Any]:
        """The settings that change a document's tokens, and so the key of the cached text."""
        return {name: getattr(self, name) for name in ("tokenizer", "lowercase", "digits")}


def _check(name: str, value: object, hint: Any) -> None:
    try:
        TypeAdapter(hint).validate_python(value, strict=True)
    except ValidationError as error:
        reason = "; or ".join(part["msg"] for part in error.errors())
        raise ValueError(f"dataset.text.{name}={value!r}: {reason}") from None
