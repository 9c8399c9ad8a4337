"""The table that ends a run: a cell's numbers, and what was published for it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attention_audit.published import Comparison, compare, published, unlike
from attention_audit.quantities import MEANINGS, SERIES
from attention_audit.store import Cell

COLUMNS = (
    *("quantity", "class", "value", "95 % interval", "std", "p<=.05", "n"),
    *("published", "difference"),
)
# Left out one after another, until the table fits.
DISPENSABLE = ("std", "n", "p<=.05", "95 % interval", "published")
# Of the quantities shown, those that a table of several cells has no room for.
COMPARED_LEAST = {
    *("f1", "macro_f1", "pr_auc", "tau_random", "gap_loo", "gap_gradient"),
    *("jsd_achieved", "search_gap", "search_shortfall", "context_share"),
}
# Said once, not for each class.
OVERALL_ONLY = {"jsd_achieved", "search_gap", "search_shortfall"}


class Lines(logging.Handler):
    """Prints log lines where `sys.stdout` points now: a progress bar on a terminal replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stdout, flush=True)


def stdout(width: int = 160) -> Console:
    """Standard output; a pipe has no width of its own, and is taken to have this one."""
    console = Console()
    return console if console.is_terminal else Console(width=width)


def show(
    cell: Cell,
    rows: list[dict[str, Any]],
    corpus: Mapping[str, Any],
    epsilon: float | None,
    console: Console,
    legend: bool = True,
    verdict: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Print a cell's results.

    Args:
        cell: a finished cell.
        rows: its summary rows.
        corpus: of its manifest: source, splits with the rows kept, classes in label order, and
            how it differs from the papers' corpus.
        epsilon: of the adversarial search, for the comparison with the published one.
        console: where to print; where it is narrow, the columns least needed are left out.
        legend: say what the quantities mean.
        verdict: the lines of its diagnostics' verdict.
    """
    figures = published(cell.dataset, cell.encoder, cell.attention)
    other = unlike(cell.dataset, corpus)
    known = {
        (c.quantity, c.klass, c.statistic): c
        for c in compare(rows, [] if other else figures, epsilon)
    }
    groups = _grouped(rows)
    lines = [_cells(*group, known, corpus) for group in groups]
    console.print(Text(_title(cell, corpus)))
    console.print(_fitting(lines, console))
    for prefix, label in SERIES.items():
        if line := _series(rows, prefix, label):
            console.print(Text(line))
    if legend:
        for line in _legend({quantity for quantity, _, _ in groups}, list(known.values())):
            console.print(Text(line))
    if other and (figures or corpus["differs"]):
        console.print(Text(other))
    if verdict:
        _show_verdict(verdict, console)
    console.print(Text(f"stored in {cell.folder}"), soft_wrap=True)


def _show_verdict(verdict: Sequence[Mapping[str, Any]], console: Console) -> None:
    """A line for each finding: the condition that was tested, once, the figure and the sentence."""
    lines, condition = [], ""
    for number, line in enumerate(verdict, start=1):
        repeated = line["condition"] == condition
        condition = line["condition"]
        published = line["published"]
        lines.append(
            {
                "": str(number),
                "would have to hold": "" if repeated else condition,
                "quantity": line["quantity"],
                "value": _number(line["value"]),
                "95 % interval": _interval(line),
                "published": "" if published is None else f"{published:.3f}",
            }
        )
    names = [name for name in lines[0] if any(line[name] for line in lines)]
    console.print(Text("what was tested of attention as an explanation, and what was measured"))
    console.print(_table(names, lines))
    for number, line in enumerate(verdict, start=1):
        console.print(Text(f"{number:>2}  {line['sentence']}"), soft_wrap=True)
    for source in dict.fromkeys(line["source"] for line in verdict if line["source"]):
        console.print(Text(f"published: {source}"))


def compare_cells(cells: Iterable[Cell], console: Console) -> None:
    """Print a sweep's finished cells side by side: the overall value of each quantity."""
    lines = []
    for cell in cells:
        overall = {
            row["quantity"]: _number(row["value"])
            for row in cell.summary()
            if row["klass"] == "overall" and row["statistic"] in ("value", "mean")
        }
        lines.append({"cell": f"{cell.name} {cell.seed}-{cell.hash8}", **overall})
    found = [name for name in MEANINGS if any(name in line for line in lines)]
    kept = [name for name in found if name not in COMPARED_LEAST]
    if lines:
        console.print(Text("the sweep's finished cells"))
        console.print(_table(["cell", *kept], lines))


def _title(cell: Cell, corpus: Mapping[str, Any]) -> str:
    sizes = ", ".join(f"{split['kept']} {name}" for name, split in corpus["splits"].items())
    return (
        f"{cell.dataset}  {cell.encoder} + {cell.attention}  seed {cell.seed}\n"
        f"{corpus['source']}: {sizes}"
    )


def _fitting(lines: list[dict[str, str]], console: Console) -> Table:
    """The table of all columns that hold something, or as many as the console has room for."""
    columns = [name for name in COLUMNS if any(line.get(name) for line in lines)]
    table = _table(columns, lines)
    unbounded = console.options.update(width=1000)
    for name in DISPENSABLE:
        if console.measure(table, options=unbounded).maximum <= console.width:
            break
        columns = [column for column in columns if column != name]
        table = _table(columns, lines)
    return table


def _table(columns: list[str], lines: list[dict[str, str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        left = name in ("quantity", "class", "cell", "would have to hold")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    for line in lines:
        table.add_row(*(Text(line.get(name, "")) for name in columns))
    return table


def _grouped(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, dict[str, Any]]]:
    """Rows that differ only in their statistic, together, in the order of MEANINGS."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        groups.setdefault((row["quantity"], row["klass"]), {})[row["statistic"]] = row
    order = {quantity: place for place, quantity in enumerate(MEANINGS)}
    shown = [
        (quantity, klass)
        for quantity, klass in groups
        if quantity in order and (klass == "overall" or quantity not in OVERALL_ONLY)
    ]
    shown.sort(key=lambda group: (order[group[0]], group[1] != "overall", group[1]))
    return [(quantity, klass, groups[quantity, klass]) for quantity, klass in shown]


def _series(rows: Iterable[Mapping[str, Any]], prefix: str, label: str) -> str:
    """One line: the overall mean of each quantity of that name, in the order of its number."""
    means = {
        float(row["quantity"].removeprefix(prefix)): _number(row["value"])
        for row in rows
        if row["quantity"].startswith(prefix)
        and (row["klass"], row["statistic"]) == ("overall", "mean")
    }
    each = [f"{number:g}: {means[number]}" for number in sorted(means)]
    return f"{label}  {', '.join(each)}" if each else ""


def _cells(
    quantity: str,
    klass: str,
    statistics: Mapping[str, Mapping[str, Any]],
    known: Mapping[tuple[str, str, str], Comparison],
    corpus: Mapping[str, Any],
) -> dict[str, str]:
    main = "value" if "value" in statistics else "mean"
    row = statistics[main]
    classes = corpus["classes"]
    name = classes[int(klass)] if klass.isdigit() and int(klass) < len(classes) else klass
    return {
        "quantity": quantity,
        "class": "" if klass == "overall" else name,
        "value": _number(row["value"]),
        "95 % interval": _interval(row),
        "std": _statistic(statistics, "std"),
        "p<=.05": _statistic(statistics, "sig_frac"),
        "n": _count(row),
        **_published(known.get((quantity, klass, main))),
    }


def _published(comparison: Comparison | None) -> dict[str, str]:
    if comparison is None:
        return {}
    difference = comparison.difference
    return {
        "published": _number(comparison.figure.value),
        "difference": "not alike" if difference is None else f"{difference:+.3f}",
    }


def _statistic(statistics: Mapping[str, Mapping[str, Any]], name: str) -> str:
    value = statistics[name]["value"] if name in statistics else None
    return "" if value is None else _number(value)


def _interval(row: Mapping[str, Any]) -> str:
    lo, hi = row.get("lo"), row.get("hi")
    return "" if lo is None else f"[{_number(lo)}, {_number(hi)}]"


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
        lines.append("class             the predicted class; of f1, the true one")
    if comparisons:
        lines.append("published         Jain & Wallace 2019, the authors' result files")
        lines.append("difference        ours - published")
    if any(c.difference is None for c in comparisons):
        lines.append("not alike         published for another epsilon than ours")
    return lines
