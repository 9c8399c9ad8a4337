"""What work on a cell leaves in its folder beside results: its log, and how it failed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from attention_audit.privacy import without_secrets
from attention_audit.store import Cell


@contextmanager
def failure_kept(cell: Cell) -> Iterator[None]:
    """A failure is written into the cell's folder on its way up."""
    try:
        yield
    except BaseException as error:
        cell.set_failed(error, without_secrets)
        raise


@contextmanager
def logged(cell: Cell) -> Iterator[None]:
    """What is logged meanwhile also goes to the cell's log.txt."""
    handler = logging.FileHandler(cell.folder / "log.txt", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
