"""Attentions: one score per token, normalised over the positions where attention may go."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from pydantic import PositiveInt
from torch import Tensor, nn

from attention_audit.batch import Encoding
from attention_audit.models.deletions import Scoring, times
from attention_audit.predictions import Given


def masked_softmax(
    scores: Float[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch tokens"]:
    """Softmax over the True positions of each row, exactly 0 elsewhere.

    A row with no True position is all 0, never NaN. Rows sum to 1 otherwise.
    """
    scores = scores.masked_fill(~mask, float("-inf"))
    floor = torch.finfo(scores.dtype).min
    top = scores.detach().amax(dim=-1, keepdim=True).clamp(min=floor)
    weights = (scores - top).exp()
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


class Attention(nn.Module, ABC):
    """Base of all attentions: built with the widths of hidden states and of the query (or None).

    `uniform` says that it gives every word of a text the same weight.
    """

    uniform: ClassVar[bool] = False

    @abstractmethod
    def forward(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]: ...

    def normalise(
        self, scores: Float[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """Scores -> weights that sum to 1 over the mask; softmax unless a subclass says else."""
        return masked_softmax(scores, mask)

    def scoring(self, query: Float[Tensor, "batch query"] | None) -> Scoring | None:
        """The scores under this query by parts of the hidden states, for fast leave-one-out.

        Optional: where it is None, as here, each text is read again without each of its words.
        """
        return None


class Additive(Attention):
    """v . tanh(W1 h + W2 q + b) (Bahdanau et al. 2015), W1 from H to H/2, v without a bias."""

    def __init__(
        self, hidden: PositiveInt, query: PositiveInt | None, width: PositiveInt | None = None
    ) -> None:
        super().__init__()
        width = width or hidden // 2
        self.hidden = nn.Linear(hidden, width)
        self.query = nn.Linear(query, width) if query is not None else None
        self.vector = nn.Linear(width, 1, bias=False)

    def forward(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]:
        energy = self.hidden(encoding.hidden)
        if self.query is not None:
            energy = energy + self.query(encoding.query)[:, None]
        return self.vector(torch.tanh(energy)).squeeze(-1)

    def scoring(self, query: Float[Tensor, "batch query"] | None) -> Scoring:
        offset = self.hidden.bias
        if self.query is not None:
            offset = offset + self.query(query)[:, None]
        return Scoring(
            lambda hidden, columns: times(hidden, self.hidden.weight[:, columns]),
            lambda energy: self.vector((energy + offset).tanh_()).squeeze(-1),
        )


class Dot(Attention):
    """h . q / sqrt(H), q a learned vector where the task has no query (Vaswani et al. 2017)."""

    def __init__(self, hidden: PositiveInt, query: PositiveInt | None) -> None:
        super().__init__()
        if query is not None and query != hidden:
            raise ValueError(
                f"attention=dot: hidden width {hidden} and query width {query} differ; "
                "give both encoders one width or choose attention=additive"
            )
        self.vector = nn.Linear(hidden, 1, bias=False) if query is None else None
        self.scale = 1 / math.sqrt(hidden)

    def forward(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]:
        if self.vector is not None:
            return self.vector(encoding.hidden).squeeze(-1) * self.scale
        return torch.einsum("bth,bh->bt", encoding.hidden, encoding.query) * self.scale

    def scoring(self, query: Float[Tensor, "batch query"] | None) -> Scoring | None:
        vector = query if self.vector is None else self.vector.weight
        if vector is None:
            return None
        scaled = vector[..., None] * self.scale
        return Scoring(
            lambda hidden, columns: hidden @ scaled[:, columns],
            lambda energy: energy.squeeze(-1),
        )


class Uniform(Attention):
    """The same weight on every word: the baseline of Wiegreffe & Pinter 2019, section 3.2."""

    uniform = True

    def __init__(self, hidden: PositiveInt, query: PositiveInt | None) -> None:
        super().__init__()

    def forward(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]:
        return encoding.hidden.new_zeros(encoding.mask.shape)

    def scoring(self, query: Float[Tensor, "batch query"] | None) -> Scoring:
        return Scoring(lambda hidden, columns: hidden[..., :0], lambda energy: energy.sum(-1))


class Frozen(Attention):
    """Weights that were given for each instance, found by its id; nothing is learned.

    They are of whole texts: a text without one of its words has none.
    """

    def __init__(self, hidden: PositiveInt, query: PositiveInt | None, given: Given) -> None:
        super().__init__()
        self.given = given

    def forward(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]:
        return self.given.attention(encoding.ids, encoding.mask).to(encoding.hidden)

    def normalise(
        self, scores: Float[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """The weights as they were given, which sum to 1 over the mask."""
        return scores.masked_fill(~mask, 0)
