from __future__ import annotations

from pathlib import Path

import pytest

from attention_audit.corpora.babi import BabiFiles, questions
from attention_audit.corpora.corpus import choose
from attention_audit.corpora.simulator import Simulator

STORY = """1 Mary moved to the bathroom.
2 John went back to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary got the milk there.
5 Where is the milk? \tbathroom\t4 1
1 Sandra journeyed to the office.
2 Where is Sandra? \toffice\t1
"""


def test_the_story_so_far_is_the_passage() -> None:
    first, second, third = questions(STORY.splitlines(), "train", "here")
    assert first.text == "Mary moved to the bathroom . John went back to the hallway"
    assert (first.query, first.answer, first.evidence) == ("Where is Mary", "bathroom", [*range(5)])
    assert second.text == f"{first.text} . Mary got the milk there"
    words = second.text.split()
    assert " ".join(words[n] for n in second.evidence or []) == (
        "Mary moved to the bathroom Mary got the milk there"
    )
    assert third.text == "Sandra journeyed to the office"
    assert [first.uid, second.uid, third.uid] == ["train-0", "train-1", "train-2"]


def test_blank_lines_and_line_ends_do_not_matter() -> None:
    dirty = STORY.replace("\n", " \r\n\r\n")
    assert list(questions(dirty.splitlines(), "train", "here")) == list(
        questions(STORY.splitlines(), "train", "here")
    )


def test_three_supporting_facts_are_evidence_in_the_order_of_the_passage() -> None:
    story = """1 John took the milk.
2 John moved to the office.
3 John went back to the bathroom.
4 John left the milk there.
5 Where was the milk before the bathroom? \toffice\t4 3 2"""
    (row,) = questions(story.splitlines(), "train", "here")
    assert row.query == "Where was the milk before the bathroom"
    assert row.answer == "office"
    words = (row.text or "").split()
    assert " ".join(words[n] for n in row.evidence or []) == (
        "John moved to the office John went back to the bathroom John left the milk there"
    )


@pytest.mark.parametrize("line", ["3 Where is Mary? \tbathroom", "3 Where is Mary?\tbathroom\t7"])
def test_a_broken_question_is_named(line: str) -> None:
    lines = [*STORY.splitlines()[:2], line]
    with pytest.raises(ValueError, match="qa1: line 3 is not a bAbI question: found '3 Where"):
        list(questions(lines, "train", "qa1"))


def test_files_are_found_by_task_and_split(tmp_path: Path) -> None:
    for name in ("qa1_single_train", "qa1_single_test", "qa11_other_train", "qa2_x_train"):
        (tmp_path / f"{name}.txt").write_bytes(STORY.replace("\n", "\r\n").encode())
    source = BabiFiles(tmp_path, task=1)
    assert source.missing() is None
    assert [path.name for path in source.files()] == ["qa1_single_train.txt", "qa1_single_test.txt"]
    corpus = source.load()
    assert corpus.classes == ()
    assert corpus.splits["test"]["answer"][:] == ["bathroom", "bathroom", "office"]
    assert corpus.splits["test"]["evidence"][2] == [0, 1, 2, 3, 4]
    assert BabiFiles(tmp_path, task=2).missing() == f"bAbI's qa2_*test.txt in {tmp_path}"
    assert BabiFiles(None, task=1).missing() is not None


@pytest.mark.parametrize(("task", "words"), [(1, 36), (2, 94)])
def test_real_files_have_the_published_sizes(data: Path, task: int, words: int) -> None:
    folder = data / "babi" / "tasks_1-20_v1-2" / "en-10k"
    corpus = BabiFiles(folder, task).load()
    sizes = {split: len(rows) for split, rows in corpus.splits.items()}
    assert sizes == {"train": 10_000, "test": 1_000}
    train = corpus.splits["train"]
    lengths = [len(text.split()) for text in train["text"]]
    assert sum(lengths) / len(lengths) == pytest.approx(words, abs=1)
    for text, answer, evidence in zip(
        train["text"][:500], train["answer"], train["evidence"], strict=False
    ):
        assert answer in {text.split()[position] for position in evidence}


@pytest.mark.parametrize(
    ("release", "task", "train", "dev"),
    [("en-valid-10k", 1, 9000, 1000), ("en-valid-10k", 2, 9000, 1000), ("en-valid", 3, 900, 100)],
)
def test_real_files_with_a_dev_split(
    data: Path, release: str, task: int, train: int, dev: int
) -> None:
    corpus = BabiFiles(data / "babi" / "tasks_1-20_v1-2" / release, task).load()
    sizes = {split: len(rows) for split, rows in corpus.splits.items()}
    assert sizes == {"train": train, "dev": dev, "test": 1000}


def test_long_passages_of_the_real_files_are_whole(data: Path) -> None:
    test = BabiFiles(data / "babi" / "tasks_1-20_v1-2" / "en", task=3).load().splits["test"]
    lengths = [len(text.split()) for text in test["text"]]
    assert max(lengths) > 1000
    longest = test[lengths.index(max(lengths))]
    words = longest["text"].split()
    support = [words[position] for position in longest["evidence"]]
    assert longest["answer"] in support
    assert longest["query"].split()[-1] in support


def test_the_simulator_serves_where_a_real_file_is_missing(data: Path) -> None:
    files = BabiFiles(data / "babi" / "tasks_1-20_v1-2" / "en-10k", task=3)
    assert (files.missing() or "").startswith("bAbI's qa3_*train.txt in ")
    assert choose([files, simulator := Simulator(task=3)]) is simulator
