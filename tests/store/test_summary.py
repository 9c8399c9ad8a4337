"""`summary.csv` and the rows that it is made of."""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

import pytest

from attention_audit.store import SUMMARY_COLUMNS, Store

ROW = {"quantity": "tau_gradient", "klass": "overall", "statistic": "mean", "value": 0.35}


def read_summary(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_summary_collects_grid_cells_only(tmp_path, make):
    grid, auxiliary = make(tmp_path, seed=0), make(tmp_path, seed=1)
    for cell in (grid, auxiliary):
        cell.open({})
        cell.write_json("metrics", {"summary": [{**ROW, "quantity": "accuracy", "extra": "x"}]})
    auxiliary.write_json("manifest", {"role": "seeds", "base": grid.hash8})
    undefined = {**ROW, "value": math.nan, "n": 0, "n_undefined": 7}
    grid.analysis("correlation", {}, 1).write({"summary": [undefined]})
    rows = read_summary(Store(tmp_path).write_summary())
    assert list(rows[0]) == list(SUMMARY_COLUMNS)
    assert [(r["quantity"], r["value"], r["n_undefined"]) for r in rows] == [
        ("accuracy", "0.35", ""),
        ("tau_gradient", "", "7"),
    ]
    assert {(r["dataset"], r["seed"], r["cell"]) for r in rows} == {("sst", "0", grid.hash8)}


def test_summary_of_one_analysis_under_two_configs_is_the_last_written(cell):
    old, new = (cell.analysis("adversarial", {"eps": eps}, 1) for eps in (0.01, 0.05))
    new.write({"summary": [{**ROW, "value": 2.0}]})
    old.write({"summary": [{**ROW, "value": 1.0}]})
    os.utime(old.folder / "summary.json", (1e9, 1e9))
    [row] = read_summary(Store(cell.root).write_summary())
    assert row["value"] == "2.0"


def test_summary_of_an_empty_store_has_its_header(tmp_path):
    path = Store(tmp_path / "new").write_summary()
    assert path.read_text() == ",".join(SUMMARY_COLUMNS) + "\n"


@pytest.mark.parametrize("summary", [{"a": 1}, [1], [{"klass": "0"}]])
def test_a_summary_that_is_wrong_is_named_and_hurts_no_other_cell(cell, summary, caplog):
    cell.write_json("metrics", {"summary": summary})
    other = Store(cell.root).cell(
        dataset="other", encoder="lstm", attention="dot", seed=0, identity={"other": True}
    )
    other.open({})
    other.write_json("metrics", {"summary": [{"quantity": "accuracy", "value": 0.5}]})
    text = Store(cell.root).write_summary().read_text()
    assert "other,lstm,dot" in text
    assert "metrics.json: " in caplog.text


def test_summary_is_removed_of_its_own_left_overs_only(tmp_path, names_in):
    (tmp_path / ".tmp-summary.csv-1").write_text("half")
    (tmp_path / ".tmp-mine").mkdir()
    Store(tmp_path).write_summary()
    assert names_in(tmp_path) == {".tmp-mine", ".locks", "summary.csv"}


def test_summary_of_one_cell_is_sorted_whole_and_of_the_later(cell):
    assert cell.summary() == []
    accuracy = {**ROW, "quantity": "accuracy", "value": 0.9, "extra": [1]}
    deviation = {**ROW, "statistic": "std"}
    cell.write_json("metrics", {"summary": [accuracy]})
    cell.analysis("correlation", {"a": 1}, 1).write({"summary": [deviation, ROW]})
    later = cell.analysis("correlation", {"a": 2}, 1)
    later.write({"summary": [{**ROW, "value": 0.5}]})
    now = later.written
    for analysis in cell.analyses():
        time = now if analysis == later else now - 10**9
        os.utime(analysis.folder / "summary.json", ns=(time, time))
    assert cell.summary() == [accuracy, {**ROW, "value": 0.5}, deviation]
