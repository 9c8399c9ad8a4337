"""A result that is not what it was is seen, and made again; one that is, is never read for it."""

from __future__ import annotations

import os
import shutil

import pytest

from attention_audit.store import integrity


@pytest.fixture
def finished(cell):
    cell.write_file("checkpoint.ckpt", lambda file: file.write(b"weights"))
    cell.write_json("manifest", {"role": "grid"})
    cell.write_json("metrics", {"summary": []})
    cell.write_table("instances", {"id": [1, 2]})
    cell.analysis("some", {}, 1).write({"summary": []}, instances={"id": [1]})
    cell.seal()
    cell.set_fitted()
    return cell


def flip(path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_a_whole_cell_is_not_read(finished, monkeypatch):
    monkeypatch.setattr(integrity, "hash_file", lambda path: pytest.fail(f"read {path}"))
    assert finished.damaged() == []
    assert finished.analysis("some", {}, 1).done


def test_a_copy_is_read_and_found_whole(finished, tmp_path, make):
    shutil.copytree(tmp_path / "multirun", tmp_path / "copy", copy_function=shutil.copyfile)
    copy = make(tmp_path / "copy")
    assert copy.damaged() == []
    assert copy.analysis("some", {}, 1).done


@pytest.mark.parametrize("name", ["metrics.json", "instances.parquet"])
@pytest.mark.parametrize("damage", [flip, os.unlink])
def test_a_damaged_result_is_removed_and_the_fit_stays(finished, name, damage):
    damage(finished.folder / name)
    assert finished.damaged() == [name]
    finished.open({"seed": 0})
    assert not (finished.folder / name).exists()
    assert finished.is_fitted
    assert finished.analysis("some", {}, 1).done


@pytest.mark.parametrize(
    "name", ["checkpoint.ckpt", "manifest.json", "status.json", "checksums.json"]
)
def test_a_damaged_fit_takes_along_what_was_made_from_it(finished, name):
    (finished.folder / name).write_bytes(b"\x00garbage")
    assert name in finished.damaged()
    finished.open({"seed": 0})
    assert finished.damaged() == []
    assert finished.status().state == "missing"
    left = {path.name for path in finished.folder.iterdir() if path.is_file()}
    assert left == {"config.yaml", "identity.json"}
    assert finished.analyses() == []


@pytest.mark.parametrize("content", ["{", '{"format": 3, "identity": {"encoder": "lst%"}}'])
def test_a_damaged_identity_is_written_again(finished, content):
    (finished.folder / "identity.json").write_text(content)
    assert finished.damaged() == ["identity.json"]
    finished.open({"seed": 0})
    assert finished.is_fitted
    assert finished.damaged() == []


def test_a_checkpoint_that_was_removed_is_not_damaged(finished):
    (finished.folder / "checkpoint.ckpt").unlink()
    assert finished.damaged() == []


@pytest.mark.parametrize("damage", [flip, os.unlink])
def test_a_damaged_analysis_is_not_done_and_is_written_again(finished, damage):
    analysis = finished.analysis("some", {}, 1)
    damage(analysis.folder / "instances.parquet")
    assert not analysis.done
    analysis.write({"summary": []}, instances={"id": [1]})
    assert analysis.done


def test_a_damaged_analysis_is_removed_with_a_warning(finished, caplog):
    analysis = finished.analysis("some", {}, 1)
    flip(analysis.folder / "summary.json")
    finished.open({"seed": 0})
    assert not analysis.folder.exists()
    assert f"{analysis.folder} is damaged: making it again" in caplog.text
    assert finished.is_fitted


def test_a_cell_that_was_never_sealed_is_not_called_damaged(cell):
    cell.write_json("metrics", {"summary": []})
    assert cell.damaged() == []
