"""`python -m attention_audit report`."""

from __future__ import annotations


def test_it_writes_a_folder_and_names_the_first_page(command, finished, store, tmp_path):
    finished()
    said = command("report", "--store", str(store), "--out", str(tmp_path / "out"))
    assert said.code == 0
    assert said.out == f"1 cells: {tmp_path / 'out' / 'index.html'}\n"
    assert (tmp_path / "out" / "index.html").is_file()


def test_no_store_is_said_in_one_line(command, tmp_path):
    said = command("report", "--store", str(tmp_path / "none"))
    assert said.code == 2
    assert "no such folder; expected cells" in said.err
