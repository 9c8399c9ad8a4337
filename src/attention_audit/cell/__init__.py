"""From a configuration to a cell of the store, and to its fitted model; no analyses."""

from attention_audit.cell.fitting import Fitted, Serving, build, fit, fit_or_load, prepare_corpus
from attention_audit.cell.keeping import epoch_weights
from attention_audit.cell.locating import (
    Place,
    corpus_fingerprint,
    find_source,
    locate,
    place_of,
)
from attention_audit.cell.restoring import Restored, refuse_frozen, restore
from attention_audit.cell.working import failure_kept, logged

__all__ = [
    "Fitted",
    "Place",
    "Restored",
    "Serving",
    "build",
    "corpus_fingerprint",
    "epoch_weights",
    "failure_kept",
    "find_source",
    "fit",
    "fit_or_load",
    "locate",
    "logged",
    "place_of",
    "prepare_corpus",
    "refuse_frozen",
    "restore",
]
