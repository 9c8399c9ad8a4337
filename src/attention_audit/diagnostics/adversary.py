"""Can a whole model be trained to attend elsewhere and predict alike? (W&P 2019, section 4)"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attention_audit.diagnostics.comparing import attention_jsd
from attention_audit.diagnostics.subject import Fit, Subject

MODEL_CONSISTENT = "attention_audit.models.objectives.ModelConsistent"


@dataclass(frozen=True)
class ModelConsistency:
    """How model-consistent adversaries are fitted.

    Attributes:
        epochs: at most.
        patience: epochs without a better dev loss after which a fit ends.
        weighted: an instance's loss is multiplied with its class's weight.
    """

    epochs: int
    patience: int
    weighted: bool = False


def fit_adversary(base: Subject, fit: Fit, strength: float, how: ModelConsistency) -> Subject:
    """A model that makes TVD(y_a, y_b) - lambda KL(a_a || a_b) small against the frozen base b.

    Both are summed over a batch, so that lambda is for an instance. What the base says of the train
    and dev instances is read once, before the fit.

    Args:
        base: the model on trial.
        fit: fits the adversary.
        strength: lambda, 0 or larger.
        how: epochs and weights.
    """
    objective = {
        "_target_": MODEL_CONSISTENT,
        "strength": float(strength),
        "weighted": how.weighted,
    }
    change = {
        "trainer.max_epochs": how.epochs,
        # As in the paper; under a mean, attention collapsed to the ends of SST's sentences.
        "training.reduction": "sum",
        "auxiliary": {
            "objective": objective,
            "patience": how.patience,
            "given": {"attention": base.weights},
        },
    }
    return fit(f"adversary_{strength:g}", change, base.gives(("train", "dev")))


class Chosen(NamedTuple):
    """The first adversary whose attention is far enough away; None where none is."""

    strength: float | None
    subject: Subject | None
    dev_jsd: dict[float, float]


def first_beyond(
    base: Subject,
    adversary: Callable[[float], Subject],
    strengths: Iterable[float],
    least: float,
) -> Chosen:
    """The adversary of the smallest lambda whose mean dev JSD to the base exceeds `least`.

    Args:
        base: the model on trial.
        adversary: fits the one of a lambda; not asked for more than are needed.
        strengths: lambdas.
        least: in nats.
    """
    found: dict[float, float] = {}
    for strength in sorted(strengths):
        subject = adversary(strength)
        apart = attention_jsd(base.read("dev"), subject.read("dev"))
        found[strength] = float(np.nanmean(apart))
        if found[strength] > least:
            return Chosen(strength, subject, found)
    return Chosen(None, None, found)
