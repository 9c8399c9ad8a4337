"""Initial embeddings: word vectors from a GloVe or fastText text file, or random ones."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import PositiveInt

from attention_audit.text.embeddings import Embeddings, Fill, drawn, key

if TYPE_CHECKING:
    from attention_audit.text.prepared import CorpusText
    from attention_audit.text.vocabulary import Vocabulary

_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 24


class RandomVectors:
    """Embeddings drawn from N(0, 1), as `torch.nn.Embedding` draws them."""

    def __init__(self, dimension: PositiveInt) -> None:
        self.dimension = dimension

    def missing(self) -> str | None:
        """None: nothing has to be present."""
        return None

    def files(self) -> list[Path]:
        """None: no file determines these vectors."""
        return []

    def identity(self) -> dict[str, Any]:
        """What determines these vectors, beside vocabulary and seed."""
        return {"reader": "random vectors", "version": 1, "dimension": self.dimension}

    def embed(self, vocabulary: Vocabulary, seed: int, documents: CorpusText) -> Embeddings:
        """Vectors for the vocabulary, the same for the same seed, whatever the documents."""
        matrix = drawn(len(vocabulary), self.dimension, seed)
        return Embeddings(matrix=matrix, found=0, coverage=0.0, missing=())


class WordVectors:
    """Word vectors in GloVe's or fastText's text format, plain or gzipped.

    One word a line, then its numbers, parted by single spaces. A first line of two integers is
    taken as fastText's header (words, width) and its number of words is checked. A word may hold
    spaces itself (GloVe 840B): lines are split from the right. Words are compared as bytes, so
    that a line that is not UTF-8 matches no word and does no harm. The first vector of a word
    counts. Every line's number of columns is checked; numbers are read for needed words only.

    Args:
        path: the file; a relative one starts at the working directory.
        missing: a word without vector is drawn from N(0, 1) (`normal`) or is zero (`zeros`).
        dimension: the width the file must have; None takes the header's, or the first line's.
        instead: what to do where the file is not there.
    """

    def __init__(
        self,
        path: str,
        missing: Fill = "normal",
        dimension: PositiveInt | None = None,
        instead: str = "",
    ) -> None:
        self.path = Path(path).expanduser()
        self.instead = instead
        self.fill = missing
        self.dimension = dimension

    def missing(self) -> str | None:
        """None if the file is there, else one phrase: what was looked for."""
        if self.path.is_file():
            return None
        instead = self.instead or "expected GloVe or fastText text vectors"
        return f"vectors.path={self.path}: no such file; {instead}"

    def files(self) -> list[Path]:
        """The file whose content these vectors are."""
        return [self.path]

    def identity(self) -> dict[str, Any]:
        """What determines these vectors, beside the file's content, vocabulary and seed."""
        return {
            "reader": "word vectors",
            "version": 1,
            "missing": self.fill,
            "dimension": self.dimension,
        }

    def embed(self, vocabulary: Vocabulary, seed: int, documents: CorpusText) -> Embeddings:
        """The file's vectors for the vocabulary; the seed is that of the missing ones.

        Raises:
            FileNotFoundError: no such file.
            ValueError: a line that is cut short, too wide or not numeric (with its number), fewer
                words than the header says, an empty file, or a file without any vocabulary word.
        """
        if (absent := self.missing()) is not None:
            raise FileNotFoundError(absent)
        vectors, dimension = self._read({key(word) for word in vocabulary.words})
        found = Embeddings.of(vocabulary, vectors, dimension, seed, self.fill)
        if not found.found:
            raise self._uncovered(vocabulary)
        return found

    def _uncovered(self, vocabulary: Vocabulary) -> ValueError:
        return ValueError(
            f"vectors.path={self.path}: coverage 0, none of the {len(vocabulary.own)} vocabulary "
            f"words (such as {', '.join(map(repr, vocabulary.own[:3]))}) is in it; is it another "
            "language, cased where dataset.text.lowercase=true, or not a vector file?"
        )

    def _read(self, needed: set[bytes]) -> tuple[dict[bytes, np.ndarray], int]:
        vectors: dict[bytes, np.ndarray] = {}
        lines = _lines(self.path)
        number, first = next(lines, (0, b""))
        if not first:
            raise ValueError(f"vectors.path={self.path}: the file is empty; expected word vectors")
        promised, dimension = self._layout(first)
        read = 0
        body = lines if promised is not None else chain([(number, first)], lines)
        for number, line in body:
            read += 1
            word = self._word(line, number, dimension)
            if word in needed and word not in vectors:
                vectors[word] = self._vector(line, number, dimension)
        if promised is not None and read < promised:
            raise ValueError(
                f"vectors.path={self.path}: the header promises {promised} words, found {read}; "
                f"the file ends at line {number}: is it cut short? fetch it again"
            )
        return vectors, dimension

    def _layout(self, first: bytes) -> tuple[int | None, int]:
        """The header's number of words (None without header) and the vectors' width."""
        columns = first.split(b" ")
        if len(columns) == 2 and all(column.isdigit() for column in columns):
            promised, dimension = int(columns[0]), int(columns[1])
        else:
            promised, dimension = None, _numeric_tail(columns)
        if dimension == 0:
            raise ValueError(
                f"vectors.path={self.path}: line 1 is not a word and its numbers, nor a header; "
                "expected GloVe or fastText text vectors (unpack a .zip, convert a .bin)"
            )
        if self.dimension not in (None, dimension):
            raise ValueError(
                f"vectors.path={self.path}: its vectors have {dimension} numbers (line 1), "
                f"expected vectors.dimension={self.dimension}"
            )
        return promised, dimension

    def _word(self, line: bytes, number: int, dimension: int) -> bytes:
        spaces = line.count(b" ")
        if spaces == dimension:
            return line[: line.index(b" ")]
        word, *_ = line.rsplit(b" ", dimension)
        extra = word.split(b" ")[1:]
        if spaces < dimension or all(_NUMBER.fullmatch(column) for column in extra):
            raise ValueError(
                f"vectors.path={self.path}: line {number} has {spaces} numbers, expected "
                f"{dimension} as at the top of the file; is it cut short or mixed? fetch it again"
            )
        return word

    def _vector(self, line: bytes, number: int, dimension: int) -> np.ndarray:
        try:
            vector = np.array(list(map(float, line.rsplit(b" ", dimension)[1:])))
        except ValueError as error:
            raise ValueError(
                f"vectors.path={self.path}: line {number} is not a word and {dimension} numbers: "
                f"{error}"
            ) from None
        if not (abs(vector) <= np.finfo(np.float32).max).all():
            raise ValueError(
                f"vectors.path={self.path}: line {number} holds NaN, or a number beyond float32; "
                "expected finite numbers"
            )
        return vector.astype(np.float32)


def _numeric_tail(columns: list[bytes]) -> int:
    tail = 0
    while tail < len(columns) - 1 and _NUMBER.fullmatch(columns[-1 - tail]):
        tail += 1
    return tail


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line numbers and lines, blank ones left out, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with (
        path.open("rb") as raw,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task("reading word vectors", total=path.stat().st_size)
        number = 0
        for chunk in _chunks(raw, path):
            bar.update(task, completed=raw.tell())
            for line in chunk:
                number += 1
                text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if stripped := text.rstrip(b" \r\n"):
                    yield number, stripped


def _chunks(raw: BufferedReader, path: Path) -> Iterator[list[bytes]]:
    """Lists of whole lines, of some megabytes each, unpacked where the file is gzipped."""
    handle = gzip.GzipFile(fileobj=raw) if raw.peek(2)[:2] == _GZIP_MAGIC else raw
    try:
        while chunk := handle.readlines(_CHUNK_BYTES):
            yield chunk
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"vectors.path={path}: broken gzip file: {error}; fetch it again"
        ) from None
