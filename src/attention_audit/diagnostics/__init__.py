"""Other models, same question: is attention needed, stable, of use to others, and the only one?

The four tests of Wiegreffe & Pinter 2019. Each fits further models, through a `Fit` that it is
given, and compares what they say with what the base model says, instance by instance.
"""

from attention_audit.diagnostics.adversary import (
    Chosen,
    ModelConsistency,
    first_beyond,
    fit_adversary,
)
from attention_audit.diagnostics.comparing import attention_jsd, differences, output_tvd
from attention_audit.diagnostics.finding import Finding
from attention_audit.diagnostics.guided import SPLITS, fit_guided, fit_mlp, normalised, permuted
from attention_audit.diagnostics.log_odds import (
    fit_frozen,
    fit_log_odds,
    fit_regularised,
    give_log_odds,
    log_odds_attention,
)
from attention_audit.diagnostics.seeds import fit_seeds, other_seeds
from attention_audit.diagnostics.subject import Fit, Subject
from attention_audit.diagnostics.uniform import fit_plain, fit_uniform

__all__ = [
    "SPLITS",
    "Chosen",
    "Finding",
    "Fit",
    "ModelConsistency",
    "Subject",
    "attention_jsd",
    "differences",
    "first_beyond",
    "fit_adversary",
    "fit_frozen",
    "fit_guided",
    "fit_log_odds",
    "fit_mlp",
    "fit_plain",
    "fit_regularised",
    "fit_seeds",
    "fit_uniform",
    "give_log_odds",
    "log_odds_attention",
    "normalised",
    "other_seeds",
    "output_tvd",
    "permuted",
]
