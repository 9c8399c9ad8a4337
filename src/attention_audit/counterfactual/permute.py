"""Permutation: shuffle the attention weights, keep the hidden states, watch the prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_audit.measures import tvd

_STREAM = 1  # keeps these draws apart from those of other analyses with the same seed

Decode = Callable[[Tensor], Tensor]
"""Attention [B, K, T] -> probabilities, float64 [B, K, C >= 2]."""


@dataclass(frozen=True)
class Permuted:
    """Each of K permutations, the outputs under them, their TVD to the original, and its median.

    `delta` and `median` lie in [0, 1] and are NaN for a row without any word.
    """

    attention: Float[Tensor, "batch permutations tokens"]
    outputs: Float[Tensor, "batch permutations classes"]
    delta: Float[Tensor, "batch permutations"]
    median: Float[Tensor, " batch"]


@torch.no_grad()
def permutation(
    decode: Decode,
    attention: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    ids: Int[Tensor, " batch"],
    *,
    permutations: int = 100,
    seed: int = 0,
    index: Int[Tensor, "batch permutations tokens"] | None = None,
) -> Permuted:
    """Permute attention among the mask positions (Jain & Wallace 2019, algorithm 2).

    The permutations follow from (seed, instance id) alone: neither padding nor the rest of the
    batch matters. `index` gives them instead: position t of permutation k gets the weight of
    position index[k, t], or 0 where that is negative.
    """
    if index is None:
        index = draw_permutations(mask, ids, permutations=permutations, seed=seed)
        permuted = _rearranged(attention, index)
    else:
        permuted = _rearranged(attention, index.clamp(min=0))
        permuted = permuted.masked_fill((index < 0).to(permuted.device), 0)
    original = decode(attention[:, None])
    outputs = decode(permuted)
    delta = tvd(outputs, original).masked_fill(~mask.any(1, keepdim=True), torch.nan)
    return Permuted(permuted, outputs, delta, delta.quantile(0.5, dim=1))


def draw_permutations(
    mask: Bool[Tensor, "batch tokens"],
    ids: Int[Tensor, " batch"],
    *,
    permutations: int,
    seed: int,
) -> Int[Tensor, "batch permutations tokens"]:
    """Where each position takes its weight from; off the mask from itself, which has none."""
    rows, width = mask.shape
    index = np.empty((rows, permutations, width), dtype=np.int64)
    index[:] = np.arange(width)
    for row, (instance, kept) in enumerate(zip(ids.tolist(), mask.cpu().numpy(), strict=True)):
        generator = np.random.default_rng([seed, _STREAM, instance])
        positions = np.flatnonzero(kept)
        order = generator.random((permutations, len(positions))).argsort(axis=1)
        if len(positions) and positions[-1] - positions[0] < len(positions):  # no gap: much faster
            np.add(order, positions[0], out=index[row, :, positions[0] : positions[-1] + 1])
        else:
            index[row][:, positions] = positions[order]
    return torch.from_numpy(index)


def _rearranged(attention: Tensor, index: Tensor) -> Tensor:
    source = attention[:, None].expand(-1, index.shape[1], -1)
    return source.gather(2, index.to(attention.device))
