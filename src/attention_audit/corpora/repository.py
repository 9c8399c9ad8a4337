"""A dataset repository of the Hugging Face hub, as the hub's own client reads and caches it.

No code of a repository is ever run.

A `revision` that is a branch is resolved to a commit once: the commit in the hub client's cache
(its `refs` folder), else the hub's answer. So a cached corpus keeps its identity without network,
and a branch that moves on changes nothing until the cache is emptied or `revision` is changed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from attention_audit.corpora.hub_client import (
    Answer,
    ask,
    client_offline,
    endpoint,
    hub_cache,
    offline,
    shown_endpoint,
)
from attention_audit.corpora.hushed import hushed
from attention_audit.corpora.labels import some

if TYPE_CHECKING:
    from datasets import Dataset

# Where the hub keeps tables of corpora that came as a script: a folder a configuration.
CONVERTED = "refs/convert/parquet"
_PATH = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_REVISION = re.compile(r"\w[\w./-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Seconds that the hub is given to name its commit where nothing depends on it.
_PATIENCE = 10.0
_NO_TABLES = ("README.md", "dataset_infos.json")
_log = logging.getLogger(__name__)


class HubUnreachable(ConnectionError):
    """The hub does not answer and the corpus is not in the local cache."""


class Repository:
    """One configuration of a repository at one revision.

    path: "owner/name"; ValueError where it cannot be one.
    configuration: None where it has one only.
    revision: a commit, tag or branch; ValueError where it cannot be one.
    timeout: seconds that the hub has to answer before it counts as unreachable; None never asks.
    instead: the local files that would serve.
    """

    def __init__(
        self,
        path: str,
        configuration: str | None,
        revision: str,
        timeout: float | None,
        instead: str = "",
    ) -> None:
        if _PATH.fullmatch(path) is None:
            raise ValueError(
                f"path={path!r} is no repository of the hub; expected OWNER/NAME (a table of your "
                "own is read with dataset=files)"
            )
        # It names a file of the cache, too: never one elsewhere.
        if _REVISION.fullmatch(revision) is None or ".." in revision:
            raise ValueError(
                f"revision={revision!r} is none of the hub's; expected a commit, tag or branch"
            )
        self.path = path
        self.configuration = configuration
        self.revision = revision
        self.timeout = timeout
        self.instead = instead
        self.name = f"hub corpus {path} (revision {revision})"

    def missing(self) -> str | None:
        """None where the cache has the repository, or the hub answers; else what is wrong."""
        if self.cached() or (not offline() and self._reachable):
            return None
        return f"the hub's {self.path} ({self._why_not}, and it is not in the cache {hub_cache()})"

    def cached(self) -> bool:
        """Whether the client's cache holds tables of this revision; asked without network."""
        commit = self._pinned() or "*"
        found = (self._cache / "snapshots").glob(f"{commit}/**/*")
        return any(f.is_file() and f.name not in _NO_TABLES and f.name[0] != "." for f in found)

    def settled(self) -> bool:
        """Whether the cache holds them at a commit that is known without network."""
        return self._pinned() is not None and self.cached()

    @cached_property
    def commit(self) -> str | None:
        """The commit that `revision` stands for; None if neither cache nor hub can say."""
        if (pinned := self._pinned()) is not None:
            return pinned
        return None if offline() else self._answer.commit

    def tables(self) -> tuple[Mapping[str, Dataset], str]:
        """Its splits, downloaded or from the cache, and the commit that they are of.

        Raises HubUnreachable, or ValueError where there is nothing to read or not what was asked.
        """
        if Path(self.path).exists():
            raise ValueError(
                f"{self.name}: there is a local {self.path!r}, which would be read in its place; "
                "start from another folder, or read that one with dataset=files"
            )
        with self._client_mode(), hushed():
            found = self._load()
        commit = self._check_commit(found)
        self._refuse_mixture(commit)
        self._note(commit)
        return found, commit

    @property
    def _cache(self) -> Path:
        return hub_cache() / f"datasets--{self.path.replace('/', '--')}"

    def _pinned(self) -> str | None:
        """The commit as far as it is fixed on this machine."""
        if _COMMIT.fullmatch(self.revision):
            return self.revision
        reference = self._cache / "refs" / self.revision
        return reference.read_text().strip() if reference.is_file() else None

    def _note(self, commit: str) -> None:
        """Fix a branch where the client does so only for those that have a README."""
        if self._pinned() is None and self.commit is not None:
            reference = self._cache / "refs" / self.revision
            reference.parent.mkdir(parents=True, exist_ok=True)
            reference.write_text(commit)

    @cached_property
    def _answer(self) -> Answer:
        revision = quote(self.revision, safe="")
        url = f"{endpoint()}/api/datasets/{self.path}/revision/{revision}?expand=sha"
        return ask(url, self.timeout or _PATIENCE)

    @property
    def _reachable(self) -> bool:
        return self.timeout is None or not self._answer.problem

    def _client_mode(self) -> AbstractContextManager[None]:
        """Let the client go to the hub, or keep it off where that is in vain."""
        if not offline() and self._reachable:
            return nullcontext()
        if not self._cache.is_dir():
            raise self._unreachable()
        if offline():
            return nullcontext()
        _log.warning("%s: reading %s from the cache", self._why_not, self.path)
        return client_offline()

    def _load(self) -> Mapping[str, Dataset]:
        from datasets import load_dataset
        from datasets.exceptions import DatasetsError

        folder = self.configuration if self.revision == CONVERTED else None
        try:
            # A branch goes by its name the first time: only then does the client note, in its
            # cache, which commit it was.
            return load_dataset(
                self.path,
                self.configuration if folder is None else None,
                data_dir=folder,
                revision=self._pinned() or self.revision,
            )
        except (OSError, DatasetsError, RuntimeError, ValueError) as error:
            if offline() or not self._reachable:
                raise self._unreachable() from error
            raise self._refused(error) from error

    @property
    def _why_not(self) -> str:
        return (
            "HF_HUB_OFFLINE is set" if offline() else f"{shown_endpoint()} {self._answer.problem}"
        )

    def _unreachable(self) -> HubUnreachable:
        local = f"; or put {self.instead}" if self.instead else ""
        return HubUnreachable(
            f"{self.name}: {self._why_not} and the corpus is not in the cache "
            f"{hub_cache()}; connect once{local}"
        )

    def _refused(self, error: Exception) -> ValueError:
        reason = str(error).strip().splitlines()[0].replace(endpoint(), shown_endpoint())
        if "scripts are no longer supported" in reason:
            local = f"put {self.instead}, or " if self.instead else ""
            reason = (
                "it can only be loaded by a script of its own, which is never run; "
                f"{local}set revision={CONVERTED}, where the hub keeps converted tables"
            )
        return ValueError(f"{self.name}: {reason}")

    def _check_commit(self, tables: Mapping[str, Dataset]) -> str:
        """The commit that was read: offline, the client takes any cached one, so make sure."""
        read = Path(next(iter(tables.values())).cache_files[0]["filename"]).parent.name
        if self.commit not in (None, read):
            raise ValueError(
                f"{self.name}: read commit {read}, expected {self.commit}; "
                "connect to the hub and run again, or set revision to the commit that was read"
            )
        return read

    def _refuse_mixture(self, commit: str) -> None:
        """The client takes the folders of all configurations for one."""
        if self.revision != CONVERTED or self.configuration is not None:
            return
        files = (self._cache / "snapshots" / commit).iterdir()
        folders = [path.name for path in files if path.is_dir()]
        if len(folders) > 1:
            raise ValueError(
                f"{self.name}: found the configurations {some(sorted(folders))}, whose rows would "
                "be mixed; name one of them (configuration=...)"
            )
