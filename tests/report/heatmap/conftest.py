"""Small attentions, as they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attention_audit.report.heatmap import Attention, parse

TOKENS = ["the", "student", "laughed", "."]
WEIGHTS = [
    [0.7, 0.1, 0.1, 0.1],
    [0.2, 0.5, 0.2, 0.1],
    [0.05, 0.61, 0.3, 0.04],
    [0.25, 0.25, 0.25, 0.25],
]


@pytest.fixture
def given() -> Callable[..., dict[str, Any]]:
    """A sound 4 x 4 input, with other values for some keys; None leaves a key out."""

    def make(**changes: Any) -> dict[str, Any]:
        whole = {"tokens": TOKENS, "weights": WEIGHTS, **changes}
        return {key: value for key, value in whole.items() if value is not None}

    return make


@pytest.fixture
def attention(given: Callable[..., dict[str, Any]]) -> Callable[..., Attention]:
    """The attention of `given`."""
    return lambda **changes: parse(given(**changes))


@pytest.fixture
def softmax() -> Callable[..., np.ndarray]:
    """Random rows that sum to 1, of any shape; 0 where a mask is false."""

    def make(*shape: int, mask: Any = True, seed: int = 0) -> np.ndarray:
        scores = np.random.default_rng(seed).normal(scale=2, size=shape)
        powers = np.where(mask, np.exp(scores), 0.0)
        return powers / powers.sum(-1, keepdims=True)

    return make
