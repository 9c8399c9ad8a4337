"""Other attention, same model: what the prediction owes to where the model looks."""

from attention_audit.counterfactual.adversarial import Adversaries, adversarial_search
from attention_audit.counterfactual.climb import Search
from attention_audit.counterfactual.decoding import Decoding
from attention_audit.counterfactual.exact import Exact, exact_adversary
from attention_audit.counterfactual.permute import Permuted, permutation

__all__ = [
    "Adversaries",
    "Decoding",
    "Exact",
    "Permuted",
    "Search",
    "adversarial_search",
    "exact_adversary",
    "permutation",
]
