"""The numbers of a page, rounded and packed small: a page may carry millions."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_audit.report.heatmap.attention import Attention
from attention_audit.report.heatmap.rows import uniform_entropies
from attention_audit.report.heatmap.views import View, views
from attention_audit.report.heatmap.wording import visible

DECIMALS = 4
"""Decimals of a page's numbers, where its values fit."""
MOST_DECIMALS = 100
LARGEST = 32_000
MISSING = -32_768
"""The packed number of a value that is missing or infinite."""


def decimals_of(attention: Attention) -> int:
    """Decimals of the page's numbers: 4, or what keeps four digits of the largest value.

    At most as many as a browser writes.
    """
    finite = attention.weights[np.isfinite(attention.weights)]
    largest = float(np.abs(finite).max(initial=0.0))
    if largest == 0 or (attention.about.normalised and largest <= LARGEST / 10**DECIMALS):
        return DECIMALS
    return min(MOST_DECIMALS, math.floor(math.log10(LARGEST) - math.log10(largest)))


def pack_level(attention: Attention, label: str, note: str) -> dict[str, Any]:
    """One way to divide the text (pieces or words), for the page's script.

    Numbers are deflated and in base64; `_pack_view` says what a view has.
    """
    decimals = decimals_of(attention)
    stack = list(views(attention))
    return {
        "label": label,
        "note": note,
        "query": [visible(token) for token in attention.query],
        "key": [visible(token) for token in attention.key],
        "states": _packed(attention.states),
        "uniform": _packed(uniform_entropies(attention.open).astype("<f4")),
        "decimals": decimals,
        "layers": [visible(name) for name in attention.layers],
        "shown": [_label(view) for view in stack[0]],
        "views": [[_pack_view(view, decimals) for view in layer] for layer in stack],
    }


def _label(view: View) -> str:
    heads = view.attention.heads
    if view.head is None:
        return f"mean of {len(heads)} heads"
    return f"head {visible(heads[view.head])}"


def _pack_view(view: View, decimals: int) -> dict[str, str]:
    """Title, caption and numbers: sums, entropies (float32), values (int16), faults (uint8)."""
    parts = (
        view.rows.sums.astype("<f4"),
        view.rows.entropies.astype("<f4"),
        _rounded(view.weights, decimals).astype("<i2"),
        view.rows.faults,
    )
    numbers = base64.b64encode(zlib.compress(b"".join(part.tobytes() for part in parts)))
    return {
        "title": view.title,
        "caption": view.caption(decimals),
        "numbers": numbers.decode("ascii"),
    }


def _rounded(
    weights: Float[np.ndarray, "query key"], decimals: int
) -> Float[np.ndarray, "query key"]:
    finite = np.isfinite(weights)
    return np.where(finite, np.round(np.where(finite, weights, 0.0) * 10.0**decimals), MISSING)


def _packed(values: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(values.tobytes())).decode("ascii")
