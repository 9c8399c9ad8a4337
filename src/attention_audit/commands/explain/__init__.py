"""A sentence under a stored model: what was measured of its attention."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from rich.console import Console

from attention_audit.cell import refuse_frozen
from attention_audit.commands.explain.showing import show
from attention_audit.commands.rerun.finding import find_fitted
from attention_audit.configuration import check_stored
from attention_audit.report.document import check_place
from attention_audit.report.sentence import page
from attention_audit.store.atomic import write_text
from attention_audit.terminal import stdout

ABOUT = "measure a stored model's attention over a sentence of your own: the first paper's tests"


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.description = (
        f"{ABOUT[0].upper()}{ABOUT[1:]}. No corpus is needed, and nothing is written to the store. "
        "The cell may be somebody else's, so it may use classes of this program only; with --trust "
        "also those of a package of yours, which then runs with your rights."
    )
    parser.add_argument("cell", metavar="CELL", help="its folder, or a part of its path or hash")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "sentence", metavar="SENTENCE", nargs="?", help="the document, passage or premise"
    )
    asked.add_argument(
        "--instance", type=int, metavar="ID", help="in its place, a test instance of the cell"
    )
    parser.add_argument("--query", help="the question, or hypothesis, where the task has one")
    parser.add_argument(
        "--candidates", metavar="A,B", help="the answers to a question that may be given (all)"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page, too")
    parser.add_argument("--store", default="multirun", help="the folder of the cells (multirun)")
    parser.add_argument(
        "--trust", action="append", default=[], metavar="PACKAGE", help="its classes may be used"
    )


def run(arguments: Namespace) -> int:
    """Measure, print, and write the page that is asked for."""
    _check(arguments)
    if arguments.html is not None:
        check_place("--html", arguments.html)
    cell = find_fitted(arguments.cell, Path(arguments.store))
    config = cell.config
    refuse_frozen(config, cell)
    # What else it was fitted for is of no concern to its model.
    check_stored({**config, "auxiliary": None}, arguments.trust)
    # Read when torch loads its threads, as in run.py.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from attention_audit.explain import Asked, examine

    asked: Asked | int = arguments.instance
    if arguments.instance is None:
        candidates = tuple(filter(None, (arguments.candidates or "").split(",")))
        asked = Asked(arguments.sentence, arguments.query, candidates)
    with Console(stderr=True).status("measuring"):
        found = examine(config, cell, asked)
    if arguments.html is not None:
        write_text(arguments.html, page(found))
    show(found, stdout(width=120))
    if arguments.html is not None:
        print(f"drawn in {arguments.html}")
    return 0


def _check(arguments: Namespace) -> None:
    """Refuse, by a ValueError, what an instance has of itself."""
    for option in ("query", "candidates"):
        if arguments.instance is not None and getattr(arguments, option) is not None:
            raise ValueError(f"--{option}: found one, expected none: --instance has its own")
