from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate

from attention_audit.corpora import choose
from attention_audit.corpora.cloze import ClozeFiles, ClozeFolders

ITEMS = """\
@placeholder met @entity1 in the city
@entity12
( @entity3 ) -- @entity12 , who knows @entity1 , went to @entity3 . @entity12's hat , a@entity9

who saw @placeholder ?
@entity2
@entity0 saw no one
@entity0:the first one
@entity1 : the second , or @entity2

"""
ROWS = {
    "uid": ["test-0", "test-1"],
    "text": [
        "( @entity3 ) -- @entity12 , who knows @entity1 , went to @entity3 . "
        "@entity12's hat , a@entity9",
        "@entity0 saw no one",
    ],
    "query": ["@placeholder met @entity1 in the city", "who saw @placeholder ?"],
    "answer": ["@entity12", "@entity2"],
    "candidates": [["@entity3", "@entity12", "@entity1"], ["@entity0"]],
}
QUESTION = """\
http://somewhere.example/2014/a-story

( @entity3 ) -- @entity1 went to @entity3 .

@placeholder stayed

@entity1

@entity1:Some One
@entity3:A Place
"""


def files(folder: Path, content: str = ITEMS) -> ClozeFiles:
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        (folder / f"{split}.txt").write_bytes(content.encode())
    return ClozeFiles(folder)


def folders(folder: Path, content: str = QUESTION, ids: Iterable[str] = ("b", "a")) -> ClozeFolders:
    for split in ("training", "validation", "test"):
        (folder / split).mkdir(parents=True, exist_ok=True)
        for name in ids:
            (folder / split / f"{name}.question").write_bytes(content.encode())
    return ClozeFolders(folder)


def test_items_become_rows_with_the_entities_of_their_passage(tmp_path: Path) -> None:
    source = files(tmp_path)
    corpus = source.load()
    assert corpus.splits["test"].to_dict() == ROWS
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {
        "train": 2,
        "dev": 2,
        "test": 2,
    }
    assert (corpus.classes, corpus.dropped, corpus.differs) == ((), {}, "")
    assert str(tmp_path) not in str(source.identity())


@pytest.mark.parametrize(
    "content",
    [
        ITEMS.replace("\n", "\r\n"),
        ITEMS.rstrip("\n"),
        "\n\n" + ITEMS.replace("\n\n", "\n \n\n"),
        "\ufeff" + ITEMS,
    ],
)
def test_line_ends_and_blank_lines_do_not_matter(content: str, tmp_path: Path) -> None:
    assert files(tmp_path, content).load().splits["test"].to_dict() == ROWS


def test_other_separators_inside_a_passage_end_no_line(tmp_path: Path) -> None:
    content = "q @placeholder\n@entity0\none \u2028two \x85 three \r four @entity0\n"
    row = files(tmp_path, content).load().splits["train"][0]
    assert row["text"] == "one \u2028two \x85 three \r four @entity0"


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("a question\n@entity1", "found 'a question' and then '@entity1' in 2 lines"),
        ("a question", "found 'a question' in 1 lines"),
        ("a passage of @entity1\na question\n@entity1", "and then 'a question' in 3 lines"),
        ("a question\n@entity1\npassage\nmore of it", "in 4 lines"),
    ],
)
def test_an_item_of_another_form_is_named(item: str, found: str, tmp_path: Path) -> None:
    source = files(tmp_path, f"{ITEMS}\n{item}\n\n{ITEMS}")
    with pytest.raises(ValueError, match=rf"train\.txt: line 12 begins no cloze .*{found}"):
        source.load()


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    source = files(tmp_path)
    (tmp_path / "dev.txt").write_bytes(ITEMS.encode() + b"na\xefve\n")
    with pytest.raises(ValueError, match=r"dev\.txt: not UTF-8: line 11, byte 3 is 0xef"):
        source.load()


def test_a_missing_split_is_named(tmp_path: Path) -> None:
    source = files(tmp_path)
    assert source.missing() is None
    (tmp_path / "dev.txt").unlink()
    assert source.missing() == f"the cloze questions' dev.txt in {tmp_path}"


def test_question_files_become_rows(tmp_path: Path) -> None:
    source = folders(tmp_path)
    corpus = source.load()
    assert corpus.splits["dev"].to_dict() == {
        "uid": ["dev-a", "dev-b"],
        "text": ["( @entity3 ) -- @entity1 went to @entity3 ."] * 2,
        "query": ["@placeholder stayed"] * 2,
        "answer": ["@entity1"] * 2,
        "candidates": [["@entity3", "@entity1"]] * 2,
    }
    assert [path.stem for path in source.files()] == ["a", "b"] * 3
    assert str(tmp_path) not in str(source.identity())


def test_question_files_with_other_line_ends_or_a_blank_passage(tmp_path: Path) -> None:
    rows = folders(tmp_path / "unix").load().splits["train"].to_dict()
    windows = folders(tmp_path / "windows", QUESTION.replace("\n", "\r\n"))
    assert windows.load().splits["train"].to_dict() == rows
    blank = folders(tmp_path / "blank", "http://x\n\n\n\n@placeholder ?\n\n@entity1\n")
    assert blank.load().splits["train"][0] == {
        "uid": "train-a",
        "text": "",
        "query": "@placeholder ?",
        "answer": "@entity1",
        "candidates": [],
    }


@pytest.mark.parametrize("content", ["", "http://x\n\npassage\n\nquestion", ITEMS])
def test_a_file_that_is_no_question_is_named(content: str, tmp_path: Path) -> None:
    source = folders(tmp_path)
    (tmp_path / "validation" / "b.question").write_text(content)
    with pytest.raises(ValueError, match=r"validation.b\.question: not a cloze question: found"):
        source.load()


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    source = folders(tmp_path)
    assert source.missing() is None
    for path in (tmp_path / "validation").iterdir():
        path.unlink()
    assert source.missing() == f".question files in validation of {tmp_path}"


def test_the_dataset_takes_either_release_and_what_its_user_says_of_it(
    composed: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    listed = composed("dataset=cnn", "dataset.differs=a stand-in")["dataset"]["sources"]
    sources = [instantiate(source, _convert_="all") for source in listed]
    with pytest.raises(FileNotFoundError, match=r"train\.txt, .*; or \.question files in training"):
        choose(sources)
    folders(tmp_path / "data" / "cnn" / "questions")
    assert choose(sources) is sources[1]
    files(tmp_path / "data" / "cnn")
    assert choose(sources) is sources[0]
    assert [source.load().differs for source in sources] == ["a stand-in"] * 2


def test_the_real_items_in_both_forms(data: Path, tmp_path: Path) -> None:
    samples = data / "cnn" / "hermann_cnn_5samples"
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.txt").symlink_to(samples / "train.txt")
    for split in ("training", "validation", "test"):
        (tmp_path / split).symlink_to(samples / "questions_training")
    texts = ClozeFiles(tmp_path).load().splits["train"].remove_columns("uid").to_list()
    items = ClozeFolders(tmp_path).load().splits["train"].remove_columns("uid").to_list()
    assert len(texts) == 5
    assert sorted(map(str, texts)) == sorted(map(str, items))


def test_the_real_stand_in(data: Path) -> None:
    folder = data / "cnn" / "emory_friends_cloze" / "danqi_format"
    corpus = ClozeFiles(folder, differs="dialogues of a series").load()
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {
        "train": 1_100,
        "dev": 249,
        "test": 1_353,
    }
    for rows in corpus.splits.values():
        for answer, candidates in zip(rows["answer"], rows["candidates"], strict=True):
            assert answer in candidates
