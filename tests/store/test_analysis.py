"""An analysis is there whole, or not at all."""

from __future__ import annotations

import time

import pytest

ROW = {"quantity": "tau_gradient", "klass": "overall", "statistic": "mean", "value": 0.35}


def test_analysis_is_done_when_written_and_reads_back(cell, names_in):
    analysis = cell.analysis("correlation", {"resamples": 10}, version=1)
    assert not analysis.done
    analysis.write({"summary": [ROW]}, instances={"id": [1], "tau": [0.5]}, tokens={"id": [[1]]})
    assert analysis.done
    assert analysis.read_summary() == {"summary": [ROW]}
    assert analysis.read_instances()["tau"].to_pylist() == [0.5]
    assert analysis.read_tokens()["id"].to_pylist() == [[1]]
    [found] = cell.analyses()
    assert found == analysis
    assert found.config == {"resamples": 10}
    assert names_in(cell.folder / "analyses") == {analysis.folder.name}


def test_analysis_hash_covers_config_version_name_and_cell(tmp_path, make):
    cell, other = make(tmp_path), make(tmp_path, seed=1)
    analyses = [
        cell.analysis("a", {"k": 5}, 1),
        cell.analysis("a", {"k": 6}, 1),
        cell.analysis("a", {"k": 5}, 2),
        cell.analysis("b", {"k": 5}, 1),
        other.analysis("a", {"k": 5}, 1),
    ]
    assert len({a.hash8 for a in analyses}) == len(analyses)
    with pytest.raises(ValueError, match=r"^analysis="):
        cell.analysis("../a", {}, 1)


def test_analysis_replaces_an_older_one_whole(cell):
    analysis = cell.analysis("permutation", {}, 1)
    analysis.write({"summary": []}, instances={"id": [1]}, tokens={"id": [1]})
    analysis.write({"summary": [ROW]}, instances={"id": [2]})
    assert analysis.read_instances()["id"].to_pylist() == [2]
    with pytest.raises(FileNotFoundError, match=r"tokens\.parquet"):
        analysis.read_tokens()
    [found] = cell.analyses()
    found.write({"summary": []})
    assert cell.analyses()[0].config == {}


def test_a_failing_analysis_write_keeps_the_older_one(cell, names_in):
    analysis = cell.analysis("permutation", {}, 1)
    analysis.write({"summary": [ROW]})
    with pytest.raises(TypeError, match="column id"):
        analysis.write({"summary": []}, instances={"id": "text"})
    assert analysis.read_summary() == {"summary": [ROW]}
    assert names_in(cell.folder / "analyses") == {analysis.folder.name}


def test_discard_leaves_identity_config_log_and_foreign_files(cell, names_in):
    cell.set_running()
    cell.set_fitted()
    cell.write_json("metrics", {})
    cell.write_table("tokens", {"id": [1]})
    cell.analysis("permutation", {}, 1).write({})
    for name in ("checkpoint.ckpt", "last.ckpt", "log.txt", "notes.md"):
        (cell.folder / name).write_text("x")
    cell.discard()
    assert names_in(cell.folder) == {
        "identity.json",
        "config.yaml",
        "log.txt",
        "notes.md",
        "analyses",
    }
    assert cell.analyses() == []
    assert cell.status().state == "missing"
    cell.discard()


def test_an_analysis_says_when_it_was_written(cell):
    analysis = cell.analysis("permutation", {}, 1)
    assert analysis.written == 0
    before = time.time_ns()
    analysis.write({})
    assert abs(analysis.written - before) < 10**10
