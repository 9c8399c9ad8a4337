"""Corpus-specific repairs of raw text that belong to reading, not to tokenising."""

from __future__ import annotations

import re
from typing import Literal

Cleaning = Literal["none", "treebank", "line_breaks"]

_WORD = re.compile(r"[^\W_]+")
_SPLIT = {"gonna": "gon na", "gotta": "got ta"}
_THOUSANDS = re.compile(r"(\d+)k")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def clean(text: str, how: Cleaning) -> str:
    """`text` under one of the named repairs."""
    if how == "treebank":
        return treebank(text)
    return line_breaks(text) if how == "line_breaks" else text


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


def _part(word: str) -> str:
    return _SPLIT.get(word) or _THOUSANDS.sub(r"\1 k", word)
