from __future__ import annotations

from pathlib import Path

import pytest

from attention_audit.corpora import choose
from attention_audit.corpora.babi import BabiFiles
from attention_audit.corpora.corpus import Example, labelled
from attention_audit.corpora.simulator import Simulator
from attention_audit.corpora.treebank import Treebank


def test_the_first_source_that_is_present_is_chosen(tmp_path: Path) -> None:
    chosen = choose([BabiFiles(tmp_path, task=1), Simulator(seed=1), Simulator(seed=2)])
    assert isinstance(chosen, Simulator)
    assert chosen.seed == 1


def test_when_all_are_missing_one_line_names_what_would_serve(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        choose([Treebank(tmp_path / "sst"), BabiFiles(tmp_path / "babi", task=1)])
    message = str(error.value)
    assert "\n" not in message
    assert f"train.txt, dev.txt, test.txt in {tmp_path}/sst" in message
    assert f"qa1_*train.txt, qa1_*test.txt in {tmp_path}/babi" in message


def test_no_sources_at_all() -> None:
    with pytest.raises(FileNotFoundError, match="lists no sources"):
        choose([])


def test_an_empty_split_keeps_its_columns() -> None:
    empty = labelled([])
    assert empty.column_names == ["uid", "text", "label"]
    assert empty.features["label"].dtype == "int64"


def test_a_text_may_be_missing() -> None:
    assert labelled([Example("a", None, 0)])["text"][0] is None
