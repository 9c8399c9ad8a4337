"""What every reader returns, and how one reader is chosen among those a dataset lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class Corpus:
    """Examples of one corpus by split, as its source has them; nothing is carved or filtered yet.

    Every split has `uid` (string) and `text` (string, or None where the source has none).
    Classification adds `label` (int64, an index into `classes`). Question answering adds `query`
    and `answer` (strings) and, optionally, `candidates` (list of strings, the answers that the row
    may give). Inference adds `query` (the hypothesis; `text` is the premise) and `label`.
    `evidence` (list of int64), where the truth is known, holds 0-based positions in
    `text.split()`.

    splits: "train", and "dev" and "test" where the source has them.
    classes: class names in label order; empty for question answering.
    source: where the rows come from, for people.
    dropped: split -> reason -> number of rows that the reader left out.
    differs: why these rows are not those of the papers, "" where they are: published figures are
        not shown beside such a corpus.
    """

    splits: dict[str, Dataset]
    classes: tuple[str, ...]
    source: str
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)
    differs: str = ""


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


@runtime_checkable
class Cleans(Protocol):
    """A source whose texts are not quite those of its files."""

    def cleaned(self, text: str) -> str:
        """A text, or a question, from elsewhere as this source would give it."""


class Example(NamedTuple):
    """A labelled document; `evidence` are the positions in `text.split()` that decide it."""

    uid: str
    text: str | None
    label: int
    evidence: list[int] | None = None


class Question(NamedTuple):
    """A question about a passage; `evidence` are the passage's positions that answer it."""

    uid: str
    text: str | None
    query: str | None
    answer: str | None
    evidence: list[int] | None = None
    candidates: list[str] | None = None


class Pair(NamedTuple):
    """A premise (`text`) and a hypothesis (`query`), with the relation between them."""

    uid: str
    text: str | None
    query: str | None
    label: int


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
    return _dataset(examples, ("uid", "text", "label", *(["evidence"] if evidence else [])))


def asked(
    questions: Iterable[Question], evidence: bool = False, candidates: bool = False
) -> Dataset:
    """A split of a question answering corpus, with the optional columns that it has."""
    optional = {"evidence": evidence, "candidates": candidates}
    present = [name for name, there in optional.items() if there]
    return _dataset(questions, ("uid", "text", "query", "answer", *present))


def paired(pairs: Iterable[Pair]) -> Dataset:
    """A split of an inference corpus."""
    return _dataset(pairs, ("uid", "text", "query", "label"))


def _dataset(rows: Iterable[Any], columns: Sequence[str]) -> Dataset:
    """Rows written to disk as they come and read from there: they may be larger than memory."""
    from datasets import Dataset, Features, Sequence, Value
    from datasets.arrow_writer import ArrowWriter

    word, number = Value("string"), Value("int64")
    kinds = {"label": number, "evidence": Sequence(number), "candidates": Sequence(word)}
    features = Features({name: kinds.get(name, word) for name in columns})
    with TemporaryDirectory(prefix="attention-audit-") as folder:
        path = str(Path(folder) / "rows.arrow")
        with ArrowWriter(features=features, path=path) as writer:
            for row in rows:
                writer.write({name: getattr(row, name) for name in columns})
            writer.finalize()
        # The file is mapped into memory: it lasts, without a name, as long as somebody reads it.
        return Dataset.from_file(path)
