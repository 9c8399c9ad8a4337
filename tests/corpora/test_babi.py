from __future__ import annotations

from pathlib import Path

import pytest

from attention_audit.corpora.babi import BabiFiles, questions

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


def test_real_files_with_a_dev_split(data: Path) -> None:
    folder = data / "babi" / "tasks_1-20_v1-2" / "en-valid-10k"
    corpus = BabiFiles(folder, task=1).load()
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {
        "train": 9000,
        "dev": 1000,
        "test": 1000,
    }
