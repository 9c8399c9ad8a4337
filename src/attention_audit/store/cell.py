"""One fitted model's folder: its status, its files and its analyses."""

from __future__ import annotations

import logging
import os
import re
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from attention_audit.store.analysis import Analysis
from attention_audit.store.atomic import (
    json_if_present,
    read_json,
    remove_folder,
    remove_temporaries,
    write_json,
    write_text,
    write_whole,
)
from attention_audit.store.configs import read_config
from attention_audit.store.integrity import CHECKSUMS, damaged, seal
from attention_audit.store.locks import is_free, locked, locked_if_free
from attention_audit.store.naming import check_inside, checked_name, with_suffix
from attention_audit.store.plain import canonical, differing_keys, exact, sha256
from attention_audit.store.status import Status, now
from attention_audit.store.summary import SETTINGS, SUMMARY_COLUMNS, rows_of
from attention_audit.store.tables import read_table, write_table

_NAME_AND_HASH = re.compile(r"(\w[\w.\-]*)-([0-9a-f]{8})")
FORMAT = 3
# The role of a cell that is nobody's auxiliary fit.
GRID = "grid"
_CHECKPOINT = "checkpoint.ckpt"
_RESULTS = ("*.ckpt", "*.json", "*.parquet", "config.yaml")
# What changes while a cell is at work, and what is read before anything else.
_UNSEALED = {"status.json", "identity.json", CHECKSUMS, "last.ckpt", "best.ckpt"}
_READ_FIRST = ("status.json", "identity.json")
# What can be made again without another fit.
_ONLY_RESULTS = {
    *("metrics.json", "instances.parquet", "tokens.parquet"),
    *("identity.json", "config.yaml"),
}
_log = logging.getLogger(__name__)


def _is_json(path: Path) -> bool:
    """True also of a file that is not there."""
    try:
        return isinstance(json_if_present(path), (dict, type(None)))
    except ValueError:
        return False


def identified(identity: Any) -> dict[str, Any]:
    """What a cell's hash is taken of, and what `identity.json` holds."""
    return {"format": FORMAT, "identity": identity}


@dataclass(frozen=True)
class Cell:
    """One fitted model's folder. Write to it only under its `lock()`."""

    root: Path
    dataset: str
    encoder: str
    attention: str
    seed: int
    hash8: str
    _given: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """`<dataset>/<encoder>+<attention>`, the cell without its seed and hash."""
        return f"{self.dataset}/{self.encoder}+{self.attention}"

    @property
    def names(self) -> dict[str, Any]:
        """Columns of `summary.csv`: which cell a row belongs to, and under which settings."""
        named = {key: getattr(self, key) for key in SUMMARY_COLUMNS[:4]}
        settings = self._manifest.get("settings", {})
        return {**named, "cell": self.hash8} | {key: settings.get(key) for key in SETTINGS}

    @property
    def folder(self) -> Path:
        """`<root>/<dataset>/<encoder>+<attention>/<seed>-<hash8>`."""
        pair = f"{self.encoder}+{self.attention}"
        return self.root / self.dataset / pair / f"{self.seed}-{self.hash8}"

    @property
    def path_in_store(self) -> str:
        """`<dataset>/<encoder>+<attention>/<seed>-<hash8>`: how people tell cells apart."""
        return f"{self.name}/{self.folder.name}"

    @property
    def identity(self) -> Any:
        """What determines the fitted weights: as given, or as stored for a cell found on disk."""
        if self._given is not None:
            return exact(self._given, "identity")
        return read_json(self.folder / "identity.json")["identity"]

    @property
    def role(self) -> str:
        """`grid`, or what an auxiliary fit serves (`role` in `manifest.json`)."""
        return str(self._manifest.get("role", GRID))

    @property
    def is_grid(self) -> bool:
        """Whether it is a cell of the grid, and not fitted for another one's analyses only."""
        return self.role == GRID

    def enter_grid(self) -> None:
        """Count a fitted auxiliary cell as a grid cell from now on, as if it had been one."""
        if not self.is_grid:
            manifest = {k: v for k, v in self._manifest.items() if k != "base"}
            self.write_json("manifest", {**manifest, "role": GRID})
            self.seal()

    @property
    def _manifest(self) -> dict[str, Any]:
        manifest = json_if_present(self.folder / "manifest.json")
        if not isinstance(manifest, (dict, type(None))):
            raise ValueError(f"{self.folder / 'manifest.json'} is no manifest: run the cell again")
        return manifest or {}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only process at work on this cell; waits, with a log line, for another one.

        The lock dies with its owner. A thread that holds it may take it again. Who holds it may
        wait for the `fit_lock` of this cell and of others, never for another cell's `lock`.
        """
        with locked(self._lock_path, self.path_in_store):
            yield

    @contextmanager
    def fit_lock(self) -> Iterator[None]:
        """Be the only process that fits this cell; as `lock`, but never wait while holding it.

        A cell that needs the model of another one beside its own takes this lock of it only, so
        that two cells that need each other do not wait for ever.
        """
        with locked(self._fit_lock_path, f"the fit of {self.path_in_store}"):
            yield

    @contextmanager
    def lock_if_free(self) -> Iterator[bool]:
        """Both locks, but never waits: False where somebody is at work on the cell."""
        with locked_if_free(self._lock_path) as free, locked_if_free(self._fit_lock_path) as fits:
            yield free and fits

    @property
    def config(self) -> dict[str, Any]:
        """`config.yaml`, plain values only. ValueError says what is wrong with the file."""
        return read_config(self.folder / "config.yaml")

    def open(self, config: Mapping[str, Any]) -> None:
        """Create the folder; write `config.yaml` (this run's) and `identity.json` (for good).

        Removes what a killed process left half-written, and what is damaged, with a warning.
        Raises ValueError, naming the keys, if the folder belongs to a different identity with the
        same hash, or leads out of the store.
        """
        import yaml

        check_inside(self.root, self.folder)
        plain = exact(config, "config")
        self._mend()
        self._check_identity()
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_temporaries(self.folder)
        remove_temporaries(self.folder / "analyses")
        write_text(
            self.folder / "config.yaml",
            yaml.safe_dump(plain, sort_keys=False, allow_unicode=True),
        )
        write_json(self.folder / "identity.json", identified(self.identity))

    def _check_identity(self) -> None:
        stored = json_if_present(self.folder / "identity.json")
        ours = identified(self.identity)
        if stored is None or stored == ours:
            return
        keys = ", ".join(differing_keys(stored, ours)) or "everything"
        raise ValueError(
            f"{self.folder} holds another cell with the same hash, differing in {keys}: "
            "move that folder away and run again"
        )

    # -- integrity

    def seal(self) -> None:
        """Note what all result files hold, so that a damaged one is seen; once they are whole."""
        results = [path.name for kind in _RESULTS for path in self.folder.glob(kind)]
        seal(self.folder, set(results) - _UNSEALED)

    def damaged(self) -> list[str]:
        """Names of the files, analyses' aside, that are not what they were when sealed.

        A checkpoint that is gone is none of them: to save its space is the user's choice.
        """
        unreadable = [name for name in _READ_FIRST if not _is_json(self.folder / name)]
        if not unreadable and self.is_misnamed():
            unreadable.append("identity.json")
        changed = damaged(self.folder)
        if not (self.folder / _CHECKPOINT).exists():
            changed = [name for name in changed if name != _CHECKPOINT]
        return [*unreadable, *changed]

    def is_misnamed(self) -> bool:
        """Whether `identity.json` is not what the folder's hash was taken of."""
        stored = json_if_present(self.folder / "identity.json")
        return stored is not None and sha256(canonical(stored, "identity"))[:8] != self.hash8

    def _mend(self) -> None:
        """Remove what is damaged, and what was made from it: it will be made again."""
        found = self.damaged()
        for name in found:
            _log.warning("%s is damaged: making it again", self.folder / name)
            (self.folder / name).unlink(missing_ok=True)
        for analysis in self.analyses():
            if not analysis.done:
                _log.warning("%s is damaged: making it again", analysis.folder)
                remove_folder(analysis.folder)
        if not _ONLY_RESULTS.issuperset(found):
            self.discard()

    # -- status

    def status(self) -> Status:
        """What `status.json` says; `missing` without one. See also `interrupted`.

        Raises ValueError for a file that is not one of ours.
        """
        path = self.folder / "status.json"
        stored = json_if_present(path)
        return Status("missing") if stored is None else Status.of(stored, str(path))

    @property
    def is_fitted(self) -> bool:
        """True once the fit is finished, whatever became of the analyses after it."""
        return self.status().fitted is not None

    def interrupted(self) -> bool:
        """True if the cell says `running` but nobody holds its lock: its process is gone.

        Raises PermissionError where the lock's file may not be opened for writing.
        """
        return self.status().state == "running" and not self.at_work()

    def at_work(self) -> bool:
        """True if somebody holds one of the cell's locks; raises as `interrupted`."""
        return not (is_free(self._lock_path) and is_free(self._fit_lock_path))

    def set_running(self, started: str | None = None) -> None:
        """Note this process's work, begun now or `started`; like all of `set_*`, after `open`."""
        old = self.status()
        self._set(Status("running", started=started or now(), fitted=old.fitted))

    def note_fit(self) -> None:
        """Note that the fit is finished, whatever else is still at work."""
        self._set(replace(self.status(), fitted=now()))

    def set_fitted(self) -> None:
        """Note that all is finished: the fit, and what a run had to add to it."""
        old = self.status()
        self._set(Status("fitted", started=old.started, finished=now(), fitted=old.fitted or now()))

    def set_failed(self, error: BaseException, clean: Callable[[str], str] = str) -> None:
        """Note a failure: one line in `status.json`, all of it in `traceback.txt`, both cleaned."""
        old = self.status()
        first_line = next(iter(str(error).splitlines()), "")
        reason = clean(f"{type(error).__name__}: {first_line}".removesuffix(": "))
        self._set(replace(old, state="failed", reason=reason, finished=now()))
        whole = clean("".join(traceback.format_exception(error)))
        write_text(self.folder / "traceback.txt", whole)

    def clear_failure(self) -> None:
        """Forget a failure; a finished fit stays, and the next run makes what is missing."""
        self._set(Status("missing", fitted=self.status().fitted))

    def _set(self, status: Status) -> None:
        (self.folder / "traceback.txt").unlink(missing_ok=True)
        worker = replace(status, pid=os.getpid(), host=socket.gethostname())
        write_json(self.folder / "status.json", asdict(worker))

    # -- files

    def write_file(self, name: str, fill: Callable[[BinaryIO], object]) -> None:
        """Write a file atomically; `fill` puts its bytes into the open file it is given."""
        write_whole(self.folder / checked_name("file", name), fill)

    def write_json(self, name: str, value: Any) -> None:
        """Write plain values, NumPy ones included, atomically; NaN and infinities become null.

        `.json` may be left out of `name`. Raises TypeError naming the key for anything else,
        OSError naming the file if it cannot be written; the old content then stays.
        """
        write_json(self.folder / with_suffix(name, ".json"), value)

    def read_json(self, name: str) -> Any:
        """Read it back. Raises FileNotFoundError, or ValueError for a file that is not JSON."""
        return read_json(self.folder / with_suffix(name, ".json"))

    def write_table(self, name: str, columns: Mapping[str, Any]) -> None:
        """Write columns (lists, lists of lists, NumPy arrays) as Parquet, atomically.

        `.parquet` may be left out of `name`. NaN stays NaN, None becomes null. Raises ValueError
        for columns of different lengths, TypeError for one that is of no storable type.
        """
        write_table(self.folder / with_suffix(name, ".parquet"), columns)

    def read_table(self, name: str) -> Any:
        """Read it back as a `pyarrow.Table`. Raises FileNotFoundError."""
        return read_table(self.folder / with_suffix(name, ".parquet"))

    # -- analyses

    def analysis(self, name: str, config: Mapping[str, Any], version: int) -> Analysis:
        """The place of an analysis under this config and version of its code, done or not."""
        identity = {"name": name, "version": version, "config": config, "cell": self.hash8}
        hashed = sha256(canonical(identity, name))
        given = exact(identity, name)
        return Analysis(self.folder, checked_name("analysis", name), hashed[:8], given)

    def analyses(self) -> list[Analysis]:
        """Every finished analysis on disk, sorted by name and hash."""
        found = sorted((self.folder / "analyses").glob("*-*"))
        places = [_NAME_AND_HASH.fullmatch(path.name) for path in found if path.is_dir()]
        return [Analysis(self.folder, place[1], place[2]) for place in places if place]

    def summary(self) -> list[dict[str, Any]]:
        """The cell's rows for `summary.csv`, sorted: its scores and those of every analysis.

        Where two give the same quantity (an analysis under two configs) the later one counts.
        Raises ValueError for a summary that is not a list of rows.
        """
        analyses = sorted(self.analyses(), key=lambda analysis: analysis.written)
        summaries = [analysis.folder / "summary.json" for analysis in analyses]
        return rows_of([self.folder / "metrics.json", *summaries])

    def discard_analyses(self) -> None:
        """Remove every analysis, before a new fit: it would be of another model."""
        for analysis in self.analyses():
            remove_folder(analysis.folder)

    def discard(self) -> None:
        """Remove the fit and its analyses (for `force=true`); identity, config and log stay.

        Killed at any point, the cell is either still fitted, with some analyses missing, or not
        fitted, with none: no analysis of the old fit can be taken for one of the new.
        """
        self.discard_analyses()
        doomed = [self.folder / "status.json", self.folder / "last.ckpt"]
        for pattern in ("*.ckpt", "*.json", "*.parquet", "traceback.txt"):
            doomed += sorted(self.folder.glob(pattern))
        for path in doomed:
            if path.name != "identity.json":
                path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder and all that is in it; it vanishes at once."""
        remove_folder(self.folder)

    @property
    def _lock_path(self) -> Path:
        return self.root / ".locks" / f"{self.path_in_store.replace('/', '~')}.lock"

    @property
    def _fit_lock_path(self) -> Path:
        return self._lock_path.with_suffix(".fit.lock")
