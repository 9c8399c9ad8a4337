"""Tiny cells of each task, fitted."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attention_audit import audit
from attention_audit.store import Cell

SMALL = ("encoder=average", "trainer=smoke", "logger=none", "analysis=none")


@pytest.fixture
def classified(planted: Callable[..., dict[str, Any]]) -> Callable[..., Cell]:
    """Fits a cell of the generated corpus: two classes."""
    return lambda *overrides: audit.run(planted("trainer.max_epochs=1", *overrides))


@pytest.fixture
def questioned(composed: Callable[..., dict[str, Any]]) -> Callable[..., Cell]:
    """Fits a cell of simulated bAbI questions."""
    sizes = ("dataset.folder=null", "dataset.sources.1.train=60", "dataset.sources.1.test=20")
    return lambda *overrides: audit.run(composed("dataset=babi_1", *sizes, *SMALL, *overrides))


@pytest.fixture
def inferred(composed: Callable[..., dict[str, Any]], tmp_path: Path) -> Callable[..., Cell]:
    """Fits a cell of pairs with one of three relations."""
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["premise", "hypothesis", "label"])
        words = ("fine", "dull", "odd")
        for row in range(90):
            said, label = words[row % 3], ("yes", "no", "maybe")[row % 3]
            table.writerow([f"a {said} film number {row // 3}", f"it is {said}", label])
    own = ("dataset=files", f"dataset.path={path}", "dataset.name=pairs", "dataset.task=nli")
    small = ("dataset.embedding=6", "dataset.hidden=8", "dataset.text.tokenizer=whitespace")
    return lambda *overrides: audit.run(composed(*own, *small, *SMALL, *overrides))
