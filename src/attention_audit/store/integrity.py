"""Checksums of finished files, so that one that is not what it was is made again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attention_audit.store.atomic import json_if_present, write_json
from attention_audit.store.fingerprints import hash_file

CHECKSUMS = "checksums.json"


def seal(folder: Path, names: Iterable[str]) -> None:
    """Note in `checksums.json` what the files hold, in the place of what it said before."""
    write_json(folder / CHECKSUMS, {name: _entry(folder / name) for name in sorted(names)})


def damaged(folder: Path) -> list[str]:
    """Names of the sealed files that are gone, or hold other bytes than when they were sealed.

    A file whose size and time are unchanged is not read. Nothing is known of a folder without
    `checksums.json`; one that cannot be read is named itself.
    """
    try:
        sealed = json_if_present(folder / CHECKSUMS) or {}
        return [name for name, entry in sealed.items() if not _is_whole(folder / name, entry)]
    except (ValueError, TypeError, KeyError, AttributeError):
        return [CHECKSUMS]


def _is_whole(path: Path, entry: dict[str, Any]) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    if found.st_size != entry["size"]:
        return False
    return found.st_mtime_ns == entry["mtime_ns"] or hash_file(path) == entry["sha256"]


def _entry(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {
        "size": found.st_size,
        "mtime_ns": found.st_mtime_ns,
        "sha256": hash_file(path),
    }
