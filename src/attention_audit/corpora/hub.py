"""Corpora on the Hugging Face hub, through the `datasets` library.

Names of splits, columns and labels are asserted at load: a repository that moved under us gives
one clear line, never other rows under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import PositiveFloat

from attention_audit.corpora.cleaning import Cleaning, clean
from attention_audit.corpora.columns import Columns, Name, Reading, Task
from attention_audit.corpora.corpus import Corpus
from attention_audit.corpora.files import SPLITS
from attention_audit.corpora.labels import Label, Scheme, some
from attention_audit.corpora.repository import Repository

if TYPE_CHECKING:
    from datasets import Dataset

UNLABELLED = -1


class Hub:
    """A corpus of a script-free dataset repository.

    path: "owner/name"; None is a repository not yet named.
    configuration: its configuration, None where it has one only.
    revision: a commit, tag or branch.
    splits: our split's name -> the repository's, or several of its that are pooled; None takes
        those of the usual names.
    task: classification, qa (question answering) or nli (inference).
    text_column ...: None is the task's usual name, see `Files`.
    label_text_column: where the labels' names are a column rather than the label's own type.
    label_names: what the repository calls its labels, in order: asserted; None takes what is there.
    classes: the repository's names for labels in class order, or such a name -> what we call the
        class; its other labels are other classes. None takes all.
    ignored, unlabelled: labels of no class, where they have no names.
    distinct: a labelled text that comes again in its split is left out, and counted.
    timeout: seconds that the hub has to answer before it counts as unreachable; None never asks
        (for a proxy that lets only the client through).
    instead: the local files that would serve, said when the hub cannot. differs: see `Corpus`.
    """

    VERSION = 2

    def __init__(
        self,
        path: str | None,
        splits: Mapping[str, str | Sequence[str]] | None = None,
        label_names: Sequence[str] | None = None,
        classes: Sequence[Label] | Mapping[Label, str] | None = None,
        revision: str = "main",
        configuration: str | None = None,
        task: Task = "classification",
        text_column: Name | None = None,
        query_column: Name | None = None,
        label_column: Name | None = None,
        answer_column: Name | None = None,
        candidates_column: Name | None = None,
        id_column: Name | None = None,
        label_text_column: str | None = None,
        ignored: Sequence[Label] = (),
        unlabelled: Sequence[Label] = (),
        cleaning: Cleaning = "none",
        distinct: bool = False,
        differs: str = "",
        timeout: PositiveFloat | None = 2.0,
        instead: str = "",
    ) -> None:
        self.repository = None
        if path is not None:
            self.repository = Repository(path, configuration, revision, timeout, instead)
        self.revision = revision
        self.configuration = configuration
        self.splits = None if splits is None else _checked(splits)
        self.label_names = None if label_names is None else list(label_names)
        columns = Columns(
            *(task, text_column, query_column, label_column, answer_column, candidates_column),
            uid=id_column,
        )
        self.reading = Reading(columns, Scheme.of(classes, ignored, unlabelled), cleaning, distinct)
        self.label_text_column = label_text_column
        self.differs = differs

    def missing(self) -> str | None:
        """None where the client's cache has the repository, or the hub answers."""
        if self.repository is None:
            return "a repository of the hub, but no path is set (dataset.path=OWNER/NAME)"
        return self.repository.missing()

    def files(self) -> list[Path]:
        return []

    def cached(self) -> bool:
        """Whether the client's cache holds the corpus, so that `load` needs no network."""
        return self.repository is not None and self.repository.cached()

    def settled(self) -> bool:
        """Whether the client's cache holds the corpus, and says at which commit."""
        return self.repository is not None and self.repository.settled()

    def identity(self) -> dict[str, Any]:
        repository = self.repository
        return {
            "reader": "hub",
            "version": self.VERSION,
            "repository": repository and repository.path,
            "revision": (repository and repository.commit) or self.revision,
            "configuration": self.configuration,
            "splits": self.splits,
            "label_text_column": self.label_text_column,
            "label_names": self.label_names,
            **self.reading.identity(),
        }

    def cleaned(self, text: str) -> str:
        return clean(text, self.reading.cleaning)

    def load(self) -> Corpus:
        """Download, or read from the cache; check everything that was promised.

        Raises HubUnreachable, or ValueError where the repository is not as expected.
        """
        if self.repository is None:
            raise FileNotFoundError(f"looked for {self.missing()}")
        tables, commit = self.repository.tables()
        splits = self.splits or _usual(tables)
        self._require("split", chain.from_iterable(splits.values()), tables, "splits")
        used = {name: tables[name] for name in chain.from_iterable(splits.values())}
        scheme = self._scheme(used)
        values = {
            split: _pooled([self._values(name, used[name], len(names) > 1) for name in names])
            for split, names in splits.items()
        }
        source = f"hub {self.repository.path}@{commit}"
        reading = replace(self.reading, scheme=scheme)
        return reading.corpus(values, self._name, source, self.differs)

    @property
    def _name(self) -> str:
        return self.repository.name if self.repository is not None else "hub corpus"

    def _scheme(self, tables: Mapping[str, Dataset]) -> Scheme:
        """With what the repository itself says of its labels: their order, and other classes."""
        scheme = self.reading.scheme
        names = self._label_names(tables)
        if self.label_names is not None and names != self.label_names:
            raise ValueError(
                f"{self._name}: found the labels {some(names) or 'without names'}, expected "
                f"{some(self.label_names)} in this order; pin the revision that has them"
            )
        if not names:
            return scheme
        if scheme.names is None:
            return replace(scheme, names={name: name for name in names})
        self._require("label", scheme.names, names, "classes")
        return replace(scheme, ignored=scheme.ignored | (set(names) - set(scheme.names)))

    def _label_names(self, tables: Mapping[str, Dataset]) -> list[str]:
        """What the repository calls its labels, in order; none where they have no names."""
        if self.reading.columns.task == "qa":
            return []
        label = self.reading.columns.named("label")
        if self.label_text_column is None:
            table = next(iter(tables.values()))
            return list(getattr(table.features.get(label), "names", None) or [])
        pairs: set[tuple[Any, str]] = set()
        for table in tables.values():
            self._require(
                "column", [label, self.label_text_column], table.column_names, "label_column"
            )
            texts = table[self.label_text_column]
            pairs |= {(v, t) for v, t in zip(table[label], texts, strict=True) if _is_label(v)}
        return [name for _, name in sorted(pairs) if name is not None]

    def _values(self, name: str, table: Dataset, pooled: bool) -> dict[str, Sequence[Any]]:
        """A split's columns by role, labels by their names, and where splits are pooled its ids."""
        names = list(table.column_names)
        places = self.reading.columns.find(names, self._name)
        values: dict[str, Sequence[Any]] = {
            role: list(table[names[place]]) for role, place in places.items() if role != "split"
        }
        if "label" in values:
            values["label"] = self._named(table, names[places["label"]], values["label"])
        if pooled:
            values.setdefault("uid", [f"{name}-{row}" for row in range(len(table))])
        return values

    def _named(self, table: Dataset, column: str, labels: Sequence[Any]) -> Sequence[Any]:
        """Each label by its name, where labels have names; None where there is none."""
        if self.label_text_column is not None:
            texts = table[self.label_text_column]
            return [t if _is_label(v) else None for v, t in zip(labels, texts, strict=True)]
        names = getattr(table.features[column], "names", None)
        if names is None:
            return labels
        known = dict(enumerate(names)) | {None: None, UNLABELLED: None}
        return [known.get(value, f"label {value}") for value in labels]

    def _require(self, what: str, wanted: Iterable[str], found: Iterable[str], key: str) -> None:
        absent = [name for name in wanted if name not in found]
        if absent:
            raise ValueError(
                f"{self._name}: found the {what}s {some(found)}, expected {some(absent)} too; "
                f"pin the revision that has them, or name others ({key}=...)"
            )


def _checked(splits: Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    unknown = set(splits) - set(SPLITS.values())
    if unknown or "train" not in splits:
        raise ValueError(
            f"splits: found {some(splits)}, expected train, and dev and test, each with the "
            "repository's name of it"
        )
    return {split: [of] if isinstance(of, str) else list(of) for split, of in splits.items()}


def _usual(tables: Iterable[str]) -> dict[str, list[str]]:
    """Our splits among a repository's, by their usual names."""
    found = {SPLITS[name]: [name] for name in tables if name in SPLITS}
    return {"train": ["train"], **found}


def _pooled(parts: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
    return {role: [*chain.from_iterable(part[role] for part in parts)] for role in parts[0]}


def _is_label(value: Any) -> bool:
    return value is not None and value != UNLABELLED
