"""Posts of the 20 Newsgroups corpus (Lang 1995), the "by date" release, as documents by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from attention_audit.corpora.cleaning import clean
from attention_audit.corpora.corpus import Corpus, Example, labelled

HALVES = ("20news-bydate-train", "20news-bydate-test")
_QUOTING = ("writes in", "writes:", "wrote:", "says:", "said:")
_QUOTED = ("In article", "Quoted from", "|", ">")


class Newsgroups:
    """Reads `folder/20news-bydate-{train,test}/<group>/*`, one latin-1 post a file.

    The release parts the posts by date; they are pooled here, in the one split "train", as in the
    paper. Of each post the header, the signature and the quotations are removed, then each run of
    characters that are no letters, digits or underscores becomes one space. (The reference program
    did this last step after tokenising: there the apostrophe of "it's" is a word of its own.)
    A post of which nothing is left keeps its row, with a blank text.

    folder: holds the two folders of the release.
    classes: group -> class name, in label order; posts of other groups are not read.
    """

    VERSION = 1

    def __init__(self, folder: str | Path, classes: Mapping[str, str]) -> None:
        self.folder = Path(folder).expanduser()
        self.classes = dict(classes)

    def missing(self) -> str | None:
        empty = [
            f"{half}/{group}" for half, group in self._groups() if not self._posts(half, group)
        ]
        return f"posts in {', '.join(empty)} of {self.folder}" if empty else None

    def files(self) -> list[Path]:
        return [path for half, group in self._groups() for path in self._posts(half, group)]

    def identity(self) -> dict[str, Any]:
        return {"reader": "newsgroups", "version": self.VERSION, "classes": self.classes}

    def cleaned(self, text: str) -> str:
        return clean(text, "words_only")

    def load(self) -> Corpus:
        """All posts of the groups; any byte is a latin-1 character, so that none is refused."""
        rows = labelled(self._examples())
        source = f"newsgroup posts by date ({len(rows):,} files)"
        return Corpus({"train": rows}, tuple(self.classes.values()), source)

    def _groups(self) -> Iterator[tuple[str, str]]:
        return product(HALVES, self.classes)

    def _posts(self, half: str, group: str) -> list[Path]:
        posts = (self.folder / half / group).glob("[!.]*")
        return sorted(path for path in posts if path.is_file())

    def _examples(self) -> Iterator[Example]:
        labels = {group: label for label, group in enumerate(self.classes)}
        for half, group in self._groups():
            for path in self._posts(half, group):
                yield Example(f"{half}/{group}/{path.name}", _text(path), labels[group])


def without_header(post: str) -> str:
    """What follows the first empty line; nothing where there is none."""
    return post.partition("\n\n")[2]


def without_signature(post: str) -> str:
    """What stands before the last line that is blank or of hyphens only.

    Blank lines around the post do not count; without such a line, or with no text before it, the
    post is kept as it is.
    """
    lines = post.strip().split("\n")
    borders = (n for n, line in enumerate(lines) if not line.strip().strip("-"))
    last = max(borders, default=0)
    return "\n".join(lines[:last]) if last else post


def without_quotations(post: str) -> str:
    """The lines that neither are marked as quoted nor say whom the next ones quote."""
    return "\n".join(line for line in post.split("\n") if not _is_quotation(line))


def _is_quotation(line: str) -> bool:
    return line.startswith(_QUOTED) or any(phrase in line for phrase in _QUOTING)


def _text(path: Path) -> str:
    # A copy with the line ends of Windows has no "\n\n": all of it would count as header.
    post = path.read_bytes().decode("latin-1").replace("\r\n", "\n")
    return clean(without_quotations(without_signature(without_header(post))), "words_only")
