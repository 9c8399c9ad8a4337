"""What is given for queries and keys: one value for both sides, or one for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, UInt8

from attention_audit.report.heatmap.arrays import brief
from attention_audit.report.heatmap.attention import MASKED, OPEN, PADDING
from attention_audit.report.heatmap.pieces import MARKS, rule_of, words_by_mark
from attention_audit.report.heatmap.wording import visible
from attention_audit.spelling import unknown

Tokens = tuple[str, ...]
Flags = tuple[bool, ...]
Words = tuple[int, ...]


@dataclass(frozen=True)
class Sides:
    """The tokens of the queries and of the keys, to read what else belongs to them."""

    query: Tokens
    key: Tokens

    @property
    def shape(self) -> tuple[int, int]:
        """Queries and keys."""
        return len(self.query), len(self.key)

    def _given(self, name: str, value: Any) -> tuple[Any, Any]:
        """What is said of each side; None where nothing is."""
        value = _listed(value)
        if not isinstance(value, Mapping):
            return value, value
        for side in value:
            if side not in ("query", "key"):
                raise ValueError(unknown(f"{name}.{visible(side)}", side, ("query", "key")))
        return _listed(value.get("query")), _listed(value.get("key"))

    def padding(self, value: Any) -> tuple[Flags, Flags]:
        """Which tokens of each side are padding."""
        query, key = self._given("padding", value)
        return _flags(query, self.query), _flags(key, self.key)

    def texts(self, value: Any) -> dict[str, str]:
        """The text of each side that has one; of two unlike sides, one text is the keys'."""
        query, key = self._given("text", value)
        if not isinstance(value, Mapping):
            query = None
        found = {"query": query, "key": key}
        for text in found.values():
            if text is not None and not isinstance(text, str):
                raise ValueError(f"text: found {brief(text)}, expected a text")
        return {side: text for side, text in found.items() if text is not None}

    def words(
        self, value: Any, padding: tuple[Flags, Flags]
    ) -> tuple[tuple[Words, Words] | None, str]:
        """The word of each token of both sides, and the rule in words."""
        if value is None:
            return None, ""
        given = self._given("words", value)
        found = [
            _words(one, tokens, padded)
            for one, tokens, padded in zip(given, (self.query, self.key), padding, strict=True)
        ]
        rules = dict.fromkeys(rule for _, rule in found if rule)
        return (found[0][0], found[1][0]), "; ".join(rules)


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, (list, tuple)) and all(type(item) is kind for item in value)


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def read_tokens(given: Mapping[str, Any]) -> Sides:
    """The tokens: one list for both sides, or two."""
    names = ("query_tokens", "key_tokens")
    if "tokens" in given and any(name in given for name in names):
        raise ValueError("tokens: found beside query_tokens or key_tokens; expected one or the two")
    found = ("tokens", "tokens") if "tokens" in given else names
    for name in found:
        if name not in given:
            raise ValueError(f"{name}: missing; expected tokens, or query_tokens and key_tokens")
    query, key = (_tokens(name, given) for name in found)
    return Sides(query, key)


def _tokens(name: str, given: Mapping[str, Any]) -> Tokens:
    value = _listed(given[name])
    if not _is_list_of(value, str) or not value:
        raise ValueError(f"{name}: found {brief(value)}, expected a list of texts")
    return tuple(value)


def read_mask(
    value: Any, shape: tuple[int, int], transposed: bool
) -> Bool[np.ndarray, "query key"] | None:
    """Where attention may go, or None where the input has no mask.

    Args:
        value: `causal`, or true and false in the axes of the weights.
        shape: queries and keys.
        transposed: whether the input's axes are key x query.
    """
    if value is None:
        return None
    if isinstance(value, str) and value == "causal":
        if shape[0] != shape[1]:
            raise ValueError("mask: causal needs as many queries as keys; give true and false")
        return np.tril(np.ones(shape, dtype=bool))
    value = _listed(value)
    if not (isinstance(value, (list, tuple)) and all(_is_list_of(row, bool) for row in value)):
        raise ValueError(
            f"mask: found {brief(value)}, expected causal or query x key of true and false"
        )
    expected = shape[::-1] if transposed else shape
    lengths = {len(row) for row in value}
    if len(value) != expected[0] or lengths != {expected[1]}:
        found = f"{len(value)} x {' or '.join(map(str, sorted(lengths)))}"
        raise ValueError(f"mask: found {found}, expected {expected[0]} x {expected[1]} as weights")
    return np.array(value).T if transposed else np.array(value)


def states_of(
    mask: Bool[np.ndarray, "query key"] | None, padding: tuple[Flags, Flags]
) -> UInt8[np.ndarray, "query key"]:
    """OPEN, MASKED or PADDING of each cell; padding is padding, masked or not."""
    query, key = map(np.array, padding)
    states = np.full((len(query), len(key)), OPEN, dtype=np.uint8)
    if mask is not None:
        states[~mask] = MASKED
    states[query, :] = PADDING
    states[:, key] = PADDING
    return states


def _flags(value: Any, tokens: Tokens) -> Flags:
    if value is None:
        return (False,) * len(tokens)
    if isinstance(value, str):
        return tuple(token == value for token in tokens)
    if not _is_list_of(value, bool) or len(value) != len(tokens):
        raise ValueError(
            f"padding: found {brief(value)}, expected the padding token, or true or false for each "
            f"of {len(tokens)} tokens"
        )
    return tuple(value)


def _words(value: Any, tokens: Tokens, padding: Flags) -> tuple[Words, str]:
    if value is None:
        return tuple(range(len(tokens))), ""
    if isinstance(value, str):
        if value not in MARKS:
            marks = ", ".join(map(repr, MARKS))
            raise ValueError(f"words: found {brief(value)}, expected one of the marks {marks}")
        return words_by_mark(tokens, value, padding), rule_of(value)
    if not _is_list_of(value, int) or len(value) != len(tokens):
        raise ValueError(
            f"words: found {brief(value)}, expected a mark, or the word's number for each of "
            f"{len(tokens)} tokens"
        )
    if list(value) != sorted(value):
        raise ValueError("words: found numbers that fall, expected a word's pieces side by side")
    return tuple(value), "the input gives the word of each piece"
