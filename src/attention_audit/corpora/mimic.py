"""Admissions of MIMIC-III (Johnson et al. 2016) by diagnosis, from the original tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Len

from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.corpora.decoding import read_text
from attention_audit.corpora.mimic_notes import Summaries, cleaned, summaries
from attention_audit.corpora.streamed import stream

NOTES, DIAGNOSES = "NOTEEVENTS.csv", "DIAGNOSES_ICD.csv"
LISTS = "hadm_splits"
Split = Literal["train", "dev", "test"]
Codes = dict[str, set[str]]


class Mimic:
    """Reads NOTEEVENTS.csv and DIAGNOSES_ICD.csv (or .csv.gz), and lists of admissions.

    A row is an admission, its text the discharge summary, its uid the admission's number. Label 1
    has a diagnosis among `positive`; label 0 one among `negative`. An admission of both is dropped
    as "both classes", one of neither is of no interest. Admissions without discharge summary are
    dropped and counted, and so are listed ones without diagnosis.

    folder: holds the two tables and the lists; these may be in its folder `hadm_splits`.
    positive: ICD-9 codes of label 1, with their point.
    negative: of label 0; None takes every admission without a code of `positive`.
    classes: names of label 0 and 1.
    lists: split -> file of admission numbers (HADM_ID), one a line; None takes all admissions
        that have a label, as the one split "train".
    """

    VERSION = 1

    def __init__(
        self,
        folder: str | Path,
        positive: Annotated[Sequence[str], Len(1)],
        negative: Annotated[Sequence[str], Len(1)] | None,
        classes: Annotated[Sequence[str], Len(2, 2)],
        lists: Mapping[Split, str] | None = None,
    ) -> None:
        if negative is None and lists is None:
            raise ValueError("negative: null means every other listed admission; name lists too")
        self.folder = Path(folder).expanduser()
        self.positive = {pointed(code) for code in positive}
        self.negative = None if negative is None else {pointed(code) for code in negative}
        self.classes = tuple(classes)
        self.lists = dict(lists or {})

    def missing(self) -> str | None:
        tables = [f"{path.name}(.gz)" for path in self._tables() if not path.is_file()]
        lists = [path.name for path in self._lists().values() if not path.is_file()]
        phrases = [f"MIMIC-III's {' and '.join(tables)} in {self.folder}"] if tables else []
        if lists:
            phrases.append(
                f"the admission lists {', '.join(lists)} (of Mullenbach et al. 2018) in "
                f"{self.folder / LISTS} or {self.folder}"
            )
        return ", and ".join(phrases) or None

    def files(self) -> list[Path]:
        return [*self._tables(), *self._lists().values()]

    def identity(self) -> dict[str, Any]:
        return {
            "reader": "mimic",
            "version": self.VERSION,
            "positive": sorted(self.positive),
            "negative": None if self.negative is None else sorted(self.negative),
            "classes": list(self.classes),
            "lists": self.lists,
        }

    def cleaned(self, text: str) -> str:
        return cleaned(text)

    def load(self) -> Corpus:
        """The admissions by split; ValueError, without a word of any note, for a broken file."""
        notes, diagnoses = self._tables()
        codes = _codes(diagnoses, self.positive | (self.negative or set()))
        dropped: dict[str, Counter[str]] = {}
        labels = {}
        for split, admissions in self._admissions(codes).items():
            dropped[split] = Counter()
            labels[split] = dict(self._labels(admissions, codes, dropped[split]))
        wanted = set().union(*labels.values())
        with summaries(notes, wanted) as texts:
            if not texts:
                raise ValueError(
                    f"{notes}: holds no discharge summary of the {len(wanted)} admissions of this "
                    "corpus; expected the full table: the public demo has none"
                )
            splits = {
                split: labelled(_examples(chosen, texts, dropped[split]))
                for split, chosen in labels.items()
            }
            source = f"MIMIC-III tables ({len(texts):,} admissions)"
        counts = {split: dict(reasons) for split, reasons in dropped.items()}
        return Corpus(splits, self.classes, source, counts)

    def _tables(self) -> tuple[Path, Path]:
        notes, diagnoses = (self.folder / name for name in (NOTES, DIAGNOSES))
        return _plain_or_gzipped(notes), _plain_or_gzipped(diagnoses)

    def _lists(self) -> dict[str, Path]:
        within = {split: self.folder / LISTS / name for split, name in self.lists.items()}
        return {
            split: path if path.is_file() else self.folder / path.name
            for split, path in within.items()
        }

    def _admissions(self, codes: Codes) -> dict[str, list[str]]:
        """The admissions of each split, in order; ValueError if one is listed more than once."""
        if not self.lists:
            return {"train": sorted((a for a in codes if codes[a]), key=lambda a: (len(a), a))}
        listed = {split: _listed(path) for split, path in self._lists().items()}
        repeated = Counter(admission for admissions in listed.values() for admission in admissions)
        if more := sum(times > 1 for times in repeated.values()):
            raise ValueError(
                f"{', '.join(self.lists.values())}: {more} admissions are listed more than once; "
                "expected each in one split, once"
            )
        return listed

    def _labels(
        self, admissions: Iterable[str], codes: Codes, dropped: Counter[str]
    ) -> Iterator[tuple[str, int]]:
        """The label of each admission that has one; the others are counted."""
        for admission in admissions:
            if admission not in codes:
                dropped["no diagnosis"] += 1
                continue
            found = codes[admission]
            positive = not found.isdisjoint(self.positive)
            negative = not positive if self.negative is None else bool(found & self.negative)
            if positive != negative:
                yield admission, int(positive)
            else:
                dropped["both classes" if positive else "other class"] += 1


def pointed(code: str) -> str:
    """An ICD-9 diagnosis code with its point: 25000 -> 250.00, E8889 -> E888.9, V4581 -> V45.81."""
    plain = code.strip().upper().replace(".", "")
    whole = 4 if plain.startswith("E") else 3
    return f"{plain[:whole]}.{plain[whole:]}" if len(plain) > whole else plain


def _plain_or_gzipped(path: Path) -> Path:
    gzipped = path.with_name(f"{path.name}.gz")
    return gzipped if gzipped.is_file() and not path.is_file() else path


def _codes(path: Path, wanted: set[str]) -> Codes:
    """Every admission that has a diagnosis -> its codes among the wanted ones."""
    codes: Codes = {}
    for batch in stream(path, ("HADM_ID", "ICD9_CODE")):
        admissions, diagnoses = (column.to_pylist() for column in batch.columns)
        for admission, code in zip(admissions, diagnoses, strict=True):
            codes.setdefault(admission.strip(), set()).update({pointed(code)} & wanted)
    if not any(codes.values()):
        raise ValueError(
            f"{path}: no admission has a diagnosis among {', '.join(sorted(wanted))}; expected "
            "ICD-9 codes, as MIMIC-III has them"
        )
    return codes


def _listed(path: Path) -> list[str]:
    """The admission numbers of a list."""
    lines = [line.strip() for line in read_text(path).splitlines()]
    for number, line in enumerate(lines, start=1):
        if line and not line.isdecimal():
            raise ValueError(
                f"{path}: line {number} is {line[:60]!r}, expected an admission's number (HADM_ID)"
            )
    return [line for line in lines if line]


def _examples(
    labels: Mapping[str, int], texts: Summaries, dropped: Counter[str]
) -> Iterator[Example]:
    for admission, label in labels.items():
        if admission in texts:
            yield Example(admission, texts.text(admission), label)
        else:
            dropped["no discharge summary"] += 1
