"""Other models, same question: what else gives the words their weights, and does it do as well?"""

from attention_audit.diagnostics.log_odds import fit_log_odds, log_odds_attention

__all__ = ["fit_log_odds", "log_odds_attention"]
