"""The table that ends a run: a cell's numbers, and what was published for it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attention_audit.published import Comparison, compare, published
from attention_audit.store import Cell

MEANINGS = {
    "accuracy": "",
    "f1": "",
    "macro_f1": "",
    "micro_f1": "",
    "roc_auc": "",
    "pr_auc": "",
    "tau_gradient": "Kendall's tau between attention and gradient",
    "tau_loo": "... between attention and leave-one-out",
    "tau_gradient_loo": "... between gradient and leave-one-out",
    "tau_random": "... between attention and random importance: the control",
    "gap_loo": "tau_gradient_loo - tau_loo, instance by instance",
    "gap_gradient": "tau_gradient_loo - tau_gradient, instance by instance",
    "delta_y_med": "median output change (TVD) when attention is permuted",
    "eps_max_jsd": "largest JSD of an attention that keeps the output; at most 0.693",
}
"""The quantities shown, in this order, and what a reader must be told of them."""


class Lines(logging.Handler):
    """Prints log lines where `sys.stdout` points now: a progress bar on a terminal replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stdout, flush=True)


def show(
    cell: Cell,
    rows: list[dict[str, Any]],
    corpus: Mapping[str, Any],
    epsilon: float | None,
    console: Console,
) -> None:
    """Print a cell's results.

    Args:
        cell: a finished cell.
        rows: its summary rows.
        corpus: of its manifest: source, splits with the rows kept, and classes in label order.
        epsilon: of the adversarial search, for the comparison with the published one.
        console: where to print.
    """
    figures = published(cell.dataset, cell.encoder, cell.attention)
    known = {(c.quantity, c.klass, c.statistic): c for c in compare(rows, figures, epsilon)}
    sizes = ", ".join(f"{split['kept']} {name}" for name, split in corpus["splits"].items())
    title = (
        f"{cell.dataset}  {cell.encoder} + {cell.attention}  seed {cell.seed}\n"
        f"{corpus['source']}: {sizes}"
    )
    groups = _grouped(rows)
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for header in ("quantity", "class"):
        table.add_column(header, no_wrap=True)
    numbers = ["value", "95 % interval", "std", "p<=.05", "n"]
    for header in numbers + (["published", "difference"] if figures else []):
        table.add_column(header, justify="right")
    for quantity, klass, statistics in groups:
        table.add_row(*_cells(quantity, klass, statistics, known if figures else None, corpus))
    console.print(table)
    for line in _legend({quantity for quantity, _, _ in groups}, list(known.values())):
        console.print(Text(line))
    console.print(Text(f"stored in {cell.folder}"), soft_wrap=True)


def _grouped(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    """Rows that differ only in their statistic, together, in the order of MEANINGS."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        groups.setdefault((row["quantity"], row["klass"]), {})[row["statistic"]] = row
    order = {quantity: place for place, quantity in enumerate(MEANINGS)}
    shown = [(q, klass) for q, klass in groups if q in order]
    shown.sort(key=lambda group: (order[group[0]], group[1] != "overall", group[1]))
    return [(quantity, klass, groups[quantity, klass]) for quantity, klass in shown]


def _cells(
    quantity: str,
    klass: str,
    statistics: Mapping[str, Mapping[str, Any]],
    known: Mapping[tuple[str, str, str], Comparison] | None,
    corpus: Mapping[str, Any],
) -> list[Text]:
    main = "value" if "value" in statistics else "mean"
    row = statistics[main]
    classes = corpus["classes"]
    name = classes[int(klass)] if klass.isdigit() and int(klass) < len(classes) else klass
    interval = f"[{_number(row.get('lo'))}, {_number(row.get('hi'))}]" if "lo" in row else ""
    cells = [
        quantity,
        "" if klass == "overall" else name,
        _number(row["value"]),
        interval,
        _statistic(statistics, "std"),
        _statistic(statistics, "sig_frac"),
        _count(row),
    ]
    if known is not None:
        cells += _published(known.get((quantity, klass, main)))
    return [Text(cell) for cell in cells]


def _published(comparison: Comparison | None) -> list[str]:
    if comparison is None:
        return ["", ""]
    difference = comparison.difference
    return [
        _number(comparison.figure.value),
        "not alike" if difference is None else f"{difference:+.3f}",
    ]


def _statistic(statistics: Mapping[str, Mapping[str, Any]], name: str) -> str:
    return _number(statistics[name]["value"]) if name in statistics else ""


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _count(row: Mapping[str, Any]) -> str:
    if "n" not in row:
        return ""
    undefined = row["n_undefined"]
    return f"{row['n']} (+{undefined} undefined)" if undefined else str(row["n"])


def _legend(shown: set[str], comparisons: list[Comparison]) -> list[str]:
    lines = [f"{name:<17} {text}" for name, text in MEANINGS.items() if text and name in shown]
    if any(name.startswith("tau") for name in shown):
        lines.append("p<=.05            share of the instances whose tau is significant")
        lines.append("class             the predicted class")
    if comparisons:
        lines.append("published         Jain & Wallace 2019, the authors' result files")
        lines.append("difference        ours - published")
    if any(c.difference is None for c in comparisons):
        lines.append("not alike         published for another epsilon than ours")
    return lines
