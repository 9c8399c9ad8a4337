"""What is true of each row of weights: its sum, its entropy, and what is wrong with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, UInt8

from attention_audit.report.heatmap.attention import MASKED, OPEN, PADDING

TOLERANCE = 1e-3
"""How far a row's sum may be from 1."""

LEAST = 1e-6
"""The size from which a weight where none should be is one, and no trace of rounding."""

FAULTS = (
    "does not sum to 1",
    "has a negative value",
    "has a value missing or infinite",
    "has weight on masked cells",
    "has weight on padding",
)
"""What can be wrong with a row; the position is its bit in `Rows.faults`."""
SUM, NEGATIVE, MISSING, ON_MASK, ON_PADDING = (1 << bit for bit in range(len(FAULTS)))


class Rows(NamedTuple):
    """Numbers of each row, over the cells where attention may go.

    `sums` are NaN where a value is missing or attention may go nowhere; `entropies`, in nats,
    where the row is no distribution.
    """

    sums: Float[np.ndarray, "... query"]
    entropies: Float[np.ndarray, "... query"]
    faults: UInt8[np.ndarray, "... query"]


def examine(
    weights: Float[np.ndarray, "... query key"],
    states: UInt8[np.ndarray, "query key"],
    normalised: bool = True,
) -> Rows:
    """Examine every row; negative values and sums are no faults where weights are not normalised.

    Values in masked cells are faults where they are weights, see `has_weight`; so are those on
    padding, but for a padded query's own row, which is of no text.
    """
    allowed = states == OPEN
    inside = np.where(allowed, weights, 0.0)
    finite = np.isfinite(inside)
    missing = ~finite.all(-1)
    unknown = missing | ~allowed.any(-1)
    sums = np.where(unknown, np.nan, np.where(finite, inside, 0.0).sum(-1))
    faults = MISSING * missing
    if normalised:
        faults |= SUM * (np.abs(sums - 1) > TOLERANCE) | NEGATIVE * (finite & (inside < 0)).any(-1)
    faults |= ON_MASK * (has_weight(weights) & (states == MASKED)).any(-1)
    padded = (states == PADDING) & ~(states == PADDING).all(-1, keepdims=True)
    faults |= ON_PADDING * (has_weight(weights) & padded).any(-1)
    is_distribution = (faults & (SUM | NEGATIVE) == 0) & ~unknown & normalised
    return Rows(sums, _entropies(inside, is_distribution), faults.astype(np.uint8))


def has_weight(weights: Float[np.ndarray, "... key"]) -> Bool[np.ndarray, "... key"]:
    """Whether each value is a weight: neither 0 nor missing nor infinite, as masks leave it."""
    return np.isfinite(weights) & (np.abs(weights) > LEAST)


def _entropies(
    weights: Float[np.ndarray, "... query key"], where: Bool[np.ndarray, "... query"]
) -> Float[np.ndarray, "... query"]:
    import torch

    from attention_audit.measures import entropy

    kept = torch.from_numpy(np.where(where[..., None], weights, 0.0))
    return np.where(where, entropy(kept).numpy() + 0.0, np.nan)  # -0.0 is 0


def uniform_entropies(allowed: Bool[np.ndarray, "query key"]) -> Float[np.ndarray, " query"]:
    """ln n of each row with n cells where attention may go, in nats; NaN where there is none."""
    counts = allowed.sum(-1).astype(float)
    return np.log(counts, where=counts > 0, out=np.full(len(counts), np.nan))
