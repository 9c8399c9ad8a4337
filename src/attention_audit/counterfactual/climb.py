"""The adversarial search's ascent: gradients in closed form on projected values, no graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_audit.counterfactual.decoding import Decoding

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


def climb(
    decode: Decoding,
    attention: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    start: Float[Tensor, "batch candidates tokens"],
    search: Search,
    progress: Callable[[int], None] | None = None,
) -> Float[Tensor, "batch candidates tokens"]:
    """Adam on the candidates' logits from `start`: the best feasible iterate of each, or the last.

    Inside, candidates come first, [K, B, T], so that each is one block of memory.
    """
    original = decode(attention[:, None])
    weights = search.weights(original.shape[-1])
    lowest = torch.finfo(start.dtype).min
    logits = start.transpose(0, 1).masked_fill(~mask, lowest).contiguous()
    adam, divergences = Adam(logits, search.learning_rate), Divergences(attention, logits, weights)
    pull, best = Pull(decode.projection.values, logits), _Best(logits, search.epsilon)
    candidates = torch.empty_like(logits)
    for step in range(search.steps + 1):
        torch.softmax(logits, -1, out=candidates)
        moved, toward = decode.moved(candidates.transpose(0, 1), original)
        slope = divergences.slope(candidates)
        if search.objective == "paper":
            best.see(candidates, divergences.to_original(candidates), moved.T)
        if step == search.steps:
            break
        pulled = weights.hinge * (moved >= weights.margin)[..., None] * toward
        pull.add(slope, pulled.to(slope))
        adam.step(_through_softmax(slope, candidates))
        if progress is not None:
            progress(step + 1)
    return best.attention(otherwise=candidates).transpose(0, 1) * mask[:, None]


def _through_softmax(slope: Tensor, candidates: Tensor) -> Tensor:
    """The gradient at the logits, in place of that at the weights."""
    slope.mul_(candidates)
    return slope.addcmul_(candidates, slope.sum(-1, keepdim=True), value=-1)


class Pull:
    """Carries a gradient at the attended sums on to the attention."""

    def __init__(
        self,
        values: Float[Tensor, "batch tokens width"],
        like: Float[Tensor, "candidates batch tokens"],
    ) -> None:
        self.values = values.transpose(1, 2).contiguous()
        candidates, batch, tokens = like.shape
        self.found = like.new_empty(batch, candidates, tokens)

    def add(
        self,
        slope: Float[Tensor, "candidates batch tokens"],
        pulled: Float[Tensor, "batch candidates width"],
    ) -> None:
        """Add to `slope` what belongs to `pulled`."""
        if pulled.shape[-1] == 1:
            slope.addcmul_(pulled.transpose(0, 1), self.values[:, 0])
        else:
            slope += torch.bmm(pulled, self.values, out=self.found).transpose(0, 1)


class Divergences:
    """-sum_i jsd(a_i, a) - pair sum_{i<j} jsd(a_i, a_j), its gradient, and jsd(a_i, a).

    djsd(a, b)/da = 1/2 ln(a / (a + b)), constants aside, which a softmax does not pass on. It
    works in memory of its own: to ask the system for some at each step takes most of the time.
    """

    def __init__(
        self,
        attention: Float[Tensor, "batch tokens"],
        like: Float[Tensor, "candidates batch tokens"],
        weights: Weights,
    ) -> None:
        self.attention, self.pair = attention, 0.5 * weights.pair
        self.own = torch.xlogy(attention, attention).sum(-1)
        self.tiny = torch.finfo(like.dtype).tiny
        self.present, self.found, self.middle, self.ratio, self.both = (
            torch.empty_like(like) for _ in range(5)
        )

    def slope(
        self, candidates: Float[Tensor, "candidates batch tokens"]
    ) -> Float[Tensor, "candidates batch tokens"]:
        """The gradient at the candidates, up to a constant for each; it may be written over."""
        # Clamped, so that ln(0 + 0) is finite.
        present = torch.clamp(candidates, min=self.tiny, out=self.present)
        found = torch.log(present, out=self.found)
        torch.add(present, self.attention, out=self.middle).log_()
        torch.sub(found, self.middle, out=self.ratio)
        found.mul_(-self.pair * (len(present) - 1)).sub_(self.ratio, alpha=0.5)
        for i in range(len(present) - 1):
            both = torch.add(present[i + 1 :], present[i], out=self.both[i + 1 :]).log_()
            found[i + 1 :].add_(both, alpha=self.pair)
            found[i].add_(both.sum(0), alpha=self.pair)
        return found

    def to_original(
        self, candidates: Float[Tensor, "candidates batch tokens"]
    ) -> Float[Tensor, "candidates batch"]:
        """jsd(a_i, a) in nats for the candidates that `slope` has just seen."""
        theirs = torch.mul(candidates, self.ratio, out=self.ratio).sum(-1)
        ours = torch.mul(self.middle, self.attention, out=self.middle).sum(-1)
        return 0.5 * (theirs + self.own - ours) + math.log(2)


class Adam:
    """Adam with the largest second moment so far (Reddi et al. 2018), in place.

    The numbers of `torch.optim.Adam(amsgrad=True)`, at a fraction of its time for small tensors.
    """

    def __init__(
        self, parameter: Tensor, rate: float, betas: tuple[float, float] = (0.9, 0.999)
    ) -> None:
        self.parameter, self.rate, self.betas, self.floor = parameter, rate, betas, 1e-8
        self.mean, self.square, self.largest, self.scale = (
            torch.zeros_like(parameter) for _ in range(4)
        )
        self.steps = 0

    def step(self, slope: Tensor) -> None:
        """Move the parameter against its gradient."""
        self.steps += 1
        first, second = self.betas
        self.mean.lerp_(slope, 1 - first)
        self.square.mul_(second).addcmul_(slope, slope, value=1 - second)
        torch.maximum(self.largest, self.square, out=self.largest)
        corrected = math.sqrt(1 - second**self.steps)
        torch.sqrt(self.largest, out=self.scale).add_(self.floor * corrected)
        rate = self.rate * corrected / (1 - first**self.steps)
        self.parameter.addcdiv_(self.mean, self.scale, value=-rate)


class _Best:
    """The feasible iterate with the largest jsd, for each candidate [K, B]."""

    def __init__(self, start: Tensor, epsilon: float) -> None:
        self.limit = epsilon + FEASIBLE_SLACK
        self.distance = torch.full_like(start[..., 0], -math.inf)
        self.weights = torch.zeros_like(start)

    def see(self, candidates: Tensor, distance: Tensor, moved: Tensor) -> None:
        better = (distance > self.distance) & (moved <= self.limit)
        self.distance = torch.where(better, distance, self.distance)
        self.weights.lerp_(candidates, better[..., None].to(candidates))  # all or nothing of it

    def attention(self, otherwise: Tensor) -> Tensor:
        found = self.distance > -math.inf
        return torch.where(found[..., None], self.weights, otherwise)
