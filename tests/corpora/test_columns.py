"""Rows as examples of each task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attention_audit.corpora import Corpus
from attention_audit.corpora.files import Files

QUESTIONS = [
    {"passage": "Mary is here.", "question": "Where?", "answer": "here", "candidates": ["here", 3]},
    {"passage": "John left.", "question": None, "answer": None, "candidates": None},
]
PAIRS = [
    {"premise": "a man", "hypothesis": "a person", "label": "entailment"},
    {"premise": "a man", "hypothesis": "a dog", "label": "contradiction"},
    {"premise": "a man", "hypothesis": "a tall man", "label": "neutral"},
    {"premise": "a man", "hypothesis": "a thing", "label": "-"},
]


def read(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Corpus:
    path = folder / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return Files(path, **options).load()


def test_questions(tmp_path: Path) -> None:
    corpus = read(tmp_path, QUESTIONS, task="qa")
    assert corpus.splits["train"].to_dict() == {
        "uid": ["train-0", "train-1"],
        "text": ["Mary is here.", "John left."],
        "query": ["Where?", None],
        "answer": ["here", ""],
        "candidates": [["here", "3"], None],
    }
    assert corpus.classes == ()


def test_questions_without_candidates_by_other_names(tmp_path: Path) -> None:
    rows = [{"story": "a b", "ask": "c", "reply": 7}, {"story": "d", "ask": "e", "reply": "f"}]
    names = {"text_column": "story", "query_column": "ask", "answer_column": "reply"}
    corpus = read(tmp_path, rows, task="qa", **names)
    assert corpus.splits["train"].column_names == ["uid", "text", "query", "answer"]
    assert corpus.splits["train"]["answer"][:] == ["7", "f"]


def test_candidates_of_a_delimited_file_are_parted_by_a_bar(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("passage,question,answer,choices\na,b,c,c| d e |f\ng,h,c,c\n")
    corpus = Files(path, task="qa", candidates_column="choices").load()
    assert corpus.splits["train"]["candidates"][:] == [["c", "d e", "f"], ["c"]]


def test_candidates_of_another_type_are_refused(tmp_path: Path) -> None:
    rows = [QUESTIONS[0] | {"candidates": {"a": 1}}, QUESTIONS[1]]
    with pytest.raises(
        ValueError, match=r"the candidates of row 1 .* of type dict, expected a list"
    ):
        read(tmp_path, rows, task="qa")


def test_pairs_in_the_order_of_the_classes(tmp_path: Path) -> None:
    order = ["neutral", "contradiction", "entailment"]
    corpus = read(tmp_path, PAIRS, task="nli", classes=order, unlabelled=["-"])
    train = corpus.splits["train"]
    assert train["text"][0] == "a man"
    assert list(zip(train["query"], train["label"], strict=True)) == [
        ("a person", 2),
        ("a dog", 1),
        ("a tall man", 0),
    ]
    assert corpus.classes == tuple(order)
    assert corpus.dropped == {"train": {"unlabelled": 1}}


def test_a_column_of_the_task_that_is_not_there_is_named_with_its_key(tmp_path: Path) -> None:
    rows = [{"premise": row["passage"], "label": "x"} for row in QUESTIONS]
    with pytest.raises(ValueError, match=r"column 'hypothesis' is missing; .* \(query_column\)"):
        read(tmp_path, rows, task="nli")


def test_ignored_labels_are_other_classes(tmp_path: Path) -> None:
    rows = [{"text": "t", "label": label} for label in (1, 2, 3, 4, 5, None)]
    corpus = read(tmp_path, rows, classes={1: "world", 3: "business"}, ignored=[2, "4"])
    assert corpus.classes == ("world", "business")
    assert corpus.splits["train"]["label"][:] == [0, 1]
    assert corpus.dropped == {"train": {"other class": 2, "unknown label": 1, "unlabelled": 1}}


def test_a_split_without_labels_is_refused_and_those_with_labels_named(tmp_path: Path) -> None:
    rows = [{"text": "t", "label": n % 2, "split": "train"} for n in range(4)]
    rows += [{"text": "t", "label": n % 2, "split": "valid"} for n in range(2)]
    rows += [{"text": "t", "label": -1, "split": "test"} for _ in range(2)]
    with pytest.raises(
        ValueError, match=r"the test split has no labelled row \(found '-1'\).*: train, dev"
    ):
        read(tmp_path, rows, unlabelled=[-1])


def test_a_split_of_unknown_labels_only_is_refused(tmp_path: Path) -> None:
    rows = [{"text": "t", "label": n % 2, "split": "train"} for n in range(4)]
    hidden = [{"text": "t", "label": -1, "split": "test"} for _ in range(2)]
    with pytest.raises(ValueError, match=r"the test split has no labelled row .*: train"):
        read(tmp_path, rows + hidden)
    others = [{"text": "t", "label": 2, "split": "test"}]
    with pytest.raises(ValueError, match=r"the test split has no labelled row \(found '2'\)"):
        read(tmp_path, rows + others, classes=[0, 1], ignored=[2])


def test_a_split_without_answers_is_refused_and_those_with_answers_named(tmp_path: Path) -> None:
    rows = [{"passage": "a b", "question": "c", "answer": "b", "split": "train"}]
    rows += [row | {"answer": None, "split": "test"} for row in rows]
    with pytest.raises(ValueError, match=r"the test split has no answered row .* answers: train"):
        read(tmp_path, rows, task="qa")


@pytest.mark.parametrize(
    ("task", "role", "value"),
    [("classification", "label", [1, 2]), ("qa", "answer", {"text": ["b"], "answer_start": [2]})],
)
def test_labels_and_answers_with_a_structure_are_refused(
    tmp_path: Path, task: str, role: str, value: Any
) -> None:
    row = {"text": "a b", "passage": "a b", "question": "c", role: value}
    with pytest.raises(ValueError, match=rf"the {role} of row 1 .* \({role}_column\)"):
        read(tmp_path, [row], task=task)


def test_identities_tell_tasks_and_columns_apart(tmp_path: Path) -> None:
    options: list[dict[str, Any]] = [
        {},
        {"task": "qa"},
        {"text_column": "body"},
        {"classes": [1, 2]},
        {"classes": [2, 1]},
        {"ignored": [3]},
        {"unlabelled": ["-"]},
        {"cleaning": "line_breaks"},
    ]
    found = [json.dumps(Files(tmp_path, **one).identity()) for one in options]
    assert len(set(found)) == len(options)
