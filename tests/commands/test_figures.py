"""`python -m attention_audit figures`: files for cells that have something to draw."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from attention_audit.__main__ import main
from attention_audit.store import Store

POINT = {"tvd": 0.1, "jsd": 0.2, "tvd_lo": 0.1, "tvd_hi": 0.1, "jsd_lo": 0.2, "jsd_hi": 0.2}
ADVERSARY: dict[str, Any] = {
    "summary": [],
    "points": [{"kind": "adversary", "which": "0", "own": False, **POINT}],
    "frontier": [{"epsilon": 0.1, "jsd": 0.6}],
    "caption": "what is drawn",
}


@pytest.fixture
def store(tmp_path) -> Path:
    for seed, name in enumerate(("model_adversary", "permutation")):
        cell = Store(tmp_path / "store").cell(
            dataset="sst", encoder="lstm", attention="additive", seed=seed, identity={"n": seed}
        )
        cell.open({})
        cell.analysis(name, {}, 1).write(ADVERSARY)
    return tmp_path / "store"


def test_a_cell_with_adversaries_has_its_plane(store, tmp_path, capsys):
    assert main(["figures", "--store", str(store), "--out", str(tmp_path / "out")]) == 0
    written = sorted((tmp_path / "out").iterdir())
    assert [path.suffix for path in written] == [".pdf", ".svg"]
    assert all(path.name.startswith("sst_lstm+additive_0-") for path in written)
    assert sorted(capsys.readouterr().out.split()) == [str(path) for path in written]
    assert written[0].read_bytes().startswith(b"%PDF")
    assert "what is drawn" in written[1].read_text()


def test_nothing_to_draw_is_said(tmp_path, capsys):
    assert main(["figures", "--store", str(tmp_path / "none"), "--out", str(tmp_path)]) == 1
    assert "no cell with an analysis that has a figure" in capsys.readouterr().out


def test_without_altair_it_says_what_to_install(store, tmp_path, capsys, monkeypatch):
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit) as end:
        main(["figures", "--store", str(store), "--out", str(tmp_path / "out")])
    assert end.value.code == 2
    assert "pip install -e '.[report]'" in capsys.readouterr().err
