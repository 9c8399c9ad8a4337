"""Configuration files of the user's own, in folders that a variable names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attention_audit.commandline import refuse_typos

CONF = Path(__file__).resolve().parents[2] / "conf"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the dataset `mine`, named by the variable after an empty one."""
    (tmp_path / "empty").mkdir()
    folder = tmp_path / "conf" / "dataset"
    folder.mkdir(parents=True)
    planted = (CONF / "dataset" / "planted.yaml").read_text()
    (folder / "mine.yaml").write_text(planted.replace("name: planted", "name: mine"))
    named = [str(tmp_path / "empty"), str(tmp_path / "conf")]
    monkeypatch.setenv("ATTENTION_AUDIT_CONF", os.pathsep.join(named))
    return tmp_path / "conf"


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        refuse_typos(arguments, CONF)
    assert end.value.code == 2
    return capsys.readouterr().err


def test_a_dataset_of_ones_own_runs(own, program, tiny):
    outcome = program("dataset=mine", "logger=none", "analysis=none", "encoder=average", *tiny)
    assert (outcome.code, outcome.err) == (0, "")
    assert "mine  average + additive" in outcome.out


def test_it_counts_among_the_options(own, capsys):
    refuse_typos(["dataset=mine"], CONF)
    assert "(did you mean 'mine'?)" in refusal(capsys, "dataset=mien")


def test_a_folder_that_is_not_there_is_refused(own, capsys, monkeypatch):
    monkeypatch.setenv("ATTENTION_AUDIT_CONF", str(own / "nowhere"))
    assert "ATTENTION_AUDIT_CONF" in refusal(capsys, "dataset=sst")


@pytest.mark.parametrize("way", ["variable", "argument"])
def test_a_file_that_the_programs_own_would_hide_is_refused(own, capsys, monkeypatch, way):
    (own / "dataset" / "sst.yaml").write_text("name: sst\n")
    arguments = ["dataset=mine"]
    if way == "argument":
        monkeypatch.delenv("ATTENTION_AUDIT_CONF")
        arguments += ["--config-dir", str(own)]
    assert "sst.yaml: the program has a file of this name" in refusal(capsys, *arguments)
