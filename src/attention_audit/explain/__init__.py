"""A sentence under a stored cell's model: the first paper's tests, on it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from attention_audit.cell import restore
from attention_audit.explain.asking import Asked, ask, recall
from attention_audit.explain.measuring import measure
from attention_audit.report.sentence import Measured
from attention_audit.store import Cell

__all__ = ["Asked", "ask", "examine", "measure", "recall"]


def examine(config: Mapping[str, Any], cell: Cell, asked: Asked | int) -> Measured:
    """The first paper's tests of one sentence, in float64, with the cell's own settings.

    Args:
        config: the cell's, checked.
        cell: a finished cell.
        asked: the sentence, or the id of one of the cell's test instances.

    Raises:
        ValueError: what `Asked.check`, `restore`, `ask` or `recall` refuses.
        FileNotFoundError: a file of the cell is missing.
    """
    if isinstance(asked, Asked):
        asked.check(config["dataset"]["task"])
    torch.set_num_threads(config["threads"])
    restored = restore(config, cell)
    if isinstance(asked, Asked):
        question = ask(restored, asked, told=not config["dataset"]["private"])
    else:
        question = recall(config, cell, restored, asked)
    return measure(config, cell, restored, question)
