"""Heatmaps of attention that cannot mislead: checked, then drawn with what has to be known.

attention = read(Path("attention.json"))      # or parse({"tokens": [...], "weights": array})
checks = check(attention)
html = page([(attention, checks)])
"""

from attention_audit.report.heatmap.attention import Attention
from attention_audit.report.heatmap.checks import Check, Range, check
from attention_audit.report.heatmap.page import page
from attention_audit.report.heatmap.prompt import prompt
from attention_audit.report.heatmap.reading import parse, read
from attention_audit.report.heatmap.views import View, views

__all__ = [
    "Attention",
    "Check",
    "Range",
    "View",
    "check",
    "page",
    "parse",
    "prompt",
    "read",
    "views",
]
