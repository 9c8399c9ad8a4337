"""Thin Lightning callbacks: they call the pure functions and hand rows to the store."""

from attention_audit.callbacks.adversarial import Adversarial
from attention_audit.callbacks.analysis import AnalysisCallback
from attention_audit.callbacks.correlation import Correlation
from attention_audit.callbacks.permutation import Permutation
from attention_audit.callbacks.predictions import StorePredictions

__all__ = ["Adversarial", "AnalysisCallback", "Correlation", "Permutation", "StorePredictions"]
