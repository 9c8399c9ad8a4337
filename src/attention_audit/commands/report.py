"""The report over all finished cells: a folder of pages that open from the disk."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from attention_audit.report.results import results
from attention_audit.report.site import write_site
from attention_audit.store import Store

ABOUT = "write the report over the store's cells: pages that open from the disk"


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--store", type=Path, default=Path("multirun"), help="where the cells are")
    parser.add_argument("--out", type=Path, default=Path("report"), help="the folder to write to")


def run(arguments: Namespace) -> int:
    """Write the pages and name the first."""
    if not arguments.store.is_dir():
        raise FileNotFoundError(f"--store {arguments.store}: no such folder; expected cells")
    found = results(Store(arguments.store))
    write_site(found, arguments.out)
    print(f"{len(found)} cells: {arguments.out / 'index.html'}")
    return 0
