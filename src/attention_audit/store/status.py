"""What became of a cell."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import Any, Literal, get_args, get_type_hints

State = Literal["missing", "running", "fitted", "failed"]


@dataclass(frozen=True)
class Status:
    """What became of a cell. Times are ISO 8601 in UTC; `pid` and `host` are the last worker's.

    `fitted` is when the fit was finished. It outlasts a later failure, of an analysis say, so
    that a finished fit is never refitted.
    """

    state: State
    reason: str | None = None
    started: str | None = None
    finished: str | None = None
    fitted: str | None = None
    pid: int | None = None
    host: str | None = None

    @staticmethod
    def of(stored: Any, path: str) -> Status:
        """A file's content. Raises ValueError, naming the file, for anything else."""
        hints = get_type_hints(Status)
        kinds = {one.name: get_args(hints[one.name]) for one in fields(Status)}
        if not isinstance(stored, dict) or stored.get("state") not in kinds.pop("state"):
            raise ValueError(f"{path} says no state: run the cell with force=true")
        for name, value in stored.items():
            if name != "state" and not isinstance(value, kinds.get(name, ())):
                raise ValueError(f"{path}: {name}={value!r}: run the cell with force=true")
        return Status(**stored)


def now() -> str:
    """The time in UTC, ISO 8601, in whole seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
