"""Is attention needed? Models without it (Wiegreffe & Pinter 2019, section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention_audit.diagnostics.subject import Fit, Subject

SUMMARISED = "attention_audit.models.encoders.Summarised"


def fit_uniform(fit: Fit, uniform: Mapping[str, Any]) -> Subject:
    """The same model with attention frozen to uniform over the words.

    Args:
        fit: fits it.
        uniform: that attention's configuration.
    """
    return fit("uniform", {"attention": dict(uniform)})


def fit_plain(fit: Fit, encoder: Mapping[str, Any], uniform: Mapping[str, Any]) -> Subject:
    """The encoder without any attention: an LSTM's last states go to the decoder.

    Args:
        fit: fits it.
        encoder: the base model's encoder's configuration.
        uniform: of the attention that has nothing to choose from.
    """
    inner = {key: value for key, value in encoder.items() if key != "name"}
    plain = {
        "_target_": SUMMARISED,
        "of": {**inner, "_partial_": True},
        "name": f"{encoder['name']}_summary",
    }
    return fit("plain", {"encoder": plain, "attention": dict(uniform)})
