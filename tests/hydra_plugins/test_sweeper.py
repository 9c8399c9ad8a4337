"""A sweep skips what is done, goes on past what fails, and says so at its end."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

GRID = (
    "-m",
    "dataset=files",
    "encoder=average",
    "logger=none",
    "store=out",
    "analysis=correlation",
)


@pytest.fixture
def sweep(program, corpora, tiny):
    """Runs a small sweep over the table of `corpora`, from its folder."""
    return lambda *more: program(*GRID, "dataset.path=table.csv", *tiny, *more)


def statuses(store: Path) -> dict[str, str]:
    found = store.glob("*/*/*/status.json")
    return {path.parent.name: json.loads(path.read_text())["state"] for path in found}


def numbers(store: Path) -> dict[tuple[str, ...], str]:
    """Every value of summary.csv by seed and name."""
    rows = csv.DictReader((store / "summary.csv").read_text().splitlines())
    names = ("seed", "quantity", "klass", "statistic")
    return {tuple(row[name] for name in names): row["value"] for row in rows}


def test_the_third_cell_has_the_numbers_it_has_alone_and_done_cells_are_skipped(
    sweep, program, tmp_path, tiny
):
    outcome = sweep("seed=0,1,2")
    assert (outcome.code, outcome.err) == (0, "")
    assert "sweep of 3 cells: 0 done before, 3 to run" in outcome.out
    assert outcome.out.count("stored in out/") == 3
    single = [part for part in GRID if part != "-m"]
    alone = program(*single, "dataset.path=table.csv", *tiny, "seed=2", "store=alone")
    assert alone.code == 0
    third = {key: value for key, value in numbers(tmp_path / "out").items() if key[0] == "2"}
    assert third == numbers(tmp_path / "alone")
    assert len(third) > 10

    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("checkpoint.ckpt")}
    again = sweep("seed=0,1,2,3")
    assert "sweep of 4 cells: 3 done before, 1 to run" in again.out
    assert again.out.count("stored in out/") == 1
    assert (
        before.items()
        <= {path: path.stat().st_mtime_ns for path in tmp_path.rglob("checkpoint.ckpt")}.items()
    )
    assert "sweep of 1 cell: 0 done before, 1 to run" in sweep("seed=1", "force=true").out


def test_a_failing_cell_is_shown_kept_and_tried_again(sweep, tmp_path):
    grid = ("dataset.text.min_df=1000,1", "seed=0,1")
    outcome = sweep(*grid)
    assert outcome.code == 1
    assert "2 of 4 cells failed" in outcome.err
    for seed in (0, 1):
        [line] = [row for row in outcome.err.splitlines() if f"seed={seed}" in row]
        assert "dataset.text.min_df=1000" in line
        assert "ValueError: dataset.text.min_df=1000: no word occurs" in line
    assert "Traceback" not in outcome.err
    assert sorted(statuses(tmp_path / "out").values()) == ["failed", "failed", "fitted", "fitted"]
    assert len(list((tmp_path / "out").rglob("traceback.txt"))) == 2
    assert {key[0] for key in numbers(tmp_path / "out")} == {"0", "1"}
    again = sweep(*grid)
    assert again.code == 1
    assert "sweep of 4 cells: 2 done before, 2 to run" in again.out


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("+encoder.hiden=3", "error: encoder.hiden: unknown (did you mean 'hidden'?)"),
        ("encoder.hidden=8,-1", "error: encoder.hidden: found -1"),
        ("seed=0,-1", "error: seed: found -1"),
        ("encoder=average,lstn", "error: encoder=lstn: unknown"),
        ("vectors=none,glove", "error: vectors.path: not set"),
    ],
)
def test_a_fault_in_any_cell_is_refused_before_the_first(sweep, tmp_path, fault, said):
    before = sorted(tmp_path.rglob("*"))
    outcome = sweep("seed=0", fault)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert said in outcome.err
    assert outcome.out == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_a_corpus_that_is_not_here_is_said_at_once_and_fails_its_own_cells_only(sweep, tmp_path):
    outcome = sweep("dataset.path=nowhere.csv,table.csv", "seed=0,1")
    assert outcome.code == 1
    first, second = outcome.out.splitlines()[:2]
    assert first == "sweep of 4 cells: 0 done before, 2 to run, 2 not to be run here"
    assert second.startswith("not here: ")
    assert "nowhere.csv" in second
    assert "2 of 4 cells failed" in outcome.err
    assert {key[0] for key in numbers(tmp_path / "out")} == {"0", "1"}
    assert list(statuses(tmp_path / "out").values()) == ["fitted", "fitted"]


def test_a_cell_whose_files_cannot_be_read_fails_alone(sweep, tmp_path):
    assert sweep("seed=0,1").code == 0
    [folder] = (tmp_path / "out").glob("files/*/0-*")
    (folder / "status.json").unlink()
    (folder / "status.json").mkdir()
    outcome = sweep("seed=0,1,2")
    assert outcome.code == 1
    assert "sweep of 3 cells: 1 done before, 2 to run" in outcome.out
    assert "1 of 3 cells failed" in outcome.err
    assert "IsADirectoryError" in outcome.err
    assert {key[0] for key in numbers(tmp_path / "out")} == {"0", "1", "2"}


def test_a_cell_with_a_strange_manifest_does_not_stand_in_the_way_of_others(sweep, tmp_path):
    assert sweep("seed=0").code == 0
    [folder] = (tmp_path / "out").glob("files/*/0-*")
    (folder / "manifest.json").write_text("[1]")
    assert sweep("seed=1").code == 0
    assert {key[0] for key in numbers(tmp_path / "out")} == {"1"}
    assert sweep("seed=0").code == 0
    assert {key[0] for key in numbers(tmp_path / "out")} == {"0", "1"}


def test_an_experiments_own_grid_is_swept(program, tmp_path, corpora, tiny):
    (tmp_path / "mine" / "experiment").mkdir(parents=True)
    (tmp_path / "mine" / "experiment" / "widths.yaml").write_text(
        "# @package _global_\nhydra: {sweeper: {params: {encoder.hidden: '4,8', seed: '5'}}}\n"
    )
    chosen = ("experiment=widths", "dataset.path=table.csv")
    outcome = program("--config-dir", "mine", *GRID, *chosen, *tiny)
    assert outcome.code == 0
    assert "sweep of 2 cells" in outcome.out
    assert {key[0] for key in numbers(tmp_path / "out")} == {"5"}
