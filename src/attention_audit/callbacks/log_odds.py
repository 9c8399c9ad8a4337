"""A linear classifier's word weights as attention: post hoc, trained with, and as regulariser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from pydantic import PositiveInt

from attention_audit.callbacks.diagnostic import (
    Diagnosis,
    Diagnostic,
    Scoring,
    Strength,
    number,
    told,
)
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.diagnostics import (
    Finding,
    Fit,
    Subject,
    attention_jsd,
    differences,
    fit_frozen,
    fit_regularised,
    give_log_odds,
)
from attention_audit.predictions import Predictions

CONDITION = "learned weights do better than a linear classifier's"
SPELT = {
    "log_odds_post_hoc": "With the log-odds in the place of the fitted model's attention",
    "log_odds_trained": "Trained with the log-odds as frozen attention",
    "log_odds_regularised": "Trained with attention drawn to the log-odds",
}


class LogOdds(Diagnostic):
    """Scores of models under a linear classifier's log-odds: fitted before, with and towards them.

    `log_odds_post_hoc` is the fitted model with its attention replaced, `log_odds_trained` the same
    model fitted with the log-odds frozen in that place, `log_odds_regularised` with its own
    attention, drawn to them by lambda KL(log-odds || attention). Differences are to the base,
    paired; `log_odds_jsd` is that of the base's own attention to the log-odds, in nats.

    Args:
        strength: lambda, of the regulariser, for each instance.
        resamples: of the bootstrap intervals.
    """

    name = "log_odds"

    def __init__(self, strength: Strength = 1.0, resamples: PositiveInt = 2000) -> None:
        self.strength = strength
        self.resamples = resamples
        self.others: dict[str, Predictions] = {}
        self.given: Predictions | None = None

    def accept(self, config: Mapping[str, Any]) -> None:
        """Refuses tasks with a question: a word's log-odds would be of no class."""
        if (task := config["dataset"]["task"]) != "classification":
            raise ValueError(
                f"analysis.log_odds: found dataset.task={task}, expected classification; leave it "
                "out of the analyses of this corpus"
            )

    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        given = give_log_odds(base)
        trained = fit_frozen(fit, given)
        regularised = fit_regularised(fit, given, self.strength)
        self.given = base.read_under(given, "test")
        self.others = {
            "log_odds_post_hoc": self.given,
            "log_odds_trained": trained.read("test"),
            "log_odds_regularised": regularised.read("test"),
        }

    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        assert self.given is not None
        scoring = Scoring(task.task, task.classes, self.resamples)
        found = Diagnosis({"log_odds_jsd": attention_jsd(base, self.given)})
        own = scoring.of(base)
        for name, other in self.others.items():
            apart = differences(base, other)
            found.instances |= {f"{name}_tvd": apart.tvd, f"{name}_jsd": apart.jsd}
            score, more = scoring.of(other), scoring.difference(other.of(base.ids), base)
            found.rows += [scoring.row(name, score), scoring.row(name, more, "_difference")]
            sentence = (
                f"{SPELT[name]} the model's {scoring.spelt} is {number(score.value)}, the base "
                f"model's {number(own.value)}: difference {told(more)}."
            )
            quantity = f"{name}_{scoring.metric}_difference"
            numbers = (more.value, more.lo, more.hi)
            found.findings.append(Finding(CONDITION, quantity, *numbers, sentence, scoring.metric))
        return found

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        return [
            row for name in instances for row in mean_rows(name, instances[name], self.resamples)
        ]
