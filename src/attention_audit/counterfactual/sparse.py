"""Attention on one or two tokens: the vertices where the most different attention is looked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Sparse:
    """A distribution on at most two tokens for each instance and epsilon.

    `jsd` to the original attention in nats, in [0, ln 2]; NaN where a row has no word. `weights`
    stand on the positions `support`; one token is twice the same position, with weights 1 and 0.
    Where none but the original attention was found, `jsd` and both weights are 0.
    """

    jsd: Float[Tensor, "batch epsilons"]
    support: Int[Tensor, "batch epsilons 2"]
    weights: Float[Tensor, "batch epsilons 2"]

    def attention(
        self, original: Float[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch epsilons tokens"]:
        """The distributions, dense; the original one where no other was found."""
        each = original[:, None].expand(-1, self.jsd.shape[1], -1)
        weights = self.weights.to(original)
        spread = torch.zeros_like(each).scatter_add(2, self.support, weights)
        return torch.where(weights.sum(2, keepdim=True) > 0, spread, each)


def normalised(
    attention: Float[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch tokens"]:
    """Float64 attention that sums to 1 to its last digits; 0 off the mask."""
    kept = attention.double() * mask
    return kept / kept.sum(1, keepdim=True).clamp(min=torch.finfo(kept.dtype).tiny)


def self_information(attention: Float[Tensor, " ..."]) -> Float[Tensor, " ..."]:
    """a ln a; 0 for 0."""
    return torch.xlogy(attention, attention)


def cost(
    attention: Float[Tensor, " ..."],
    information: Float[Tensor, " ..."],
    weight: Float[Tensor, " ..."],
) -> Float[Tensor, " ..."]:
    """What a token with this new weight w > 0 and original attention a takes from the JSD.

    (a + w) ln(a + w) - a ln a - w ln w >= 0, with `information` = a ln a. It is concave in (a, w)
    and grows with either; over the new distribution's support it sums to 2 (ln 2 - JSD).
    """
    both = attention + weight
    return both * both.log() - information - weight * weight.log()


def divergence(total: Float[Tensor, " ..."]) -> Float[Tensor, " ..."]:
    """The JSD in nats from the sum of costs over the support."""
    return (math.log(2) - total / 2).clamp(min=0)
