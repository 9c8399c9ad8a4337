"""What the papers published for a cell, as data: look-ups and the join with our own rows.

Corpora that the papers do not have, or that we replace by a substitute, have no figures: every
look-up then answers with an empty list or None.
"""

from attention_audit.published.comparison import Comparison, compare
from attention_audit.published.figures import (
    SECOND_PAPER_MODEL,
    CorpusStatistics,
    PublishedFigure,
    corpus_statistics,
    paper_corpora,
    published,
    table1,
    table2,
    wiegreffe_pinter,
)
from attention_audit.published.likeness import unlike

__all__ = [
    "SECOND_PAPER_MODEL",
    "Comparison",
    "CorpusStatistics",
    "PublishedFigure",
    "compare",
    "corpus_statistics",
    "paper_corpora",
    "published",
    "table1",
    "table2",
    "unlike",
    "wiegreffe_pinter",
]
