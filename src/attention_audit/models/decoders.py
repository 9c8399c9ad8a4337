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

# Finite, so that 0 * logit stays 0 in gradients; exp of it is exactly 0 in float64.
FORBIDDEN_LOGIT = -1e9


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

    @abstractmethod
    def pull_back(
        self, context: Float[Tensor, "*batch width"], slope: Float[Tensor, "*batch outputs"]
    ) -> Float[Tensor, "*batch width"]:
        """The gradient at the context, given the gradient at the logits: of `readout` by hand."""

    def logits(
        self, projection: Projection, context: Float[Tensor, "batch alternatives width"]
    ) -> Float[Tensor, "batch alternatives outputs"]:
        """Logits of K alternatives, those of answers that a row does not allow at the bottom."""
        logits = self.readout(context)
        if projection.candidates is None:
            return logits
        return logits.masked_fill(~projection.candidates[:, None], FORBIDDEN_LOGIT)


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

    def pull_back(
        self, context: Float[Tensor, "*batch width"], slope: Float[Tensor, "*batch outputs"]
    ) -> Float[Tensor, "*batch width"]:
        return slope


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

    def pull_back(
        self, context: Float[Tensor, "*batch width"], slope: Float[Tensor, "*batch outputs"]
    ) -> Float[Tensor, "*batch width"]:
        # In place: the search comes here at each step, and new memory takes most of its time.
        return torch.tanh(context).square_().neg_().add_(1).mul_(slope @ self.output.weight)
