"""Cloze questions on news of CNN (Hermann et al. 2015), in the two forms they are given out in.

Names are `@entity0`, `@entity1`, ...: one of those in the passage fills the question's
`@placeholder`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from attention_audit.corpora.corpus import Corpus, Question, asked
from attention_audit.corpora.decoding import check_utf8, read_text

SPLITS = ("train", "dev", "test")
_FOLDERS = {"train": "training", "dev": "validation", "test": "test"}
_ENTITY = re.compile(r"@entity\d+")
_ENTITIES = re.compile(r"(?<!\S)@entity\d+(?!\S)")
_NAME = re.compile(r"@entity\d+\s*:.*")


class ClozeFiles:
    """Reads `train.txt`, `dev.txt` and `test.txt` in `folder`, as Chen et al. (2016) have them.

    Question, answer and passage stand on a line each, perhaps followed by lines that say which
    name an entity stands for (`@entity0:name`, not read), and a blank line ends the item. A row's
    candidates are the passage's entities, in the order in which they occur first.

    differs: why this is not the papers' corpus, where it is another one of the same form.
    """

    VERSION = 1

    def __init__(self, folder: str | Path, differs: str = "") -> None:
        self.folder = Path(folder).expanduser()
        self.differs = differs

    def missing(self) -> str | None:
        absent = [path.name for path in self.files() if not path.is_file()]
        return f"the cloze questions' {', '.join(absent)} in {self.folder}" if absent else None

    def files(self) -> list[Path]:
        return [self.folder / f"{split}.txt" for split in SPLITS]

    def identity(self) -> dict[str, Any]:
        return {"reader": "cloze files", "version": self.VERSION, "differs": self.differs}

    def load(self) -> Corpus:
        """The three splits, streamed; ValueError names the line of an item of another form."""
        splits = {
            split: asked(_items(path, split), candidates=True)
            for split, path in zip(SPLITS, self.files(), strict=True)
        }
        return Corpus(splits, (), "cloze files, one a split", differs=self.differs)


class ClozeFolders:
    """Reads `folder/{training,validation,test}/*.question`, as Hermann et al. (2015) have them.

    An item is a file of address, passage, question, answer and the entities' names, parted by
    blank lines. A row's candidates are the passage's entities, in the order in which they occur
    first.

    folder: the release's folder `questions`.
    differs: why this is not the papers' corpus, where it is another one of the same form.
    """

    VERSION = 1

    def __init__(self, folder: str | Path, differs: str = "") -> None:
        self.folder = Path(folder).expanduser()
        self.differs = differs

    def missing(self) -> str | None:
        empty = [name for name in _FOLDERS.values() if not any(self._paths(name))]
        return f".question files in {', '.join(empty)} of {self.folder}" if empty else None

    def files(self) -> list[Path]:
        return [path for name in _FOLDERS.values() for path in sorted(self._paths(name))]

    def identity(self) -> dict[str, Any]:
        return {"reader": "cloze folders", "version": self.VERSION, "differs": self.differs}

    def load(self) -> Corpus:
        """The three splits, streamed; ValueError names a file that is not a question."""
        splits = {
            split: asked(
                (_item(path, split) for path in sorted(self._paths(name))), candidates=True
            )
            for split, name in _FOLDERS.items()
        }
        return Corpus(splits, (), "cloze folders, one a split", differs=self.differs)

    def _paths(self, name: str) -> Iterator[Path]:
        return (self.folder / name).glob("*.question")


def _items(path: Path, split: str) -> Iterator[Question]:
    for row, (number, block) in enumerate(_blocks(path)):
        if len(block) < 3 or not _ENTITY.fullmatch(block[1]):
            raise _unlike(path, number, block)
        query, answer, passage, *names = block
        if not all(map(_NAME.fullmatch, names)):
            raise _unlike(path, number, block)
        yield _question(f"{split}-{row}", passage, query, answer)


def _unlike(path: Path, number: int, block: list[str]) -> ValueError:
    second = f" and then {block[1][:40]!r}" if len(block) > 1 else ""
    return ValueError(
        f"{path}: line {number} begins no cloze question: found {block[0][:40]!r}{second} in "
        f"{len(block)} lines, expected a question, an answer '@entityN' and a passage, a line "
        "each, perhaps lines '@entityN:name', then a blank line; use the original files"
    )


def _blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines between blank ones, with the number of the first of them."""
    for filled, run in groupby(enumerate(_lines(path), start=1), key=lambda line: bool(line[1])):
        if filled:
            numbers, lines = zip(*run, strict=True)
            yield numbers[0], list(lines)


def _lines(path: Path) -> Iterator[str]:
    try:
        # Only "\n" ends a line: the news have other separators inside passages.
        with path.open(encoding="utf-8-sig", newline="\n") as lines:
            for line in lines:
                yield line.strip()
    except UnicodeDecodeError:
        with path.open("rb") as lines_of_bytes:
            check_utf8(path, lines_of_bytes)
        raise


def _item(path: Path, split: str) -> Question:
    parts = read_text(path).replace("\r\n", "\n").split("\n\n", maxsplit=4)
    if len(parts) < 4 or not _ENTITY.fullmatch(parts[3].strip()):
        raise ValueError(
            f"{path}: not a cloze question: found {len(parts)} parts, the last one "
            f"{parts[-1].strip()[:40]!r}, expected address, passage, question, answer "
            "'@entityN' and names, parted by blank lines; use the original files"
        )
    _, passage, query, answer = (part.strip() for part in parts[:4])
    return _question(f"{split}-{path.stem}", passage, query, answer)


def _question(uid: str, passage: str, query: str, answer: str) -> Question:
    candidates = list(dict.fromkeys(_ENTITIES.findall(passage)))
    return Question(uid, passage, query, answer, candidates=candidates)
