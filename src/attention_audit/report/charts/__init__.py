"""The report's plots, each defined once: pages and the papers' figures draw the same definition.

What is drawn of a cell are plain rows, read from the store and binned; no statistic is made here.
"""

from attention_audit.report.charts import (
    adversarial,
    correlation,
    permutation,
    second_paper,
    training,
)
from attention_audit.report.charts.definition import Chart

_MODULES = {
    "correlation": correlation,
    "permutation": permutation,
    "adversarial": adversarial,
    "second paper": second_paper,
    "training": training,
}
# By the analysis that a reader chooses: its plots, and what they ask.
ANALYSES: dict[str, tuple[Chart, ...]] = {name: each.CHARTS for name, each in _MODULES.items()}
QUESTIONS: dict[str, str] = {name: each.QUESTION for name, each in _MODULES.items()}

__all__ = ["ANALYSES", "QUESTIONS", "Chart"]
