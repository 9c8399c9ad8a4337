"""Words and numbers of a sentence as a reader sees them, in terminal and page alike."""

from __future__ import annotations

import math

from attention_audit.report.heatmap.wording import visible
from attention_audit.report.sentence.measured import Word

UNKNOWN = "[unk]"


def marked(word: Word) -> str:
    """A word, with a mark if the vocabulary lacks it."""
    return f"{visible(word.text)} {UNKNOWN}" if word.known is False else visible(word.text)


def written(value: float, signed: bool = False) -> str:
    """A number to three decimals, with its sign if it is `signed` and not 0 when rounded."""
    if math.isnan(value):
        return "undefined"
    plain = f"{value:+.3f}" if signed else f"{value:.3f}"
    return plain if float(plain) else "0.000"


def pvalue_of(pvalue: float | None) -> str:
    """A p-value to three decimals, which are never all 0; empty where there is none."""
    if pvalue is None or math.isnan(pvalue):
        return ""
    return "<.001" if pvalue < 0.001 else f"{pvalue:.3f}"
