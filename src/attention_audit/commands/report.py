"""The report over all finished cells: a folder of pages that open from the disk."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from attention_audit.report.figures import write_figures
from attention_audit.report.heatmap.wording import counted
from attention_audit.report.results import results
from attention_audit.report.site import INSTANCES, write_site
from attention_audit.store import Store

ABOUT = "write the report over the store's cells: pages that open from the disk"
EXTRA = "the report needs altair and vl-convert: pip install -e '.[report]'"


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--store", type=Path, default=Path("multirun"), help="where the cells are")
    parser.add_argument("--out", type=Path, default=Path("report"), help="the folder to write to")
    parser.add_argument(
        "--instances",
        type=int,
        default=INSTANCES,
        help=f"instances of a cell whose words are shown, at most ({INSTANCES})",
    )
    parser.add_argument(
        "--figures",
        action="store_true",
        help="also write its plots as SVG and PDF, and its tables as LaTeX and Markdown",
    )


def run(arguments: Namespace) -> int:
    """Write the pages and name the first; and the figures, if asked."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        raise ValueError(EXTRA) from None
    if arguments.instances < 0:
        raise ValueError(f"--instances {arguments.instances}: expected 0 or more")
    if not arguments.store.is_dir():
        raise FileNotFoundError(f"--store {arguments.store}: no such folder; expected cells")
    found = results(Store(arguments.store))
    write_site(found, arguments.out, arguments.instances)
    print(f"{counted(len(found), 'cell')}: {arguments.out / 'index.html'}")
    if arguments.figures:
        for path in write_figures(found, arguments.out / "figures"):
            print(path)
    return 0
