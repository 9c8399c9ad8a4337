"""The most different attention that keeps the output: exact, or else the best found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_audit.counterfactual.adversarial import Adversaries
from attention_audit.counterfactual.decoding import Decoding
from attention_audit.counterfactual.exact import exact_adversary
from attention_audit.counterfactual.mixes import ceiling, sparse_adversary


@dataclass(frozen=True)
class Optimum:
    """The largest JSD to the original attention within each epsilon, and the attention with it.

    With `exact` it is the maximum; otherwise a lower bound of it, and `ceiling`, the maximum
    without any bound on the output, an upper one. NaN where a row has no word.
    """

    exact: bool
    jsd: Float[Tensor, "batch epsilons"]
    attention: Float[Tensor, "batch epsilons tokens"]
    ceiling: Float[Tensor, " batch"]


@torch.no_grad()
def optimum(
    decode: Decoding,
    attention: Float[Tensor, "batch tokens"],
    epsilons: Sequence[float],
    searched: Adversaries | None = None,
) -> Optimum:
    """The optimum for each epsilon.

    A sigmoid on a linear decoder has an exact one. Of any other decoder all single tokens, mixes
    of two and the candidates of a search, where there was one, are compared.
    """
    projection = decode.projection
    mask, highest = projection.mask, ceiling(attention, projection.mask)
    if decode.sigmoid:
        scores, offset = projection.values[..., 0], projection.offset[:, 0]
        best = exact_adversary(scores, offset, attention, mask, epsilons)
        return Optimum(True, best.jsd, best.attention(attention), highest)
    best = sparse_adversary(decode, attention, mask, epsilons)
    jsd, weights = best.jsd, best.attention(attention)
    if searched is not None:
        theirs, candidates = searched.within(epsilons)
        weights = torch.where((theirs > jsd)[..., None], candidates, weights)
        jsd = torch.maximum(jsd, theirs)
    return Optimum(False, jsd, weights, highest)
