"""From a model's logits to probabilities that mean the same for every number of classes."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def probabilities(logits: Float[Tensor, "... outputs"]) -> Float[Tensor, "... classes"]:
    """Float64 probabilities with at least two columns; one logit z gives [1-p, p], p = sigmoid(z).

    1-p is sigmoid(-z), not a subtraction, so that a saturated model keeps its smaller side.

    >>> probabilities(torch.tensor([[0.0]]))
    tensor([[0.5000, 0.5000]], dtype=torch.float64)
    >>> f"{probabilities(torch.tensor([100.0]))[0].item():.3g}"
    '3.72e-44'
    """
    logits = logits.double()
    if logits.shape[-1] == 1:
        return torch.sigmoid(torch.cat([-logits, logits], dim=-1))
    return torch.softmax(logits, dim=-1)
