"""Cells to write to, and processes to write to them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attention_audit.store import Cell, Store

IDENTITY = {"dataset": {"name": "sst", "fingerprint": "ab"}, "epochs": 8, "seed": 0}


@pytest.fixture(scope="session")
def make() -> Callable[..., Cell]:
    def make(root: Path, seed: int = 0, identity=None, **names) -> Cell:
        names = {"dataset": "sst", "encoder": "lstm", "attention": "additive", **names}
        return Store(root).cell(**names, seed=seed, identity=identity or {**IDENTITY, "seed": seed})

    return make


@pytest.fixture
def cell(tmp_path, make) -> Cell:
    cell = make(tmp_path / "multirun")
    cell.open({"seed": 0})
    return cell


@pytest.fixture(scope="session")
def run_python() -> Callable[..., Any]:
    def run_python(code: str, *arguments, **options) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)

    return run_python


@pytest.fixture(scope="session")
def names_in() -> Callable[[Path], set[str]]:
    def names_in(folder: Path) -> set[str]:
        return {path.name for path in folder.iterdir()}

    return names_in
