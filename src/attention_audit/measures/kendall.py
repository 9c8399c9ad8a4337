"""Kendall's tau-b between two importances of the same tokens, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from scipy.stats import kendalltau
from torch import Tensor


class Tau(NamedTuple):
    """Kendall tau-b in [-1, 1] and its two-sided p-value in [0, 1], float64; NaN = undefined."""

    tau: Float[np.ndarray, " rows"]
    pvalue: Float[np.ndarray, " rows"]


def kendall_tau(a: Tensor | ArrayLike, b: Tensor | ArrayLike, mask: Tensor | ArrayLike) -> Tau:
    """Tau-b and p of each row of `a` and `b` [N, T] over the positions where `mask` is True.

    Exactly `scipy.stats.kendalltau`. A row is undefined (NaN in both fields) when either side is
    constant or holds a NaN under the mask, or when fewer than two positions remain.

    Raises ValueError if the three shapes differ.

    >>> kendall_tau([[1, 2, 3, 9], [5, 5, 5, 9]], [[2, 4, 6, 9], [1, 2, 3, 9]], [[1, 1, 1, 0]] * 2)
    Tau(tau=array([ 1., nan]), pvalue=array([0.33333333,        nan]))
    """
    rows_a, rows_b, keep = _array(a), _array(b), _array(mask).astype(bool)
    if not rows_a.shape == rows_b.shape == keep.shape:
        raise ValueError(
            f"kendall_tau: found shapes {rows_a.shape}, {rows_b.shape} and mask {keep.shape}; "
            "expected three equal ones [rows, tokens]"
        )
    pairs = np.full((len(rows_a), 2), np.nan)
    for row, (x, y, kept) in enumerate(zip(rows_a, rows_b, keep, strict=True)):
        pairs[row] = _tau(x[kept], y[kept])
    return Tau(pairs[:, 0], pairs[:, 1])


def level(
    values: Float[Tensor, "rows tokens"], mask: Bool[Tensor, "rows tokens"], digits: int = 9
) -> Float[Tensor, "rows tokens"]:
    """Float64 `values` rounded to so many digits of each row's largest under the mask.

    Equal words have equal importance, but arithmetic leaves a difference in the last bits, which
    another batch would leave otherwise; a rank correlation must see the tie.

    >>> level(torch.tensor([[0.3, 0.1 + 0.2, 9.0]]).double(), torch.tensor([[1, 1, 0]]).bool())
    tensor([[0.3000, 0.3000, 9.0000]], dtype=torch.float64)
    """
    values = values.double()
    largest = values.masked_fill(~mask, 0).nan_to_num().abs().amax(-1, keepdim=True)
    unit = largest.where(largest > 0, 1.0) * 10.0**-digits
    return (values / unit).round() * unit


def sig_frac(pvalue: Float[np.ndarray, " rows"], level: float = 0.05) -> float:
    """Share in [0, 1] of the DEFINED p-values that are <= `level`; NaN when none is defined.

    >>> sig_frac(np.array([0.01, 0.5, np.nan]))
    0.5
    """
    defined = pvalue[~np.isnan(pvalue)]
    return float((defined <= level).mean()) if defined.size else float("nan")


def _array(values: Tensor | ArrayLike) -> np.ndarray:
    return torch.as_tensor(values, dtype=torch.float64).detach().cpu().numpy()


def _tau(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    if x.size < 2 or np.isnan(x).any() or np.isnan(y).any() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    result = kendalltau(x, y)
    return float(result.statistic), float(result.pvalue)
