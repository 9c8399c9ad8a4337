"""Adversarial search: attention as different as possible under an all but equal prediction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_audit.counterfactual.climb import FEASIBLE_SLACK, Search, climb
from attention_audit.counterfactual.decoding import Decoding
from attention_audit.measures import jsd, tvd

_STREAM = 2  # keeps these draws apart from those of other analyses with the same seed


@dataclass(frozen=True)
class Adversaries:
    """What the search found for each instance.

    `jsd` (nats) and `tvd` compare each candidate with the original attention and output.
    `eps_max_jsd` is the largest jsd among the candidates with TVD <= epsilon and the original
    itself, so >= 0; `best` is that candidate's index, -1 for the original, and `best_attention`
    its weights. Where a row has no word, `eps_max_jsd` is NaN.
    """

    attention: Float[Tensor, "batch candidates tokens"]
    outputs: Float[Tensor, "batch candidates classes"]
    jsd: Float[Tensor, "batch candidates"]
    tvd: Float[Tensor, "batch candidates"]
    eps_max_jsd: Float[Tensor, " batch"]
    best: Int[Tensor, " batch"]
    best_attention: Float[Tensor, "batch tokens"]

    def within(
        self, epsilons: Sequence[float]
    ) -> tuple[Float[Tensor, "batch epsilons"], Float[Tensor, "batch epsilons tokens"]]:
        """The largest jsd of a candidate with TVD <= epsilon, -inf without any, and its weights."""
        limits = torch.tensor(epsilons).to(self.tvd) + FEASIBLE_SLACK
        kept = self.tvd[:, None] <= limits[:, None]
        largest, place = self.jsd[:, None].masked_fill(~kept, -math.inf).max(-1)
        rows = torch.arange(len(place), device=place.device)[:, None]
        return largest, self.attention[rows, place]


@torch.no_grad()
def adversarial_search(
    decode: Decoding,
    attention: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    ids: Int[Tensor, " batch"],
    search: Search | None = None,
    *,
    seed: int = 0,
    noise: Float[Tensor, "batch candidates tokens"] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Adversaries:
    """Search adversarial attention for every row at once (Jain & Wallace 2019, section 4.2.2).

    Rows do not influence each other, and the start follows from (seed, instance id) alone;
    `noise` (standard normal, before `search.noise` scales it) gives the start instead. Runs in the
    dtype of `attention`. `progress` is called with the number of steps done.
    """
    search = search or Search()
    if noise is None:
        noise = draw_noise(mask, ids, candidates=search.candidates, seed=seed)
    start = _log_uniform(mask).to(attention) + search.noise * noise.to(attention)
    found = climb(decode, attention, mask, start, search, progress)
    return _judge(decode, attention, mask, found, search.epsilon)


def draw_noise(
    mask: Bool[Tensor, "batch tokens"], ids: Int[Tensor, " batch"], *, candidates: int, seed: int
) -> Float[Tensor, "batch candidates tokens"]:
    """Standard normal draws on the mask, 0 elsewhere."""
    drawn = np.zeros((len(mask), candidates, mask.shape[1]))
    for row, (instance, kept) in enumerate(zip(ids.tolist(), mask.cpu().numpy(), strict=True)):
        generator = np.random.default_rng([seed, _STREAM, instance])
        drawn[row][:, kept] = generator.standard_normal((candidates, int(kept.sum())))
    return torch.from_numpy(drawn)


def _log_uniform(mask: Tensor) -> Float[Tensor, "batch 1 1"]:
    return -mask.sum(1).clamp(min=1).log()[:, None, None]


def _judge(
    decode: Decoding, attention: Tensor, mask: Tensor, candidates: Tensor, epsilon: float
) -> Adversaries:
    """Compare the candidates with the original and pick the most different feasible one."""
    outputs = decode(candidates)
    moved = tvd(outputs, decode(attention[:, None]))
    distance = jsd(candidates, attention[:, None])
    feasible = distance.masked_fill(moved > epsilon + FEASIBLE_SLACK, -1.0)
    largest, best = feasible.max(1)
    best = best.masked_fill(largest <= 0, -1)
    rows = torch.arange(len(best), device=best.device)
    chosen = torch.cat([candidates, attention[:, None]], 1)[rows, best]
    eps_max_jsd = largest.clamp(min=0).masked_fill(~mask.any(1), math.nan)
    return Adversaries(candidates, outputs, distance, moved, eps_max_jsd, best, chosen)
