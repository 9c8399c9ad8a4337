"""Tables on disk, in any format that people keep them in: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from attention_audit.corpora.decoding import check_utf8
from attention_audit.corpora.hushed import hushed

if TYPE_CHECKING:
    from datasets import Dataset

TABS = (".tsv", ".tab", ".txt")
DELIMITED = (".csv", *TABS)
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet",)
SUFFIXES = (*DELIMITED, *JSON_LINES, *PARQUET)
# An escape of one half of a character beyond the 16-bit ones: alone, it is no character.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class Table(Protocol):
    """Named columns of equal length."""

    @property
    def names(self) -> Sequence[str]: ...

    def __getitem__(self, place: int) -> Sequence[Any]:
        """The values of a column, row by row, as the format has them."""


@dataclass(frozen=True)
class Dialect:
    """How a delimited text file is written.

    delimiter: None means a tab for `.tsv`, `.tab` and `.txt`, else a comma.
    header: whether the first row names the columns.
    quoted: whether `"` encloses fields, so that they may hold delimiters and line ends.
    """

    delimiter: str | None = None
    header: bool = True
    quoted: bool = True

    def of(self, path: Path) -> dict[str, Any]:
        """The `csv` module's arguments for a file."""
        delimiter = self.delimiter or ("\t" if kind(path) in TABS else ",")
        return {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
        }


def kind(path: Path) -> str:
    """The ending that tells the format, `.gz` aside."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_table(path: Path, dialect: Dialect) -> Table:
    """The table in a file, gzipped or not (Parquet: not).

    Raises ValueError, one line, for an ending of no known format, a file that is not UTF-8, a row
    that cannot be read (with its number), or no rows at all.
    """
    if kind(path) in PARQUET:
        return _Parquet(path)
    if kind(path) in JSON_LINES:
        return _JsonLines(path)
    if kind(path) in DELIMITED:
        return _Delimited(path, dialect)
    raise ValueError(
        f"{path}: a file of unknown kind; expected one of {', '.join(SUFFIXES)}, perhaps .gz"
    )


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked if it ends in `.gz`; ValueError for a broken archive."""
    try:
        packed = path.name.lower().endswith(".gz")
        with cast(IO[bytes], gzip.open(path) if packed else path.open("rb")) as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: broken gzip file: {error}; fetch it again") from None


def _no_rows(path: Path) -> ValueError:
    return ValueError(f"{path}: found no rows, expected some with a text and a label")


class _Delimited:
    """CSV and TSV; every value is text as written, `NA` and all."""

    def __init__(self, path: Path, dialect: Dialect) -> None:
        with opened(path) as lines:
            check_utf8(path, lines)
        self.names = self._header(path, dialect)
        self._table = self._read(path, dialect)

    def __getitem__(self, place: int) -> Sequence[Any]:
        return list(self._table[str(place)])

    def _header(self, path: Path, dialect: Dialect) -> list[str]:
        """Column names, or positions; ValueError if the first row of values is wider."""
        rows = _first_rows(path, dialect)
        if len(rows) < 1 + dialect.header:
            raise _no_rows(path)
        names = rows[0] if dialect.header else [str(n) for n in range(len(rows[0]))]
        if len(rows[-1]) > len(names):
            raise ValueError(
                f"{path}: the first row has {len(rows[-1])} fields, the header {len(names)}; put "
                'quotes (") around texts that hold the delimiter, or name the delimiter'
            )
        return names

    def _read(self, path: Path, dialect: Dialect) -> Dataset:
        from tempfile import TemporaryDirectory

        from datasets import Dataset, Features, Value
        from datasets.exceptions import DatasetGenerationError

        names = [str(n) for n in range(len(self.names))]
        written = dialect.of(path)
        with hushed(), TemporaryDirectory() as cache:
            try:
                return Dataset.from_csv(
                    str(path),
                    features=Features({name: Value("string") for name in names}),
                    # A cache of our own: in memory and gone at once, so it can be neither stale
                    # nor in the way; what is worth keeping is the tokenised text.
                    cache_dir=cache,
                    keep_in_memory=True,
                    sep=written["delimiter"],
                    header=0 if dialect.header else None,
                    column_names=names,
                    quoting=written["quoting"],
                    keep_default_na=False,
                    na_filter=False,
                    encoding="utf-8",
                )
            except DatasetGenerationError as error:
                reason = str(error.__cause__ or error).strip().splitlines()[-1]
                raise ValueError(
                    f'{path}: {reason}; put quotes (") around texts that hold the delimiter or '
                    "a quote, or set quoted=false if quotes mean nothing in this file"
                ) from None


def _first_rows(path: Path, dialect: Dialect) -> list[list[str]]:
    """The first two rows that are not blank, for their widths and names."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with opened(path) as content:
            lines = (line.decode("utf-8") for line in _without_mark(content))
            filled = (row for row in csv.reader(lines, **dialect.of(path)) if row)
            return list(islice(filled, 2))
    except csv.Error as error:
        raise ValueError(f"{path}: not a readable table: {error}; save it as CSV again") from None
    finally:
        csv.field_size_limit(limit)


def _without_mark(content: IO[bytes]) -> Iterator[bytes]:
    first = content.readline()
    yield first.removeprefix(b"\xef\xbb\xbf")
    yield from content


class _JsonLines:
    """An object a line; a name that some of them lack is null there."""

    def __init__(self, path: Path) -> None:
        with opened(path) as lines:
            check_utf8(path, lines)
        with opened(path) as lines:
            self._rows = [*_objects(path, _without_mark(lines))]
        if not self._rows:
            raise _no_rows(path)
        self.names = [*dict.fromkeys(name for row in self._rows for name in row)]

    def __getitem__(self, place: int) -> Sequence[Any]:
        return [row.get(self.names[place]) for row in self._rows]


def _objects(path: Path, lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise ValueError(
                f"{path}: line {number} is not a JSON object; expected one a line, such as "
                '{"text": "...", "label": "..."}'
            )
        if _HALF.search(line) and not _whole(row):
            raise ValueError(
                f"{path}: line {number} holds half a character (a lone escape from \\ud800 to "
                "\\udfff), as where a text was cut inside an emoji; take the escape away"
            )
        yield row


def _whole(row: dict[str, Any]) -> bool:
    """Whether the texts can be written as UTF-8."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class _Parquet:
    """Columns as Parquet's types have them."""

    def __init__(self, path: Path) -> None:
        from pyarrow import ArrowException, parquet

        self._path = path
        try:
            self.names = parquet.read_schema(path).names
            if parquet.read_metadata(path).num_rows == 0:
                raise _no_rows(path)
        except (ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"{path}: not a whole Parquet file: {reason}") from None

    def __getitem__(self, place: int) -> Sequence[Any]:
        from pyarrow import parquet

        with parquet.ParquetFile(self._path) as file:
            return file.read(columns=[self.names[place]]).column(0).to_pylist()
