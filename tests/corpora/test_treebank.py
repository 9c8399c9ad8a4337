from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from attention_audit.corpora.files import Files
from attention_audit.corpora.treebank import Treebank

TREES = {
    "train": "(3 (2 A) (4 (3 good) (2 film)))\n(2 (2 So) (2 -LRB-))\n"
    "\n(0 (2 bad\u00a0old) (2 .))\n",
    "dev": "(1 (2 no) (2 fun))\r\n(4 (2 great))\r\n",
    "test": "(2 (2 well))\n(1 (2 dull))\n",
}


def write(folder: Path, trees: dict[str, str]) -> Treebank:
    for split, text in trees.items():
        (folder / f"{split}.txt").write_bytes(text.encode())
    return Treebank(folder)


def test_roots_become_classes_and_neutral_is_counted(tmp_path: Path) -> None:
    source = write(tmp_path, TREES)
    assert source.missing() is None
    corpus = source.load()
    assert corpus.classes == ("negative", "positive")
    assert corpus.splits["train"].to_dict() == {
        "uid": ["train-0", "train-2"],
        "text": ["a good film", "bad old"],
        "label": [1, 0],
    }
    assert corpus.splits["dev"]["label"][:] == [0, 1]
    assert corpus.dropped == {
        "train": {"neutral": 1},
        "dev": {"neutral": 0},
        "test": {"neutral": 1},
    }


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, TREES)
    (tmp_path / "dev.txt").unlink()
    assert Treebank(tmp_path).missing() == f"the treebank's dev.txt in {tmp_path}"


def test_a_line_that_is_no_tree(tmp_path: Path) -> None:
    source = write(tmp_path, TREES | {"dev": "(1 (2 no))\ntext,label\n"})
    with pytest.raises(ValueError, match=r"dev\.txt: line 2 is not a tree: found 'text,label'"):
        source.load()


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    source = write(tmp_path, TREES)
    (tmp_path / "test.txt").write_bytes("(1 (2 ok))\n(3 (2 cliché))\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"test\.txt: not UTF-8: line 2, byte 12 is 0xe9"):
        source.load()


def test_real_files_equal_the_reference_programs_table(data: Path) -> None:
    trees = Treebank(data / "sst").load()
    table = Files(
        data / "sst" / "sst_dataset.csv",
        split_column="exp_split",
        classes={"0": "negative", "1": "positive"},
    ).load()
    assert trees.classes == table.classes
    assert {s: len(rows) for s, rows in trees.splits.items()} == {
        "train": 6920,
        "dev": 872,
        "test": 1821,
    }
    for split, rows in trees.splits.items():
        theirs = table.splits[split]
        assert list(rows["text"]) == list(theirs["text"])
        assert list(rows["label"]) == list(theirs["label"])


def test_the_original_length_filter_gives_the_published_sizes(data: Path) -> None:
    classes = {}
    for split, rows in Treebank(data / "sst").load().splits.items():
        lengths = [len(text.split()) for text in rows["text"]]
        longest = max(lengths)
        classes[split] = Counter(
            label
            for label, length in zip(rows["label"], lengths, strict=True)
            if 5 < length < longest
        )
    assert classes["train"] == {0: 3034, 1: 3321}
    assert classes["test"] == {0: 863, 1: 862}
    assert classes["dev"].total() == 821
