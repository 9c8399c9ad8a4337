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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import PositiveFloat

from attention_audit.corpora.cleaning import Cleaning, clean
from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.corpora.hushed import hushed

if TYPE_CHECKING:
    from datasets import Dataset

UNLABELLED = -1
_COMMIT = re.compile(r"[0-9a-f]{40}")
_log = logging.getLogger(__name__)


class HubUnreachable(ConnectionError):
    """The hub does not answer and the corpus is not in the local cache."""


class Hub:
    """A classification corpus of a script-free dataset repository.

    repository: "owner/name". configuration: its configuration, None where it has one only.
    revision: a commit, tag or branch.
    splits: our split's name -> the repository's.
    label_names: what the repository calls its labels, in order; `classes` what we call them.
    label_text_column: where the labels' names are a column rather than the label's own type.
    timeout: seconds that the hub has to answer before it counts as unreachable; None never asks
        (for a proxy that lets only the client through).
    instead: the local files that would serve, said when the hub is unreachable.
    """

    VERSION = 1

    def __init__(
        self,
        repository: str,
        splits: Mapping[str, str],
        label_names: Sequence[str],
        classes: Sequence[str],
        revision: str = "main",
        configuration: str | None = None,
        text_column: str = "text",
        label_column: str = "label",
        label_text_column: str | None = None,
        cleaning: Cleaning = "none",
        timeout: PositiveFloat | None = 2.0,
        instead: str = "",
    ) -> None:
        self.repository = repository
        self.splits = dict(splits)
        self.label_names = list(label_names)
        self.classes = list(classes)
        self.revision = revision
        self.configuration = configuration
        self.columns = (text_column, label_column, label_text_column)
        self.cleaning: Cleaning = cleaning
        self.timeout = timeout
        self.instead = instead

    def missing(self) -> str | None:
        """Always None, and no network: the hub is the last resort, and `load` says what failed."""
        return None

    def files(self) -> list[Path]:
        return []

    def identity(self) -> dict[str, Any]:
        return {
            "reader": "hub",
            "version": self.VERSION,
            "repository": self.repository,
            "revision": self.commit or self.revision,
            "configuration": self.configuration,
            "splits": self.splits,
            "columns": list(self.columns),
            "label_names": self.label_names,
            "classes": self.classes,
            "cleaning": self.cleaning,
        }

    @cached_property
    def commit(self) -> str | None:
        """The commit that `revision` stands for; None if neither cache nor hub can say."""
        if (pinned := self._pinned()) is not None:
            return pinned
        if _offline() or not self._reachable:
            return None
        revision = quote(self.revision, safe="")
        url = f"{_endpoint()}/api/datasets/{self.repository}/revision/{revision}"
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
        self._require("split", self.splits.values(), tables)
        commit = self._check_commit(tables)
        splits, dropped = {}, {}
        for split, name in self.splits.items():
            splits[split], dropped[split] = self._split(split, tables[name])
        source = f"hub {self.repository}@{commit}"
        return Corpus(splits, tuple(self.classes), source, dropped)

    @property
    def _cache_name(self) -> str:
        return "datasets--" + self.repository.replace("/", "--")

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
        return f"{self.repository} (revision {self.revision})"

    def _unreachable(self) -> HubUnreachable:
        why = "HF_HUB_OFFLINE is set" if _offline() else f"{_endpoint()} does not answer"
        local = f"; or put {self.instead}" if self.instead else ""
        return HubUnreachable(
            f"hub corpus {self._name}: {why} and the corpus is not in the cache "
            f"{_hub_cache()}; connect once{local}"
        )

    def _tables(self) -> Mapping[str, Dataset]:
        with hushed():
            from datasets import load_dataset
            from datasets.exceptions import DatasetsError

            try:
                # A branch goes by its name the first time: only then does the client note, in
                # its cache, which commit it was.
                return load_dataset(
                    self.repository, self.configuration, revision=self._pinned() or self.revision
                )
            except (ConnectionError, DatasetsError, RuntimeError, ValueError) as error:
                if _offline() or not self._reachable:
                    raise self._unreachable() from error
                reason = str(error).strip().splitlines()[0]
                raise ValueError(f"hub corpus {self._name}: {reason}") from error

    def _check_commit(self, tables: Mapping[str, Dataset]) -> str:
        """The commit that was read: offline, the client takes any cached one, so make sure."""
        read = Path(next(iter(tables.values())).cache_files[0]["filename"]).parent.name
        if self.commit not in (None, read):
            raise ValueError(
                f"hub corpus {self._name}: read commit {read}, expected {self.commit}; "
                "connect to the hub and run again, or set revision to the commit that was read"
            )
        return read

    def _split(self, split: str, table: Dataset) -> tuple[Dataset, dict[str, int]]:
        self._require("column", [name for name in self.columns if name], table.column_names)
        self._check_label_names(table)
        text_column, label_column, _ = self.columns
        texts, labels = list(table[text_column]), list(table[label_column])
        known = range(len(self.classes))
        if not any(label in known for label in labels):
            raise ValueError(
                f"hub corpus {self._name}: the split {self.splits[split]!r} has no labelled row "
                f"(found {sorted(set(labels), key=str)[:5]}); name a split that has labels"
            )
        kept = [
            Example(f"{split}-{row}", None if text is None else clean(text, self.cleaning), label)
            for row, (text, label) in enumerate(zip(texts, labels, strict=True))
            if label in known
        ]
        unlabelled = sum(label is None or label == UNLABELLED for label in labels)
        dropped = {"unlabelled": unlabelled, "unknown label": len(labels) - len(kept) - unlabelled}
        return labelled(kept), {reason: rows for reason, rows in dropped.items() if rows}

    def _check_label_names(self, table: Dataset) -> None:
        _, label_column, label_text_column = self.columns
        if label_text_column is None:
            feature = table.features[label_column]
            self._require_names(list(getattr(feature, "names", None) or ["no label names"]))
            return
        pairs = set(zip(table[label_column], table[label_text_column], strict=True))
        labelled_pairs = sorted(pair for pair in pairs if pair[0] not in (None, UNLABELLED))
        self._require_names([name for _, name in labelled_pairs])

    def _require_names(self, found: list[str]) -> None:
        if found != self.label_names:
            raise ValueError(
                f"hub corpus {self._name}: found the labels {', '.join(found)}, expected "
                f"{', '.join(self.label_names)} in this order; pin the revision that has them"
            )

    def _require(self, what: str, wanted: Any, found: Any) -> None:
        absent = [name for name in wanted if name not in found]
        if absent:
            raise ValueError(
                f"hub corpus {self._name}: found the {what}s {', '.join(found)}, expected "
                f"{', '.join(absent)} too; pin the revision that has them"
            )


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
