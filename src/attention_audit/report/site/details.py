"""All that is said of one cell: what its script file holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attention_audit.published import Comparison, published
from attention_audit.quantities import meaning
from attention_audit.report.results import Result
from attention_audit.report.site.markup import size_class
from attention_audit.report.tables import number

# As statistics of one quantity, in the order of a table's columns.
_MAIN = ("value", "mean", "max")
_COUNTS = ("support", "context_words")
# Groups of numbers that come first, the first of them of what no analysis measured.
_FIRST = ("test scores", "correlation", "permutation", "adversarial")


def details(one: Result) -> dict[str, Any]:
    """Plain values: who the cell is, its numbers beside the published ones, and its verdict."""
    return {
        "key": one.key,
        "dataset": one.cell.dataset,
        "title": f"{one.cell.dataset}, {one.cell.encoder} + {one.cell.attention}",
        "state": one.state,
        "why": one.why,
        "about": [*_about(one)],
        "numbers": _grouped(one),
        "verdict": [_verdict(line) for line in one.verdict],
        "unlike": one.unlike,
    }


def _about(one: Result) -> Iterator[tuple[str, str]]:
    yield "folder", one.cell.path_in_store
    yield "seed", str(one.cell.seed)
    if not one.manifest:
        return
    splits = one.corpus["splits"]
    yield "corpus", one.corpus["source"]
    yield "rows", ", ".join(f"{split['kept']:,} {name}" for name, split in splits.items())
    settings = one.manifest.get("settings", {})
    yield "epochs", f"{settings.get('epochs')}, best {one.manifest.get('best_epoch')}"
    yield "vectors", str(settings.get("vectors"))
    if one.epsilon is not None:
        yield "epsilon", f"{one.epsilon:g} (TVD)"


def _grouped(one: Result) -> list[dict[str, Any]]:
    """The rows of `_numbers` by the analysis that measured them."""
    groups: dict[str, list[list[str]]] = {name: [] for name in _FIRST}
    for row in _numbers(one):
        groups.setdefault(one.measured.get(row[0], _FIRST[0]), []).append(row)
    return [
        {"name": name, "first": name in _FIRST, "rows": rows}
        for name, rows in groups.items()
        if rows
    ]


def _numbers(one: Result) -> Iterator[list[str]]:
    """Entries of a row of the page's table, then the class that colours the last of them."""
    figures = [] if one.unlike else published(one.cell.dataset, *one.pair)
    known = {(c.quantity, c.klass, c.statistic): c for c in one.beside(figures)}
    groups: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in one.rows:
        groups.setdefault((row["quantity"], row["klass"]), {})[row["statistic"]] = row
    for (quantity, klass), statistics in groups.items():
        main = next((name for name in _MAIN if name in statistics), next(iter(statistics)))
        row = statistics[main]
        yield [
            quantity,
            meaning(quantity),
            one.name_of(klass),
            number(row["value"], 0 if quantity in _COUNTS else 3),
            _interval(row),
            *(_statistic(statistics, name) for name in ("std", "sig_frac")),
            _count(row),
            *_beside(known.get((quantity, klass, main))),
        ]


def _interval(row: Mapping[str, Any]) -> str:
    lo, hi = row.get("lo"), row.get("hi")
    return "" if lo is None or hi is None else f"[{number(lo)}, {number(hi)}]"


def _statistic(statistics: Mapping[str, Mapping[str, Any]], name: str) -> str:
    return number(statistics[name]["value"]) if name in statistics else ""


def _count(row: Mapping[str, Any]) -> str:
    undefined = row.get("n_undefined")
    counted = f"{row['n']:,}" if "n" in row else ""
    return f"{counted} (+{undefined:,} undefined)" if undefined else counted


def _beside(known: Comparison | None) -> tuple[str, str, str]:
    if known is None:
        return "", "", ""
    difference = known.difference
    said = "not alike" if difference is None else f"{difference:+.3f}"
    decimals = 0 if known.figure.quantity in _COUNTS else 3
    return number(known.figure.value, decimals), said, size_class(difference)


def _verdict(line: Mapping[str, Any]) -> dict[str, str]:
    published_value = line["published"]
    return {
        "condition": line["condition"],
        "sentence": line["sentence"],
        "published": "" if published_value is None else number(published_value),
        "source": line["source"],
    }
