"""Rows of `summary.csv`: one a (cell, quantity, klass, statistic)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attention_audit.store.atomic import json_if_present

SUMMARY_COLUMNS = (
    *("dataset", "encoder", "attention", "seed", "cell"),
    *("quantity", "klass", "statistic", "value", "lo", "hi", "n", "n_undefined"),
    # What tells cells apart that differ in their hash only.
    *("source", "train_rows", "epochs", "vectors"),
)
SETTINGS = SUMMARY_COLUMNS[-4:]


def rows_of(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The rows that the files' lists `summary` hold, sorted; of two alike the later one counts.

    Raises ValueError for a summary that is not a list of rows.
    """
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for path in paths:
        rows.update({_row_key(row, path): row for row in _rows_of(path)})
    return [rows[key] for key in sorted(rows)]


def as_csv(rows: Iterable[dict[str, Any]]) -> str:
    """The text of `summary.csv`; keys that are no column are left out, missing ones are blank."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, SUMMARY_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows_of(path: Path) -> list[Any]:
    content = json_if_present(path) or {}
    rows = content.get("summary", []) if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise ValueError(f"{path}: 'summary' must be a list of rows, run the cell with force=true")
    return rows


def _row_key(row: Any, path: Path) -> tuple[str, str, str]:
    if not isinstance(row, dict) or "quantity" not in row:
        raise ValueError(f"{path}: the summary's row {row!r} names no quantity")
    return str(row["quantity"]), str(row.get("klass", "")), str(row.get("statistic", ""))
