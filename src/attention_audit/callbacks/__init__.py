"""Thin Lightning callbacks: they call the pure functions and hand rows to the store."""

from attention_audit.callbacks.adversarial import Adversarial
from attention_audit.callbacks.analysis import AnalysisCallback
from attention_audit.callbacks.contexts import Contexts
from attention_audit.callbacks.correlation import Correlation
from attention_audit.callbacks.diagnostic import Diagnostic
from attention_audit.callbacks.guided_mlp import GuidedMLP
from attention_audit.callbacks.log_odds import LogOdds
from attention_audit.callbacks.model_adversary import ModelAdversary
from attention_audit.callbacks.permutation import Permutation
from attention_audit.callbacks.predictions import StorePredictions
from attention_audit.callbacks.seeds import Seeds
from attention_audit.callbacks.stored import StoredAnalysis
from attention_audit.callbacks.trajectory import Trajectory
from attention_audit.callbacks.uniform import Uniform

__all__ = [
    "Adversarial",
    "AnalysisCallback",
    "Contexts",
    "Correlation",
    "Diagnostic",
    "GuidedMLP",
    "LogOdds",
    "ModelAdversary",
    "Permutation",
    "Seeds",
    "StorePredictions",
    "StoredAnalysis",
    "Trajectory",
    "Uniform",
]
