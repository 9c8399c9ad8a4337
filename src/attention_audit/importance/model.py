"""What an importance needs of the model on trial."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from attention_audit.batch import Batch, Encoding, Projection


@runtime_checkable
class Model(Protocol):
    """The part of AttentionModel that importances use; see `attention_audit.models`."""

    training: bool

    def embed(self, batch: Batch) -> Tensor: ...

    def encode(self, batch: Batch, embedded: Tensor | None = None) -> Encoding: ...

    def attend(self, encoding: Encoding) -> Tensor: ...

    def project(self, encoding: Encoding) -> Projection: ...

    def decode(self, projection: Projection, attention: Tensor) -> Tensor: ...

    def without_each(self, batch: Batch) -> tuple[Tensor, Tensor] | None: ...


def require_eval(model: Model) -> None:
    """Raise ValueError if the model is in train mode, where dropout would change its answers."""
    if model.training:
        raise ValueError(
            "importance: found the model in train mode, where dropout is active; "
            "expected evaluation mode: call model.eval() first"
        )
