"""All cells below one folder."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention_audit.store.atomic import remove_temporaries, write_text
from attention_audit.store.cell import Cell, identified
from attention_audit.store.locks import locked
from attention_audit.store.naming import NAME, checked_name
from attention_audit.store.plain import canonical, sha256
from attention_audit.store.summary import as_csv

_log = logging.getLogger(__name__)
_SEED_AND_HASH = re.compile(r"(\d+)-([0-9a-f]{8})")


@dataclass(frozen=True)
class Store:
    """All cells below one folder, usually `multirun/`. Creating it touches nothing on disk."""

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root))

    def cell(
        self,
        *,
        dataset: str,
        encoder: str,
        attention: str,
        seed: int,
        identity: Mapping[str, Any],
    ) -> Cell:
        """The cell of this `identity`: everything that determines the fitted weights, no paths.

        Raises ValueError for a name that cannot be a folder's or a seed that is not an integer
        >= 0, TypeError for an identity that is not plain. Touches nothing on disk.
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ValueError(f"seed={seed!r} must be an integer of at least 0")
        names = {"dataset": dataset, "encoder": encoder, "attention": attention}
        hashed = sha256(canonical(identified(identity), "identity"))
        checked = {key: checked_name(key, name) for key, name in names.items()}
        return Cell(self.root, **checked, seed=int(seed), hash8=hashed[:8], _given=identity)

    def cells(self) -> list[Cell]:
        """Every cell on disk, sorted by name, seed and hash; folders that are none are passed."""
        return self._cells_at(path.parent for path in self.root.glob("*/*+*/*-*/identity.json"))

    def places(self) -> list[Cell]:
        """All that is named as a cell's folder, those without `identity.json` too; sorted."""
        return self._cells_at(self.root.glob("*/*+*/*-*"))

    def _cells_at(self, folders: Iterable[Path]) -> list[Cell]:
        found = [self._cell_at(folder) for folder in folders]
        return sorted((cell for cell in found if cell), key=lambda c: (c.name, c.seed, c.hash8))

    def write_summary(self) -> Path:
        """Collect `summary.csv`: one row a (grid cell, quantity, klass, statistic).

        Rows come from the list `summary` of each `metrics.json` and each analysis's
        `summary.json`; where two give the same quantity (an analysis under two configs), the one
        written last counts. Cells whose `manifest.json` has a `role` other than `grid` are left
        out. A cell whose files cannot be read is left out too, with a warning: it must not stand
        in the way of the others.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        path = self.root / "summary.csv"
        with locked(self.root / ".locks" / "summary.lock", str(path)):
            remove_temporaries(self.root, "summary.csv-")
            write_text(path, as_csv(row for cell in self.cells() for row in _rows(cell)))
        return path

    def _cell_at(self, folder: Path) -> Cell | None:
        dataset, pair = folder.parts[-3:-1]
        encoder, _, attention = pair.partition("+")
        place = _SEED_AND_HASH.fullmatch(folder.name)
        if not place or not all(NAME.fullmatch(n) for n in (dataset, encoder, attention)):
            return None
        return Cell(self.root, dataset, encoder, attention, int(place[1]), place[2])


def _rows(cell: Cell) -> list[dict[str, Any]]:
    try:
        if not cell.is_grid:
            return []
        return [{**row, **cell.names} for row in cell.summary()]
    except (ValueError, OSError) as error:
        _log.warning("left out of summary.csv: %s", error)
        return []
