"""The first paper's analyses of one instance, and what the output becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_audit.batch import Batch, words
from attention_audit.callbacks import Adversarial, Correlation, Permutation
from attention_audit.callbacks.adversarial import KINDS
from attention_audit.callbacks.analysis import Part
from attention_audit.cell import Restored
from attention_audit.configuration import check_call
from attention_audit.explain.asking import Question
from attention_audit.measures import jsd, probabilities
from attention_audit.report.sentence import Kind, Measured, Output, Quantity
from attention_audit.store import Cell

# Of more outputs than these, so many of the most probable are named.
NAMED = 6
TAUS = {
    "tau_gradient": "Kendall's tau between attention and gradient",
    "tau_loo": "Kendall's tau between attention and leave-one-out",
    "tau_gradient_loo": "Kendall's tau between gradient and leave-one-out",
}


class _Seen(NamedTuple):
    """What the analyses found, and the output under the original attention and the adversary's."""

    correlation: Part
    permutation: Part
    adversarial: Part
    attention: Tensor
    adversary: Tensor
    kind: Kind
    before: Tensor
    after: Tensor


def measure(
    config: Mapping[str, Any], cell: Cell, restored: Restored, question: Question
) -> Measured:
    """What the analyses say of one instance, in float64.

    Args:
        config: the cell's, checked: its budget counts, and its adversary's settings.
        cell: the finished cell.
        restored: its model.
        question: whose batch's id decides what is drawn at random.

    Raises:
        ValueError: settings that an analysis refuses.
    """
    batch = question.batch
    seen = _seen(restored.model.double(), batch, *_analyses(config))
    outputs = _outputs(restored.outputs, seen, batch)
    return Measured(
        cell=f"{cell.dataset}, {cell.encoder} + {cell.attention}, seed {cell.seed}-{cell.hash8}",
        words=question.words,
        query=question.query,
        attention=_numbers(seen.attention, batch),
        gradient=_numbers(seen.correlation.tokens["gradient"], batch),
        leave_one_out=_numbers(seen.correlation.tokens["loo"], batch),
        adversary=_numbers(seen.adversary, batch),
        kind=seen.kind,
        epsilon=config["adversary"]["epsilon"],
        outputs=tuple(outputs[:NAMED]),
        others=len(outputs[NAMED:]),
        quantities=tuple(_quantities(config, seen)),
        origin=question.origin,
    )


def _analyses(config: Mapping[str, Any]) -> tuple[Correlation, Permutation, Adversarial]:
    """The cell's settings without its own analyses: it may have been run with others, or none."""
    budget = config["budget"]
    permuting = {"permutations": budget["permutations"]}
    searching = {
        **config["adversary"],
        "adversaries": budget["adversaries"],
        "steps": budget["steps"],
    }
    check_call("budget", permuting, Permutation)
    check_call("adversary", searching, Adversarial)
    return Correlation(), Permutation(**permuting), Adversarial(**searching)


def _seen(
    model: Any,
    batch: Batch,
    correlation: Correlation,
    permutation: Permutation,
    adversarial: Adversarial,
) -> _Seen:
    found = adversarial.analyse(model, batch)
    kind, adversary = _best(found)
    with torch.no_grad():
        encoding = model.encode(batch)
        attention, projection = model.attend(encoding), model.project(encoding)
        before, after = (
            probabilities(model.decode(projection, weights)) for weights in (attention, adversary)
        )
    return _Seen(
        correlation.analyse(model, batch),
        permutation.analyse(model, batch),
        found,
        attention,
        adversary,
        kind,
        before,
        after,
    )


def _best(found: Part) -> tuple[Kind, Tensor]:
    """The most different attention that was found, and how: the optimum's, where one was sought."""
    kinds: dict[Kind, str] = {"exact": "exact", "found": "found", "search": "adversarial"}
    kind = next(kind for kind, name in kinds.items() if f"{name}_attention" in found.tokens)
    return kind, found.tokens[f"{kinds[kind]}_attention"]


def _numbers(values: Tensor, batch: Batch) -> np.ndarray:
    return words(values.detach(), batch.mask)[0].double().numpy()


def _outputs(names: Sequence[str], seen: _Seen, batch: Batch) -> list[Output]:
    """All that the instance allows: in their order where they are few, else by probability."""
    triples = zip(names, seen.before[0].tolist(), seen.after[0].tolist(), strict=True)
    allowed = [True] * len(names) if batch.candidates is None else batch.candidates[0].tolist()
    outputs = [Output(*one) for one, may in zip(triples, allowed, strict=True) if may]
    if len(outputs) > NAMED:
        outputs.sort(key=lambda one: -max(one.before, one.after))
    return outputs


def _quantities(config: Mapping[str, Any], seen: _Seen) -> Iterator[Quantity]:
    taus = seen.correlation.instances
    for name, meaning in TAUS.items():
        yield Quantity(name, float(taus[name][0]), meaning, float(taus[f"{name}_pvalue"][0]))
    permutations, epsilon = config["budget"]["permutations"], config["adversary"]["epsilon"]
    yield Quantity(
        "delta_y_med",
        float(seen.permutation.instances["delta_y_med"][0]),
        f"median output change (TVD) over {permutations} random permutations of the attention",
    )
    yield Quantity(
        "adversary_jsd",
        float(jsd(seen.adversary, seen.attention)[0]),
        "Jensen-Shannon divergence (JSD) of attention and adversary, in nats (<= 0.693)",
    )
    yield Quantity(
        "adversary_tvd",
        float(seen.adversarial.instances["adversary_tvd"][0]),
        f"output change with it, total variation distance (TVD); epsilon = {epsilon:g} is allowed",
    )
    if seen.kind in KINDS.values() and "eps_max_jsd" in seen.adversarial.instances:
        yield Quantity(
            "eps_max_jsd",
            float(seen.adversarial.instances["eps_max_jsd"][0]),
            "JSD of the best that the adversarial search alone found",
        )
