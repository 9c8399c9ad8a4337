"""Files and folders that appear whole or not at all, and vanish alike."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from attention_audit.store.plain import plain

TEMPORARY = ".tmp-"


def write_whole(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Write a whole file or leave the old one: temporary sibling, fsync, rename."""
    temporary = path.parent / f"{TEMPORARY}{path.name}-{uuid.uuid4().hex}"
    try:
        with open(temporary, "xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make what was renamed in it survive a power cut."""
    if os.name == "nt":  # Windows cannot open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 as `write_whole` does."""
    # Lone surrogates (file names that are not UTF-8) become escapes, which JSON reads back.
    write_whole(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))


def write_json(path: Path, value: Any) -> None:
    """Write plain values, NaN and infinities as null. TypeError names the key of others."""
    kept = plain(value, path.name, lambda _: None)
    write_text(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a file back. Raises FileNotFoundError, ValueError for one that is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not valid JSON ({error}): run the cell with force=true"
        ) from error


def json_if_present(path: Path) -> Any:
    """`read_json`, or None without a file."""
    try:
        return read_json(path)
    except FileNotFoundError:
        return None


def remove_folder(folder: Path) -> None:
    """Remove a folder whose existence means "done": it vanishes at once, then its files go."""
    doomed = folder.parent / f"{TEMPORARY}{folder.name}-{uuid.uuid4().hex}"
    folder.rename(doomed)
    shutil.rmtree(doomed)


def remove_temporaries(folder: Path, name: str = "") -> None:
    """Remove what a killed process left half-written; call it under the folder's lock."""
    for left_over in folder.glob(f"{TEMPORARY}{name}*"):
        if left_over.is_dir():
            shutil.rmtree(left_over)
        else:
            left_over.unlink()
