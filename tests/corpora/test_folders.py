from __future__ import annotations

from pathlib import Path

import pytest

from attention_audit.corpora import choose
from attention_audit.corpora.folders import LabelledFolders

SPLITS = {"train": "train", "test": "test"}
CLASSES = {"neg": "negative", "pos": "positive"}


def review(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode())


def fill(folder: Path, documents: int = 1) -> LabelledFolders:
    for split in SPLITS:
        for n in range(documents):
            review(folder, f"{split}/neg/{n}_2.txt", "Dull.<br /><br />Very\r\ndull.")
            review(folder, f"{split}/pos/{n}_9.txt", "Très bon<br />!")
    return LabelledFolders(folder, SPLITS, CLASSES, cleaning="line_breaks")


def test_files_become_rows(tmp_path: Path) -> None:
    source = fill(tmp_path / "aclImdb")
    corpus = source.load()
    assert corpus.splits["test"].to_dict() == {
        "uid": ["test-neg-0_2", "test-pos-0_9"],
        "text": ["Dull.  Very\r\ndull.", "Très bon !"],
        "label": [0, 1],
    }
    assert corpus.classes == ("negative", "positive")
    assert corpus.source == "folders of aclImdb (2 train, 2 test files)"
    assert len(source.files()) == 4
    assert str(tmp_path) not in str(source.identity())


def test_the_whole_is_preferred_to_the_sample(tmp_path: Path) -> None:
    whole, sample = tmp_path / "imdb", tmp_path / "imdb_sample"
    fill(sample, documents=1)
    candidates = [LabelledFolders(folder, SPLITS, CLASSES) for folder in (whole, sample)]
    assert choose(candidates) is candidates[1]
    fill(whole, documents=2)
    assert choose(candidates) is candidates[0]


def test_an_empty_class_folder_is_named(tmp_path: Path) -> None:
    source = fill(tmp_path)
    (tmp_path / "test/pos/0_9.txt").unlink()
    assert source.missing() == f"text files in test/pos of {tmp_path}"


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    source = fill(tmp_path)
    (tmp_path / "train/neg/0_2.txt").write_bytes(b"ok\nna\xefve")
    with pytest.raises(ValueError, match=r"0_2\.txt: not UTF-8: line 2, byte 3 is 0xef"):
        source.load()


def test_the_real_sample(data: Path) -> None:
    folder = data / "imdb_sample" / "aclImdb"
    corpus = LabelledFolders(folder, SPLITS, CLASSES, cleaning="line_breaks").load()
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {
        "train": 1000,
        "test": 1000,
    }
    assert sum(corpus.splits["train"]["label"]) == 500
    assert not any("<br" in text for text in corpus.splits["test"]["text"])
