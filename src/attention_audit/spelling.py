"""What is said of a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def unknown(key: str, found: str, choices: Iterable[str]) -> str:
    """One line for a name that does not exist: the nearest, then all choices."""
    choices = sorted(choices)
    near = get_close_matches(found, choices, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{key}: unknown{hint}; expected one of {', '.join(choices)}"
