"""Opening a cell's folder, and what its status says."""

from __future__ import annotations

import os

import pytest
import yaml

from attention_audit.store import Cell, Status

IDENTITY = {"dataset": {"name": "sst", "fingerprint": "ab"}, "epochs": 8, "seed": 0}


def test_open_writes_config_and_identity(tmp_path, make):
    cell = make(tmp_path)
    config = {"name": "größe", "rate": 1e-3, "limit": float("inf"), "layers": [1, {"a": None}]}
    cell.open(config)
    assert yaml.safe_load((cell.folder / "config.yaml").read_text(encoding="utf-8")) == config
    assert cell.read_json("identity")["identity"] == IDENTITY
    cell.open(config)


def test_open_refuses_another_identity_under_the_same_hash(cell, monkeypatch):
    monkeypatch.setattr(Cell, "is_misnamed", lambda cell: False)  # two with one hash are rare
    stored = cell.read_json("identity")
    stored["identity"]["dataset"]["name"] = "imdb"
    del stored["identity"]["epochs"]
    cell.write_json("identity", stored)
    with pytest.raises(ValueError, match=r"identity\.dataset\.name, identity\.epochs:") as caught:
        cell.open({})
    assert "\n" not in str(caught.value)


def test_status_of_a_cell_through_its_life(cell):
    assert cell.status() == Status("missing")
    assert not cell.is_fitted
    cell.set_running()
    assert cell.status().state == "running"
    assert cell.status().pid == os.getpid()
    cell.set_failed(RuntimeError("loss is NaN\nsecond line"))
    failed = cell.status()
    assert (failed.state, failed.reason) == ("failed", "RuntimeError: loss is NaN")
    assert "second line" in (cell.folder / "traceback.txt").read_text()
    cell.set_running()
    assert not (cell.folder / "traceback.txt").exists()
    assert cell.status().reason is None
    cell.set_fitted()
    done = cell.status()
    assert done.state == "fitted"
    assert done.started <= done.finished
    assert cell.is_fitted


def test_traceback_holds_the_frames(cell):
    try:
        raise KeyError("x")
    except KeyError as error:
        cell.set_failed(error)
    assert "test_traceback_holds_the_frames" in (cell.folder / "traceback.txt").read_text()


def test_a_cell_is_not_finished_once_its_fit_is(cell):
    cell.set_running()
    begun = cell.status().started
    cell.note_fit()
    noted = cell.status()
    assert (noted.state, noted.started, noted.finished) == ("running", begun, None)
    assert cell.is_fitted
    cell.set_fitted()
    assert cell.status().fitted == noted.fitted


def test_a_finished_fit_stays_finished_when_an_analysis_fails(cell):
    cell.set_running()
    cell.set_fitted()
    fitted = cell.status().fitted
    cell.set_running()
    assert cell.is_fitted
    cell.set_failed(ValueError("analysis"))
    assert cell.is_fitted
    cell.set_running()
    cell.set_fitted()
    assert cell.status().fitted == fitted
