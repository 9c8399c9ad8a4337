"""Rows of any table as examples: which column holds what, and what its values mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from attention_audit.corpora.cleaning import Cleaning, clean
from attention_audit.corpora.corpus import Corpus, Example, Pair, Question, asked, labelled, paired
from attention_audit.corpora.labels import Scheme, some, written

if TYPE_CHECKING:
    from datasets import Dataset

Task = Literal["classification", "qa", "nli"]
Name = str | int
Values = Mapping[str, Sequence[Any]]

# The columns that each task needs, by what they hold, with the names that they usually have.
NEEDED: dict[str, dict[str, str]] = {
    "classification": {"text": "text", "label": "label"},
    "qa": {"text": "passage", "query": "question", "answer": "answer"},
    "nli": {"text": "premise", "query": "hypothesis", "label": "label"},
}
# Those that a table may have, too; the id only where it is named.
OPTIONAL = {"candidates": "candidates", "split": "split"}
_USED = {"label": "labelled", "answer": "answered"}


@dataclass(frozen=True)
class Columns:
    """Names (or positions from 0) of the columns, by role; None is the role's usual name.

    Roles: text (the passage, or the premise), query (the question, or the hypothesis), label,
    answer, candidates, split, and uid, the user's own id of a row.
    """

    task: Task = "classification"
    text: Name | None = None
    query: Name | None = None
    label: Name | None = None
    answer: Name | None = None
    candidates: Name | None = None
    split: Name | None = None
    uid: Name | None = None

    def identity(self) -> dict[str, Any]:
        """What is read from where, for a corpus's identity."""
        named = {role: str(name) for role, name in self._given().items()}
        return {"task": self.task, "columns": named}

    def find(self, found: Sequence[str], where: str) -> dict[str, int]:
        """Position of each role's column among `found`; ValueError for one missing or twice there.

        An optional column that is not named is left out where it is not there.
        """
        names = [name.strip() for name in found]
        given = self._given()
        usual = {role: name for role, name in OPTIONAL.items() if role not in given}
        if self.task != "qa":
            usual.pop("candidates", None)
        given |= {role: name for role, name in usual.items() if name in names}
        return {role: _place(names, role, str(name), where) for role, name in given.items()}

    def named(self, role: str) -> str:
        """The name of a needed column."""
        return str(self._given()[role])

    def _given(self) -> dict[str, Name]:
        """The names of the columns that must be there."""
        needed = NEEDED[self.task]
        roles = (*needed, "split", "uid", *(["candidates"] if self.task == "qa" else []))
        named = {role: getattr(self, role) for role in roles}
        named = {role: needed.get(role) if name is None else name for role, name in named.items()}
        return {role: name for role, name in named.items() if name is not None}


def _place(names: list[str], role: str, name: str, where: str) -> int:
    places = [place for place, found in enumerate(names) if found == name]
    if len(places) != 1:
        problem = "appears more than once" if places else "is missing"
        key = "id_column" if role == "uid" else f"{role}_column"
        raise ValueError(
            f"{where}: column {name!r} {problem}; found the columns {some(names)}; "
            f"name the one that holds the {role} ({key})"
        )
    return places[0]


@dataclass(frozen=True)
class Reading:
    """What is made of the rows: the task, its labels' scheme, and the texts' repair.

    distinct: a labelled text that comes again in its split is left out, and counted.
    """

    columns: Columns
    scheme: Scheme
    cleaning: Cleaning = "none"
    distinct: bool = False

    def identity(self) -> dict[str, Any]:
        """All that changes the rows made of a table, for a corpus's identity."""
        names = self.scheme.names
        return {
            **self.columns.identity(),
            "classes": None if names is None else [list(pair) for pair in names.items()],
            "ignored": sorted(self.scheme.ignored),
            "unlabelled": sorted(self.scheme.unlabelled),
            "cleaning": self.cleaning,
            "distinct": self.distinct,
        }

    def corpus(
        self, splits: Mapping[str, Values], where: str, source: str, differs: str = ""
    ) -> Corpus:
        """The corpus of these rows.

        Args:
            splits: split -> role -> values, row by row; "uid" is made up where it is not given.
            where: names the table in errors.
            source: where the rows come from, for people.
            differs: see `Corpus`.

        Raises:
            ValueError: a value of another type than its role's, too few classes, or a split none
                of whose rows has an answer or a label of a class.
        """
        rows = {name: _Rows(name, values, self.cleaning, where) for name, values in splits.items()}
        scheme = self._settled(rows, where)
        dropped: dict[str, Counter[str]] = {split: Counter() for split in splits}
        datasets = {split: self._dataset(rows[split], scheme, dropped[split]) for split in splits}
        counts = {split: dict(reasons) for split, reasons in dropped.items()}
        return Corpus(datasets, scheme.classes, source, counts, differs)

    def _settled(self, rows: Mapping[str, _Rows], where: str) -> Scheme:
        """The scheme with its classes, once every split is found to have rows of use."""
        if self.columns.task == "qa":
            answers = {split: of.words("answer") for split, of in rows.items()}
            _refuse_useless(answers, bool, "answer", where)
            return self.scheme
        labels = {split: of.words("label") for split, of in rows.items()}
        given = self.scheme
        _refuse_useless(labels, lambda word: given.of_label(word) != "unlabelled", "label", where)
        column = self.columns.named("label")
        scheme = given.settled(labels["train"], f"{where}: column {column!r}")
        _refuse_useless(labels, lambda word: isinstance(scheme.of_label(word), int), "label", where)
        return scheme

    def _dataset(self, rows: _Rows, scheme: Scheme, dropped: Counter[str]) -> Dataset:
        if self.columns.task == "qa":
            return asked(rows.questions(), candidates="candidates" in rows.values)
        if self.columns.task == "nli":
            return paired(
                Pair(uid, text, rows.text("query", row), label)
                for row, uid, text, label in rows.labelled(scheme, dropped)
            )
        examples = (
            Example(uid, text, label) for _, uid, text, label in rows.labelled(scheme, dropped)
        )
        return labelled(_first(examples, dropped) if self.distinct else examples)


def _first(examples: Iterable[Example], dropped: Counter[str]) -> Iterator[Example]:
    """Each text once; the others are counted."""
    seen: set[str | None] = set()
    for example in examples:
        if example.text in seen:
            dropped["duplicate"] += 1
        else:
            seen.add(example.text)
            yield example


@dataclass(frozen=True)
class _Rows:
    """The rows of one split."""

    split: str
    values: Values
    cleaning: Cleaning
    where: str

    def labelled(
        self, scheme: Scheme, dropped: Counter[str]
    ) -> Iterator[tuple[int, str, str | None, int]]:
        """Number, id, text and class of each row that has a class; the others are counted."""
        for row, label in enumerate(self.words("label")):
            number = scheme.of_label(label)
            if isinstance(number, str):
                dropped[number] += 1
            else:
                yield row, self._uid(row), self.text("text", row), number

    def questions(self) -> Iterator[Question]:
        for row, answer in enumerate(self.words("answer")):
            yield Question(
                uid=self._uid(row),
                text=self.text("text", row),
                query=self.text("query", row),
                answer=answer,
                candidates=self._candidates(row),
            )

    def words(self, role: str) -> list[str]:
        """The labels, or answers, as texts; "" where there is none."""
        for row, value in enumerate(self.values[role]):
            if isinstance(value, (dict, list, tuple, bytes)):
                raise self._strange(role, row, value, "a text, a number or a truth value")
        return [written(value) for value in self.values[role]]

    def text(self, role: str, row: int) -> str | None:
        value = self.values[role][row]
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._strange(role, row, value, "text")
        return clean(value, self.cleaning)

    def _uid(self, row: int) -> str:
        return str(self.values["uid"][row]) if "uid" in self.values else f"{self.split}-{row}"

    def _candidates(self, row: int) -> list[str] | None:
        value = self.values["candidates"][row] if "candidates" in self.values else None
        if value is None:
            return None
        if isinstance(value, str):
            value = value.split("|")
        if not isinstance(value, (list, tuple)):
            raise self._strange("candidates", row, value, "a list, or a text parted by |")
        return [written(one) for one in value]

    def _strange(self, role: str, row: int, value: Any, expected: str) -> ValueError:
        return ValueError(
            f"{self.where}: the {role} of row {row + 1} of the {self.split} rows is of type "
            f"{type(value).__name__}, expected {expected}; name another column ({role}_column)"
        )


def _refuse_useless(
    words: Mapping[str, list[str]], useful: Callable[[str], bool], role: str, where: str
) -> None:
    """A split none of whose rows can be used is refused, though others may be of use."""
    found = {split: set(of) for split, of in words.items() if of}
    of_use = [split for split, distinct in found.items() if any(map(useful, distinct))]
    for split, distinct in found.items():
        if split not in of_use:
            raise ValueError(
                f"{where}: the {split} split has no {_USED[role]} row (found "
                f"{some(sorted(distinct))}); splits with {role}s: {', '.join(of_use) or 'none'}"
            )
