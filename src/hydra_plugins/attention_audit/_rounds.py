"""Launches the cells of a sweep until each is done or has failed, whatever becomes of workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from hydra.core.utils import JobReturn, JobStatus

from attention_audit.audit import give_up
from attention_audit.grid import GridCell
from attention_audit.store import now

_log = logging.getLogger(__name__)


class Rounds:
    """Works off cells with a launcher that may lose some of them.

    A launcher returns a result for each cell, in order: completed, failed (the exception or its
    text is the return value), or of unknown status where the cell's process ended without a word.
    What became of those the store says. Where a process dies it may take others along, so each
    cell that was interrupted is launched once more, alone: one that dies alone has failed.

    Args:
        launch: runs cells, and returns when all have ended.
        sweep: its name on W&B.
    """

    def __init__(
        self, launch: Callable[[Sequence[GridCell]], Sequence[JobReturn]], sweep: str
    ) -> None:
        self._launch = launch
        self._sweep = sweep
        self._failures: dict[GridCell, str] = {}

    def run(self, cells: Sequence[GridCell]) -> dict[GridCell, str]:
        """Run them; returns those that failed, and why."""
        waiting = list(cells)
        while waiting:
            lost = self._round(waiting)
            suspects = [one for one in lost if one.place and one.place.cell.interrupted()]
            suspects = suspects or list(lost)
            for suspect in suspects:
                _log.warning("%s: its process died; trying it alone", suspect.name)
                if alone := self._round([suspect]):
                    self._give_up(suspect, alone[suspect])
            waiting = [one for one in lost if one not in suspects]
        return self._failures

    def _round(self, cells: Sequence[GridCell]) -> dict[GridCell, str]:
        """Launch cells; returns those that were lost, and what the launcher says of each."""
        since = now()
        lost = {}
        for cell, result in zip(cells, self._launch(cells), strict=True):
            if result.status is JobStatus.FAILED:
                self._failures[cell] = reason(result)
            elif result.status is JobStatus.UNKNOWN and not self._ended(cell, since):
                lost[cell] = reason(result)
        return lost

    def _ended(self, cell: GridCell, since: str) -> bool:
        """Whether a lost cell came to its end before its process was lost."""
        assert cell.place is not None
        status = cell.place.cell.status()
        if (status.finished or "") < since:
            return False
        if status.state == "failed":
            self._failures[cell] = status.reason or "failed"
        # Another cell's analyses may have fitted this one, and no more.
        return status.state == "failed" or cell.is_whole()

    def _give_up(self, cell: GridCell, reason: str) -> None:
        assert cell.place is not None
        give_up(cell.config, cell.place.cell, reason, self._sweep)
        self._failures[cell] = f"RuntimeError: {reason}"


def reason(result: JobReturn) -> str:
    """Why a cell has no result, on one line: an exception's type and words, or a launcher's."""
    found = result._return_value
    text = f"{type(found).__name__}: {found}" if isinstance(found, BaseException) else str(found)
    return " ".join(text.split())
