"""The papers' figures of all finished cells, as SVG and PDF files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from attention_audit.report.plane import plane
from attention_audit.store import Analysis, Cell, Store

ABOUT = "draw the figures of all finished cells, as SVG and PDF"
EXTRA = "the figures need altair and vl-convert: pip install -e '.[report]'"


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--store", type=Path, default=Path("multirun"), help="where the cells are")
    parser.add_argument("--out", type=Path, default=Path("figures"), help="the folder to write to")


def run(arguments: Namespace) -> int:
    """Write the figures and name them; 1 if there is nothing to draw."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        raise ValueError(EXTRA) from None
    written = [
        path for cell, one in _drawn(arguments.store) for path in _draw(cell, one, arguments.out)
    ]
    for path in written:
        print(path)
    if not written:
        print(f"{arguments.store}: no cell with an analysis that has a figure (model_adversary)")
    return 0 if written else 1


def _drawn(store: Path) -> Iterator[tuple[Cell, Analysis]]:
    for cell in Store(store).cells():
        latest = {one.name: one for one in sorted(cell.analyses(), key=lambda one: one.written)}
        if "model_adversary" in latest:
            yield cell, latest["model_adversary"]


def _draw(cell: Cell, analysis: Analysis, out: Path) -> Iterator[Path]:
    title = f"{cell.dataset}, {cell.encoder} + {cell.attention}, seed {cell.seed}"
    chart = plane(analysis.read_summary(), title)
    name = f"{cell.name}/{cell.folder.name}".replace("/", "_")
    out.mkdir(parents=True, exist_ok=True)
    for kind in ("svg", "pdf"):
        path = out / f"{name}_plane.{kind}"
        chart.save(path)
        yield path
