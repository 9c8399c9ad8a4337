"""Token importances of a fitted model, each a function of (model, batch) -> float64 [B, T]."""

from attention_audit.importance.control import random
from attention_audit.importance.deletion import leave_one_out
from attention_audit.importance.gradients import gradient, signed_gradient

__all__ = ["gradient", "leave_one_out", "random", "signed_gradient"]
