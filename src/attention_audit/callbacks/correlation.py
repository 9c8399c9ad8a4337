"""Correlation of attention with other importances (Jain & Wallace 2019, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from pydantic import NonNegativeInt, PositiveInt

from attention_audit.batch import Batch
from attention_audit.callbacks.analysis import AnalysisCallback, Part
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.importance import gradient, leave_one_out, random
from attention_audit.measures import interval, kendall_tau, level, sig_frac

PAIRS = {
    "tau_gradient": ("attention", "gradient"),
    "tau_loo": ("attention", "loo"),
    "tau_gradient_loo": ("gradient", "loo"),
    "tau_random": ("attention", "random"),
}
GAPS = {
    "gap_loo": ("tau_gradient_loo", "tau_loo"),
    "gap_gradient": ("tau_gradient_loo", "tau_gradient"),
}


class Correlation(AnalysisCallback):
    """Kendall's tau of attention with gradient, leave-one-out and random importance, and the gaps.

    `gap_loo` = tau(gradient, loo) - tau(attention, loo), `gap_gradient` = tau(gradient, loo) -
    tau(attention, gradient): how much better the two importances agree with each other than
    attention agrees with them. Random importance is the control: its tau is 0 on average.

    Args:
        resamples: of the bootstrap intervals.
        seed: of the random importance.
    """

    name = "correlation"
    # In float32 the noise of another batch is large enough to reorder equal words.
    dtype = torch.float64
    histograms = (*PAIRS, *GAPS)

    def __init__(self, resamples: PositiveInt = 2000, seed: NonNegativeInt = 0) -> None:
        self.resamples = resamples
        self.seed = seed

    def analyse(self, model: Any, batch: Batch) -> Part:
        importance = {
            "attention": model.attend(model.encode(batch)),
            "gradient": gradient(model, batch),
            "loo": leave_one_out(model, batch),
            "random": random(model, batch, seed=self.seed),
        }
        levelled = {name: level(values, batch.mask) for name, values in importance.items()}
        instances: dict[str, np.ndarray] = {}
        for quantity, (one, other) in PAIRS.items():
            tau = kendall_tau(levelled[one], levelled[other], batch.mask)
            instances |= {quantity: tau.tau, f"{quantity}_pvalue": tau.pvalue}
        for gap, (whole, part) in GAPS.items():
            instances[gap] = instances[whole] - instances[part]
        return Part(instances, {name: importance[name] for name in ("gradient", "loo")})

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        rows: list[Row] = []
        for quantity in self.histograms:
            rows += mean_rows(quantity, instances[quantity], self.resamples)
        for quantity in PAIRS:
            rows.append(self._significant(quantity, instances[f"{quantity}_pvalue"]))
        return rows

    def _significant(self, quantity: str, pvalue: np.ndarray) -> Row:
        defined = pvalue[~np.isnan(pvalue)]
        lo, hi = interval((defined <= 0.05).astype(float), seed=0, resamples=self.resamples)
        return {
            "quantity": quantity,
            "statistic": "sig_frac",
            "value": sig_frac(pvalue),
            "lo": lo,
            "hi": hi,
            "n": len(defined),
            "n_undefined": len(pvalue) - len(defined),
        }
