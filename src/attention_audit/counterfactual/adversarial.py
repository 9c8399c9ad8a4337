"""Adversarial search: attention as different as possible under an all but equal prediction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_audit.counterfactual.permute import Decode
from attention_audit.measures import jsd, tvd

_STREAM = 2  # keeps these draws apart from those of other analyses with the same seed
FEASIBLE_SLACK = 1e-9


class Weights(NamedTuple):
    """sum_i jsd(a_i, a) + pair sum_{i<j} jsd(a_i, a_j) - hinge sum_i max(0, TVD_i - margin)."""

    pair: float
    hinge: float
    margin: float


@dataclass(frozen=True)
class Search:
    """Settings of the search.

    Args:
        candidates: k, the distributions sought at once for each instance.
        epsilon: largest TVD to the original output that counts as an equal prediction.
        objective: "paper" is Jain & Wallace 2019, equation 3, and keeps each candidate's best
            feasible iterate. "program" is the authors' published program: a hinge of 500 per
            distribution at 0.01, heavier pairs, the sum |dp| over the program's output columns
            (twice the TVD, unless one sigmoid) in place of the TVD, and the final iterate.
        steps: Adam steps (amsgrad).
        learning_rate: Adam's step size on the logits.
        penalty: lambda, the weight of the hinge.
        noise: standard deviation of the initial logits around log-uniform.
    """

    candidates: int = 5
    epsilon: float = 0.01
    objective: Literal["paper", "program"] = "paper"
    steps: int = 500
    learning_rate: float = 0.01
    penalty: float = 500.0
    noise: float = 3.0

    def __post_init__(self) -> None:
        for name in ("candidates", "steps", "learning_rate"):
            if getattr(self, name) <= 0:
                raise ValueError(f"adversarial {name}: found {getattr(self, name)}; expected > 0")
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"adversarial epsilon: found {self.epsilon}; expected 0 to 1 (a TVD)")
        if self.objective not in ("paper", "program"):
            raise ValueError(
                f"adversarial objective: found {self.objective!r}; expected paper or program"
            )

    def weights(self, classes: int) -> Weights:
        """The objective's weights for outputs of that many classes (2 = one sigmoid)."""
        k = self.candidates
        if self.objective == "paper":
            return Weights(1 / (k * max(k - 1, 1)), self.penalty / k, self.epsilon)
        per_tvd = 1 if classes == 2 else 2
        return Weights(2 / k**2, self.penalty * per_tvd, 0.01 / per_tvd)


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


def adversarial_search(
    decode: Decode,
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
    dtype of `attention`. `decode` is differentiated: what it holds must not have been made in
    inference mode. `progress` is called with the number of steps done.
    """
    search = search or Search()
    if noise is None:
        noise = draw_noise(mask, ids, candidates=search.candidates, seed=seed)
    with torch.inference_mode(False), torch.enable_grad():
        found = _climb(
            decode,
            attention.detach().clone(),
            mask.clone(),
            _log_uniform(mask).to(attention) + search.noise * noise.to(attention),
            search,
            progress,
        )
        return _judge(decode, attention.detach().clone(), mask, found, search.epsilon)


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


def _climb(
    decode: Decode,
    attention: Tensor,
    mask: Tensor,
    start: Tensor,
    search: Search,
    progress: Callable[[int], None] | None,
) -> Tensor:
    """Candidates [B, K, T]: the best feasible iterate of each, or the last one."""
    original = decode(attention[:, None]).detach()
    weights = search.weights(original.shape[-1])
    logits = start.clone()
    adam = torch.optim.Adam([logits], lr=search.learning_rate, amsgrad=True)
    best = _Best(start, search.epsilon)
    for step in range(search.steps):
        candidates = _softmax(logits, mask)
        moved, pull = _pull_back(decode, candidates, original, weights)
        distance, push = _push_away(candidates, attention, weights.pair)
        if search.objective == "paper":
            best.see(candidates, distance, moved)
        slope = pull - push
        logits.grad = slope - candidates * slope.sum(-1, keepdim=True)
        adam.step()
        if progress is not None:
            progress(step + 1)
    last = _softmax(logits, mask)
    if search.objective == "program":
        return last
    with torch.no_grad():
        best.see(last, jsd(last, attention[:, None]).to(last), tvd(decode(last), original))
    return best.attention(otherwise=last)


def _softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the mask, exactly 0 elsewhere, all 0 where the mask is empty."""
    lowest = torch.finfo(logits.dtype).min
    spread = logits.masked_fill(~mask[:, None], lowest).softmax(-1)
    return spread * mask[:, None]


def _pull_back(
    decode: Decode, candidates: Tensor, original: Tensor, weights: Weights
) -> tuple[Tensor, Tensor]:
    """TVD of each candidate [B, K], and a * d(hinge term)/da [B, K, T]."""
    candidates = candidates.detach().requires_grad_()
    moved = tvd(decode(candidates), original)
    hinge = weights.hinge * (moved - weights.margin).clamp(min=0).sum()
    (slope,) = torch.autograd.grad(hinge, candidates)
    return moved.detach(), candidates.detach() * slope


def _push_away(candidates: Tensor, attention: Tensor, pair: float) -> tuple[Tensor, Tensor]:
    """jsd to the original [B, K], and a * d(divergence terms)/da [B, K, T].

    djsd(a, b)/da = 1/2 ln(2a / (a + b)); times a, it is 0 at a = 0 where ln alone is infinite.
    """
    from_a, from_b = _log_ratios(candidates, attention[:, None])
    distance = 0.5 * (from_a + from_b).sum(-1)
    slope = 0.5 * from_a
    for i, j in combinations(range(candidates.shape[1]), 2):
        from_i, from_j = _log_ratios(candidates[:, i], candidates[:, j])
        slope[:, i] += 0.5 * pair * from_i
        slope[:, j] += 0.5 * pair * from_j
    return distance, slope


def _log_ratios(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """a ln(2a / (a + b)) and b ln(2b / (a + b)), 0 where the weight is 0."""
    # torch.xlogy is right too, and on a CPU ten times as slow.
    tiny = torch.finfo(a.dtype).tiny
    half = (0.5 * (a + b)).clamp(min=tiny)
    return a * (a / half).clamp(min=tiny).log(), b * (b / half).clamp(min=tiny).log()


class _Best:
    """The feasible iterate with the largest jsd, for each candidate."""

    def __init__(self, start: Tensor, epsilon: float) -> None:
        self.limit = epsilon + FEASIBLE_SLACK
        self.distance = torch.full_like(start[..., 0], -math.inf)
        self.weights = torch.zeros_like(start)

    def see(self, candidates: Tensor, distance: Tensor, moved: Tensor) -> None:
        better = (distance > self.distance) & (moved <= self.limit)
        self.distance = torch.where(better, distance, self.distance)
        self.weights = torch.where(better[..., None], candidates, self.weights)

    def attention(self, otherwise: Tensor) -> Tensor:
        found = self.distance > -math.inf
        return torch.where(found[..., None], self.weights, otherwise)


@torch.no_grad()
def _judge(
    decode: Decode, attention: Tensor, mask: Tensor, candidates: Tensor, epsilon: float
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
