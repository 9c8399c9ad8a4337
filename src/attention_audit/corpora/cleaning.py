"""Corpus-specific repairs of raw text that belong to reading, not to tokenising."""

from __future__ import annotations

import re
from typing import Literal

Cleaning = Literal["none", "treebank", "line_breaks", "words_only"]

_WORD = re.compile(r"[^\W_]+")
_SPLIT = {"gonna": "gon na", "gotta": "got ta"}
_THOUSANDS = re.compile(r"(\d+)k")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"\W+")


def clean(text: str, how: Cleaning) -> str:
    """`text` under one of the named repairs."""
    repairs = {"treebank": treebank, "line_breaks": line_breaks, "words_only": words_only}
    return repairs[how](text) if how != "none" else text


def treebank(text: str) -> str:
    """Lower-cased words of a treebank sentence, punctuation and bracket codes removed.

    The reference program passed the words through spaCy, which parts three of them ("gonna",
    "gotta", "28K"): they are parted here too, so that the texts equal its own, word for word.
    """
    plain = text.lower().replace("-lrb-", " ").replace("-rrb-", " ")
    return " ".join(_part(word) for word in _WORD.findall(plain))


def line_breaks(text: str) -> str:
    """`text` with its HTML line breaks as spaces."""
    return _BREAK.sub(" ", text)


def words_only(text: str) -> str:
    """`text` with each run of characters that are no letters, digits or underscores as one space.

    None is left at the ends.
    """
    return _BETWEEN_WORDS.sub(" ", text).strip()


def _part(word: str) -> str:
    return _SPLIT.get(word) or _THOUSANDS.sub(r"\1 k", word)
