"""Failed cells cleared away, under their locks."""

from __future__ import annotations

from attention_audit.store import Cell, Store


def clean_failed(store: Store) -> list[str]:
    """Remove every failed cell that holds no finished fit; says what was done, a line a cell.

    Of a finished fit whose analysis failed only the failure is forgotten. A cell that somebody is
    at work on, or that is a link to elsewhere, is passed over.
    """
    lines = [_clean(cell) for cell in store.places()]
    return [line for line in lines if line is not None]


def _clean(cell: Cell) -> str | None:
    name = cell.path_in_store
    if not _failed(cell):
        return None
    if any(folder.is_symlink() for folder in (cell.folder, *cell.folder.parents[:2])):
        return f"left {name}: it is a link"
    try:
        with cell.lock_if_free() as free:
            if not free:
                return f"left {name}: it is at work"
            return _forget(cell, name) if _failed(cell) else None
    except OSError as error:
        return f"left {name}: {error.strerror or error}: {error.filename}"


def _failed(cell: Cell) -> bool:
    try:
        return cell.status().state == "failed"
    except (ValueError, OSError):  # shown in the table
        return False


def _forget(cell: Cell, name: str) -> str:
    if cell.is_fitted:
        cell.clear_failure()
        return f"forgot the failure of {name}: its fit stays"
    cell.remove()
    for folder in cell.folder.parents[:2]:
        if not any(folder.iterdir()):
            folder.rmdir()
    return f"removed {name}"
