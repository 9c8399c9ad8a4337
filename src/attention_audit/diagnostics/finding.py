"""One line of a verdict: which condition was tested, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What a diagnostic measured, in numbers and in a sentence that says no more than they do.

    Attributes:
        condition: that has to hold if attention is to be read as an explanation.
        quantity: of the summary's rows, the one that the numbers are.
        value, lo, hi: with its 95 % interval; NaN where it is undefined.
        sentence: what was measured.
        metric: of a score or a difference of scores, which.
        table: of the second paper, where a figure of it can stand beside: 2_uniform, 3_guided_mlp.
        setting: of that table.
        minus: the setting that the figure is a difference to, if it is one.
    """

    condition: str
    quantity: str
    value: float
    lo: float
    hi: float
    sentence: str
    metric: str = ""
    table: str = ""
    setting: str = ""
    minus: str = ""
