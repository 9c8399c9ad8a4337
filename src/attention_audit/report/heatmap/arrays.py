"""Nested lists as arrays, and what each of their axes is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

STACKS = ("layer", "head")
AXES = (
    *("query_key", "key_query"),
    *(f"{stack}_{pair}" for stack in STACKS for pair in ("query_key", "key_query")),
    *("layer_head_query_key", "layer_head_key_query"),
    *("batch_head_query_key", "layer_batch_head_query_key"),
)
"""What `axes` may be: the axes of `weights`, outermost first; the first two for 4 axes as well.

A batch is of one text.
"""
MOST = 5
FOUR = (
    "expected at most layers x heads x query x key; of a batch, give one text's, and where the "
    "batch's own axis stays, say axes: layer_batch_head_query_key"
)


def unwrapped(value: Any) -> Any:
    """Tensors and arrays of any library as NumPy's, several of one shape as one; else as it is.

    So the attentions that a model returns, a tuple of its layers' tensors, are one array. What an
    array masks is missing; a single value is Python's.
    """
    if isinstance(value, Mapping):
        return {name: unwrapped(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [unwrapped(each) for each in value] if any(map(_is_array, value)) else []
        alike = {part.shape if _is_array(part) else None for part in parts}
        return np.stack(parts) if len(alike) == 1 and None not in alike else parts or value
    if not _is_array(value):
        return value
    if hasattr(value, "detach"):  # torch's: of a graph, on a device, in a precision of its own
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "fiu":
        value = np.ma.filled(value.astype(np.float64), np.nan)
    found = np.asarray(value)
    return found if found.ndim else found.item()


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and hasattr(value, "ndim")


def to_array(key: str, nested: Any) -> Float[np.ndarray, "*axes"]:
    """Numbers in lists of lists, or an array already, in float64; null is NaN.

    Raises:
        ValueError: names the place of what is no number, or of lists that differ in length.
    """
    if isinstance(nested, np.ndarray) and nested.dtype.kind in "fiu":
        if not nested.size:
            shape = " x ".join(map(str, nested.shape))
            raise ValueError(f"{key}: found {shape} values, expected at least one on each axis")
        return nested.astype(np.float64)
    _shape(key, nested)
    try:
        return np.array(nested, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{key}: found a whole number beyond the range of floats") from None


def _shape(key: str, nested: Any, depth: int = MOST) -> tuple[int, ...]:
    """The lengths of nested lists, which have to be alike."""
    if not isinstance(nested, (list, tuple)) or not nested:
        raise ValueError(f"{key}: found {brief(nested)}, expected a list of numbers or of lists")
    kinds = set(map(type, nested))
    if all(map(_is_number, kinds)):
        return (len(nested),)
    if not kinds <= {list, tuple}:
        other = next(item for item in nested if not _is_number(type(item)))
        raise ValueError(f"{key}: found {brief(other)}, expected numbers (null where one misses)")
    if depth == 1:
        raise ValueError(f"weights: found more than {MOST} axes, {FOUR}")
    shapes = [_shape(f"{key}[{n}]", inner, depth - 1) for n, inner in enumerate(nested)]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            first, other = (" x ".join(map(str, one)) for one in (shapes[0], shape))
            raise ValueError(
                f"{key}[{number}]: found {other} values, expected {first} as in the first"
            )
    return (len(nested), *shapes[0])


def _is_number(kind: type) -> bool:
    numbers = (int, float, np.integer, np.floating, type(None))
    return issubclass(kind, numbers) and kind is not bool


def brief(value: Any) -> str:
    """A value in a message: in one line, and cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def ordered(
    weights: Float[np.ndarray, "*axes"], axes: str | None
) -> tuple[Float[np.ndarray, "layers heads query key"], bool]:
    """The weights as layers x heads x query x key, and whether query and key changed places.

    Raises:
        ValueError: there is no number; `axes` does not exist or has another number of axes than
            the weights, or is not said where it has to be: three axes may be layers or heads; or a
            batch has more than one text.
    """
    if weights.ndim == 1 and np.isnan(weights).all():
        raise ValueError(
            "weights: found nothing but null, expected query x key numbers; a transformer of "
            "Hugging Face that returns no attention is to be loaded with "
            "attn_implementation='eager'"
        )
    names = _names(weights.ndim, axes)
    if "batch" in names:
        place = names.index("batch")
        if weights.shape[place] != 1:
            raise ValueError(
                f"weights: found a batch of {weights.shape[place]}, expected one text's"
            )
        weights, names = weights.squeeze(place), [*names[:place], *names[place + 1 :]]
    transposed = names[-2:] == ["key", "query"]
    weights = weights.swapaxes(-1, -2) if transposed else weights
    if "layer" not in names:
        weights = weights[None]
    if "head" not in names:
        weights = weights[:, None]
    return np.ascontiguousarray(weights), transposed


def _names(count: int, axes: str | None) -> list[str]:
    if axes is not None and axes not in AXES:
        raise ValueError(f"axes: found {brief(axes)}, expected one of {', '.join(AXES)}")
    if count > 4 and axes is None:
        raise ValueError(f"weights: found {count} axes, {FOUR}")
    if count == 1:
        raise ValueError(
            "weights: found 1 axis, expected query x key; attention of one query is one row: "
            "[[...]], with query_tokens of one name"
        )
    if count == 3 and (axes is None or axes.count("_") != 2):
        raise ValueError(
            "weights: found 3 axes, which may be layers or heads; say axes: head_query_key or "
            "layer_query_key, or give layers x heads x query x key"
        )
    names = (axes or "query_key").split("_")
    if count == 4 and len(names) == 2:
        names = ["layer", "head", *names]
    if len(names) != count:
        raise ValueError(f"axes: found {axes}, expected the names of {count} axes as in weights")
    return names
