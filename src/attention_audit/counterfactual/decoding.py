"""The output as a function of attention alone: the hidden states are held fixed, projected once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from attention_audit.batch import Projection
from attention_audit.measures import probabilities, tvd


@runtime_checkable
class Readout(Protocol):
    """What the attended sum goes through: a decoder of `attention_audit.models`."""

    linear: bool

    def logits(self, projection: Projection, context: Tensor, /) -> Tensor:
        """Context [B, K, D] -> logits [B, K, O]."""

    def pull_back(self, context: Tensor, slope: Tensor, /) -> Tensor:
        """The gradient at the context [B, K, D], given that at the logits [B, K, O]."""


@dataclass(frozen=True)
class Decoding:
    """Attention [B, K, T] -> probabilities, float64 [B, K, C >= 2], and how the output moves."""

    readout: Readout
    projection: Projection

    @property
    def sigmoid(self) -> bool:
        """Whether the output is a sigmoid of one logit that is linear in the attention."""
        return self.readout.linear and self.projection.values.shape[-1] == 1

    def __call__(
        self, attention: Float[Tensor, "batch alternatives tokens"]
    ) -> Float[Tensor, "batch alternatives classes"]:
        return self.output(self.projection.attended(attention))

    def output(
        self, context: Float[Tensor, "batch alternatives width"]
    ) -> Float[Tensor, "batch alternatives classes"]:
        """The probabilities that follow from attended sums."""
        return probabilities(self.readout.logits(self.projection, context))

    def moved(
        self,
        attention: Float[Tensor, "batch alternatives tokens"],
        original: Float[Tensor, "batch 1 classes"],
    ) -> tuple[Float[Tensor, "batch alternatives"], Float[Tensor, "batch alternatives width"]]:
        """TVD to the original output, and its gradient at the attended sum, in closed form.

        At the attention the gradient is the latter times the projected values: [B, K, D] @ [B, D,
        T]. Where two outputs are equal in a class, |difference| has slope 0, as autograd says.
        """
        context = self.projection.attended(attention)
        logits = self.readout.logits(self.projection, context)
        output = probabilities(logits)
        toward = 0.5 * (output - original).sign()
        slope = output * (toward - (output * toward).sum(-1, keepdim=True))
        slope = slope[..., -logits.shape[-1] :]  # of one logit, that of the class it stands for
        return tvd(output, original), self.readout.pull_back(context, slope.to(context))
