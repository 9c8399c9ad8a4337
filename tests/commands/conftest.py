"""Cells in every state, without any training."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from attention_audit.__main__ import main
from attention_audit.cell import locate
from attention_audit.store import Cell


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def row(self, *start: str) -> str:
        """The table's row that has these words first, with single spaces."""
        rows = [" ".join(line.split()) for line in self.out.splitlines()]
        return next(row for row in rows if row.startswith(" ".join(start)))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs `python -m attention_audit` with arguments, in this process."""

    def run(*words: str) -> Said:
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
        return Said(code, *capsys.readouterr())

    return run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the cells of `finished` are."""
    return tmp_path / "multirun"


@pytest.fixture
def begun(planted: Callable[..., dict[str, Any]]) -> Callable[..., Cell]:
    """Makes the cell of a tiny configuration, at work on nothing."""

    def make(*overrides: str) -> Cell:
        config = planted(*overrides)
        cell = locate(config).cell
        cell.open(config)
        cell.set_running()
        return cell

    return make


def finish(cell: Cell) -> Cell:
    """Give a cell that was begun the files of a finished one; its numbers are nobody's."""
    cell.write_json("metrics", {"summary": []})
    cell.write_json("manifest", {"role": "grid", "fit_seconds": 12.5})
    cell.write_table("instances", {"id": [0]})
    cell.write_file("checkpoint.ckpt", lambda file: file.write(b"weights"))
    cell.set_fitted()
    return cell


@pytest.fixture
def finished(begun: Callable[..., Cell]) -> Callable[..., Cell]:
    """Makes the finished cell of a tiny configuration."""
    return lambda *overrides: finish(begun(*overrides))


@pytest.fixture
def grid(planted: Callable[..., dict[str, Any]]) -> Callable[[int], list[Cell]]:
    """Makes so many finished cells, which differ in their seed."""

    def make(size: int) -> list[Cell]:
        config = planted("encoder=average")
        cells = []
        for seed in range(size):
            cell = locate(config | {"seed": seed}).cell
            cell.open(config | {"seed": seed})
            cells.append(finish(cell))
        return cells

    return make


@pytest.fixture
def worker() -> Iterator[Callable[[Cell], None]]:
    """Lets another process hold a cell's lock until the test's end."""
    code = (
        "import sys; from pathlib import Path; from attention_audit.store import Cell\n"
        "cell = Cell(Path(sys.argv[1]), *sys.argv[2:5], int(sys.argv[5]), sys.argv[6])\n"
        "with cell.lock():\n    print('held', flush=True); sys.stdin.read()\n"
    )
    started: list[subprocess.Popen] = []

    def hold(cell: Cell) -> None:
        names = (cell.root, cell.dataset, cell.encoder, cell.attention, cell.seed, cell.hash8)
        arguments = [sys.executable, "-c", code, *map(str, names)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(arguments, stdin=pipe, stdout=pipe, text=True))
        assert started[-1].stdout is not None
        assert started[-1].stdout.readline() == "held\n"

    yield hold
    for process in started:
        process.communicate("")
