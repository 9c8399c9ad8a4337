"""Locks between processes that die with their owner."""

from __future__ import annotations

import errno
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
    lock = FileLock(_whole(path), is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.info("waiting for %s: another process is at work on it", purpose)
        lock.acquire(poll_interval=0.2)
    try:
        yield
    finally:
        lock.release()


def _whole(path: Path) -> Path:
    """The lock's whole path. Taking a lock empties its file: it must not be a link to another."""
    if path.is_symlink() or path.parent.is_symlink():
        raise OSError(errno.ELOOP, "a lock cannot be a link: remove it", str(path))
    return path.parent.resolve() / path.name


def is_free(path: Path) -> bool:
    """True if nobody, this process included, holds the lock."""
    if not path.exists():
        return True
    with locked_if_free(path) as free:
        return free


@contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock unless somebody, this process included, holds it: says which, never waits."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(_whole(path), is_singleton=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
