"""One analysis of a cell: a folder that exists only when it is finished."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attention_audit.store.atomic import (
    TEMPORARY,
    read_json,
    remove_folder,
    sync_folder,
    write_json,
)
from attention_audit.store.integrity import damaged, seal
from attention_audit.store.tables import read_table, write_table


@dataclass(frozen=True)
class Analysis:
    """One analysis's folder inside a cell's: it exists only when the analysis is finished."""

    inside: Path
    name: str
    hash8: str
    _given: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def folder(self) -> Path:
        """`<cell>/analyses/<name>-<hash8>`."""
        return self.inside / "analyses" / f"{self.name}-{self.hash8}"

    @property
    def done(self) -> bool:
        """True if the analysis is finished, and its files are what they were then."""
        return self.folder.is_dir() and not damaged(self.folder)

    @property
    def written(self) -> int:
        """When it was finished, in nanoseconds since 1970; 0 if it is not."""
        try:
            return (self.folder / "summary.json").stat().st_mtime_ns
        except FileNotFoundError:  # removed by a forced rerun meanwhile
            return 0

    @property
    def config(self) -> Any:
        """The analysis's config: as given, or as stored for one found on disk."""
        return self.identity["config"]

    @property
    def identity(self) -> Any:
        """Name, config and version of its code, and the cell's hash: what its own hash is of."""
        return read_json(self.folder / "identity.json") if self._given is None else self._given

    def write(
        self,
        summary: Mapping[str, Any],
        instances: Mapping[str, Any] | None = None,
        tokens: Mapping[str, Any] | None = None,
    ) -> None:
        """Write all results at once, in the place of older ones; see `Cell.write_table`.

        `summary["summary"]` is the list of rows for `summary.csv`. Raises as `Cell.write_json`
        and `Cell.write_table` do; an older result then stays.
        """
        unfinished = self.folder.parent / f"{TEMPORARY}{self.folder.name}-{uuid.uuid4().hex}"
        unfinished.mkdir(parents=True)
        try:
            self._fill(unfinished, summary, {"instances": instances, "tokens": tokens})
            if self.folder.is_dir():
                remove_folder(self.folder)
            unfinished.rename(self.folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        sync_folder(self.folder.parent)

    def _fill(
        self,
        folder: Path,
        summary: Mapping[str, Any],
        tables: Mapping[str, Mapping[str, Any] | None],
    ) -> None:
        write_json(folder / "summary.json", summary)
        write_json(folder / "identity.json", self.identity)
        for name, columns in tables.items():
            if columns is not None:
                write_table(folder / f"{name}.parquet", columns)
        seal(folder, [path.name for path in folder.iterdir()])

    def read_summary(self) -> Any:
        """Read `summary.json`. Raises FileNotFoundError if the analysis is not done."""
        return read_json(self.folder / "summary.json")

    def read_instances(self) -> Any:
        """The rows of instances as a `pyarrow.Table`. Raises FileNotFoundError without any."""
        return read_table(self.folder / "instances.parquet")

    def read_tokens(self) -> Any:
        """The rows of tokens as a `pyarrow.Table`. Raises FileNotFoundError without any."""
        return read_table(self.folder / "tokens.parquet")


def latest(analyses: Iterable[Analysis]) -> dict[str, Analysis]:
    """By name; of an analysis that was made under two configs the one that was written last."""
    return {one.name: one for one in sorted(analyses, key=lambda one: one.written)}
