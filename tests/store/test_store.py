"""Finding cells, among foreign things."""

from __future__ import annotations

import shutil

from attention_audit.store import Store

IDENTITY = {"dataset": {"name": "sst", "fingerprint": "ab"}, "epochs": 8, "seed": 0}


def test_cells_are_sorted_and_foreign_things_are_passed(tmp_path, make):
    cells = [make(tmp_path, seed=s, encoder=e) for e in ("lstm", "cnn") for s in (10, 2)]
    for cell in cells:
        cell.open({})
    (tmp_path / "README.md").write_text("hello")
    (tmp_path / "sst" / "lstm+additive" / "notes").mkdir()
    (tmp_path / "sst" / "lstm+additive" / "1-abcdefgh").mkdir()
    (tmp_path / "sst" / "lstm+additive" / "0-01234567").mkdir()  # killed before identity.json
    (tmp_path / "sst" / "lstm+additive" / "7-x").write_text("a file")
    shutil.copytree(cells[0].folder, tmp_path / "sst" / "lstm+additive" / "copy of 0-0")
    found = Store(tmp_path).cells()
    assert [(c.encoder, c.seed) for c in found] == [
        ("cnn", 2),
        ("cnn", 10),
        ("lstm", 2),
        ("lstm", 10),
    ]
    assert set(found) == set(cells)
    assert found[0].identity == {**IDENTITY, "seed": 2}


def test_no_store_no_cells(tmp_path):
    assert Store(tmp_path / "nothing").cells() == []
    assert not (tmp_path / "nothing").exists()


def test_role_comes_from_the_manifest(cell):
    assert cell.role == "grid"
    cell.write_json("manifest", {"role": "seeds"})
    assert cell.role == "seeds"
