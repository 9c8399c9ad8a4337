"""`python -m attention_audit report`."""

from __future__ import annotations

import builtins
from typing import Any


def test_it_writes_a_folder_and_names_the_first_page(command, finished, store, tmp_path):
    finished()
    said = command("report", "--store", str(store), "--out", str(tmp_path / "out"))
    assert said.code == 0
    assert said.out == f"1 cell: {tmp_path / 'out' / 'index.html'}\n"
    assert (tmp_path / "out" / "index.html").is_file()


def test_no_store_is_said_in_one_line(command, tmp_path):
    said = command("report", "--store", str(tmp_path / "none"))
    assert said.code == 2
    assert "no such folder; expected cells" in said.err


def test_a_number_of_instances_that_cannot_be_is_refused(command, store, tmp_path):
    store.mkdir()
    words = ("--store", str(store), "--out", str(tmp_path / "out"), "--instances", "-1")
    said = command("report", *words)
    assert said.code == 2
    assert "--instances -1: expected 0 or more" in said.err


def test_figures_are_written_when_asked_for(command, finished, store, tmp_path):
    cell = finished()
    corpus = {"splits": {}, "classes": ["a", "b"], "source": "files", "differs": ""}
    cell.write_json("manifest", cell.read_json("manifest") | {"corpus": corpus})
    said = command("report", "--store", str(store), "--out", str(tmp_path / "out"), "--figures")
    assert said.code == 0
    assert str(tmp_path / "out" / "figures" / "table2.tex") in said.out.splitlines()
    assert (tmp_path / "out" / "figures" / "table2.tex").is_file()


def test_without_altair_it_says_what_to_install(command, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    said = command("report", "--out", str(tmp_path / "out"))
    assert said.code == 2
    assert "pip install -e '.[report]'" in said.err
