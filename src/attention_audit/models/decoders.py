"""Decoders: hidden states and an attention distribution -> logits, split at the attention.

`project` brings the hidden states to the decoder's width once; `readout` turns the attended sum
into logits. What lies between, `attention @ values + offset`, is all that attention can change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from attention_audit.batch import Encoding, Projection


class Decoder(nn.Module, ABC):
    """Base of all decoders; `linear` says that a token's contribution to the logits is linear."""

    linear: bool

    @abstractmethod
    def project(self, encoding: Encoding) -> Projection: ...

    @property
    def weight(self) -> Float[Tensor, "width hidden"] | None:
        """With it `project` gives hidden @ weight.T as values; None: they are another function."""
        return None

    @abstractmethod
    def readout(
        self, context: Float[Tensor, "*batch width"]
    ) -> Float[Tensor, "*batch outputs"]: ...


class Classification(Decoder):
    """W h_a + b: one logit for two classes, C logits for C > 2."""

    linear = True

    def __init__(self, hidden: PositiveInt, outputs: PositiveInt) -> None:
        super().__init__()
        self.output = nn.Linear(hidden, outputs)

    @property
    def weight(self) -> Float[Tensor, "width hidden"]:
        return self.output.weight

    def project(self, encoding: Encoding) -> Projection:
        values = encoding.hidden @ self.weight.T
        offset = self.output.bias.expand(len(encoding.ids), -1)
        return Projection(values, offset, encoding.mask, encoding.candidates, encoding.ids)

    def readout(self, context: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch outputs"]:
        return context


class WithQuery(Decoder):
    """W2 tanh(Wp h_a + Wq q), H/2 wide: over answers (of which a row may allow a part) or classes.

    Two classes have a logit each here, under a softmax.
    """

    linear = False

    def __init__(self, hidden: PositiveInt, query: PositiveInt, outputs: PositiveInt) -> None:
        super().__init__()
        self.passage = nn.Linear(hidden, hidden // 2)
        self.query = nn.Linear(query, hidden // 2)
        self.output = nn.Linear(hidden // 2, outputs)

    @property
    def weight(self) -> Float[Tensor, "width hidden"]:
        return self.passage.weight

    def project(self, encoding: Encoding) -> Projection:
        values = encoding.hidden @ self.weight.T
        offset = self.query(encoding.query) + self.passage.bias
        return Projection(values, offset, encoding.mask, encoding.candidates, encoding.ids)

    def readout(self, context: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch outputs"]:
        return self.output(torch.tanh(context))
