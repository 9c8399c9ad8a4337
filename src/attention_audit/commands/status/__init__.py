"""What became of every cell of a store: a table, or JSON; and failed cells cleared away."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from attention_audit.commands.status.cleaning import clean_failed
from attention_audit.commands.status.judging import Judge, Judgement, printable
from attention_audit.store import GRID, Store
from attention_audit.terminal import stdout

ABOUT = "list the store's cells: done, running, failed or stale, and why"
COLUMNS = ("cell", "role", "state", "started", "took", "fit", "why")


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.description = (
        f"{ABOUT[0].upper()}{ABOUT[1:]}. Reads only: of a cell's configuration no class is used "
        "but this program's readers of corpora and word vectors, to see whether these have changed."
    )
    parser.add_argument("--store", default="multirun", help="the folder of the cells (multirun)")
    parser.add_argument(
        "--clean-failed",
        action="store_true",
        help="remove failed cells without a finished fit; of the others only the failure",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    """Print what became of each cell; 0 whatever it is."""
    store = Store(Path(arguments.store))
    if not store.root.is_dir():
        raise FileNotFoundError(f"--store {store.root}: no such folder; expected finished cells")
    removed = clean_failed(store) if arguments.clean_failed else []
    judge = Judge()
    found = [judge(cell) for cell in store.places()]
    if arguments.json:
        cells = [asdict(one) for one in found]
        print(json.dumps({"cleaned": removed, "cells": cells, "totals": _totals(found)}, indent=1))
        return 0
    for line in removed:
        print(printable(line))
    if found:
        stdout(width=10_000).print(_table(found))  # one line a cell in a pipe
    totals = ", ".join(f"{count} {state}" for state, count in _totals(found).items())
    print(f"{store.root}: {totals or 'no cells'}")
    return 0


def _totals(found: Iterable[Judgement]) -> dict[str, int]:
    return dict(Counter(one.state for one in found))


def _table(found: Iterable[Judgement]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS:
        right = name in ("took", "fit")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for one in found:
        role = "" if one.role == GRID else one.role
        times = (_clock(one.started), _span(one.took), _span(one.fit_seconds))
        values = (one.cell, role, one.state, *times, one.why)
        table.add_row(*(Text(printable(value)) for value in values))
    return table


def _clock(time: str | None) -> str:
    return (time or "").replace("T", " ").removesuffix("+00:00")


def _span(seconds: float | None) -> str:
    """Seconds, for people."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"
