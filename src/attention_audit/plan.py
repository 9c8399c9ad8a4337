"""What a sweep would do: how many cells, which are done, and how long the others would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attention_audit.grid import GridCell
from attention_audit.store import Cell, Store

# What two cells must share for the time of one to tell that of the other, the nearest first.
NEARNESS = (("dataset", "encoder", "attention"), ("dataset", "encoder"), ("dataset",))


@dataclass(frozen=True)
class Timing:
    """How long a finished cell took, fit and analyses, and what tells it from others."""

    cell: Cell
    settings: Any
    seconds: float


def show_plan(cells: Sequence[GridCell], pending: Sequence[GridCell], console: Console) -> None:
    """Print a line for each corpus, with the cells by what is to be done, then the whole."""
    timings = _timings(cells)
    estimates = {cell: _estimate(cell, timings) for cell in pending}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("corpus", "cells", "done", "to run", "not here", "time"):
        table.add_column(name, justify="left" if name == "corpus" else "right")
    for dataset in dict.fromkeys(cell.config["dataset"]["name"] for cell in cells):
        own = [cell for cell in cells if cell.config["dataset"]["name"] == dataset]
        table.add_row(*map(Text, [dataset, *_counts(own, estimates)]))
    table.add_section()
    table.add_row(*map(Text, ["all", *_counts(cells, estimates)]))
    console.print(table)
    for line in _notes(cells, estimates):
        console.print(Text(line), soft_wrap=True)


def _counts(
    cells: Sequence[GridCell], estimates: Mapping[GridCell, float | None]
) -> tuple[str, str, str, str, str]:
    absent = sum(cell.place is None for cell in cells)
    found = [estimates[cell] for cell in cells if cell in estimates]
    known = [seconds for seconds in found if seconds is not None]
    time = _duration(sum(known)) if known else ""
    if len(known) < len(found):
        time = f"{time} + unknown ({len(found) - len(known)})".removeprefix(" + ")
    done = len(cells) - len(found) - absent
    return str(len(cells)), str(done), str(len(found)), str(absent or ""), time


def _notes(cells: Sequence[GridCell], estimates: Mapping[GridCell, float | None]) -> Iterable[str]:
    states = Counter(cell.place.cell.status().state for cell in estimates if cell.place is not None)
    for state in ("running", "failed"):
        if states[state]:
            yield f"of those to run, {states[state]} {state} before"
    for reason in dict.fromkeys(cell.absent for cell in cells if cell.absent):
        yield f"not here: {reason}"
    if any(seconds is not None for seconds in estimates.values()):
        yield (
            "time: one cell after another, as the finished cells of the same corpora, epochs and "
            "limits took here"
        )
    elif estimates:
        yield "time: unknown until a cell of the same corpus, epochs and limits is done"


def _timings(cells: Iterable[GridCell]) -> list[Timing]:
    """Of every finished grid cell in the stores concerned; others have no analyses to wait for."""
    roots = dict.fromkeys(cell.place.cell.root for cell in cells if cell.place)
    found = [cell for root in roots for cell in Store(root).cells()]
    return [
        Timing(cell, _settings(cell), seconds)
        for cell in found
        if (seconds := seconds_taken(cell)) is not None and cell.is_grid
    ]


def seconds_taken(cell: Cell) -> float | None:
    """How long a cell took from its start to its end; None where they were not of one run."""
    status = cell.status()
    if status.state != "fitted" or not (status.started and status.fitted and status.finished):
        return None
    if status.fitted < status.started:  # fitted before: this run only added analyses
        return None
    taken = datetime.fromisoformat(status.finished) - datetime.fromisoformat(status.started)
    return taken.total_seconds()


def _settings(cell: Cell) -> Any:
    """What a cell's time depends on, its model aside."""
    identity = cell.identity
    return identity.get("limits"), identity.get("trainer", {}).get("max_epochs")


def _estimate(cell: GridCell, timings: Sequence[Timing]) -> float | None:
    """The median time of the nearest finished cells, in seconds; None without any."""
    assert cell.place is not None
    wanted = cell.place.cell
    alike = [one for one in timings if one.settings == _settings(wanted)]
    for keys in NEARNESS:
        near = [
            one.seconds
            for one in alike
            if all(getattr(one.cell, key) == getattr(wanted, key) for key in keys)
        ]
        if near:
            return median(near)
    return None


def _duration(seconds: float) -> str:
    """Two units, or one where the second says little."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    if minutes >= 10:
        return f"{minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"
