"""Encoders, attentions and decoders, the model they make, and its training."""

from attention_audit.models.attention_model import (
    AttentionModel,
    Output,
    assemble,
)

__all__ = ["AttentionModel", "Output", "assemble"]
