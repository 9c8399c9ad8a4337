"""What might have been measured of a small sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attention_audit.report.sentence import Measured, Output, Quantity, Word

HOSTILE = "</bdi></script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


@pytest.fixture
def measured() -> Callable[..., Measured]:
    """Three words, or with other values for some fields."""

    def make(**changes: Any) -> Measured:
        whole = {
            "cell": "sst, lstm + dot, seed 0-1a2b3c4d",
            "words": (Word("a", True), Word("floobydust", False), Word("film", True)),
            "query": (),
            "attention": np.array([0.1, 0.7, 0.2]),
            "gradient": np.array([2.0, 6.0, 0.0]),
            "leave_one_out": np.array([0.01, 0.03, 0.06]),
            "adversary": np.array([0.75, 0.0, 0.25]),
            "kind": "exact",
            "epsilon": 0.01,
            "outputs": (Output("negative", 0.25, 0.26), Output("positive", 0.75, 0.74)),
            "others": 0,
            "quantities": (
                Quantity("tau_gradient", 0.5, "Kendall's tau", 0.0004),
                Quantity("tau_loo", float("nan"), "another tau", float("nan")),
                Quantity("delta_y_med", 0.125, "median output change"),
            ),
            **changes,
        }
        return Measured(**whole)

    return make
