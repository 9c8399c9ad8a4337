"""Heatmaps of attention that cannot mislead: checked, then drawn with what has to be known.

heatmap({"tokens": tokens, "weights": weights, "model": "mine"}).save("attention.html")

The arrays may be any library's; a notebook shows what `heatmap` returns.
"""

from attention_audit.report.heatmap.attention import Attention
from attention_audit.report.heatmap.checks import Check, Range, check, check_scale
from attention_audit.report.heatmap.notebook import Heatmap, heatmap
from attention_audit.report.heatmap.page import page
from attention_audit.report.heatmap.prompt import prompt
from attention_audit.report.heatmap.reading import parse, read
from attention_audit.report.heatmap.views import View, views

__all__ = [
    "Attention",
    "Check",
    "Heatmap",
    "Range",
    "View",
    "check",
    "check_scale",
    "heatmap",
    "page",
    "parse",
    "prompt",
    "read",
    "views",
]
