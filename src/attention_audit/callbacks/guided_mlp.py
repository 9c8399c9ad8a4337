"""Are weights of use to a context-free reader? (Wiegreffe & Pinter 2019, section 3.4)"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import torch
from pydantic import Field, NonNegativeInt, PositiveInt
from torch import Tensor

from attention_audit.batch import Batch, words
from attention_audit.callbacks.diagnostic import (
    Diagnosis,
    Diagnostic,
    Scoring,
    Strengths,
    check_context_free,
    check_uniform,
    number,
    told,
)
from attention_audit.diagnostics import (
    SPLITS,
    Chosen,
    Finding,
    Fit,
    ModelConsistency,
    Subject,
    first_beyond,
    fit_adversary,
    fit_guided,
    fit_mlp,
    fit_seeds,
    normalised,
    permuted,
)
from attention_audit.importance import gradient, leave_one_out
from attention_audit.predictions import Given, Predictions

CONDITION = "the weights help a reader without context"
# By the weights that guide it: how they are spelt, and the setting of the published table.
SETTINGS = {
    "uniform": ("uniform weights", "uniform"),
    "trained": ("learned weights of its own", "trained_mlp"),
    "base": ("the base model's weights", "base_lstm"),
    "seed": ("the weights of another seed's model", ""),
    "adversary": ("the model-consistent adversary's weights", "adversary"),
    "gradient": ("the base model's gradient importance as weights", ""),
    "leave_one_out": ("the base model's leave-one-out importance as weights", ""),
    "permutation": ("the base model's weights, permuted within each text", ""),
}
IMPORTANCES: dict[str, Callable[[Any, Batch], Tensor]] = {
    "gradient": gradient,
    "leave_one_out": leave_one_out,
}
# Of the way in which weights are made from a model; raise it when it changes.
VERSION = 1


class GuidedMLP(Diagnostic):
    """Test scores of a context-free model that has to attend as it is told, by who tells it.

    Differences are to the one with uniform weights, paired over the test instances. The adversary
    is that of the smallest lambda whose dev JSD to the base exceeds `least_jsd`.

    Args:
        encoder: the context-free encoder's configuration.
        attention: the uniform attention's configuration.
        lambdas: of the adversaries.
        epochs: of an adversary's fit, at most.
        patience: epochs without a better dev loss that end an adversary's fit.
        weighted: class weights in the adversary's loss.
        least_jsd: in nats, below ln 2, which no JSD exceeds.
        importances: further weights, `gradient` and `leave_one_out`.
        resamples: of the bootstrap intervals.
        seed: of the permutation.
    """

    name = "guided_mlp"

    def __init__(
        self,
        encoder: Mapping[str, Any],
        attention: Mapping[str, Any],
        lambdas: Strengths,
        epochs: PositiveInt = 30,
        patience: PositiveInt = 5,
        weighted: bool = False,
        least_jsd: Annotated[float, Field(ge=0, lt=math.log(2))] = 0.4,
        importances: Sequence[str] = tuple(IMPORTANCES),
        resamples: PositiveInt = 2000,
        seed: NonNegativeInt = 0,
    ) -> None:
        if strange := sorted(set(importances) - set(IMPORTANCES)):
            raise ValueError(
                f"analysis.guided_mlp.importances: found {strange[0]!r}, expected of "
                f"{', '.join(IMPORTANCES)}"
            )
        self.encoder, self.attention = encoder, attention
        self.lambdas = sorted(set(lambdas))
        self.how = ModelConsistency(epochs, patience, weighted)
        self.least_jsd = least_jsd
        self.importances = importances
        self.resamples = resamples
        self.seed = seed
        self.others: dict[str, Subject] = {}
        self.chosen: Chosen | None = None

    def accept(self, config: Mapping[str, Any]) -> None:
        check_context_free(self.encoder)
        check_uniform(self.attention)

    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        def guided(name: str, given: Given, **source: Any) -> Subject:
            return fit_guided(fit, name, self.encoder, given, {"version": VERSION, **source})

        def adversary(strength: float) -> Subject:
            return fit_adversary(base, fit, strength, self.how)

        own = base.gives(SPLITS)
        [(_seed, other)] = fit_seeds(base, fit, config["seed"], 1).items()
        self.chosen = first_beyond(base, adversary, self.lambdas, self.least_jsd)
        uniform = fit_mlp(fit, "uniform", self.encoder, self.attention)
        trained = fit_mlp(fit, "trained", self.encoder, config["attention"])
        self.others = {
            "uniform": uniform,
            # A base that is uniform itself has no weights to learn.
            **({"trained": trained} if trained.weights != uniform.weights else {}),
            "base": guided("base", own, attention=base.weights),
            "seed": guided("seed", other.gives(SPLITS), attention=other.weights),
        }
        if (subject := self.chosen.subject) is not None:
            given = subject.gives(SPLITS)
            self.others["adversary"] = guided("adversary", given, attention=subject.weights)
        for name in self.importances:
            given = _importance(base, IMPORTANCES[name])
            self.others[name] = guided(name, given, importance=name, of=base.weights)
        self.others["permutation"] = guided(
            "permutation", permuted(own, self.seed), permutation=self.seed, of=base.weights
        )

    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        assert self.chosen is not None
        scoring = Scoring(task.task, task.classes, self.resamples)
        read = {name: one.read("test").of(base.ids) for name, one in self.others.items()}
        found = Diagnosis(more={"adversary": _chosen(self.chosen, self.least_jsd)})
        for name, other in read.items():
            score, more = scoring.of(other), scoring.difference(other, read["uniform"])
            found.instances[f"{name}_predicted"] = other.classes.numpy()
            found.rows += [
                scoring.row(f"guided_{name}", score),
                scoring.row(f"guided_{name}", more, "_difference"),
            ]
            spelt, setting = SETTINGS[name]
            sentence = f"A context-free model with {spelt} has {scoring.spelt} {told(score)}"
            if name != "uniform":
                sentence += f"; minus that of uniform weights: {told(more)}"
            quantity = f"guided_{name}_{scoring.metric}"
            published = ("3_guided_mlp", setting) if setting else ()
            numbers = (score.value, score.lo, score.hi)
            found.findings.append(
                Finding(CONDITION, quantity, *numbers, f"{sentence}.", scoring.metric, *published)
            )
        if self.chosen.subject is None:
            found.findings.append(_none_chosen(self.chosen, self.least_jsd))
        return found


def _importance(base: Subject, importance: Callable[[Any, Batch], Tensor]) -> Given:
    """An importance of every instance of all splits, as weights."""
    device = next(base.model.parameters()).device
    ids, rows = [], []
    for split in SPLITS:
        for batch in base.batches(split):
            found = importance(base.model, batch.to(device))
            ids.append(batch.ids.cpu())
            rows += [normalised(row) for row in words(found, batch.mask)]
    return Given.of(torch.cat(ids), rows)


def _chosen(chosen: Chosen, least_jsd: float) -> dict[str, Any]:
    """For the store: which adversary guides, and the dev JSD of those that were looked at."""
    looked_at = {f"{strength:g}": value for strength, value in chosen.dev_jsd.items()}
    return {"lambda": chosen.strength, "least_jsd": least_jsd, "dev_jsd": looked_at}


def _none_chosen(chosen: Chosen, least_jsd: float) -> Finding:
    largest = max(chosen.dev_jsd.values(), default=float("nan"))
    sentence = (
        f"No model-consistent adversary had a dev JSD above {least_jsd:g} nats (largest "
        f"{number(largest)}): none could guide the context-free model."
    )
    nothing = float("nan")
    return Finding(CONDITION, "guided_adversary", nothing, nothing, nothing, sentence)
