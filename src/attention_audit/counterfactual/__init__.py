"""Other attention, same model: what the prediction owes to where the model looks."""

from attention_audit.counterfactual.adversarial import Adversaries, adversarial_search
from attention_audit.counterfactual.climb import Search
from attention_audit.counterfactual.decoding import Decoding
from attention_audit.counterfactual.exact import exact_adversary
from attention_audit.counterfactual.mixes import ceiling, sparse_adversary
from attention_audit.counterfactual.optimum import Optimum, optimum
from attention_audit.counterfactual.permute import Permuted, permutation
from attention_audit.counterfactual.sparse import Sparse

__all__ = [
    "Adversaries",
    "Decoding",
    "Optimum",
    "Permuted",
    "Search",
    "Sparse",
    "adversarial_search",
    "ceiling",
    "exact_adversary",
    "optimum",
    "permutation",
    "sparse_adversary",
]
