"""What became of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal


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


def now() -> str:
    """The time in UTC, ISO 8601, in whole seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
