"""Columns of a CSV file that may be larger than memory, plain or gzipped."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from attention_audit.corpora.decoding import check_utf8

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_BLOCK_BYTES = 1 << 22
_LONGEST_HEADER = 1 << 16


def stream(path: Path, columns: Sequence[str]) -> Iterator[RecordBatch]:
    """The file's rows in batches of some megabytes: the named columns as strings, in this order.

    The header's names may be in either case. A quoted value may hold delimiters, quotes (doubled)
    and line ends; of a CR LF in it, only the CR may be left where two blocks meet. No message
    quotes a value.

    Args:
        path: UTF-8, gzipped if it ends in `.gz`.
        columns: names in upper case.

    Raises:
        ValueError: a column is not there, a row has more or fewer fields than the header, a row
            beyond 4 MB, a file that is empty, not UTF-8 or broken.
    """
    import pyarrow as pa

    written = _header(path, columns)
    uneven: list[str] = []
    try:
        for batch in _reader(path, [written[name] for name in columns], uneven):
            yield pa.RecordBatch.from_arrays(batch.columns, names=list(columns))
    except pa.ArrowInvalid:
        _refuse(path, uneven)
    except OSError as error:
        if error.errno is not None or path.suffix != ".gz":
            raise
        raise _broken(path) from None


def _reader(path: Path, columns: list[str], uneven: list[str]) -> Any:
    """Arrow's reader; what is wrong with a row is put into `uneven`, without the row's content."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    def note(row: Any) -> str:
        uneven.append(
            f"row {row.number} (the header is row 1) has {row.actual_columns} fields, "
            f"expected {row.expected_columns}"
        )
        return "error"

    return arrow.open_csv(
        pa.input_stream(path, compression="gzip" if path.suffix == ".gz" else None),
        # With threads, Arrow does not know a row's number.
        read_options=arrow.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
        parse_options=arrow.ParseOptions(newlines_in_values=True, invalid_row_handler=note),
        convert_options=arrow.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=False,
        ),
    )


def _header(path: Path, columns: Sequence[str]) -> dict[str, str]:
    """Upper-case name -> name as written."""
    try:
        with _opened(path) as file:
            first = file.readline(_LONGEST_HEADER).decode("utf-8-sig", "replace")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise _broken(path) from None
    names = next(csv.reader([first]), [])
    written = {name.strip().upper(): name for name in names}
    if absent := [name for name in columns if name not in written]:
        raise ValueError(
            f"{path}: its first row has {len(names)} fields, none of them named "
            f"{' or '.join(absent)}; expected the table's header, in upper or lower case"
        )
    return written


def _opened(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _refuse(path: Path, uneven: Sequence[str]) -> NoReturn:
    """Say what is wrong with a file that Arrow refuses, whose own words would quote it."""
    if not uneven:
        with _opened(path) as lines:
            check_utf8(path, lines)
    reason = uneven[0] if uneven else "a row is longer than 4 MB, as if a quote were never closed"
    raise ValueError(
        f"{path}: {reason}; is it cut short, or were its quotes or line ends changed? fetch it "
        "again"
    ) from None


def _broken(path: Path) -> ValueError:
    return ValueError(f"{path}: broken gzip file; fetch it again")
