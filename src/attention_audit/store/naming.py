"""Names that may become a folder's or a file's."""

from __future__ import annotations

import re
from pathlib import Path

NAME = re.compile(r"\w[\w.\-]*")
_LONGEST_NAME = 64


def checked_name(key: str, name: str) -> str:
    """`name` itself. Raises ValueError, naming `key`, if it could leave its folder."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(
            f"{key}={name!r} cannot name a folder: use letters, digits, '_', '-' and '.', "
            "with a letter, digit or '_' first"
        )
    if len(name.encode()) > _LONGEST_NAME:
        raise ValueError(f"{key}={name!r} is too long: at most {_LONGEST_NAME} bytes")
    return name


def with_suffix(name: str, suffix: str) -> str:
    """`name`, checked, with its suffix, which may be left out. Raises as `checked_name`."""
    return checked_name("file", name if name.endswith(suffix) else f"{name}{suffix}")


def check_inside(root: Path, folder: Path) -> None:
    """Refuse a folder, or one that holds something, that a link leads out of `root`.

    What is written there would land elsewhere. Raises ValueError, naming the link.
    """
    whole = root.resolve()
    held = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in (folder, *held):
        if not (target := path.resolve()).is_relative_to(whole):
            raise ValueError(
                f"{path}: leads out of the store, by a link to {target}; remove the link, or name "
                "that place with store=..."
            )
