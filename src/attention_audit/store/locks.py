"""Locks between processes that die with their owner."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_log = logging.getLogger(__name__)


@contextmanager
def locked(path: Path, purpose: str) -> Iterator[None]:
    """Hold an operating system's lock; the system frees it when its owner dies."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    # A singleton, so that a thread that holds the lock may take it again.
    lock = FileLock(path.resolve(), is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.info("waiting for %s: another process is at work on it", purpose)
        lock.acquire(poll_interval=0.2)
    try:
        yield
    finally:
        lock.release()


def is_free(path: Path) -> bool:
    """True if nobody, this process included, holds the lock."""
    from filelock import FileLock, Timeout

    if not path.exists():
        return True
    probe = FileLock(path.resolve(), is_singleton=False)
    try:
        probe.acquire(timeout=0)
    except Timeout:
        return False
    probe.release()
    return True
