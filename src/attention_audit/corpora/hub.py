"""Corpora on the Hugging Face hub, through the `datasets` library.

Names of splits, columns and labels are asserted at load: a repository that moved under us gives
one clear line, never other rows under the same name. No code of a repository is ever run.

A `revision` that is a branch is resolved to a commit once: the commit in the hub client's cache
(its `refs` folder), else the hub's answer. So a cached corpus keeps its identity without network,
and a branch that moves on changes nothing until the cache is emptied or `revision` is changed.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import PositiveFloat

from attention_audit.corpora.cleaning import Cleaning
from attention_audit.corpora.columns import Columns, Name, Reading, Task
from attention_audit.corpora.corpus import Corpus
from attention_audit.corpora.files import SPLITS
from attention_audit.corpora.hushed import hushed
from attention_audit.corpora.labels import Label, Scheme

if TYPE_CHECKING:
    from datasets import Dataset

UNLABELLED = -1
_COMMIT = re.compile(r"[0-9a-f]{40}")
_log = logging.getLogger(__name__)


class HubUnreachable(ConnectionError):
    """The hub does not answer and the corpus is not in the local cache."""


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
        differs: str = "",
        timeout: PositiveFloat | None = 2.0,
        instead: str = "",
    ) -> None:
        self.path = path
        self.splits = None if splits is None else {k: _listed(v) for k, v in splits.items()}
        self.label_names = None if label_names is None else list(label_names)
        self.revision = revision
        self.configuration = configuration
        columns = Columns(
            *(task, text_column, query_column, label_column, answer_column, candidates_column),
            uid=id_column,
        )
        self.reading = Reading(columns, Scheme.of(classes, ignored, unlabelled), cleaning)
        self.label_text_column = label_text_column
        self.differs = differs
        self.timeout = timeout
        self.instead = instead

    def missing(self) -> str | None:
        """None where the client's cache has the repository, or the hub answers."""
        if self.path is None:
            return "a repository of the hub, but no path is set (dataset.path=OWNER/NAME)"
        if self.cached() or (not _offline() and self._reachable):
            return None
        return f"the hub's {self.path} ({self._why_not}, and it is not in the cache {_hub_cache()})"

    def files(self) -> list[Path]:
        return []

    def cached(self) -> bool:
        """Whether the hub client's cache holds the repository, so that `load` needs no network."""
        return self.path is not None and (_hub_cache() / self._cache_name / "snapshots").is_dir()

    def identity(self) -> dict[str, Any]:
        scheme = self.reading.scheme
        return {
            "reader": "hub",
            "version": self.VERSION,
            "repository": self.path,
            "revision": self.commit or self.revision,
            "configuration": self.configuration,
            "splits": self.splits,
            **self.reading.columns.identity(),
            "label_text_column": self.label_text_column,
            "label_names": self.label_names,
            "classes": None
            if scheme.names is None
            else [list(pair) for pair in scheme.names.items()],
            "ignored": sorted(scheme.ignored),
            "unlabelled": sorted(scheme.unlabelled),
            "cleaning": self.reading.cleaning,
        }

    @cached_property
    def commit(self) -> str | None:
        """The commit that `revision` stands for; None if neither cache nor hub can say."""
        if (pinned := self._pinned()) is not None:
            return pinned
        if _offline() or not self._reachable:
            return None
        revision = quote(self.revision, safe="")
        url = f"{_endpoint()}/api/datasets/{self.path}/revision/{revision}"
        try:
            with urllib.request.urlopen(url, timeout=self.timeout or 10) as answer:
                return str(json.load(answer)["sha"])
        except (urllib.error.URLError, TimeoutError):
            return None

    def _pinned(self) -> str | None:
        """The commit as far as it is fixed on this machine."""
        if _COMMIT.fullmatch(self.revision):
            return self.revision
        reference = _hub_cache() / self._cache_name / "refs" / self.revision
        return reference.read_text().strip() if reference.is_file() else None

    def load(self) -> Corpus:
        """Download, or read from the cache; check everything that was promised.

        Raises HubUnreachable, or ValueError where the repository is not as expected.
        """
        with self._client_mode():
            tables = self._tables()
        splits = self.splits or _usual(tables)
        self._require("split", [name for names in splits.values() for name in names], tables)
        commit = self._check_commit(tables)
        values = {
            split: _pooled([self._values(name, tables[name], len(names) > 1) for name in names])
            for split, names in splits.items()
        }
        return self._reading(tables).corpus(
            values, f"hub corpus {self._name}", f"hub {self.path}@{commit}", self.differs
        )

    @property
    def _cache_name(self) -> str:
        return "datasets--" + str(self.path).replace("/", "--")

    @cached_property
    def _reachable(self) -> bool:
        return self.timeout is None or answers(_endpoint(), self.timeout)

    def _client_mode(self) -> AbstractContextManager[None]:
        """Let the client go to the hub, or keep it off where that is in vain."""
        if not _offline() and self._reachable:
            return nullcontext()
        if not (_hub_cache() / self._cache_name).is_dir():
            raise self._unreachable()
        if _offline():
            return nullcontext()
        _log.warning("%s does not answer: reading %s from the cache", _endpoint(), self._name)
        return _client_offline()

    @property
    def _name(self) -> str:
        return f"{self.path} (revision {self.revision})"

    def _unreachable(self) -> HubUnreachable:
        local = f"; or put {self.instead}" if self.instead else ""
        return HubUnreachable(
            f"hub corpus {self._name}: {self._why_not} and the corpus is not in the cache "
            f"{_hub_cache()}; connect once{local}"
        )

    @property
    def _why_not(self) -> str:
        return "HF_HUB_OFFLINE is set" if _offline() else f"{_endpoint()} does not answer"

    def _tables(self) -> Mapping[str, Dataset]:
        with hushed():
            from datasets import load_dataset
            from datasets.exceptions import DatasetsError

            try:
                # A branch goes by its name the first time: only then does the client note, in
                # its cache, which commit it was.
                return load_dataset(
                    self.path, self.configuration, revision=self._pinned() or self.revision
                )
            except (ConnectionError, DatasetsError, RuntimeError, ValueError) as error:
                if _offline() or not self._reachable:
                    raise self._unreachable() from error
                raise self._refused(error) from error

    def _refused(self, error: Exception) -> ValueError:
        reason = str(error).strip().splitlines()[0]
        if "scripts are no longer supported" in reason:
            local = f"put {self.instead}, or " if self.instead else ""
            reason = (
                "it can only be loaded by a script of its own, which is never run; "
                f"{local}set revision=refs/convert/parquet, where the hub keeps converted tables"
            )
        return ValueError(f"hub corpus {self._name}: {reason}")

    def _check_commit(self, tables: Mapping[str, Dataset]) -> str:
        """The commit that was read: offline, the client takes any cached one, so make sure."""
        read = Path(next(iter(tables.values())).cache_files[0]["filename"]).parent.name
        if self.commit not in (None, read):
            raise ValueError(
                f"hub corpus {self._name}: read commit {read}, expected {self.commit}; "
                "connect to the hub and run again, or set revision to the commit that was read"
            )
        return read

    def _values(self, name: str, table: Dataset, pooled: bool) -> dict[str, Sequence[Any]]:
        """A split's columns by role, labels by their names, and where splits are pooled its ids."""
        names = list(table.column_names)
        self._require("column", filter(None, [self.label_text_column]), names)
        places = self.reading.columns.find(names, f"hub corpus {self._name}")
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
            texts = list(table[self.label_text_column])
            pairs = {pair for pair in zip(labels, texts, strict=True) if _is_label(pair[0])}
            self._require_names([name for _, name in sorted(pairs)])
            return [t if _is_label(v) else None for v, t in zip(labels, texts, strict=True)]
        names = getattr(table.features[column], "names", None)
        if names is None:
            if self.label_names is not None:
                self._require_names(["no label names"])
            return labels
        self._require_names(names)
        known = dict(enumerate(names)) | {None: None, UNLABELLED: None}
        return [known.get(value, f"label {value}") for value in labels]

    def _require_names(self, found: list[str]) -> None:
        if self.label_names is not None and found != self.label_names:
            raise ValueError(
                f"hub corpus {self._name}: found the labels {', '.join(found)}, expected "
                f"{', '.join(self.label_names)} in this order; pin the revision that has them"
            )

    def _reading(self, tables: Mapping[str, Dataset]) -> Reading:
        """With what the repository itself says of its labels: their order, and other classes."""
        scheme, columns = self.reading.scheme, self.reading.columns
        names = self._all_names(tables)
        if scheme.names is None and names:
            scheme = replace(scheme, names={name: name for name in names})
        elif scheme.names is not None:
            scheme = replace(scheme, ignored=scheme.ignored | (set(names) - set(scheme.names)))
        return Reading(columns, scheme, self.reading.cleaning)

    def _all_names(self, tables: Mapping[str, Dataset]) -> list[str]:
        table = next(iter(tables.values()))
        if self.reading.columns.task == "qa":
            return []
        if self.label_text_column is not None:
            return [str(name) for name in table.unique(self.label_text_column)]
        label = self.reading.columns.named("label")
        return list(getattr(table.features.get(label), "names", None) or [])

    def _require(self, what: str, wanted: Iterable[str], found: Iterable[str]) -> None:
        absent = [name for name in wanted if name not in found]
        if absent:
            raise ValueError(
                f"hub corpus {self._name}: found the {what}s {', '.join(found)}, expected "
                f"{', '.join(absent)} too; pin the revision that has them"
            )


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _usual(tables: Iterable[str]) -> dict[str, list[str]]:
    """Our splits among a repository's, by their usual names."""
    found = {SPLITS[name]: [name] for name in tables if name in SPLITS}
    return {"train": ["train"], **found}


def _pooled(parts: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
    return {role: [*chain.from_iterable(part[role] for part in parts)] for role in parts[0]}


def _is_label(value: Any) -> bool:
    return value is not None and value != UNLABELLED


def answers(endpoint: str, seconds: float) -> bool:
    """Whether the endpoint gives any HTTP answer in time, name resolution included."""
    result: list[bool] = []
    # In a thread, because no timeout bounds the name server's silence.
    probe = threading.Thread(target=lambda: result.append(_answers(endpoint, seconds)), daemon=True)
    probe.start()
    probe.join(seconds)
    return bool(result) and result[0]


def _answers(endpoint: str, seconds: float) -> bool:
    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        urllib.request.urlopen(request, timeout=seconds).close()
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def _hub_cache() -> Path:
    """The hub client's cache folder, by its own rules, without importing it."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("HF_HOME", f"{cache}/huggingface")
    return Path(os.environ.get("HF_HUB_CACHE", f"{home}/hub")).expanduser()


@contextmanager
def _client_offline() -> Iterator[None]:
    """Spare the client its own retries: it reads the variable only when it is imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    _tell_client(offline=True)
    try:
        yield
    finally:
        del os.environ["HF_HUB_OFFLINE"]
        _tell_client(offline=False)


def _tell_client(offline: bool) -> None:
    for name in ("huggingface_hub.constants", "datasets.config"):
        if name in sys.modules:
            vars(sys.modules[name])["HF_HUB_OFFLINE"] = offline
