"""Encoders: embedded tokens -> one hidden state per token, and one summary of the text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, cast

import torch
from jaxtyping import Float, Int
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional as F

from attention_audit.models.deletions import ALL, Reading, Told
from attention_audit.models.sweep import sweep_both, trace
from attention_audit.models.windows import neighbours


class Encoder(nn.Module, ABC):
    """Base of all encoders; `width` is the width H of the hidden states.

    `context_free` says that a word's hidden state is the same whatever the other words are.

    `forward(embedded, lengths)` returns hidden states [B, T, H] and a summary [B, H] of the real
    positions (a question's summary is the query vector). Padding never reaches either: hidden
    states at real positions and the summary are those of the document read alone.
    """

    width: int
    context_free: ClassVar[bool] = False

    @abstractmethod
    def forward(
        self, embedded: Float[Tensor, "batch tokens embedding"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch tokens hidden"], Float[Tensor, "batch hidden"]]: ...

    def without_each(
        self,
        embedded: Float[Tensor, "batch tokens embedding"],
        lengths: Int[Tensor, " batch"],
        reading: Reading,
    ) -> Told | None:
        """The texts' hidden states, and what `reading` makes of them without each of their words.

        Optional, for fast leave-one-out: where it is None, as here, each text is read again without
        each of its words. Only the positions in `reading.mask` are asked for.
        """
        return None


class LSTM(Encoder):
    """One-layer bidirectional LSTM; its summary is the last forward and the last backward state.

    Two one-directional LSTMs, the second over each row reversed within its own length: three times
    as fast to train on a CPU as one bidirectional LSTM over packed sequences, and equal to it.

    Args:
        embedding: width of the embedded tokens.
        hidden: width of each direction, so H = 2 * hidden (Jain & Wallace 2019, appendix: 128).
    """

    def __init__(self, embedding: PositiveInt, hidden: PositiveInt = 128) -> None:
        super().__init__()
        self.width = 2 * hidden
        self.forward_lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.backward_lstm = nn.LSTM(embedding, hidden, batch_first=True)

    def forward(
        self, embedded: Float[Tensor, "batch tokens embedding"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch tokens hidden"], Float[Tensor, "batch hidden"]]:
        ahead, _ = self.forward_lstm(embedded)
        turned, _ = self.backward_lstm(_reverse(embedded, lengths))
        last = (lengths - 1)[:, None, None].expand(-1, 1, ahead.shape[-1])
        summary = torch.cat([ahead.gather(1, last), turned.gather(1, last)], dim=-1).squeeze(1)
        return torch.cat([ahead, _reverse(turned, lengths)], dim=-1), summary

    def without_each(
        self,
        embedded: Float[Tensor, "batch tokens embedding"],
        lengths: Int[Tensor, " batch"],
        reading: Reading,
    ) -> Told:
        ahead = trace(self.forward_lstm, embedded, lengths, backward=False)
        back = trace(self.backward_lstm, embedded, lengths, backward=True)
        hidden = torch.cat([ahead.read, back.read], dim=-1)
        return Told(hidden, sweep_both(ahead, back, reading))


def _reverse(
    sequence: Float[Tensor, "batch tokens width"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch tokens width"]:
    """Each row reversed within its own length, padding left where it is."""
    position = torch.arange(sequence.shape[1], device=sequence.device)
    index = torch.where(position < lengths[:, None], lengths[:, None] - 1 - position, position)
    return sequence.gather(1, index[:, :, None].expand(-1, -1, sequence.shape[-1]))


class CNN(Encoder):
    """Parallel convolutions with ReLU; its summary is the maximum over the real positions.

    Args:
        embedding: width of the embedded tokens.
        filters: filters per kernel, so H = filters * len(kernels) (paper: 64; program: 32).
        kernels: odd kernel widths (paper: 1, 3, 5, 7).
    """

    def __init__(
        self,
        embedding: PositiveInt,
        filters: PositiveInt = 64,
        kernels: Sequence[PositiveInt] = (1, 3, 5, 7),
    ) -> None:
        super().__init__()
        even = [kernel for kernel in kernels if kernel % 2 == 0]
        if even or not kernels:
            raise ValueError(
                f"encoder.kernels: found {list(kernels)}, expected odd widths such as [1, 3, 5, 7]"
            )
        self.width = filters * len(kernels)
        self.reach = max(kernels) // 2
        self.convolutions = nn.ModuleList(
            nn.Conv1d(embedding, filters, kernel, padding=kernel // 2) for kernel in kernels
        )

    def forward(
        self, embedded: Float[Tensor, "batch tokens embedding"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch tokens hidden"], Float[Tensor, "batch hidden"]]:
        real = _real(embedded, lengths)
        columns = (embedded * real).transpose(1, 2)
        hidden = torch.cat([F.relu(conv(columns)) for conv in self.convolutions], 1).transpose(1, 2)
        return hidden, hidden.masked_fill(~real, float("-inf")).amax(dim=1)

    def without_each(
        self,
        embedded: Float[Tensor, "batch tokens embedding"],
        lengths: Int[Tensor, " batch"],
        reading: Reading,
    ) -> Told:
        """Only the states within the widest kernel's reach of a deleted word change."""
        hidden, _ = self(embedded, lengths)
        reach, tokens = self.reach, hidden.shape[1]
        pool = reading.each(hidden).beyond(reach)
        mask = F.pad(reading.mask, (reach, reach))
        convolutions = cast("list[nn.Conv1d]", [*self.convolutions])
        real = embedded * _real(embedded, lengths)
        for distance, states in neighbours(convolutions, real, reach):
            energy, values = reading.part(states, ALL)
            there = mask[:, reach + distance : reach + distance + tokens]
            pool.add(ALL, reading.scoring.score(energy), values, there)
        return Told(hidden, pool)


class Average(Encoder):
    """Token-wise projection without any context; its summary is the mean over real positions.

    Args:
        embedding: width of the embedded tokens.
        hidden: H (paper: 256; program: 128).
        activation: paper: relu; program: tanh.
    """

    context_free = True

    def __init__(
        self,
        embedding: PositiveInt,
        hidden: PositiveInt = 256,
        activation: Literal["relu", "tanh"] = "relu",
    ) -> None:
        super().__init__()
        self.width = hidden
        self.projection = nn.Linear(embedding, hidden)
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[activation]

    def forward(
        self, embedded: Float[Tensor, "batch tokens embedding"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch tokens hidden"], Float[Tensor, "batch hidden"]]:
        hidden = self.activation(self.projection(embedded))
        total = (hidden * _real(embedded, lengths)).sum(dim=1)
        return hidden, total / lengths[:, None]

    def without_each(
        self,
        embedded: Float[Tensor, "batch tokens embedding"],
        lengths: Int[Tensor, " batch"],
        reading: Reading,
    ) -> Told:
        """The other words' states stay as they are."""
        hidden, _ = self(embedded, lengths)
        return Told(hidden, reading.each(hidden).beyond(0))


class Summarised(Encoder):
    """Every position holds the summary of another encoder: whatever attention does, it gets that.

    With it a model is the plain encoder without attention: for an LSTM, its last states.

    Args:
        embedding: width of the embedded tokens.
        of: constructor of the other encoder.
    """

    def __init__(self, embedding: PositiveInt, of: Callable[..., Encoder]) -> None:
        super().__init__()
        self.of = of(embedding=embedding)
        self.width = self.of.width

    def forward(
        self, embedded: Float[Tensor, "batch tokens embedding"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch tokens hidden"], Float[Tensor, "batch hidden"]]:
        _, summary = self.of(embedded, lengths)
        return summary[:, None].expand(-1, embedded.shape[1], -1), summary


def _real(embedded: Tensor, lengths: Tensor) -> Tensor:
    """True at real positions, padding excluded; [B, T, 1]."""
    position = torch.arange(embedded.shape[1], device=embedded.device)
    return (position < lengths[:, None])[:, :, None]
