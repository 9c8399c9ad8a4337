"""What convolutions make of the words around a deleted one, each projection computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


def neighbours(
    convolutions: Sequence[nn.Conv1d],
    embedded: Float[Tensor, "batch tokens embedding"],
    reach: int,
) -> Iterator[tuple[int, Float[Tensor, "batch tokens hidden"]]]:
    """For each distance up to `reach` but 0, the states that far from each deleted position.

    The state at t + distance in the text without t, ReLU applied; `embedded` is 0 at padding.
    Distances are those of the whole text; positions outside it give numbers without a meaning.
    """
    projected = [_projected(conv, embedded, 2 * reach) for conv in convolutions]
    for distance in [*range(-reach, 0), *range(1, reach + 1)]:
        parts = [
            _state(conv, offsets, distance, 2 * reach)
            for conv, offsets in zip(convolutions, projected, strict=True)
        ]
        yield distance, F.relu(torch.cat(parts, dim=-1))


def _projected(
    conv: nn.Conv1d, embedded: Float[Tensor, "batch tokens embedding"], margin: int
) -> list[Float[Tensor, "batch padded filters"]]:
    """What a word adds to the state at each offset of the kernel; 0 in a margin on both sides."""
    return [
        F.pad(embedded @ weight.T, (0, 0, margin, margin)) for weight in conv.weight.unbind(dim=-1)
    ]


def _state(
    conv: nn.Conv1d,
    offsets: list[Float[Tensor, "batch padded filters"]],
    distance: int,
    margin: int,
) -> Float[Tensor, "batch tokens filters"]:
    """The convolution at `distance` from each deleted word: its window closes over the gap."""
    tokens = offsets[0].shape[1] - 2 * margin
    bias = cast("Tensor", conv.bias)
    state = bias.expand(len(offsets[0]), tokens, -1).clone()
    for offset, added in enumerate(offsets, start=-(len(offsets) // 2)):
        source = distance + offset
        if distance < 0 <= source:
            source += 1
        elif source <= 0 < distance:
            source -= 1
        state += added[:, margin + source : margin + source + tokens]
    return state
