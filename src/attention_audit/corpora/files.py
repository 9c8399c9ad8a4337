"""A user's own tables: one file, a file a split, or a folder of such files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from attention_audit.corpora.cleaning import Cleaning, clean
from attention_audit.corpora.columns import Columns, Name, Reading, Task
from attention_audit.corpora.corpus import Corpus
from attention_audit.corpora.labels import Label, Scheme, counted, some
from attention_audit.corpora.tables import SUFFIXES, Dialect, Table, kind, read_table

# How a split may be called, in a column or as a file's name.
SPLITS = {
    "train": "train",
    "dev": "dev",
    "valid": "dev",
    "val": "dev",
    "validation": "dev",
    "test": "test",
}


class Files:
    """Reads tables of texts with labels, of questions with answers, or of pairs with relations.

    path: a file of CSV, TSV, JSON lines or Parquet (by its ending, `.gz` aside); or a folder with
        a file a split (`train.*`, `dev.*` or `valid.*`, `test.*`); or split -> file. None is a
        path not yet named.
    task: classification, qa (question answering) or nli (inference).
    text_column ...: names in the header, or positions from 0 where there is none; None is the
        task's usual name: `text`, `label`; `passage`, `question`, `answer`; `premise`,
        `hypothesis`, `label`. `candidates` and `split` are read where there are such columns.
        Without splits all rows are train rows, to be carved later. In a delimited file
        candidates are parted by `|`.
    classes: the labels in class order, or label -> class name in class order; None takes the
        train rows' distinct labels, sorted, as numbers where all are numbers.
    ignored: labels of classes that are left out. unlabelled: labels that say there is none.
    delimiter, header, quoted: see `Dialect`.
    cleaning: a repair of the texts. differs: see `Corpus`.
    missing_hint: what to say beside the file's name where it is not there.
    """

    VERSION = 2

    def __init__(
        self,
        path: str | Path | Mapping[str, str | Path] | None,
        task: Task = "classification",
        text_column: Name | None = None,
        query_column: Name | None = None,
        label_column: Name | None = None,
        answer_column: Name | None = None,
        candidates_column: Name | None = None,
        split_column: Name | None = None,
        id_column: Name | None = None,
        classes: Sequence[Label] | Mapping[Label, str] | None = None,
        ignored: Sequence[Label] = (),
        unlabelled: Sequence[Label] = (),
        delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None,
        header: bool = True,
        quoted: bool = True,
        cleaning: Cleaning = "none",
        differs: str = "",
        missing_hint: str = "",
    ) -> None:
        self.path = _paths(path)
        columns = Columns(
            *(task, text_column, query_column, label_column, answer_column),
            *(candidates_column, split_column, id_column),
        )
        self.reading = Reading(columns, Scheme.of(classes, ignored, unlabelled), cleaning)
        self.dialect = Dialect(delimiter, header, quoted)
        self.differs = differs
        self.missing_hint = missing_hint

    def missing(self) -> str | None:
        phrase = self._missing()
        return f"{phrase} ({self.missing_hint})" if phrase and self.missing_hint else phrase

    def _missing(self) -> str | None:
        if self.path is None:
            return "a table, but no path is set (dataset.path=FILE or FOLDER)"
        if isinstance(self.path, Path) and self.path.is_dir():
            found = self._by_split()
            return None if "train" in found else f"{self.path}/train.* ({', '.join(SUFFIXES)})"
        files = [self.path] if isinstance(self.path, Path) else [*self.path.values()]
        absent = [str(path) for path in files if not path.is_file()]
        return f"the table {' and '.join(absent)}" if absent else None

    def files(self) -> list[Path]:
        if isinstance(self.path, Path) and not self.path.is_dir():
            return [self.path]
        return [*self._by_split().values()]

    def identity(self) -> dict[str, Any]:
        return {
            "reader": "files",
            "version": self.VERSION,
            **asdict(self.dialect),
            **self.reading.identity(),
        }

    def cleaned(self, text: str) -> str:
        return clean(text, self.reading.cleaning)

    def load(self) -> Corpus:
        """The rows by split; FileNotFoundError or ValueError, one line, where they cannot be."""
        if (phrase := self.missing()) is not None:
            raise FileNotFoundError(f"no such file: {phrase}")
        if isinstance(self.path, Path) and self.path.is_file():
            rows = self._rows(self.path)
            return self._corpus(_by_split_column(self.path, rows), self.path)
        found = self._by_split()
        splits = {split: self._rows(path) for split, path in found.items()}
        for rows in splits.values():
            rows.pop("split", None)
        place = self.path if isinstance(self.path, Path) else next(iter(found.values())).parent
        return self._corpus(splits, place)

    def _corpus(self, splits: dict[str, dict[str, Sequence[Any]]], place: Path) -> Corpus:
        kind_of = "table" if place.is_file() else "tables of"
        return self.reading.corpus(splits, str(place), f"{kind_of} {place.name}", self.differs)

    def _rows(self, path: Path) -> dict[str, Sequence[Any]]:
        """The wanted columns, by role."""
        table: Table = read_table(path, self.dialect)
        places = self.reading.columns.find(table.names, str(path))
        rows = {role: table[place] for role, place in places.items()}
        if not any(text.strip() if isinstance(text, str) else text for text in rows["text"]):
            name = table.names[places["text"]]
            raise ValueError(
                f"{path}: column {name!r} is blank in all of its {len(rows['text'])} rows; name "
                "the column of the texts (text_column=...)"
            )
        return rows

    def _by_split(self) -> dict[str, Path]:
        """The file of each split, in the order train, dev, test."""
        if self.path is None:
            return {}
        if not isinstance(self.path, Path):
            return self.path
        found: dict[str, Path] = {}
        for path in sorted(self.path.iterdir()):
            split = SPLITS.get(path.name.partition(".")[0].lower())
            if split is None or kind(path) not in SUFFIXES:
                continue
            if split in found:
                raise ValueError(
                    f"{self.path}: {found[split].name} and {path.name} are both its {split} split; "
                    "keep one of them there"
                )
            found[split] = path
        return {split: found[split] for split in ("train", "dev", "test") if split in found}


def _paths(path: str | Path | Mapping[str, str | Path] | None) -> Path | dict[str, Path] | None:
    if path is None or isinstance(path, (str, Path)):
        return None if path is None else Path(path).expanduser()
    unknown = set(path) - set(SPLITS.values())
    if unknown or "train" not in path:
        raise ValueError(f"path: found the splits {some(path)}, expected train, and dev and test")
    return {split: Path(file).expanduser() for split, file in path.items()}


def _by_split_column(
    path: Path, rows: dict[str, Sequence[Any]]
) -> dict[str, dict[str, Sequence[Any]]]:
    """The rows of one table by its split column; all are train rows where it has none."""
    if "split" not in rows:
        return {"train": rows}
    named = [_split_name(value) for value in rows.pop("split")]
    unknown = sorted(set(named) - set(SPLITS))
    if unknown:
        raise ValueError(
            f"{path}: the split column holds {some(unknown)}; expected {', '.join(SPLITS)}"
        )
    split_of = [SPLITS[name] for name in named]
    if "train" not in split_of:
        raise ValueError(f"{path}: no train rows; the split column holds {counted(named)}")
    return {
        split: {role: [*_chosen(values, split_of, split)] for role, values in rows.items()}
        for split in dict.fromkeys(split_of)
    }


def _split_name(value: Any) -> str:
    return "" if value is None else str(value).strip().lower()


def _chosen(values: Sequence[Any], split_of: list[str], split: str) -> Iterator[Any]:
    return (value for value, other in zip(values, split_of, strict=True) if other == split)
