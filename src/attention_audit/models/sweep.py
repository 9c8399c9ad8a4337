"""One LSTM over a text without each of its words, in one sweep over the positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_audit.models.deletions import NEVER, Pool, Reading, times


@dataclass(frozen=True)
class Trace:
    """One direction of an LSTM over whole texts, in the texts' own order.

    Attributes:
        inputs: the input's part of the gates, computed once for all deletions.
        weight: of the recurrence; the gates' order is input, forget, output, cell.
        hidden, cell: the state that reaches each position: it has read all positions before it
            (after it, for the backward direction), but not the position itself.
        read: the hidden state after each position.
    """

    inputs: Float[Tensor, "batch tokens gates"]
    weight: Float[Tensor, "gates hidden"]
    hidden: Float[Tensor, "batch tokens hidden"]
    cell: Float[Tensor, "batch tokens hidden"]
    read: Float[Tensor, "batch tokens hidden"]


def trace(
    lstm: nn.LSTM,
    embedded: Float[Tensor, "batch tokens embedding"],
    lengths: Int[Tensor, " batch"],
    backward: bool,
) -> Trace:
    """Run a one-directional, one-layer LSTM over whole texts and keep all of its states.

    `backward` runs from each text's end to its start; at padding all states are 0.
    """
    entry, recurrence, *biases = (_reordered(weight) for weight in lstm.all_weights[0])
    inputs = embedded @ entry.T + sum(biases)
    kept = inputs.new_zeros(3, *embedded.shape[:2], lstm.hidden_size)
    hidden, cell = inputs.new_zeros(2, len(lengths), 1, lstm.hidden_size)
    positions = range(embedded.shape[1])
    for position in reversed(positions) if backward else positions:
        kept[0, :, position], kept[1, :, position] = hidden[:, 0], cell[:, 0]
        _advance(hidden, cell, inputs[:, position], recurrence)
        # Backward, padding comes first: the text starts from an empty state behind it.
        inside = (position < lengths)[:, None, None]
        hidden, cell = hidden * inside, cell * inside
        kept[2, :, position] = hidden[:, 0]
    return Trace(inputs, recurrence, *kept)


def _reordered(weight: Float[Tensor, "gates ..."]) -> Float[Tensor, "gates ..."]:
    """From torch's input, forget, cell, output to ours, where the three sigmoids are one block."""
    entry, forget, cell, output = weight.chunk(4)
    return torch.cat([entry, forget, output, cell])


def _advance(
    hidden: Float[Tensor, "batch lanes hidden"],
    cell: Float[Tensor, "batch lanes hidden"],
    inputs: Float[Tensor, "batch gates"],
    weight: Float[Tensor, "gates hidden"],
) -> Float[Tensor, "batch lanes hidden"]:
    """Read one position, the same in all lanes of a text; in place, and the new hidden state."""
    gates = times(hidden, weight).add_(inputs[:, None])
    width = hidden.shape[-1]
    entry, forget, output = gates[..., : 3 * width].sigmoid_().chunk(3, dim=-1)
    cell.mul_(forget).addcmul_(entry, gates[..., 3 * width :].tanh_())
    new = output * cell.tanh()
    hidden.copy_(new)
    return new


def sweep_both(ahead: Trace, back: Trace, reading: Reading) -> Pool:
    """The pool of each text without each of its positions, from both directions' traces.

    Before the deleted word the forward states stay as they are, behind it the backward ones; so
    each sweep changes one half of the hidden states and reads the other from the whole text.
    """
    width = ahead.hidden.shape[-1]
    first_half, second_half = slice(0, width), slice(width, None)
    (columns,) = reading.mask.any(0).nonzero(as_tuple=True)
    if not len(columns):
        return _nothing(ahead.hidden, reading)
    first, last = int(columns[0]), int(columns[-1])
    behind = _sweep(
        ahead,
        reading,
        first_half,
        reading.part(back.read, second_half),
        ((position, slice(first, position)) for position in range(first + 1, last + 1)),
    )
    before = _sweep(
        back,
        reading,
        second_half,
        reading.part(ahead.read, first_half),
        ((position, slice(position + 1, last + 1)) for position in range(last - 1, first - 1, -1)),
    )
    return before.merge(behind)


def _sweep(
    direction: Trace,
    reading: Reading,
    columns: slice,
    other: tuple[Tensor, Tensor],
    steps: Iterable[tuple[int, slice]],
) -> Pool:
    """Pools over the positions of `steps`; lane t is the text without position t.

    Each step reads one position in the lanes whose deleted position lies behind it already; they
    started from the state that reached that position. `other` is the other half's part.
    """
    hidden, cell = direction.hidden.clone(), direction.cell.clone()
    pool = _nothing(hidden, reading)
    energies, values = other
    for position, lanes in steps:
        inputs = direction.inputs[:, position]
        new = _advance(hidden[:, lanes], cell[:, lanes], inputs, direction.weight)
        energy, value = reading.part(new, columns)
        scores = reading.scoring.score(energy + energies[:, position, None])
        mask = reading.mask[:, position, None].expand(scores.shape)
        pool.add(lanes, scores, value + values[:, position, None], mask)
    return pool


def _nothing(hidden: Tensor, reading: Reading) -> Pool:
    shape = hidden.shape[:2]
    return Pool(
        hidden.new_full(shape, NEVER, dtype=torch.float64),
        hidden.new_zeros(shape, dtype=torch.float64),
        hidden.new_zeros(*shape, len(reading.weight), dtype=torch.float64),
    )
