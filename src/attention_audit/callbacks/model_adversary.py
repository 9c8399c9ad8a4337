"""Can a whole model attend elsewhere and predict alike? (Wiegreffe & Pinter 2019, section 4)"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from pydantic import NonNegativeInt, PositiveInt

from attention_audit.callbacks.analysis import analysed
from attention_audit.callbacks.diagnostic import (
    Diagnosis,
    Diagnostic,
    Scoring,
    Strengths,
    aligned,
    check_uniform,
)
from attention_audit.callbacks.elsewhere import Adversary, Budget, Elsewhere
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.diagnostics import (
    Finding,
    Fit,
    ModelConsistency,
    Subject,
    differences,
    fit_adversary,
    fit_seeds,
    fit_uniform,
)
from attention_audit.measures import summarise
from attention_audit.predictions import Predictions

CONDITION = "no model attends elsewhere and predicts alike"
# Of the points in the plane, those that are of the base model's own hidden states.
OWN = ("permutation", "search")
CAPTION = (
    "Mean TVD of the output to the base model's, against mean JSD of the attention (nats, at most "
    "0.693). Permutations and search hold the base model's hidden states fixed{bound}. Seeds, the "
    "uniform model and the adversaries are other models with other hidden states, drawn beside "
    "it{beyond}."
)
# By the column that says whether there is a frontier, and whether it is a maximum.
BOUNDS = {
    "exact_jsd": (
        ": for each instance none of them lies above its own frontier, the largest JSD within a TVD"
    ),
    "found_jsd": (
        "; the frontier is the largest JSD that was found within a TVD: there may be larger, and "
        "a permutation may lie above it"
    ),
}


class ModelAdversary(Diagnostic):
    """Second models that are trained to predict as the base does and to attend elsewhere.

    For each lambda the test score, `adversary_<lambda>_tvd` and `adversary_<lambda>_jsd` (nats) to
    the base; in the same plane the seeds, the uniform model, the base's permutations, the search,
    and the frontier of its own hidden states.

    Args:
        attention: the uniform attention's configuration.
        adversary: what adversarial attention is looked for in the base, and how.
        budget: permutations, candidates and steps, and resamples of the bootstrap intervals.
        lambdas: the strengths of the divergence.
        epochs: of an adversary's fit, at most.
        patience: epochs without a better dev loss that end an adversary's fit.
        weighted: multiply an instance's loss with its class's weight, as the program does.
        seeds: further seeds.
    """

    name = "model_adversary"

    def __init__(
        self,
        attention: Mapping[str, Any],
        adversary: Adversary,
        budget: Budget,
        lambdas: Strengths,
        epochs: PositiveInt = 30,
        patience: PositiveInt = 5,
        weighted: bool = False,
        seeds: NonNegativeInt = 8,
    ) -> None:
        self.attention = attention
        self.elsewhere = Elsewhere(adversary, budget)
        self.resamples = budget["resamples"]
        self.lambdas = sorted(set(lambdas))
        self.how = ModelConsistency(epochs, patience, weighted)
        self.seeds = seeds
        self.others: dict[str, Subject] = {}

    def accept(self, config: Mapping[str, Any]) -> None:
        check_uniform(self.attention)

    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        seeds = fit_seeds(base, fit, config["seed"], self.seeds)
        adversaries = {
            f"adversary_{strength:g}": fit_adversary(base, fit, strength, self.how)
            for strength in self.lambdas
        }
        self.others = {
            **adversaries,
            "uniform": fit_uniform(fit, self.attention),
            **{f"seed_{seed}": subject for seed, subject in seeds.items()},
        }

    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        scoring = Scoring(task.task, task.classes, self.resamples)
        found, _ = analysed(task, batches, self.elsewhere, self.name, torch.float64)
        instances = aligned(found, base)
        rows: list[Row] = []
        for name, subject in self.others.items():
            other = subject.read("test").of(base.ids)
            apart = differences(base, other)
            instances |= {f"{name}_tvd": apart.tvd, f"{name}_jsd": apart.jsd}
            rows.append(scoring.row(name, scoring.of(other)))
        if "excess" in instances:
            rows.append(_largest("excess", instances["excess"]))
        more: dict[str, Any] = {
            "points": self._points(instances, rows),
            "frontier": self._frontier(instances),
        }
        more["caption"] = _caption(instances)
        return Diagnosis(instances, rows, self._findings(instances), more)

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        shown = [name for name in instances if name.endswith(("_tvd", "_jsd"))]
        return [row for name in shown for row in mean_rows(name, instances[name], self.resamples)]

    def _mean(self, values: np.ndarray) -> Any:
        return summarise(values, seed=0, resamples=self.resamples)

    def _points(
        self, instances: Mapping[str, np.ndarray], rows: Sequence[Row]
    ) -> list[dict[str, Any]]:
        """Of each setting the mean TVD and JSD with intervals; a model's test score too."""
        points = []
        for name in [*self.others, *(one for one in OWN if f"{one}_tvd" in instances)]:
            kind, _, which = name.partition("_")
            moved, apart = (self._mean(instances[f"{name}_{axis}"]) for axis in ("tvd", "jsd"))
            scores = [row["value"] for row in rows if row["quantity"].startswith(f"{name}_")]
            points.append(
                {"kind": kind, "which": which, "own": name in OWN}
                | {"tvd": moved.mean, "tvd_lo": moved.lo, "tvd_hi": moved.hi}
                | {"jsd": apart.mean, "jsd_lo": apart.lo, "jsd_hi": apart.hi}
                | {"score": scores[0] if scores else None}
            )
        return points

    def _frontier(self, instances: Mapping[str, np.ndarray]) -> list[dict[str, float]]:
        """The mean over instances of the largest JSD within each epsilon."""
        names = [f"frontier_{epsilon:g}" for epsilon in self.elsewhere.epsilons]
        return [
            {"epsilon": epsilon, "jsd": self._mean(instances[name]).mean}
            for epsilon, name in zip(self.elsewhere.epsilons, names, strict=True)
            if name in instances
        ]

    def _findings(self, instances: Mapping[str, np.ndarray]) -> list[Finding]:
        found = []
        for strength in self.lambdas:
            name = f"adversary_{strength:g}"
            moved, apart = (self._mean(instances[f"{name}_{axis}"]) for axis in ("tvd", "jsd"))
            sentence = (
                f"Trained with lambda = {strength:g}, a second model's attention lies "
                f"{apart.mean:.3f} nats (JSD, at most 0.693; [{apart.lo:.3f}, {apart.hi:.3f}]) "
                f"from the base model's, and its output {moved.mean:.3f} (TVD; [{moved.lo:.3f}, "
                f"{moved.hi:.3f}])."
            )
            found.append(
                Finding(CONDITION, f"{name}_jsd", apart.mean, apart.lo, apart.hi, sentence)
            )
        return found


def _caption(columns: Iterable[str]) -> str:
    bound = next((BOUNDS[name] for name in columns if name in BOUNDS), "")
    return CAPTION.format(bound=bound, beyond=": the frontier does not bound them" if bound else "")


def _largest(quantity: str, values: np.ndarray) -> Row:
    defined = values[~np.isnan(values)]
    return {
        "quantity": quantity,
        "statistic": "max",
        "value": float(defined.max()) if len(defined) else np.nan,
        "n": len(defined),
        "n_undefined": len(values) - len(defined),
    }
