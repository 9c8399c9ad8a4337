"""The mathematics of every reported number, as pure functions over tensors and arrays."""

from attention_audit.measures.bootstrap import (
    Summary,
    interval,
    summarise,
    summarise_difference,
)
from attention_audit.measures.divergence import entropy, jsd, kl, tvd
from attention_audit.measures.kendall import Tau, kendall_tau, level, sig_frac
from attention_audit.measures.probability import probabilities
from attention_audit.measures.scores import (
    Metric,
    Scored,
    score,
    score_difference,
    score_interval,
)
from attention_audit.measures.variation import within_share

__all__ = [
    "Metric",
    "Scored",
    "Summary",
    "Tau",
    "entropy",
    "interval",
    "jsd",
    "kendall_tau",
    "kl",
    "level",
    "probabilities",
    "score",
    "score_difference",
    "score_interval",
    "sig_frac",
    "summarise",
    "summarise_difference",
    "tvd",
    "within_share",
]
