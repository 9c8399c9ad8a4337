"""Sub-word pieces: which belong to one word, and the weights of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, UInt8

from attention_audit.report.heatmap import bytelevel
from attention_audit.report.heatmap.attention import MASKED, OPEN, PADDING, Attention

BEGIN = ("\u2581", bytelevel.SPACE, " ")
"""Marks at the start of a piece that begins a word (SentencePiece, byte-level BPE, spaces)."""
CONTINUE = ("##",)
"""Marks at the start of a piece that continues a word (WordPiece)."""
UNFINISHED = ("@@",)
"""Marks at the end of a piece that the next one continues (BPE)."""
LAST = ("</w>",)
"""Marks at the end of a word's last piece."""
MARKS = (*CONTINUE, *BEGIN, *UNFINISHED, *LAST)

SUMMED = (
    "a word's columns are summed over its pieces, its rows are the mean of its pieces' rows, so "
    "that a row's sum stays"
)

_SPECIAL = re.compile(r"\[[^\]\s]+\]|<[^>\s]+>")


def is_special(token: str) -> bool:
    """Whether a token is a model's own, such as [CLS] or <s>, and no piece of a text."""
    return token not in LAST and _SPECIAL.fullmatch(token) is not None


def bare(token: str) -> str:
    """The token without the marks of its tokeniser."""
    for mark in (*BEGIN, *CONTINUE):
        if token.startswith(mark) and token != "##":
            token = token.removeprefix(mark)
    for mark in (*UNFINISHED, *LAST):
        token = token.removesuffix(mark) if token != mark else token
    return token


def words_by_mark(tokens: Sequence[str], mark: str, padding: Sequence[bool]) -> tuple[int, ...]:
    """The word of each token, by a tokeniser's mark; special tokens and padding stay alone."""
    words: list[int] = []
    for position, token in enumerate(tokens):
        alone = any(is_special(tokens[p]) or padding[p] for p in (position, position - 1) if p >= 0)
        begins = position == 0 or alone or _begins(tokens[position - 1], token, mark)
        words.append((words[-1] if words else -1) + begins)
    return tuple(words)


def _begins(before: str, token: str, mark: str) -> bool:
    if mark in BEGIN:
        return token.startswith(mark)
    if mark in CONTINUE:
        return not token.startswith(mark)
    return before.endswith(mark) == (mark in LAST)


def rule_of(mark: str) -> str:
    """How words are told apart by a mark, as the figure says it."""
    if mark in BEGIN:
        return f"a piece that starts with '{mark}' begins a word"
    if mark in CONTINUE:
        return f"a piece that starts with '{mark}' continues a word"
    if mark in UNFINISHED:
        return f"a piece that ends with '{mark}' is continued by the next"
    return f"a piece that ends with '{mark}' ends a word"


def by_word(attention: Attention) -> Attention:
    """The attention between words: the key's weights summed, the query's rows averaged.

    A word's cell is open where any of its pieces' cells is. Values in cells that are not open
    count as 0.

    Raises:
        ValueError: the attention does not say which pieces make a word.
    """
    if attention.words is None:
        raise ValueError(f"{attention.name}: words: missing; expected a mark or a list of words")
    query, key = attention.words
    return replace(
        attention,
        query=_joined(attention.query, query),
        key=_joined(attention.key, key),
        weights=_gathered(attention.open_weights, query, key),
        states=_states(attention.states, query, key),
        words=None,
        texts={},
    )


def _starts(words: Sequence[int]) -> list[int]:
    """The position of each word's first piece."""
    return [n for n in range(len(words)) if n == 0 or words[n] != words[n - 1]]


def _joined(tokens: Sequence[str], words: Sequence[int]) -> tuple[str, ...]:
    """The words; one of a single piece that is nothing but a mark stays as it is.

    Those of a byte-level vocabulary, which writes a space as \u0120, are read as the text they are.
    """
    ends = [*_starts(words)[1:], len(tokens)]
    groups = [tokens[a:b] for a, b in zip(_starts(words), ends, strict=True)]
    joined = ["".join(map(bare, group)) or "".join(group) for group in groups]
    if any(token.startswith(bytelevel.SPACE) for token in tokens):
        joined = [word if is_special(word) else bytelevel.decoded(word) or word for word in joined]
    return tuple(joined)


def _gathered(
    weights: Float[np.ndarray, "layers heads query key"], query: Sequence[int], key: Sequence[int]
) -> Float[np.ndarray, "layers heads words_query words_key"]:
    starts = _starts(query)
    sums = np.add.reduceat(np.add.reduceat(weights, _starts(key), axis=-1), starts, axis=-2)
    sizes = np.diff([*starts, len(query)])
    return sums / sizes[:, None]


def _states(
    states: UInt8[np.ndarray, "query key"], query: Sequence[int], key: Sequence[int]
) -> UInt8[np.ndarray, "words_query words_key"]:
    def anywhere(state: int) -> np.ndarray:
        columns = np.logical_or.reduceat(states == state, _starts(key), axis=-1)
        return np.logical_or.reduceat(columns, _starts(query), axis=-2)

    kinds = [anywhere(OPEN), anywhere(MASKED)]
    return np.select(kinds, [OPEN, MASKED], PADDING).astype(np.uint8)
