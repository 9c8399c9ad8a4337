"""Distances between distributions along the last axis, in float64 and natural logarithms."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def tvd(p: Float[Tensor, "... classes"], q: Float[Tensor, "... classes"]) -> Float[Tensor, " ..."]:
    """Total variation distance 1/2 sum_c |p_c - q_c|, in [0, 1] (Jain & Wallace 2019, section 4).

    Leading axes broadcast.

    >>> tvd(torch.tensor([0.75, 0.25]), torch.tensor([0.25, 0.75])).item()
    0.5
    """
    return 0.5 * (p.double() - q.double()).abs().sum(-1)


def kl(
    p: Float[Tensor, "... tokens"], q: Float[Tensor, "... tokens"], floor: float = 0.0
) -> Float[Tensor, " ..."]:
    """Kullback-Leibler divergence sum_t p_t ln(p_t / q_t) in nats, in [0, inf]; 0 log 0 = 0.

    With a `floor` above 0, both sides of the ratio are at least that: the divergence, and its
    gradient, stay finite where a weight is exactly 0 (1e-10: Wiegreffe & Pinter 2019, whose
    adversary is trained on it).

    >>> round(kl(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5])).item(), 4)
    0.6931
    >>> kl(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0])).item()
    inf
    >>> round(kl(torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0]), floor=1e-10).item(), 4)
    10.8198
    """
    p, q = p.double(), q.double()
    above, below = p.clamp(min=floor), q.clamp(min=floor)
    ratio = torch.where(above > 0, above / below, 1.0)
    return torch.xlogy(p, ratio).sum(-1).clamp(min=0)


def jsd(a: Float[Tensor, "... tokens"], b: Float[Tensor, "... tokens"]) -> Float[Tensor, " ..."]:
    """Jensen-Shannon divergence 1/2 KL(a, m) + 1/2 KL(b, m), m = (a + b) / 2, in [0, ln 2] nats.

    It is the divergence itself, not its square root; 0 log 0 = 0. Leading axes broadcast
    (Jain & Wallace 2019, section 4.2.2).

    >>> round(jsd(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])).item(), 4)
    0.6931
    >>> jsd(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.5, 0.5, 0.0])).item()
    0.0
    """
    a, b = a.double(), b.double()
    total = a + b
    total = torch.where(total > 0, total, 1.0)
    terms = torch.xlogy(a, 2 * a / total) + torch.xlogy(b, 2 * b / total)
    return 0.5 * terms.sum(-1).clamp(min=0)


def entropy(p: Float[Tensor, "... tokens"]) -> Float[Tensor, " ..."]:
    """Shannon entropy -sum_t p_t ln p_t in nats, in [0, ln T]; 0 log 0 = 0.

    >>> round(entropy(torch.tensor([0.5, 0.5, 0.0])).item(), 4)
    0.6931
    """
    p = p.double()
    return -torch.xlogy(p, p).sum(-1).clamp(max=0)
