"""How much does attention vary from seed to seed? (Wiegreffe & Pinter 2019, section 3.3)"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from pydantic import PositiveInt

from attention_audit.callbacks.analysis import analysed
from attention_audit.callbacks.diagnostic import Diagnosis, Diagnostic, Scoring, aligned
from attention_audit.callbacks.elsewhere import Adversary, Budget, Elsewhere
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.diagnostics import Finding, Fit, Subject, differences, fit_seeds
from attention_audit.measures import summarise
from attention_audit.predictions import Predictions

CONDITION = "attention is the same whatever the seed"
SURPRISE = "attention that is changed lies beyond what seeds do"
# Of the largest attention, as the papers draw it.
BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
SPELT = {
    "permutation": "Permuted attention (each instance's median permutation)",
    "search": "The attention that the adversarial search found",
    "exact": "The most different attention that keeps the output within epsilon",
    "found": "The most different attention found to keep the output within epsilon",
}


class Seeds(Diagnostic):
    """Attention of further seeds against the base's, and what is surprising beside it.

    For each instance the median over seeds of the JSD to the base's attention (`seed_jsd`, nats)
    and the mean TVD to its output (`seed_tvd`). `permutation_jsd`, `search_jsd`, `exact_jsd` or
    `found_jsd` are the first paper's, of the base model; `surprising_<...>` says of how many
    instances they are larger than every seed's.

    Args:
        adversary: what adversarial attention is looked for, and how.
        budget: permutations, candidates and steps, and resamples of the bootstrap intervals.
        seeds: further seeds.
    """

    name = "seeds"
    histograms = ("seed_jsd", "seed_tvd")

    def __init__(self, adversary: Adversary, budget: Budget, seeds: PositiveInt = 8) -> None:
        self.elsewhere = Elsewhere(adversary, budget)
        self.resamples = budget["resamples"]
        self.seeds = seeds
        self.others: dict[int, Subject] = {}

    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        self.others = fit_seeds(base, fit, config["seed"], self.seeds)

    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        scoring = Scoring(task.task, task.classes, self.resamples)
        read = {seed: subject.read("test").of(base.ids) for seed, subject in self.others.items()}
        each = [differences(base, other) for other in read.values()]
        jsd = np.stack([one.jsd for one in each])
        instances = {
            "seed_jsd": np.median(jsd, axis=0),
            "seed_jsd_largest": jsd.max(axis=0),
            "seed_tvd": np.stack([one.tvd for one in each]).mean(axis=0),
        }
        found, _ = analysed(task, batches, self.elsewhere, self.name, torch.float64)
        instances |= aligned(found, base)
        for kind in [kind for kind in SPELT if f"{kind}_jsd" in instances]:
            surprising = instances[f"{kind}_jsd"] > instances["seed_jsd_largest"]
            empty = np.isnan(instances["seed_jsd"])
            instances[f"surprising_{kind}"] = np.where(empty, np.nan, surprising)
        rows = [scoring.row(f"seed_{seed}", scoring.of(other)) for seed, other in read.items()]
        more = {"by_max_attention": self._by_max_attention(instances)}
        return Diagnosis(instances, rows, self._findings(instances), more)

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        shown = [name for name in instances if name.startswith(("seed_jsd", "seed_tvd"))]
        shown += [name for name in instances if name.startswith("surprising_")]
        shown += [f"{kind}_jsd" for kind in SPELT if f"{kind}_jsd" in instances]
        return [row for name in shown for row in mean_rows(name, instances[name], self.resamples)]

    def _by_max_attention(self, instances: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
        """Quartiles of `seed_jsd` in bins of the base's largest attention."""
        place = np.digitize(instances["max_attention"], BINS[1:-1], right=False)
        defined = ~np.isnan(instances["seed_jsd"])
        table = []
        for number, (low, high) in enumerate(itertools.pairwise(BINS)):
            values = instances["seed_jsd"][(place == number) & defined]
            quartiles = np.quantile(values, [0.25, 0.5, 0.75]) if len(values) else [np.nan] * 3
            names = ("lower_quartile", "median", "upper_quartile")
            table.append(
                {"from": low, "to": high, "n": len(values)}
                | dict(zip(names, map(float, quartiles), strict=True))
            )
        return table

    def _findings(self, instances: Mapping[str, np.ndarray]) -> list[Finding]:
        def summary(name: str) -> Any:
            return summarise(instances[name], seed=0, resamples=self.resamples)

        seeds, moved = f"{len(self.others)} further seeds", summary("seed_tvd")
        apart = summary("seed_jsd")
        sentence = (
            f"Over {seeds} of the same model an instance's attention lies {apart.mean:.3f} nats "
            f"(JSD; median over seeds, mean over instances; [{apart.lo:.3f}, {apart.hi:.3f}]) from "
            f"the base model's, its output {moved.mean:.3f} (TVD) away."
        )
        found = [Finding(CONDITION, "seed_jsd", apart.mean, apart.lo, apart.hi, sentence)]
        for kind, subject in SPELT.items():
            if f"surprising_{kind}" not in instances:
                continue
            share = summary(f"surprising_{kind}")
            sentence = (
                f"{subject} lies farther from the base model's than that of every one of the "
                f"{seeds} in {100 * share.mean:.1f} % of the instances."
            )
            found.append(
                Finding(SURPRISE, f"surprising_{kind}", share.mean, share.lo, share.hi, sentence)
            )
        return found
