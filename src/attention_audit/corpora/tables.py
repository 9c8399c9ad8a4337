"""A user's own table: one row a document, in CSV or TSV."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.corpora.decoding import check_utf8
from attention_audit.corpora.hushed import hushed

if TYPE_CHECKING:
    from datasets import Dataset

SPLITS = {
    "train": "train",
    "dev": "dev",
    "valid": "dev",
    "val": "dev",
    "validation": "dev",
    "test": "test",
}
Label = str | int | float | bool


class Table:
    """Reads a UTF-8 file of text, label and, optionally, split and id.

    path: the file; None is a table not yet named.
    text_column, label_column, split_column, id_column: names in the header, or positions from 0
        where there is none. The split column None is the column `split` where the table has one;
        without a split column all rows are train rows, to be carved later.
    classes: the labels in class order, or label -> class name in class order; None takes the
        train rows' distinct labels, sorted, as numbers where all are numbers.
    delimiter: None means a tab for `.tsv` and `.tab`, else a comma.
    header: whether the first row names the columns.
    quoted: whether `"` encloses fields (so that they may hold delimiters and line ends).
    """

    VERSION = 1

    def __init__(
        self,
        path: str | Path | None,
        text_column: str | int = "text",
        label_column: str | int = "label",
        split_column: str | int | None = None,
        id_column: str | int | None = None,
        classes: Sequence[Label] | Mapping[Label, str] | None = None,
        delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None,
        header: bool = True,
        quoted: bool = True,
    ) -> None:
        self.path = Path(path).expanduser() if path is not None else None
        self.columns = {"text": text_column, "label": label_column}
        self.columns |= {} if split_column is None else {"split": split_column}
        self.columns |= {} if id_column is None else {"uid": id_column}
        self.names = _class_names(classes)
        self.delimiter = delimiter
        self.header = header
        self.quoted = quoted

    def missing(self) -> str | None:
        if self.path is None:
            return "a table of texts and labels, but no path is set (dataset.path=FILE.csv)"
        return None if self.path.is_file() else f"the table {self.path}"

    def files(self) -> list[Path]:
        return [self.path] if self.path is not None else []

    def identity(self) -> dict[str, Any]:
        return {
            "reader": "table",
            "version": self.VERSION,
            "columns": {role: str(name) for role, name in self.columns.items()},
            "classes": None if self.names is None else [list(pair) for pair in self.names.items()],
            "delimiter": self.delimiter,
            "header": self.header,
            "quoted": self.quoted,
        }

    def load(self) -> Corpus:
        """The rows by split; FileNotFoundError or ValueError, one line, where they cannot be."""
        phrase = self.missing()
        if self.path is None or phrase is not None:
            raise FileNotFoundError(f"no such file: {phrase}")
        with self.path.open("rb") as lines:
            check_utf8(self.path, lines)
        rows = self._rows(self.path)
        if not any(text.strip() for text in rows["text"]):
            raise ValueError(
                f"{self.path}: column {self.columns['text']!r} is blank in all of its "
                f"{len(rows['text'])} rows; name the column of the texts (text_column=...)"
            )
        return self._corpus(self.path, rows)

    def _rows(self, path: Path) -> dict[str, list[str]]:
        """The wanted columns, by role; every value is text as written, `NA` and all."""
        found = self._header(path)
        columns = dict(self.columns)
        if "split" in found:
            columns.setdefault("split", "split")
        chosen = {role: _find(path, found, role, name) for role, name in columns.items()}
        table = self._read(path, len(found))
        return {role: list(table[str(position)]) for role, position in chosen.items()}

    def _header(self, path: Path) -> list[str]:
        """Column names, or positions; ValueError if the first row of values is wider."""
        rows = _first_rows(path, delimiter=self._delimiter(path), quoting=self._quoting())
        if len(rows) < 1 + self.header:
            raise ValueError(f"{path}: found no rows, expected some with a text and a label")
        names = rows[0] if self.header else [str(n) for n in range(len(rows[0]))]
        if len(rows[-1]) > len(names):
            raise ValueError(
                f"{path}: the first row has {len(rows[-1])} fields, the header {len(names)}; put "
                'quotes (") around texts that hold the delimiter, or name the delimiter'
            )
        return names

    def _read(self, path: Path, width: int) -> Dataset:
        from tempfile import TemporaryDirectory

        from datasets import Dataset, Features, Value
        from datasets.exceptions import DatasetGenerationError

        names = [str(n) for n in range(width)]
        with hushed(), TemporaryDirectory() as cache:
            try:
                return Dataset.from_csv(
                    str(path),
                    features=Features({name: Value("string") for name in names}),
                    # A cache of our own: in memory and gone at once, so it can be neither stale
                    # nor in the way; what is worth keeping is the tokenised text.
                    cache_dir=cache,
                    keep_in_memory=True,
                    sep=self._delimiter(path),
                    header=0 if self.header else None,
                    column_names=names,
                    quoting=self._quoting(),
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

    def _delimiter(self, path: Path) -> str:
        return self.delimiter or ("\t" if path.suffix.lower() in (".tsv", ".tab") else ",")

    def _quoting(self) -> int:
        return csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE

    def _corpus(self, path: Path, rows: dict[str, list[str]]) -> Corpus:
        split_of = _splits(path, rows)
        labels = [label.strip() for label in rows["label"]]
        names = self._classes(
            path, [x for x, s in zip(labels, split_of, strict=True) if s == "train"]
        )
        index = {label: number for number, label in enumerate(names)}
        examples: dict[str, list[Example]] = {split: [] for split in split_of}
        dropped: dict[str, Counter[str]] = {split: Counter() for split in examples}
        for split, uid, text, label in zip(
            split_of, rows.get("uid") or _uids(split_of), rows["text"], labels, strict=True
        ):
            if label in index:
                examples[split].append(Example(uid, text, index[label]))
            else:
                dropped[split]["unknown label" if label else "unlabelled"] += 1
        return Corpus(
            {split: labelled(rows) for split, rows in examples.items()},
            tuple(names.values()),
            f"table {path.name}",
            {split: dict(reasons) for split, reasons in dropped.items()},
        )

    def _classes(self, path: Path, labels: list[str]) -> dict[str, str]:
        """Label -> class name, in class order; ValueError unless train rows have two of them."""
        names = self.names or _distinct(labels)
        if len(set(labels) & set(names)) >= 2:
            return names
        raise ValueError(
            f"{path}: column {self.columns['label']!r} must hold two or more classes in the train "
            f"rows: {f'expected {_some(names)}, ' if self.names else ''}found {_counted(labels)}"
        )


def _uids(split_of: list[str]) -> list[str]:
    rows: Counter[str] = Counter()
    uids = []
    for split in split_of:
        uids.append(f"{split}-{rows[split]}")
        rows[split] += 1
    return uids


def _class_names(classes: Sequence[Label] | Mapping[Label, str] | None) -> dict[str, str] | None:
    """Label as written in the file -> class name, in class order."""
    if classes is None:
        return None
    pairs = classes.items() if isinstance(classes, Mapping) else [(c, str(c)) for c in classes]
    names = {str(label): str(name) for label, name in pairs}
    if any(isinstance(label, bool) for label, _ in pairs):
        raise ValueError(
            "classes: YAML reads a bare yes, no, true or false as a truth value, not as the text "
            "in the file; put quotes around it"
        )
    if len(names) < 2 or len(set(names.values())) < len(pairs):
        raise ValueError(f"classes: found {_some(names)}, expected two or more different ones")
    return names


def _first_rows(path: Path, **dialect: Any) -> list[list[str]]:
    """The first two rows that are not blank, for their widths and names."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            filled = (row for row in csv.reader(lines, **dialect) if row)
            return list(islice(filled, 2))
    except csv.Error as error:
        raise ValueError(f"{path}: not a readable table: {error}; save it as CSV again") from None
    finally:
        csv.field_size_limit(limit)


def _find(path: Path, found: list[str], role: str, name: str | int) -> int:
    places = [n for n, column in enumerate(found) if column.strip() == str(name)]
    if len(places) != 1:
        problem = "appears more than once" if places else "is missing"
        key = "id_column" if role == "uid" else f"{role}_column"
        raise ValueError(
            f"{path}: column {str(name)!r} {problem}; found the columns {_some(found)}; "
            f"name the one that holds the {role} ({key})"
        )
    return places[0]


def _splits(path: Path, rows: dict[str, list[str]]) -> list[str]:
    if "split" not in rows:
        return ["train"] * len(rows["text"])
    written = [value.strip().lower() for value in rows["split"]]
    unknown = sorted(set(written) - set(SPLITS))
    if unknown:
        raise ValueError(
            f"{path}: the split column holds {_some(unknown)}; expected {', '.join(SPLITS)}"
        )
    if "train" not in written:
        raise ValueError(f"{path}: no train rows; the split column holds {_counted(written)}")
    return [SPLITS[value] for value in written]


def _distinct(labels: Iterable[str]) -> dict[str, str]:
    """The labels that occur, in class order: by value where all are numbers, else by text."""
    found = set(labels) - {""}
    if found and all(_is_number(label) for label in found):
        return {label: label for label in sorted(found, key=lambda label: (float(label), label))}
    return {label: label for label in sorted(found)}


def _is_number(label: str) -> bool:
    try:
        return float(label) == float(label)  # "nan" is a text, not a number to sort by
    except ValueError:
        return False


def _some(values: Iterable[str], most: int = 12) -> str:
    """A few of the values, as one line can hold."""
    shown = [f"{value!r}" for value in values]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def _counted(values: Iterable[str], most: int = 12) -> str:
    """The commonest values with their numbers of rows."""
    common = Counter(values).most_common()
    shown = ", ".join(f"{value!r} ({rows} rows)" for value, rows in common[:most])
    return shown + (f" and {len(common) - most} more" if len(common) > most else "")
