"""The cell folder: who a result is, locks, atomic writes, and reading back.

    <root>/<dataset>/<encoder>+<attention>/<seed>-<hash8>/
        config.yaml identity.json status.json traceback.txt metrics.json ... *.parquet
        analyses/<name>-<hash8>/{instances,tokens}.parquet summary.json identity.json

Every file appears whole or not at all, and every folder under `analyses/` is a finished analysis,
wherever a process was killed. Undefined numbers (NaN, infinite) are null in JSON, blank in
`summary.csv` and NaN in Parquet. Importing this module loads nothing heavy.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import math
import os
import re
import shutil
import socket
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Literal

FORMAT = 1
SUMMARY_COLUMNS = (
    *("dataset", "encoder", "attention", "seed", "cell"),
    *("quantity", "klass", "statistic", "value", "lo", "hi", "n", "n_undefined"),
)

_TEMPORARY = ".tmp-"
_NAME = re.compile(r"\w[\w.\-]*")
_LONGEST_NAME = 64
_SEED_AND_HASH = re.compile(r"(\d+)-([0-9a-f]{8})")
_NAME_AND_HASH = re.compile(r"(\w[\w.\-]*)-([0-9a-f]{8})")
# A file system's clock may tick this coarsely: a younger file can change without showing it.
_COARSEST_CLOCK_NS = 2_000_000_000

_log = logging.getLogger(__name__)


# ------------------------------------------------------------------------------ identity


def fingerprint(identity: Mapping[str, Any], files: Iterable[Path], cache: Path) -> str:
    """Sha256 (hex) of what a corpus or a vectors file is: its `identity` and its files' content.

    Files count by content and by name below their common folder, so neither their order nor the
    place of that folder matters. The content's digest is kept in one small JSON per set of files
    in the folder `cache`, and used again while all sizes and modification times are unchanged.

    Raises FileNotFoundError for a missing file, TypeError for an `identity` that is not plain.
    """
    paths = sorted({Path(os.path.abspath(path)) for path in files})
    content = _content_digest(paths, cache) if paths else ""
    return _sha256(_canonical({"identity": identity, "content": content}, "identity"))


def _content_digest(paths: Sequence[Path], cache: Path) -> str:
    stats = [_stat(path) for path in paths]
    stamp = _sha256(json.dumps([(s.st_size, s.st_mtime_ns) for s in stats]))
    entry = cache / f"fingerprint-{_sha256(json.dumps([str(p) for p in paths]))[:32]}.json"
    known = _read_json(entry) if entry.is_file() else {}
    if known.get("stamp") == stamp:
        return str(known["content"])
    started = time.time_ns()
    content = _hash_files(paths)
    if max(s.st_mtime_ns for s in stats) < started - _COARSEST_CLOCK_NS:
        cache.mkdir(parents=True, exist_ok=True)
        _write_text(entry, json.dumps({"stamp": stamp, "content": content}))
    return content


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{path} is missing: restore it or choose another source"
        ) from error


def _hash_files(paths: Sequence[Path]) -> str:
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    names = {path.relative_to(folder).as_posix(): _hash_file(path) for path in paths}
    return _sha256(json.dumps(names, sort_keys=True))


def _hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(value: Any, name: str) -> str:
    """One text for one meaning: sorted keys, tuples as lists, pure ASCII; NaN is refused."""
    plain = _plain(value, name, lambda number: number)
    try:
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise ValueError(f"{name} holds NaN or an infinite number: use null instead") from error


def _plain(value: Any, key: str, nonfinite: Callable[[float], float | None]) -> Any:
    """`value` in plain Python types, NumPy included; `nonfinite` replaces NaN and infinities."""
    if value is None or isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy":
        return _plain(value.tolist(), key, nonfinite)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else nonfinite(float(value))
    if isinstance(value, Mapping):
        return {_key(k, key): _plain(v, f"{key}.{k}", nonfinite) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{key}[{i}]", nonfinite) for i, item in enumerate(value)]
    raise TypeError(
        f"{key} is a {type(value).__name__}: only null, booleans, numbers, text, lists and "
        "mappings can be stored, convert it first"
    )


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where} has the key {key!r}: keys must be text, convert it first")
    return str.__str__(key)


def _checked_name(key: str, name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"{key}={name!r} cannot name a folder: use letters, digits, '_', '-' and '.', "
            "with a letter, digit or '_' first"
        )
    if len(name.encode()) > _LONGEST_NAME:
        raise ValueError(f"{key}={name!r} is too long: at most {_LONGEST_NAME} bytes")
    return name


# -------------------------------------------------------------------------- atomic writes


def _write(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Write a whole file or leave the old one: temporary sibling, fsync, rename."""
    temporary = path.parent / f"{_TEMPORARY}{path.name}-{uuid.uuid4().hex}"
    try:
        with open(temporary, "xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_text(path: Path, text: str) -> None:
    # Lone surrogates (file names that are not UTF-8) become escapes, which JSON reads back.
    _write(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))


def _write_json(path: Path, value: Any) -> None:
    plain = _plain(value, path.name, lambda _: None)
    _write_text(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON ({error}): delete it and run again") from error


def _json_if_present(path: Path) -> Any:
    try:
        return _read_json(path)
    except FileNotFoundError:
        return None


def _write_table(path: Path, columns: Mapping[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: _column(f"{path.name}: column {name}", c) for name, c in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{path.name}: columns differ in length: {lengths}")
    _write(path, lambda file: pq.write_table(pa.table(arrays), file))


def _column(where: str, values: Any) -> Any:
    import pyarrow as pa

    is_array = type(values).__module__ == "numpy"
    if not is_array and not isinstance(values, (list, tuple)):
        kind = type(values).__name__
        raise TypeError(f"{where} is a {kind}: give a list or a NumPy array")
    if is_array and values.ndim > 1:  # Arrow takes one dimension, or lists of one
        values = list(values) if values.ndim == 2 else values.tolist()
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise TypeError(f"{where} cannot be stored: {reason}") from error


def _read_table(path: Path) -> Any:
    import pyarrow.parquet as pq

    with open(path, "rb") as file:
        return pq.read_table(file)


def _remove_folder(folder: Path) -> None:
    """Remove a folder whose existence means "done": it vanishes at once, then its files go."""
    doomed = folder.parent / f"{_TEMPORARY}{folder.name}-{uuid.uuid4().hex}"
    folder.rename(doomed)
    shutil.rmtree(doomed)


def _remove_temporaries(folder: Path, name: str = "") -> None:
    for left_over in folder.glob(f"{_TEMPORARY}{name}*"):
        if left_over.is_dir():
            shutil.rmtree(left_over)
        else:
            left_over.unlink()


def _with_suffix(name: str, suffix: str) -> str:
    return _checked_name("file", name if name.endswith(suffix) else f"{name}{suffix}")


# --------------------------------------------------------------------------------- locks


@contextmanager
def _locked(path: Path, purpose: str) -> Iterator[None]:
    """Hold an operating system's lock; the system frees it when its owner dies."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    # A singleton, so that a thread that holds the lock may take it again.
    lock = FileLock(path.resolve(), is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.info("waiting for %s: another process is at work on it", purpose)
        lock.acquire(poll_interval=0.2)
    try:
        yield
    finally:
        lock.release()


def _is_free(path: Path) -> bool:
    """True if nobody, this process included, holds the lock."""
    from filelock import FileLock, Timeout

    if not path.exists():
        return True
    probe = FileLock(path.resolve(), is_singleton=False)
    try:
        probe.acquire(timeout=0)
    except Timeout:
        return False
    probe.release()
    return True


# ----------------------------------------------------------------------------- the store


@dataclass(frozen=True)
class Store:
    """All cells below one folder, usually `multirun/`. Creating it touches nothing on disk."""

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root))

    def cell(
        self,
        *,
        dataset: str,
        encoder: str,
        attention: str,
        seed: int,
        identity: Mapping[str, Any],
    ) -> Cell:
        """The cell of this `identity`: everything that determines the fitted weights, no paths.

        Raises ValueError for a name that cannot be a folder's or a seed that is not an integer
        >= 0, TypeError for an identity that is not plain. Touches nothing on disk.
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ValueError(f"seed={seed!r} must be an integer of at least 0")
        names = {"dataset": dataset, "encoder": encoder, "attention": attention}
        hashed = _sha256(_canonical({"format": FORMAT, "identity": identity}, "identity"))
        checked = {key: _checked_name(key, name) for key, name in names.items()}
        return Cell(self, **checked, seed=int(seed), hash8=hashed[:8], _given=identity)

    def cells(self) -> list[Cell]:
        """Every cell on disk, sorted by name, seed and hash; folders that are none are passed."""
        found = [self._cell_at(path.parent) for path in self.root.glob("*/*+*/*-*/identity.json")]
        return sorted((cell for cell in found if cell), key=lambda c: (c.name, c.seed, c.hash8))

    def write_summary(self) -> Path:
        """Collect `summary.csv`: one row a (grid cell, quantity, klass, statistic).

        Rows come from the list `summary` of each `metrics.json` and each analysis's
        `summary.json`; where two give the same quantity (an analysis under two configs), the one
        written last counts. Cells whose `manifest.json` has a `role` other than `grid` are left
        out. Raises ValueError for a summary that is not a list of rows.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        path = self.root / "summary.csv"
        with _locked(self.root / ".locks" / "summary.lock", str(path)):
            _remove_temporaries(self.root, "summary.csv-")
            text = io.StringIO(newline="")
            writer = csv.DictWriter(
                text, SUMMARY_COLUMNS, extrasaction="ignore", lineterminator="\n"
            )
            writer.writeheader()
            for cell in self.cells():
                if cell.role == "grid":
                    writer.writerows({**row, **cell.names} for row in cell.summary())
            _write_text(path, text.getvalue())
        return path

    def _cell_at(self, folder: Path) -> Cell | None:
        dataset, pair = folder.parts[-3:-1]
        encoder, _, attention = pair.partition("+")
        place = _SEED_AND_HASH.fullmatch(folder.name)
        if not place or not all(_NAME.fullmatch(n) for n in (dataset, encoder, attention)):
            return None
        return Cell(self, dataset, encoder, attention, int(place[1]), place[2])


def _modified(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, str(path)
    except FileNotFoundError:  # removed by a forced rerun meanwhile
        return 0, str(path)


def _rows_of(path: Path) -> list[Any]:
    content = _json_if_present(path) or {}
    rows = content.get("summary", []) if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise ValueError(f"{path}: 'summary' must be a list of rows, run the cell with force=true")
    return rows


def _row_key(row: Any, path: Path) -> tuple[str, str, str]:
    if not isinstance(row, dict) or "quantity" not in row:
        raise ValueError(f"{path}: the summary's row {row!r} names no quantity")
    return str(row["quantity"]), str(row.get("klass", "")), str(row.get("statistic", ""))


# ------------------------------------------------------------------------------ one cell


@dataclass(frozen=True)
class Status:
    """What became of a cell. Times are ISO 8601 in UTC; `pid` and `host` are the last worker's.

    `fitted` is when the fit was finished. It outlasts a later failure, of an analysis say, so
    that a finished fit is never refitted.
    """

    state: Literal["missing", "running", "fitted", "failed"]
    reason: str | None = None
    started: str | None = None
    finished: str | None = None
    fitted: str | None = None
    pid: int | None = None
    host: str | None = None


@dataclass(frozen=True)
class Cell:
    """One fitted model's folder. Write to it only under its `lock()`."""

    store: Store
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
        """The first columns of `summary.csv`: which cell a row belongs to."""
        named = {key: getattr(self, key) for key in SUMMARY_COLUMNS[:4]}
        return {**named, "cell": self.hash8}

    @property
    def folder(self) -> Path:
        """`<root>/<dataset>/<encoder>+<attention>/<seed>-<hash8>`."""
        pair = f"{self.encoder}+{self.attention}"
        return self.store.root / self.dataset / pair / f"{self.seed}-{self.hash8}"

    @property
    def identity(self) -> Any:
        """What determines the fitted weights: as given, or as stored for a cell found on disk."""
        if self._given is not None:
            return _plain(self._given, "identity", lambda number: number)
        return _read_json(self.folder / "identity.json")["identity"]

    @property
    def role(self) -> str:
        """`grid`, or what an auxiliary fit serves (`role` in `manifest.json`)."""
        manifest = _json_if_present(self.folder / "manifest.json") or {}
        return str(manifest.get("role", "grid"))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only process at work on this cell; waits, with a log line, for another one.

        The lock dies with its owner. A thread that holds it may take it again. Do not hold it
        while fitting another grid cell: two such processes could wait for each other.
        """
        with _locked(self._lock_path, f"{self.name}/{self.folder.name}"):
            yield

    def open(self, config: Mapping[str, Any]) -> None:
        """Create the folder; write `config.yaml` (this run's) and `identity.json` (for good).

        Removes what a killed process left half-written. Raises ValueError, naming the keys, if
        the folder belongs to a different identity with the same hash.
        """
        import yaml

        self._check_identity()
        plain = _plain(config, "config", lambda number: number)
        self.folder.mkdir(parents=True, exist_ok=True)
        _remove_temporaries(self.folder)
        _remove_temporaries(self.folder / "analyses")
        _write_text(
            self.folder / "config.yaml",
            yaml.safe_dump(plain, sort_keys=False, allow_unicode=True),
        )
        _write_json(self.folder / "identity.json", {"format": FORMAT, "identity": self.identity})

    def _check_identity(self) -> None:
        stored = _json_if_present(self.folder / "identity.json")
        ours = {"format": FORMAT, "identity": self.identity}
        if stored is None or stored == ours:
            return
        keys = ", ".join(_differing_keys(stored, ours)) or "everything"
        raise ValueError(
            f"{self.folder} holds another cell with the same hash, differing in {keys}: "
            "move that folder away and run again"
        )

    # -- status

    def status(self) -> Status:
        """What `status.json` says; `missing` without one. See also `interrupted`."""
        stored = _json_if_present(self.folder / "status.json")
        return Status("missing") if stored is None else Status(**stored)

    @property
    def is_fitted(self) -> bool:
        """True once the fit is finished, whatever became of the analyses after it."""
        return self.status().fitted is not None

    def interrupted(self) -> bool:
        """True if the cell says `running` but nobody holds its lock: its process is gone.

        Raises PermissionError where the lock's file may not be opened for writing.
        """
        return self.status().state == "running" and _is_free(self._lock_path)

    def set_running(self) -> None:
        """Note the start of work by this process; like all of `set_*`, after `open`."""
        now, old = _now(), self.status()
        self._set(Status("running", started=now, fitted=old.fitted))

    def set_fitted(self) -> None:
        """Note that the fit is finished; also ends a later run that only added analyses."""
        now, old = _now(), self.status()
        self._set(Status("fitted", started=old.started, finished=now, fitted=old.fitted or now))

    def set_failed(self, error: BaseException) -> None:
        """Note a failure: one line in `status.json`, all of it in `traceback.txt`."""
        now, old = _now(), self.status()
        first_line = next(iter(str(error).splitlines()), "")
        reason = f"{type(error).__name__}: {first_line}".removesuffix(": ")
        self._set(replace(old, state="failed", reason=reason, finished=now))
        _write_text(self.folder / "traceback.txt", "".join(traceback.format_exception(error)))

    def _set(self, status: Status) -> None:
        (self.folder / "traceback.txt").unlink(missing_ok=True)
        worker = replace(status, pid=os.getpid(), host=socket.gethostname())
        _write_json(self.folder / "status.json", asdict(worker))

    # -- files

    def write_file(self, name: str, fill: Callable[[BinaryIO], object]) -> None:
        """Write a file atomically; `fill` puts its bytes into the open file it is given."""
        _write(self.folder / _checked_name("file", name), fill)

    def write_json(self, name: str, value: Any) -> None:
        """Write plain values, NumPy ones included, atomically; NaN and infinities become null.

        `.json` may be left out of `name`. Raises TypeError naming the key for anything else,
        OSError naming the file if it cannot be written; the old content then stays.
        """
        _write_json(self.folder / _with_suffix(name, ".json"), value)

    def read_json(self, name: str) -> Any:
        """Read it back. Raises FileNotFoundError, or ValueError for a file that is not JSON."""
        return _read_json(self.folder / _with_suffix(name, ".json"))

    def write_table(self, name: str, columns: Mapping[str, Any]) -> None:
        """Write columns (lists, lists of lists, NumPy arrays) as Parquet, atomically.

        `.parquet` may be left out of `name`. NaN stays NaN, None becomes null. Raises ValueError
        for columns of different lengths, TypeError for one that is of no storable type.
        """
        _write_table(self.folder / _with_suffix(name, ".parquet"), columns)

    def read_table(self, name: str) -> Any:
        """Read it back as a `pyarrow.Table`. Raises FileNotFoundError."""
        return _read_table(self.folder / _with_suffix(name, ".parquet"))

    # -- analyses

    def analysis(self, name: str, config: Mapping[str, Any], version: int) -> Analysis:
        """The place of an analysis under this config and version of its code, done or not."""
        identity = {"name": name, "version": version, "config": config, "cell": self.hash8}
        hashed = _sha256(_canonical(identity, name))
        plain = _plain(identity, name, lambda number: number)
        return Analysis(self, _checked_name("analysis", name), hashed[:8], plain)

    def analyses(self) -> list[Analysis]:
        """Every finished analysis on disk, sorted by name and hash."""
        found = sorted((self.folder / "analyses").glob("*-*"))
        places = [_NAME_AND_HASH.fullmatch(path.name) for path in found if path.is_dir()]
        return [Analysis(self, place[1], place[2]) for place in places if place]

    def summary(self) -> list[dict[str, Any]]:
        """The cell's rows for `summary.csv`, sorted: its scores and those of every analysis.

        Where two give the same quantity (an analysis under two configs) the later one counts.
        Raises ValueError for a summary that is not a list of rows.
        """
        paths = [self.folder / "metrics.json"]
        paths += sorted((a.folder / "summary.json" for a in self.analyses()), key=_modified)
        rows: dict[tuple[str, str, str], dict[str, Any]] = {}
        for path in paths:
            rows.update({_row_key(row, path): row for row in _rows_of(path)})
        return [rows[key] for key in sorted(rows)]

    def discard(self) -> None:
        """Remove the fit and its analyses (for `force=true`); identity, config and log stay.

        Killed at any point, the cell is either still fitted, with some analyses missing, or not
        fitted, with none: no analysis of the old fit can be taken for one of the new.
        """
        for analysis in self.analyses():
            _remove_folder(analysis.folder)
        doomed = [self.folder / "status.json", self.folder / "last.ckpt"]
        for pattern in ("*.ckpt", "*.json", "*.parquet", "traceback.txt"):
            doomed += sorted(self.folder.glob(pattern))
        for path in doomed:
            if path.name != "identity.json":
                path.unlink(missing_ok=True)

    @property
    def _lock_path(self) -> Path:
        name = f"{self.dataset}~{self.encoder}+{self.attention}~{self.seed}-{self.hash8}.lock"
        return self.store.root / ".locks" / name


def _differing_keys(left: Any, right: Any, key: str = "") -> Iterator[str]:
    """Dotted names of the leaves where two plain values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(left.keys() | right.keys()):
            inner = f"{key}.{name}".removeprefix(".")
            if name not in left or name not in right:
                yield inner
            else:
                yield from _differing_keys(left[name], right[name], inner)
    elif left != right:
        yield key


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


# -------------------------------------------------------------------------- one analysis


@dataclass(frozen=True)
class Analysis:
    """One analysis's folder inside a cell: it exists only when the analysis is finished."""

    cell: Cell
    name: str
    hash8: str
    _given: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def folder(self) -> Path:
        """`<cell>/analyses/<name>-<hash8>`."""
        return self.cell.folder / "analyses" / f"{self.name}-{self.hash8}"

    @property
    def done(self) -> bool:
        """True if the analysis is finished."""
        return self.folder.is_dir()

    @property
    def config(self) -> Any:
        """The analysis's config: as given, or as stored for one found on disk."""
        return self._identity["config"]

    @property
    def _identity(self) -> Any:
        return _read_json(self.folder / "identity.json") if self._given is None else self._given

    def write(
        self,
        summary: Mapping[str, Any],
        instances: Mapping[str, Any] | None = None,
        tokens: Mapping[str, Any] | None = None,
    ) -> None:
        """Write all results at once, in the place of older ones; see `Cell.write_table`.

        `summary["summary"]` is the list of rows for `summary.csv`. Raises as `Cell.write_json`
        and `Cell.write_table` do; an older result then stays.
        """
        unfinished = self.folder.parent / f"{_TEMPORARY}{self.folder.name}-{uuid.uuid4().hex}"
        unfinished.mkdir(parents=True)
        try:
            self._fill(unfinished, summary, {"instances": instances, "tokens": tokens})
            if self.done:
                _remove_folder(self.folder)
            unfinished.rename(self.folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        _sync_folder(self.folder.parent)

    def _fill(
        self,
        folder: Path,
        summary: Mapping[str, Any],
        tables: Mapping[str, Mapping[str, Any] | None],
    ) -> None:
        _write_json(folder / "summary.json", summary)
        _write_json(folder / "identity.json", self._identity)
        for name, columns in tables.items():
            if columns is not None:
                _write_table(folder / f"{name}.parquet", columns)

    def read_summary(self) -> Any:
        """Read `summary.json`. Raises FileNotFoundError if the analysis is not done."""
        return _read_json(self.folder / "summary.json")

    def read_instances(self) -> Any:
        """The rows of instances as a `pyarrow.Table`. Raises FileNotFoundError without any."""
        return _read_table(self.folder / "instances.parquet")

    def read_tokens(self) -> Any:
        """The rows of tokens as a `pyarrow.Table`. Raises FileNotFoundError without any."""
        return _read_table(self.folder / "tokens.parquet")
