"""The list of all corpora, through the command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from attention_audit.__main__ import main

DATASETS = sorted(
    path.stem for path in (Path(__file__).parents[2] / "conf" / "dataset").glob("*.yaml")
)


@pytest.fixture
def listed(
    corpora: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> Callable[..., Any]:
    """Runs the command over the tiny corpora, where no network is."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return partial(command, "corpora", f"data_dir={corpora}")


def test_sizes_stand_beside_the_published_ones_and_drops_have_reasons(listed):
    found = listed("sst")
    assert found.code == 0
    assert found.row("sst source") == "sst source treebank files"
    assert found.row("train ") == "train 26: 13 negative, 13 positive 3,034 / 3,321 14 longest"
    assert found.row("test ").startswith("test 10: 5 negative, 5 positive 863 / 862")
    assert found.row("vocabulary").endswith(" 16,175")
    assert found.row("mean length") == "mean length 7.0 18.7"
    assert found.row("test texts also in train") == "test texts also in train 10"


def test_a_carved_dev_split_is_told_from_the_published_train_split(listed):
    found = listed("babi_1", "dataset.sources.1.train=100", "dataset.sources.1.test=20")
    assert found.row("train + dev") == "train + dev 100 10,000"
    assert found.row("train 85") == "train 85"
    assert found.row("dev (carved)") == "dev (carved) 15"


def test_all_but_the_users_own_are_listed_and_what_is_not_here_says_what_would_serve(listed):
    found = listed("dataset.text.min_df=1")
    for name in DATASETS:
        own = name in ("files", "hub")
        assert any(line.startswith(f" {name} ") for line in found.out.splitlines()) != own
    assert "NOTEEVENTS" in found.out
    assert "ssst" not in found.out


def test_a_corpus_on_the_hub_is_not_fetched_unasked(listed, tmp_path):
    found = listed("sst", f"data_dir={tmp_path / 'nothing'}")
    assert found.code == 0
    told = " ".join(found.out.split())
    assert "or fetch the hub's SetFit/sst2 with --download" in told
    asked = listed("sst", f"data_dir={tmp_path / 'nothing'}", "--download")
    assert "HF_HUB_OFFLINE is set" in " ".join(asked.out.split())


def test_a_broken_corpus_is_named_and_the_others_are_listed(listed, corpora):
    (corpora / "sst" / "dev.txt").write_text("no tree\n")
    found = listed("sst", "planted")
    assert found.code == 1
    assert "line 1 is not a tree" in " ".join(found.out.split())
    assert found.row("planted source")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ssst"], "dataset=ssst: unknown (did you mean 'sst'?)"),
        (["sst", "dataset.text.min_d=1"], "(did you mean 'min_df'?)"),
        (["sst", "limits.train=0"], "limits.train"),
    ],
)
def test_a_typo_is_one_line(listed, words, said):
    found = listed(*words)
    assert found.code != 0
    assert said in found.err + found.out


def test_the_command_is_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "list the corpora" in capsys.readouterr().out
