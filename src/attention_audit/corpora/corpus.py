"""What every reader returns, and how one reader is chosen among those a dataset lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class Corpus:
    """Examples of one corpus by split, as its source has them; nothing is carved or filtered yet.

    Every split has `uid` (string) and `text` (string, or None where the source has none).
    Classification adds `label` (int64, an index into `classes`). Question answering adds `query`
    and `answer` (strings) and, optionally, `candidates` (list of strings). `evidence` (list of
    int64), where the truth is known, holds 0-based positions in `text.split()`.

    splits: "train", and "dev" and "test" where the source has them.
    classes: class names in label order; empty for question answering.
    source: where the rows come from, for people.
    dropped: split -> reason -> number of rows that the reader left out.
    """

    splits: dict[str, Dataset]
    classes: tuple[str, ...]
    source: str
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)


class Source(Protocol):
    """One place that a corpus can come from, as listed under `sources` in a dataset's YAML."""

    def missing(self) -> str | None:
        """None when usable, else one phrase: what was looked for and would serve."""

    def files(self) -> list[Path]:
        """The files whose content is the corpus; empty for the hub and for generators."""

    def identity(self) -> dict[str, Any]:
        """The reader's name, version and every parameter that changes rows; never a path."""

    def load(self) -> Corpus:
        """Read the corpus; ValueError (one line) where its content is not as expected."""


class Example(NamedTuple):
    """A labelled document; `evidence` are the positions in `text.split()` that decide it."""

    uid: str
    text: str | None
    label: int
    evidence: list[int] | None = None


class Question(NamedTuple):
    """A question about a passage; `evidence` are the passage's positions that answer it."""

    uid: str
    text: str
    query: str
    answer: str
    evidence: list[int] | None = None


def choose(sources: Sequence[Source]) -> Source:
    """The first source that is present; FileNotFoundError names what each of them looked for."""
    absent = []
    for source in sources:
        phrase = source.missing()
        if phrase is None:
            return source
        absent.append(phrase)
    found = "; or ".join(absent) or "nothing: the dataset lists no sources"
    raise FileNotFoundError(f"no source of this corpus was found; looked for {found}")


def labelled(examples: Iterable[Example], evidence: bool = False) -> Dataset:
    """A split of a classification corpus, with the column `evidence` where it is known."""
    return _dataset(Example, examples, {"uid", "text"}, {"label"}, evidence)


def asked(questions: Iterable[Question], evidence: bool = True) -> Dataset:
    """A split of a question answering corpus, with the column `evidence` where it is known."""
    return _dataset(Question, questions, {"uid", "text", "query", "answer"}, set(), evidence)


def _dataset(
    row: type[NamedTuple], rows: Iterable[Any], words: set[str], numbers: set[str], evidence: bool
) -> Dataset:
    from datasets import Dataset, Features, Sequence, Value

    features = {name: Value("string") for name in row._fields if name in words}
    features |= {name: Value("int64") for name in row._fields if name in numbers}
    if evidence:
        features["evidence"] = Sequence(Value("int64"))
    table = list(rows)
    columns = {name: [getattr(item, name) for item in table] for name in features}
    return Dataset.from_dict(columns, features=Features(features))
