"""Columns as Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attention_audit.store.atomic import write_whole


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns atomically; ValueError for unlike lengths, TypeError for unknown types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: _column(f"{path.name}: column {name}", c) for name, c in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{path.name}: columns differ in length: {lengths}")
    write_whole(path, lambda file: pq.write_table(pa.table(arrays), file))


def _column(where: str, values: Any) -> Any:
    import pyarrow as pa

    is_array = type(values).__module__ == "numpy"
    if not is_array and not isinstance(values, (list, tuple)):
        kind = type(values).__name__
        raise TypeError(f"{where} is a {kind}: give a list or a NumPy array")
    if is_array and values.ndim > 1:  # Arrow takes one dimension, or lists of one
        values = list(values) if values.ndim == 2 else values.tolist()
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise TypeError(f"{where} cannot be stored: {reason}") from error


def read_table(path: Path) -> Any:
    """Read a `pyarrow.Table`. Raises FileNotFoundError, ValueError for a broken file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = path.read_bytes()
    try:
        return pq.read_table(pa.BufferReader(content))
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{path} is not valid Parquet ({reason}): run the cell with force=true"
        ) from error
