"""Which cell is meant, and whether it is whole."""

from __future__ import annotations

from pathlib import Path

from attention_audit.cell.keeping import REMEDY
from attention_audit.commands.status.freshness import stored_analysis, stored_identity
from attention_audit.store import FORMAT, Cell, Store

# Of several cells that could be meant, so many are named.
NAMED = 5


def find(named: str, store: Path) -> Cell:
    """As `find_fitted`, but no cell that only an analysis of another one can fit."""
    cell = find_fitted(named, store)
    if cell.config.get("auxiliary"):
        base = cell.read_json("manifest").get("base")
        raise ValueError(
            f"{cell.folder}: was fitted for the analyses of {base}; rerun that cell, and they fit "
            "this one again"
        )
    return cell


def find_fitted(named: str, store: Path) -> Cell:
    """The finished cell of this folder, or the only one with this part in its path.

    Raises:
        FileNotFoundError: no such cell.
        ValueError: several, or one that is not finished, or damaged.
    """
    cell = _at(Path(named)) or _only(named, store)
    # Before anything else is read of them.
    for name in ("config.yaml", "identity.json", "manifest.json"):
        if cell.is_fitted and not (cell.folder / name).exists():
            raise FileNotFoundError(f"{cell.folder / name} is missing: {REMEDY}")
    state = cell.status().state
    if state != "fitted":
        raise ValueError(f"{cell.folder}: is {state}; expected a finished cell")
    if (made := stored_identity(cell)["format"]) != FORMAT:
        raise ValueError(f"{cell.folder}: made under format {made}, today's program makes {FORMAT}")
    for analysis in cell.analyses():
        stored_analysis(analysis)
    if not isinstance(cell.read_json("manifest"), dict):
        raise ValueError(f"{cell.folder / 'manifest.json'} is none: run the cell with force=true")
    return cell


def _at(folder: Path) -> Cell | None:
    if not folder.is_dir() or len(folder.absolute().parts) < 4:
        return None
    folder = folder.absolute()
    cells = Store(folder.parents[2]).places()
    return next((cell for cell in cells if cell.folder == folder), None)


def _only(named: str, store: Path) -> Cell:
    if not named:
        raise ValueError("CELL: found '', expected its folder, or a part of its path or hash")
    paths = {cell.path_in_store: cell for cell in Store(store).places()}
    found = [path for path in paths if named in path]
    if not found:
        raise FileNotFoundError(f"{named}: no such cell in {store}; `status` lists them")
    if len(found) > 1:
        more = ", ..." if len(found) > NAMED else ""
        raise ValueError(
            f"{named}: could be {', '.join(found[:NAMED])}{more}; expected a part of one path only"
        )
    return paths[found[0]]
