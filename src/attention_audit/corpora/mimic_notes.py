"""Discharge summaries of MIMIC-III (Johnson et al. 2016), one text for each admission."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple

from attention_audit.corpora.streamed import stream

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch

_KEYS = ("HADM_ID", "DESCRIPTION", "CHARTDATE", "CHARTTIME", "ROW_ID")
_COLUMNS = (*_KEYS, "TEXT", "CATEGORY", "ISERROR")
_DATE = r"^(\d{4}-\d{2}-\d{2}.*)?$"
_DEIDENTIFIED = re.compile(r"\[\*\*[^\[\]]*\*\*\]")
_REPEATED = re.compile(r"([^\w\s]|_)\1+")


class _Note(NamedTuple):
    """Where a note stands among those of its admission, and in the file."""

    is_addendum: bool
    date: str
    time: str
    number: tuple[int, str]
    start: int
    length: int


class Summaries:
    """The discharge summaries of chosen admissions, in a file of their own; see `summaries`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._notes: dict[str, list[_Note]] = {}
        self._end = 0

    def __contains__(self, admission: object) -> bool:
        return admission in self._notes

    def __len__(self) -> int:
        return len(self._notes)

    def text(self, admission: str) -> str:
        """The admission's summary: reports, then addenda, each by date, joined and cleaned."""
        parts = []
        for note in sorted(self._notes[admission]):
            self._file.seek(note.start)
            parts.append(self._file.read(note.length).decode("utf-8"))
        return cleaned(" ".join(parts))

    def add(self, rows: RecordBatch) -> None:
        """Put these notes into the file; only where they stand is kept in memory."""
        keys = zip(*(rows[name].to_pylist() for name in _KEYS), strict=True)
        for (admission, description, date, time, row), text in zip(
            keys, rows["TEXT"].to_pylist(), strict=True
        ):
            # Row numbers are digits: of two, the longer is the larger.
            number, length = (len(row), row), self._file.write(text.encode("utf-8"))
            note = _Note(description.strip() != "Report", date, time, number, self._end, length)
            self._notes.setdefault(admission.strip(), []).append(note)
            self._end += length


@contextmanager
def summaries(path: Path, admissions: Collection[str]) -> Iterator[Summaries]:
    """The discharge summaries that NOTEEVENTS holds of these admissions, while the block lasts.

    Notes marked as errors (ISERROR 1) are left out. The table is read once, as a stream, and the
    wanted notes go to a nameless temporary file: memory holds one block of the table.

    Raises:
        ValueError: a table that cannot be read (see `stream`), a date of another form.
    """
    import pyarrow as pa

    wanted = pa.array(sorted(admissions), pa.string())
    with TemporaryFile(prefix="attention-audit-") as file:
        found = Summaries(file)
        for batch in stream(path, _COLUMNS):
            kept = batch.filter(_is_wanted(batch, wanted))
            _check_dates(path, kept["CHARTDATE"])
            found.add(kept)
        yield found


def cleaned(text: str) -> str:
    """A note as one line of words.

    Each de-identified passage, `[** ... **]`, becomes the word `<de>`. A run of one and the same
    character that is neither letter, digit nor space, such as `----`, becomes one of it. Each run
    of white space becomes one blank, and none is left at the ends.
    """
    marked = _DEIDENTIFIED.sub(" <de> ", text)
    return " ".join(_REPEATED.sub(r"\1", marked).split())


def _is_wanted(batch: RecordBatch, admissions: Array) -> Array:
    import pyarrow.compute as pc

    category, error, admission = (
        pc.utf8_trim_whitespace(batch[name]) for name in ("CATEGORY", "ISERROR", "HADM_ID")
    )
    whole = pc.and_(pc.equal(category, "Discharge summary"), pc.not_equal(error, "1"))
    return pc.and_(whole, pc.is_in(admission, value_set=admissions))


def _check_dates(path: Path, dates: Array) -> None:
    """Dates are ordered as text, which is right in one form only."""
    import pyarrow.compute as pc

    strange = dates.filter(pc.invert(pc.match_substring_regex(dates, _DATE)))
    if len(strange):
        raise ValueError(
            f"{path}: CHARTDATE {strange[0].as_py()!r}, expected YYYY-MM-DD as in the original "
            "table; fetch it again"
        )
