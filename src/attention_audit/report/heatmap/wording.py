"""Tokens as a reader sees them, wherever they are named."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Zero-width joiners shape the letters of Persian, Hindi and many emoji; alone they show nothing.
_JOINERS = "\u200c\u200d"
# Keeps the order of a token's letters from running into the sentence around it.
_ISOLATE, _END = "\u2068", "\u2069"

LONG = 1e5
"""From here on a value is written with its power of ten."""


def visible(text: str) -> str:
    """The text with escapes for what cannot be seen or would reorder what stands beside it.

    Spaces at its ends become open boxes, as tokens often start with one.
    """
    if not text:
        return "(empty)"
    core = text.strip(" ")
    start = len(text) - len(text.lstrip(" "))
    kept = _JOINERS if core.strip(_JOINERS) else ""
    core = "".join(_escaped(char, kept) for char in core)
    return "\u2423" * start + core + "\u2423" * (len(text) - start - len(text.strip(" ")))


def _escaped(char: str, kept: str) -> str:
    if char.isprintable() or char in kept:
        return char
    return char.encode("unicode_escape").decode("ascii")


def quoted(token: str) -> str:
    """A token within a sentence: in quotes, and whatever its script in its place."""
    return f"{_ISOLATE}'{visible(token)}'{_END}"


def without_isolates(text: str) -> str:
    """A sentence for a terminal, which may show isolating characters as boxes."""
    return text.replace(_ISOLATE, "").replace(_END, "")


def place(position: int, token: str) -> str:
    """A token by its position, from 0: the same word may stand at several."""
    return f"position {position} {quoted(token)}"


def listed(items: Iterable[str], most: int = 10) -> str:
    """The first items and the number of the others."""
    items = [*items]
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def number(value: float, decimals: int) -> str:
    """A value to so many decimals, or to four digits where it is too long to be read so."""
    return f"{value:.3e}" if abs(value) >= LONG else f"{value:.{max(0, decimals)}f}"


def runs_leftwards(tokens: Iterable[str]) -> bool:
    """Whether a script among the tokens runs from right to left."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for token in tokens for char in token)
