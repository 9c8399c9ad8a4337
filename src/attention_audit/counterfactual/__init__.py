"""Other attention, same model: what the prediction owes to where the model looks."""

from attention_audit.counterfactual.adversarial import Adversaries, Search, adversarial_search
from attention_audit.counterfactual.permute import Permuted, permutation

__all__ = ["Adversaries", "Permuted", "Search", "adversarial_search", "permutation"]
