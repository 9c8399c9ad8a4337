"""What the numbers of a cell are, in a reader's words."""

from __future__ import annotations

MEANINGS = {
    "accuracy": "",
    "f1": "",
    "macro_f1": "",
    "roc_auc": "",
    "pr_auc": "",
    "tau_gradient": "Kendall's tau between attention and gradient",
    "tau_loo": "Kendall's tau between attention and leave-one-out",
    "tau_gradient_loo": "Kendall's tau between gradient and leave-one-out",
    "tau_random": "Kendall's tau between attention and random importance: the control",
    "gap_loo": "tau_gradient_loo - tau_loo, instance by instance",
    "gap_gradient": "tau_gradient_loo - tau_gradient, instance by instance",
    "delta_y_med": "median output change (TVD) when attention is permuted",
    "eps_max_jsd": "largest JSD, found by search, of an attention that keeps the output (<= 0.693)",
    "eps_max_jsd_exact": "the largest such JSD that there is, proven",
    "eps_max_jsd_found": "the best of search, single words, mixes of two; there may be larger",
    "jsd_achieved": "eps_max_jsd_found as a share of the largest without regard to the output",
    "search_gap": "what the search misses: eps_max_jsd_exact (or _found) - eps_max_jsd",
    "search_shortfall": "share of the instances where it misses more than 0.05",
    "context_share": "share of attention's variance within words: 0, it goes by the word alone",
}
"""The quantities that are shown first, in this order, and what a reader must be told of them."""

# Quantities of which there is one for each of some numbers, which ends their name: a line each.
SERIES = {
    "frontier_": "largest JSD by epsilon",
    "settled_jsd_epoch_": "JSD of attention to its last, by epoch",
    "tau_gradient_epoch_": "tau of attention and gradient, by epoch",
    "tau_loo_epoch_": "tau of attention and leave-one-out, by epoch",
}


def meaning(quantity: str) -> str:
    """What a reader must be told of a quantity; "" of one that needs no words."""
    of_series = (text for start, text in SERIES.items() if quantity.startswith(start))
    return MEANINGS.get(quantity) or next(of_series, "")
