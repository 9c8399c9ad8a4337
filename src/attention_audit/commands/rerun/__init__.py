"""A finished cell made again elsewhere, and its numbers compared one by one."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attention_audit.commands.rerun.comparing import Difference, compare, surroundings
from attention_audit.commands.rerun.finding import find
from attention_audit.commands.rerun.remaking import remake
from attention_audit.terminal import stdout

ABOUT = "make a finished cell again, in another place, and compare every number"


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.description = (
        f"{ABOUT[0].upper()}{ABOUT[1:]}: exit code 0 if all are the same, 1 if not, 2 if it cannot "
        "be made again. Nothing in the store is changed. The cell's config.yaml decides what is "
        "read: files that you may read, and repositories of the hub. It may be somebody else's, so "
        "it may use classes of this program only; with --trust also those of a package of yours, "
        "which then runs with your rights."
    )
    parser.add_argument("cell", metavar="CELL", help="its folder, or a part of its path or hash")
    parser.add_argument("--store", default="multirun", help="the folder of the cells (multirun)")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the new cell, in this new store")
    parser.add_argument(
        "--tolerance", type=float, default=0.0, help="largest difference that counts as none (0)"
    )
    parser.add_argument(
        "--threads", type=int, help="of the CPU, in place of those that it was made with"
    )
    parser.add_argument(
        "--trust", action="append", default=[], metavar="PACKAGE", help="its classes may be used"
    )


def run(arguments: Namespace) -> int:
    """Make the cell again and say what differs; 0 if nothing does."""
    # Read when torch loads its threads, as in run.py.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    cell = find(arguments.cell, Path(arguments.store))
    with _place(arguments.keep) as place:
        print(f"making {cell.folder} again", file=sys.stderr)
        made = remake(cell, place, arguments.trust, arguments.threads)
        found = list(compare(cell, made))
        changed = surroundings(cell, made)
    stdout().print(_table(found))
    for line in changed:
        Console(width=10_000).print(Text(line))
    worst = max(found, key=lambda one: one.largest)
    same = worst.largest <= arguments.tolerance
    print(_verdict(found, worst, arguments.tolerance))
    return int(not same)


@contextmanager
def _place(keep: str | None) -> Iterator[Path]:
    """The store of the new cell: a temporary one, unless it is kept."""
    if keep is None:
        with TemporaryDirectory(prefix="attention-audit-rerun-") as temporary:
            yield Path(temporary)
        return
    folder = Path(keep)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"--keep {folder}: is there already; expected a new or an empty folder")
    yield folder


def _verdict(found: Sequence[Difference], worst: Difference, tolerance: float) -> str:
    numbers = sum(one.count for one in found)
    if worst.largest == 0:
        return f"bit-identical: {numbers} values"
    within = "within" if worst.largest <= tolerance else "over"
    return (
        f"largest difference {_amount(worst)}, in {worst.part} {worst.column}: "
        f"{within} the tolerance of {tolerance:g}"
    )


def _table(found: Sequence[Difference]) -> Table:
    """A row a file where all of it is the same, else a row a column."""
    table = Table("file", "column", "values", "largest difference", box=box.SIMPLE_HEAD)
    for part in dict.fromkeys(one.part for one in found):
        columns = [one for one in found if one.part == part]
        if not any(one.largest for one in columns):
            columns = [Difference(part, "", sum(one.count for one in columns), 0.0)]
        for one in columns:
            table.add_row(*map(Text, (part, one.column, str(one.count), _amount(one))))
    return table


def _amount(one: Difference) -> str:
    if one.reason:
        return one.reason
    return f"{one.largest:.3g}" if one.largest else "bit-identical"
