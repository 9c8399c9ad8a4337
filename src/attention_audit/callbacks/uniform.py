"""Is attention needed? The model without it, trained (Wiegreffe & Pinter 2019, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import PositiveInt

from attention_audit.callbacks.diagnostic import (
    Diagnosis,
    Diagnostic,
    Scoring,
    check_uniform,
    number,
    told,
)
from attention_audit.diagnostics import Finding, Fit, Subject, fit_plain, fit_uniform
from attention_audit.predictions import Predictions

CONDITION = "attention is needed for the task"
SPELT = {
    "uniform": "With attention frozen to uniform",
    "plain": "Without attention, from the encoder's last state or summary",
}


class Uniform(Diagnostic):
    """Test scores of two models without attention to learn, and their difference to the base's.

    `uniform` has its attention frozen to uniform over the words; `plain` gives the decoder the
    encoder's summary, an LSTM's last states. Differences are paired over the test instances.

    Args:
        attention: the uniform attention's configuration.
        resamples: of the bootstrap intervals.
    """

    name = "uniform"

    def __init__(self, attention: Mapping[str, Any], resamples: PositiveInt = 2000) -> None:
        self.attention = attention
        self.resamples = resamples
        self.others: dict[str, Subject] = {}

    def accept(self, config: Mapping[str, Any]) -> None:
        check_uniform(self.attention)

    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        self.others = {
            "uniform": fit_uniform(fit, self.attention),
            "plain": fit_plain(fit, config["encoder"], self.attention),
        }

    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        scoring = Scoring(task.task, task.classes, self.resamples)
        own = scoring.of(base)
        found = Diagnosis(rows=[scoring.row("base", own)])
        for name, subject in self.others.items():
            other = subject.read("test").of(base.ids)
            score, less = scoring.of(other), scoring.difference(other, base)
            found.instances[f"{name}_predicted"] = other.classes.numpy()
            found.rows += [scoring.row(name, score), scoring.row(name, less, "_difference")]
            sentence = (
                f"{SPELT[name]} the trained model's {scoring.spelt} is {number(score.value)}, the "
                f"base model's {number(own.value)}: difference {told(less)}."
            )
            quantity = f"{name}_{scoring.metric}_difference"
            published = ("2_uniform", "uniform", "base") if name == "uniform" else ()
            numbers = (less.value, less.lo, less.hi)
            found.findings.append(
                Finding(CONDITION, quantity, *numbers, sentence, scoring.metric, *published)
            )
        return found
