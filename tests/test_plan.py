"""What `--plan` says of a sweep, without running any of it."""

from __future__ import annotations

import io
from datetime import datetime, timedelta, timezone

import pytest
from rich.console import Console

from attention_audit.commandline import with_plan
from attention_audit.grid import survey
from attention_audit.plan import seconds_taken, show_plan
from attention_audit.store import Status

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


@pytest.fixture
def grid(planted, composed):
    """Surveys a tiny grid of encoders, attentions and seeds, and one cell without a corpus."""

    def grid(*more: str):
        jobs = [
            [f"encoder={encoder}", f"attention={attention}", f"seed={seed}", *more]
            for encoder in ("lstm", "average")
            for attention in ("additive", "dot")
            for seed in (0, 1)
        ]
        absent = ["dataset=files", "dataset.path=/nowhere/table.csv", "dataset.name=elsewhere"]
        return survey([*((job, planted(*job)) for job in jobs), (absent, composed(*absent))])

    return grid


def finish(cell, seconds: float, fitted_before: bool = False) -> None:
    """Note that a cell was begun at START and done after so many seconds, fit and analyses."""
    begun, between, ended = (
        (START + timedelta(seconds=after)).isoformat() for after in (0, seconds / 2, seconds)
    )
    if fitted_before:
        begun, between = between, begun
    cell.place.cell.open({})
    cell.place.cell._set(Status("fitted", None, begun, ended, between))


def shown(cells, done) -> str:
    console = Console(width=200, file=io.StringIO())
    show_plan(cells, [cell for cell in cells if cell.place and cell not in done], console)
    return console.file.getvalue()


def row(text: str, name: str) -> list[str]:
    [line] = [line for line in text.splitlines() if line.strip().startswith(name)]
    return line.split()


def test_the_nearest_finished_cells_tell_the_time_of_the_others(grid):
    cells = grid()
    named = {cell.name: cell for cell in cells}
    done = [
        named["encoder=lstm attention=additive seed=0"],
        named["encoder=lstm attention=dot seed=0"],
    ]
    finish(done[0], 100)
    finish(done[1], 300)
    # lstm: additive 100, dot 300; average, of which nothing is known: the corpus's median, 4 x 200
    assert row(shown(cells, done), "planted") == ["planted", "8", "2", "6", "20", "min"]
    assert row(shown(cells, done), "elsewhere") == ["elsewhere", "1", "0", "0", "1"]
    text = shown(cells, done)
    assert "not here: " in text
    assert "/nowhere/table.csv" in text


def test_cells_of_other_epochs_tell_nothing(grid):
    finish(grid("trainer.max_epochs=7")[0], 100)
    text = shown(grid(), [])
    assert row(text, "planted") == ["planted", "8", "0", "8", "unknown", "(8)"]
    assert "time: unknown until" in text


def test_a_model_that_serves_a_cells_analyses_tells_nothing(grid):
    cells = grid()
    finish(cells[0], 100)
    finish(cells[1], 2)
    assert row(shown(cells, cells[:2]), "planted")[4:] == ["5", "min", "6", "s"]  # 6 x 51
    cells[1].place.cell.write_json("manifest", {"role": "seed"})
    assert row(shown(cells, cells[:1]), "planted")[4:] == ["11", "min"]  # 7 x 100 seconds


def test_the_time_of_a_run_that_only_added_an_analysis_is_not_a_cells_time(grid):
    cell = grid()[0]
    finish(cell, 100, fitted_before=True)
    assert seconds_taken(cell.place.cell) is None
    finish(cell, 100)
    assert seconds_taken(cell.place.cell) == 100


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("a=1 --plan", "-m hydra.sweeper.plan=true a=1"),
        ("--plan -m a=1,2 b=3", "-m -m hydra.sweeper.plan=true a=1,2 b=3"),
        ("--config-dir mine a=1 --plan", "-m --config-dir mine hydra.sweeper.plan=true a=1"),
        ("--plan", "-m hydra.sweeper.plan=true"),
        ("-m a=1", "-m a=1"),
    ],
)
def test_the_word_plan_in_hydras_terms(given, meant):
    assert with_plan(given.split()) == meant.split()


def test_a_plan_runs_nothing(program, corpora, tiny, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    grid = ("dataset=files", "dataset.path=table.csv", "encoder=lstm,average", "logger=none")
    outcome = program("--plan", *grid, *tiny, "store=out")
    assert (outcome.code, outcome.err) == (0, "")
    assert row(outcome.out, "all") == ["all", "2", "0", "2", "unknown", "(2)"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before
