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

# By the analysis that a reader chooses.
ANALYSES: dict[str, tuple[Chart, ...]] = {
    "correlation": correlation.CHARTS,
    "permutation": permutation.CHARTS,
    "adversarial": adversarial.CHARTS,
    "second paper": second_paper.CHARTS,
    "training": training.CHARTS,
}

__all__ = ["ANALYSES", "Chart"]
