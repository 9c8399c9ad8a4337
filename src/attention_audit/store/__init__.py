"""The cell folder: who a result is, locks, atomic writes, and reading back.

    <root>/<dataset>/<encoder>+<attention>/<seed>-<hash8>/
        config.yaml identity.json status.json traceback.txt metrics.json ... *.parquet
        analyses/<name>-<hash8>/{instances,tokens}.parquet summary.json identity.json

Every file appears whole or not at all, and every folder under `analyses/` is a finished analysis,
wherever a process was killed. Undefined numbers (NaN, infinite) are null in JSON, blank in
`summary.csv` and NaN in Parquet. Importing this module loads nothing heavy.
"""

from attention_audit.store.analysis import Analysis, latest
from attention_audit.store.cell import FORMAT, GRID, Cell
from attention_audit.store.fingerprints import fingerprint
from attention_audit.store.plain import canonical, differing_keys
from attention_audit.store.status import Status, now
from attention_audit.store.store import Store
from attention_audit.store.summary import SUMMARY_COLUMNS

__all__ = [
    "FORMAT",
    "GRID",
    "SUMMARY_COLUMNS",
    "Analysis",
    "Cell",
    "Status",
    "Store",
    "canonical",
    "differing_keys",
    "fingerprint",
    "latest",
    "now",
]
