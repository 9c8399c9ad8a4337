"""Two cells of one identity, number by number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention_audit.store import Analysis, Cell, canonical

KEYS = ("quantity", "klass", "statistic")
NUMBERS = ("value", "lo", "hi", "n", "n_undefined")


@dataclass(frozen=True)
class Difference:
    """The largest absolute difference in a column; infinite, with a reason, where there is none."""

    part: str
    column: str
    count: int
    largest: float
    reason: str = ""

    @staticmethod
    def unlike(part: str, column: str, reason: str) -> Difference:
        """What cannot be compared."""
        return Difference(part, column, 0, math.inf, reason)


def compare(stored: Cell, made: Cell) -> Iterator[Difference]:
    """Every number of a stored cell beside that of the one made again, a column at a time."""
    ours, theirs = made.read_json("metrics"), stored.read_json("metrics")
    yield from compare_rows("metrics.json", theirs.get("summary", ()), ours["summary"])
    for name in ("instances.parquet", "tokens.parquet"):
        if (stored.folder / name).exists():
            yield from compare_tables(name, stored.read_table(name), made.read_table(name))
    again = {_key(analysis): analysis for analysis in made.analyses()}
    for analysis in stored.analyses():
        if (other := again.get(_key(analysis))) is None:
            yield Difference.unlike(analysis.folder.name, "", "not made again: no class known")
        else:
            yield from _compare_analyses(analysis, other)


def _key(analysis: Analysis) -> tuple[str, str]:
    """Name and settings: a stored one may be of an older version of the code."""
    return analysis.name, canonical(analysis.config, analysis.name)


def _compare_analyses(stored: Analysis, made: Analysis) -> Iterator[Difference]:
    name = stored.folder.name
    if stored.identity["version"] != made.identity["version"]:
        versions = f"version {stored.identity['version']}, now {made.identity['version']}"
        yield Difference.unlike(name, "code", versions)
    rows = stored.read_summary().get("summary", ()), made.read_summary()["summary"]
    yield from compare_rows(f"{name}/summary.json", *rows)
    for table in ("instances.parquet", "tokens.parquet"):
        if (stored.folder / table).exists():
            read = (getattr(one, f"read_{table.partition('.')[0]}")() for one in (stored, made))
            yield from compare_tables(f"{name}/{table}", *read)


def compare_rows(
    part: str, stored: Iterable[Mapping[str, Any]], made: Iterable[Mapping[str, Any]]
) -> Iterator[Difference]:
    """Rows of two summaries, matched by quantity, class and statistic; one result a quantity."""
    theirs, ours = (
        {tuple(str(row.get(k)) for k in KEYS): row for row in rows} for rows in (stored, made)
    )
    if theirs.keys() != ours.keys():
        yield Difference.unlike(part, "", "other rows")
        return
    for quantity in dict.fromkeys(key[0] for key in theirs):
        keys = [key for key in theirs if key[0] == quantity]
        pairs = [(theirs[k].get(n), ours[k].get(n)) for k in keys for n in NUMBERS]
        values = [np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True)]
        yield _numbers(part, quantity, *values)


def compare_tables(part: str, stored: Any, made: Any) -> Iterator[Difference]:
    """Columns of two `pyarrow.Table`, their rows matched by `id`."""
    if set(stored.column_names) != set(made.column_names) or len(stored) != len(made):
        yield Difference.unlike(part, "", "other columns or another number of rows")
        return
    theirs, ours = (table.sort_by("id").combine_chunks() for table in (stored, made))
    for name in theirs.column_names:
        yield _columns(part, name, theirs[name], ours[name])


def _columns(part: str, name: str, stored: Any, made: Any) -> Difference:
    import pyarrow as pa
    import pyarrow.compute as pc

    while pa.types.is_list(stored.type) and pa.types.is_list(made.type):
        lengths = (pc.list_value_length(column) for column in (stored, made))
        if next(lengths) != next(lengths):
            return Difference.unlike(part, name, "lists of other lengths")
        stored, made = pc.list_flatten(stored), pc.list_flatten(made)
    if stored.type != made.type:
        return Difference.unlike(part, name, f"{stored.type}, now {made.type}")
    if pa.types.is_floating(stored.type) or pa.types.is_integer(stored.type):
        arrays = (column.to_numpy() for column in (stored, made))
        return _numbers(part, name, *arrays)
    if stored != made:
        return Difference.unlike(part, name, "other words")
    return Difference(part, name, len(stored), 0.0)


def _numbers(part: str, name: str, stored: np.ndarray, made: np.ndarray) -> Difference:
    """Undefined numbers equal each other and nothing else."""
    unlike = np.isnan(stored) != np.isnan(made)
    if unlike.any():
        reason = f"{unlike.sum()} defined in one only"
        return Difference(part, name, len(stored), math.inf, reason)
    one, other = stored.astype(np.float64), made.astype(np.float64)
    # Infinity minus itself is undefined.
    apart = np.abs(np.subtract(one, other, where=one != other, out=np.zeros_like(one)))
    return Difference(part, name, len(stored), float(np.nanmax(apart, initial=0.0)))


def surroundings(stored: Cell, made: Cell) -> list[str]:
    """What of versions, threads and machine is not as it was: a line each."""
    then, now = (_surroundings(cell.read_json("manifest")) for cell in (stored, made))
    return [
        f"{name}: then {then.get(name, 'not noted')}, now {now.get(name, 'not noted')}"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]


def _surroundings(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "threads": manifest.get("threads"),
        **manifest.get("versions", {}),
        **manifest.get("machine", {}),
    }
