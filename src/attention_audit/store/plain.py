"""Values in plain Python types, and the one text that stands for each of them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def exact(value: Any, key: str) -> Any:
    """`value` in plain Python types; NaN and infinities stay. TypeError as `plain`."""
    return plain(value, key, lambda number: number)


def plain(value: Any, key: str, nonfinite: Callable[[float], float | None]) -> Any:
    """`value` in plain Python types, NumPy included; `nonfinite` replaces NaN and infinities.

    Raises TypeError, naming the place below `key`, for anything else.
    """
    if value is None or isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy":
        return plain(value.tolist(), key, nonfinite)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else nonfinite(float(value))
    if isinstance(value, Mapping):
        return {_key(k, key): plain(v, f"{key}.{k}", nonfinite) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{key}[{i}]", nonfinite) for i, item in enumerate(value)]
    raise TypeError(
        f"{key} is a {type(value).__name__}: only null, booleans, numbers, text, lists and "
        "mappings can be stored, convert it first"
    )


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where} has the key {key!r}: keys must be text, convert it first")
    return str.__str__(key)


def canonical(value: Any, name: str) -> str:
    """One text for one meaning: sorted keys, tuples as lists, pure ASCII; NaN is refused."""
    kept = exact(value, name)
    try:
        return json.dumps(kept, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise ValueError(f"{name} holds NaN or an infinite number: use null instead") from error


def sha256(text: str) -> str:
    """The digest, in hex, of an ASCII text."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def differing_keys(left: Any, right: Any, key: str = "") -> Iterator[str]:
    """Dotted names of the leaves where two plain values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(left.keys() | right.keys()):
            inner = f"{key}.{name}".removeprefix(".")
            if name not in left or name not in right:
                yield inner
            else:
                yield from differing_keys(left[name], right[name], inner)
    elif left != right:
        yield key
