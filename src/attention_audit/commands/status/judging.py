"""What became of one cell, from its files alone; they may be damaged, or somebody else's."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from attention_audit.commands.status.freshness import Freshness
from attention_audit.store import GRID, Cell, Status

GONE = "ended without a word; the same command goes on from its last epoch"
UNSAVED = "ended without a word; the same command starts it again"
# Of the end of log.txt, where the last epoch stands.
_TAIL = 1 << 14


@dataclass(frozen=True)
class Judgement:
    """A cell's state (done, running, failed, stale or damaged) and why; times in seconds."""

    cell: str
    state: str
    why: str
    role: str = GRID
    started: str | None = None
    finished: str | None = None
    took: float | None = None
    fit_seconds: float | None = None
    pid: int | None = None
    host: str | None = None


def printable(text: str) -> str:
    """The text with "?" for what could move the cursor, colour or hide something, or not print."""
    return "".join(char if char.isprintable() else "?" for char in text)


class Judge:
    """Judges cells one after another; what is known of a corpus is asked once."""

    def __init__(self) -> None:
        self._freshness = Freshness()

    def __call__(self, cell: Cell) -> Judgement:
        """What became of a cell. No file's content makes it raise."""
        name = cell.path_in_store
        try:
            status = cell.status()
            manifest = _manifest(cell)
            state, why = self._state(cell, status)
        except (ValueError, OSError) as error:
            return Judgement(name, "damaged", _remedy(cell, error))
        begun = status.state != "missing"
        return Judgement(
            cell=name,
            state=state,
            why=why,
            role=str(manifest.get("role", GRID)),
            started=status.started,
            finished=status.finished,
            took=_took(status),
            fit_seconds=_seconds(manifest.get("fit_seconds")),
            pid=status.pid if begun else None,
            host=status.host if begun else None,
        )

    def _state(self, cell: Cell, status: Status) -> tuple[str, str]:
        at_work = _at_work(cell)
        if at_work:
            return "running", _running(cell, status)
        if status.state == "running":
            if at_work is None:
                return "running", f"{_worker(status)}; its lock may not be asked"
            kept = status.fitted or (cell.folder / "last.ckpt").exists()
            return "stale", f"{_elsewhere(status)}{GONE if kept else UNSAVED}"
        if status.state == "failed":
            kept = "; its fit is finished and stays" if status.fitted else ""
            return "failed", f"{status.reason or 'no reason is stored'}{kept}"
        if status.state == "missing":
            begun = "its fit is finished, its analyses are not" if status.fitted else "nothing yet"
            return "stale", f"{begun}: made by the same command"
        if changed := _changed(cell):
            return "damaged", f"{changed}: made again by the same command"
        stale, note = self._freshness(cell)
        return ("stale", stale) if stale else ("done", note)


def _changed(cell: Cell) -> str:
    """Names of the results that are not what they were when they were finished."""
    analyses = [analysis.folder.name for analysis in cell.analyses() if not analysis.done]
    return ", ".join([*cell.damaged(), *analyses])


def _manifest(cell: Cell) -> dict[str, Any]:
    try:
        manifest = cell.read_json("manifest")
    except FileNotFoundError:
        return {}
    if not isinstance(manifest, dict):
        raise ValueError(f"{cell.folder / 'manifest.json'} is no manifest")
    return manifest


def _remedy(cell: Cell, error: Exception) -> str:
    """What is wrong and what to do, without the folder, which stands beside it."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename}"
    reason = str(error).replace(f"{cell.folder}/", "")
    again = "made again by the same command"
    if "force=true" in reason:
        return reason.replace("run the cell with force=true", again)
    return f"{reason}: {again}"


def _at_work(cell: Cell) -> bool | None:
    """Whether somebody holds the cell's lock; None where that may not be asked."""
    try:
        return cell.at_work()
    except OSError:
        return None


def _running(cell: Cell, status: Status) -> str:
    if status.state != "running":
        return "another process holds its lock"
    return f"{_worker(status)}; {_stage(cell, status)}"


def _worker(status: Status) -> str:
    return f"since {_local(status.started)}, process {status.pid} on {status.host}"


def _elsewhere(status: Status) -> str:
    """Another machine's locks may not be seen from here."""
    return "" if status.host in (None, socket.gethostname()) else f"by {status.host}, it seems: "


def _stage(cell: Cell, status: Status) -> str:
    """Which part of its work a running cell is at; the log tells the epoch, without torch."""
    if status.fitted is not None:
        return "analysing"
    if not (cell.folder / "last.ckpt").exists():
        return "preparing, or in its first epoch"
    with (cell.folder / "log.txt").open("rb") as log:
        log.seek(max(0, log.seek(0, 2) - _TAIL))
        tail = log.read().decode("utf-8", "replace")
    epochs = re.findall(r": epoch (\d+)/(\d+): ", tail)
    if not epochs:
        return "fitting"
    done, of = map(int, epochs[-1])
    return f"in epoch {min(done + 1, of)} of {of}"


def _local(time: str | None) -> str:
    moment = _moment(time)
    return "an unknown time" if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def _moment(time: str | None) -> datetime | None:
    """A time of `status.json`; None for what no clock of ours has said."""
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None and 2000 < moment.year < 9000 else None


def _took(status: Status) -> float | None:
    begun, ended = _moment(status.started), _moment(status.finished)
    return None if begun is None or ended is None else (ended - begun).total_seconds()


def _seconds(value: Any) -> float | None:
    """A number of seconds that can be one."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e10 else None
