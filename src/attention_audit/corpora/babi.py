"""The bAbI tasks' original text files (Weston et al. 2015), as question answering."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from attention_audit.corpora.corpus import Corpus, Question, asked
from attention_audit.corpora.decoding import read_text

_FILES = {"train": "train", "dev": "valid", "test": "test"}


class BabiFiles:
    """Reads `qa<task>_*train.txt`, `..test.txt` and, where there is one, `..valid.txt`.

    folder: one of the release's folders, e.g. `tasks_1-20_v1-2/en-10k`; None looks nowhere, so
        that the next source is used.
    """

    VERSION = 1

    def __init__(self, folder: str | Path | None, task: Annotated[int, Field(ge=1, le=20)]) -> None:
        self.folder = Path(folder).expanduser() if folder is not None else None
        self.task = task

    def missing(self) -> str | None:
        found = self._found()
        absent = [name for name in ("train", "test") if name not in found]
        if not absent:
            return None
        names = ", ".join(f"qa{self.task}_*{name}.txt" for name in absent)
        return f"bAbI's {names} in {self.folder or 'no folder (it is null)'}"

    def files(self) -> list[Path]:
        return list(self._found().values())

    def identity(self) -> dict[str, Any]:
        return {"reader": "babi", "version": self.VERSION, "task": self.task}

    def cleaned(self, text: str) -> str:
        return without_marks(text)

    def load(self) -> Corpus:
        """The splits that are there; ValueError names the line that is not bAbI's."""
        splits = {
            split: asked(questions(read_text(path).splitlines(), split, str(path)), evidence=True)
            for split, path in self._found().items()
        }
        return Corpus(splits, (), f"bAbI files of task {self.task}")

    def _found(self) -> dict[str, Path]:
        if self.folder is None:
            return {}
        matches = {
            split: sorted(self.folder.glob(f"qa{self.task}_*{name}.txt"))
            for split, name in _FILES.items()
        }
        return {split: paths[0] for split, paths in matches.items() if paths}


def questions(lines: Iterable[str], split: str, where: str) -> Iterator[Question]:
    """The questions of numbered story lines, each with the story so far as its passage.

    Sentences lose their full stop and are joined by " . "; a question loses its mark. A line
    numbered 1 starts a story. `where` names the lines in errors.
    """
    story: dict[str, str] = {}
    asked_so_far = 0
    for row, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        number, _, rest = line.strip().partition(" ")
        if number == "1":
            story = {}
        if "\t" not in rest:
            story[number] = rest.strip().removesuffix(".").strip()
            continue
        fields = rest.split("\t")
        if len(fields) != 3 or not set(fields[2].split()) <= set(story):
            raise ValueError(
                f"{where}: line {row} is not a bAbI question: found {line.strip()[:60]!r}, "
                "expected 'ID question<tab>answer<tab>IDs of earlier sentences'"
            )
        query, answer, supporting = fields
        yield Question(
            uid=f"{split}-{asked_so_far}",
            text=" . ".join(story.values()),
            query=query.strip().removesuffix("?").strip(),
            answer=answer.strip(),
            evidence=_positions(story, set(supporting.split())),
        )
        asked_so_far += 1


def without_marks(text: str) -> str:
    """Sentences, or a question, with full stops and question mark as `questions` leaves them."""
    parts = (part.strip() for part in text.strip().removesuffix("?").split("."))
    return " . ".join(part for part in parts if part)


def _positions(story: dict[str, str], supporting: set[str]) -> list[int]:
    positions: list[int] = []
    start = 0
    for number, sentence in story.items():
        length = len(sentence.split())
        if number in supporting:
            positions += range(start, start + length)
        start += length + 1  # the " . " between sentences
    return positions
