"""Attention from a file or a mapping, refused where it cannot be drawn without guessing.

The keys of the JSON object; only `weights` and tokens are needed:

    tokens            the tokens of both sides; or query_tokens (rows) and key_tokens (columns)
    weights           query x key, or layers x heads x query x key; null where a value is missing
    axes              what the axes are, where they are others: key_query, head_query_key, ...;
                      layer_batch_head_query_key for all that a model returns of one text
    mask              "causal", or true where attention may go, in the axes of the weights
    padding           the padding token, or true for each token that is padding;
                      {"query": ..., "key": ...} where the two sides have different tokens
    model, version    whose weights these are
    layer, head       the name of the one given, or a list of names for a stack
    aggregation       what the weights were made by before they were given, such as "mean of heads"
    kind              "raw", or "with residual"
    excluded_tokens   the tokens that were left out before, and
    excluded_rule     what became of their weights, such as "rows renormalised"
    normalised        false for weights whose rows need not sum to 1
    text              the text, to check the tokens' order; {"query": ..., "key": ...} for two
    words             the mark that tells words apart: "##", "\u2581", "\u0120", " ", "@@" or
                      "</w>", or the word's number for each token; {"query": ..., "key": ...}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from pydantic import ValidationError

from attention_audit.report.heatmap.arrays import brief, ordered, to_array, unwrapped
from attention_audit.report.heatmap.attention import NOT_STATED, About, Attention
from attention_audit.report.heatmap.sides import Sides, read_mask, read_tokens, states_of
from attention_audit.report.heatmap.wording import visible
from attention_audit.spelling import unknown

SHAPED = (
    *("tokens", "query_tokens", "key_tokens", "weights", "axes", "mask", "padding"),
    *("layer", "head", "text", "words"),
)
KEYS = (*SHAPED, *About.model_fields)
EXPECTED = "expected a JSON object with tokens and weights"


STREAM = Path("-")
"""Instead of a file: standard input."""


def is_stream(path: Path) -> bool:
    """Whether it is standard input or a pipe, after which no page can be named."""
    return path == STREAM or path.is_fifo() or path.is_char_device()


def read(path: Path) -> Attention:
    """Read a JSON file, a pipe or standard input.

    Raises:
        FileNotFoundError, ValueError: one line that names the file and the key.
    """
    if path != STREAM and not path.exists():
        raise FileNotFoundError(f"{path}: no such file; {EXPECTED}")
    if path.is_dir():
        raise ValueError(f"{path}: found a folder, {EXPECTED}")
    try:
        text = sys.stdin.buffer.read() if path == STREAM else path.read_bytes()
        given = json.loads(text, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        arrays = "arrays in files of NumPy or PyTorch are drawn from Python"
        raise ValueError(
            f"{path}: found no text in UTF-8 ({error}), {EXPECTED}; {arrays}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: cannot be read as JSON ({error}); {EXPECTED}") from error
    try:
        return parse(given, "standard input" if path == STREAM else path.name)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once: of two weights, JSON would silently take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n]))
        raise ValueError(f"the key '{visible(twice)}' occurs twice")
    return found


def parse(given: Any, name: str = "attention") -> Attention:
    """The attention of a mapping with the keys above.

    Args:
        given: the mapping; its numbers may be arrays or tensors, such as the attentions that a
            model returns, a tuple with a tensor for each layer.
        name: whose it is, for a page with several.

    Raises:
        ValueError: one line that names the key, what was found and what was expected.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"found {brief(given)}, {EXPECTED}")
    for key in given:
        if key not in KEYS:
            raise ValueError(unknown(visible(str(key)), str(key), KEYS))
    given = {key: unwrapped(value) for key, value in given.items()}
    if "weights" not in given:
        raise ValueError("weights: missing; expected query x key numbers")
    sides = read_tokens(given)
    weights, transposed = ordered(to_array("weights", given["weights"]), given.get("axes"))
    _check_shape(weights, sides)
    padding = sides.padding(named := given.get("padding"))
    mask = read_mask(given.get("mask"), sides.shape, transposed)
    words, rule = sides.words(given.get("words"), padding)
    return Attention(
        name=name,
        query=sides.query,
        key=sides.key,
        weights=weights,
        states=states_of(mask, padding),
        layers=_names("layer", given.get("layer"), weights.shape[0]),
        heads=_names("head", given.get("head"), weights.shape[1]),
        about=_about({key: given[key] for key in About.model_fields if key in given}),
        masked=mask is not None,
        padding=named if isinstance(named, str) else "",
        transposed=transposed,
        texts=sides.texts(given.get("text")),
        words=words,
        rule=rule,
    )


def _about(given: dict[str, Any]) -> About:
    try:
        return About(**given)
    except ValidationError as error:
        fault = error.errors()[0]
        key = str(fault["loc"][0])
        raise ValueError(f"{key}: found {brief(given[key])}: {fault['msg']}") from None


def _check_shape(weights: Float[np.ndarray, "layers heads query key"], sides: Sides) -> None:
    queries, keys = weights.shape[-2:]
    if (queries, keys) == sides.shape:
        return
    turned = (keys, queries) == sides.shape
    hint = "; if it is key x query, say axes: key_query" if turned else ""
    expected = f"{sides.shape[0]} x {sides.shape[1]} as there are tokens"
    raise ValueError(f"weights: found {queries} x {keys} (query x key), expected {expected}{hint}")


def _names(key: str, value: Any, count: int) -> tuple[str, ...]:
    """The names of a stack's layers or heads; numbers from 0 where it has none."""
    if value is None:
        return (NOT_STATED,) if count == 1 else tuple(map(str, range(count)))
    value = value.tolist() if isinstance(value, np.ndarray) else value
    names = list(value) if isinstance(value, (list, tuple, range)) else [value]
    if not all(type(name) in (str, int) for name in names):
        raise ValueError(f"{key}: found {brief(value)}, expected names or numbers")
    if len(names) != count or len(set(map(str, names))) != count:
        expected = "one name" if count == 1 else f"a list of {count} different names"
        raise ValueError(f"{key}: found {brief(value)}, expected {expected}, as in weights")
    return tuple(map(str, names))
