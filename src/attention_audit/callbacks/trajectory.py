"""Training trajectory: when does attention settle, and does it grow more or less faithful?"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from pydantic import NonNegativeInt, PositiveInt

from attention_audit.batch import Batch, words
from attention_audit.callbacks.correlation import Correlation
from attention_audit.callbacks.diagnostic import Diagnosis, Diagnostic
from attention_audit.callbacks.stored import Row, mean_rows
from attention_audit.diagnostics import Fit, Subject
from attention_audit.measures import jsd
from attention_audit.predictions import Predictions

TAUS = ("tau_gradient", "tau_loo", "tau_gradient_loo")


class Trajectory(Diagnostic):
    """The same fit again, its model kept after each epoch and asked on a fixed sample.

    For each epoch, `<quantity>_epoch_<n>`: the taus of `Correlation`, and `settled_jsd`, the JSD
    (nats) of an instance's attention to that after the last epoch.

    Args:
        sample: test instances, drawn once.
        resamples: of the bootstrap intervals.
        seed: of the sample.
    """

    name = "trajectory"

    def __init__(
        self,
        sample: PositiveInt = 200,
        resamples: PositiveInt = 2000,
        seed: NonNegativeInt = 0,
    ) -> None:
        self.sample = sample
        self.resamples = resamples
        self.seed = seed
        self.epochs: list[Mapping[str, Any]] = []
        self.same = True

    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        again = fit("trajectory", {"auxiliary": {"every_epoch": True}})
        self.epochs = again.epochs()
        self.same = again.weights == base.weights

    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        sample = self._sampled(list(batches), base.ids.numpy())
        model = copy.deepcopy(task.model).double().eval()
        rows: list[Row] = []
        states = [self._state(model, weights, sample, task.device) for weights in self.epochs]
        for number, (taus, attention) in enumerate(states, start=1):
            apart = _apart(attention, states[-1][1])
            for quantity, values in {**taus, "settled_jsd": apart}.items():
                rows += mean_rows(f"{quantity}_epoch_{number}", values, self.resamples)
        size = sum(len(batch) for batch in sample)
        more = {"epochs": len(states), "sample": size, "same_weights_as_the_cell": self.same}
        return Diagnosis(rows=rows, more=more)

    def _sampled(self, batches: list[Batch], ids: np.ndarray) -> list[Batch]:
        generator = np.random.default_rng(self.seed)
        chosen = generator.permutation(np.sort(ids))[: self.sample]
        kept = [batch.rows(torch.isin(batch.ids, torch.from_numpy(chosen))) for batch in batches]
        return [batch for batch in kept if len(batch)]

    def _state(
        self, model: Any, weights: Mapping[str, Any], sample: list[Batch], device: torch.device
    ) -> tuple[dict[str, np.ndarray], list[torch.Tensor]]:
        """The taus of one epoch's model, and its attention, in the order of the sample."""
        model.load_state_dict(weights)
        correlation = Correlation(self.resamples)
        parts, attention = [], []
        with torch.inference_mode(False), torch.enable_grad():
            for batch in (one.to(device) for one in sample):
                parts.append(correlation.analyse(model, batch).instances)
                attention += words(model.attend(model.encode(batch)).detach(), batch.mask)
        return {name: np.concatenate([p[name] for p in parts]) for name in TAUS}, attention


def _apart(one: list[torch.Tensor], other: list[torch.Tensor]) -> np.ndarray:
    pairs: Iterator[tuple[torch.Tensor, torch.Tensor]] = zip(one, other, strict=True)
    return np.array([float(jsd(a, b)) if len(a) else np.nan for a, b in pairs])
