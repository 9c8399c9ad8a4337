from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_audit.text import Preparation, Prepared, prepare

Ready = Any


Make = Any
Documents = list[tuple[str | None, int | None]]


def sentences(count: int, words: int = 6) -> Documents:
    return [(" ".join(f"w{(i * 7 + j) % 23}x" for j in range(words)), i % 2) for i in range(count)]


SPLITS = ("train", "dev", "test")


def all_of(prepared: Prepared, column: str) -> list:
    return [value for name in ("train", "dev", "test") for value in prepared.splits[name][column]]


def test_rows_become_tokens(corpus: Make, ready: Ready) -> None:
    text = [("The CAT sat 3 times", 1), ("a dog", 0)]
    prepared = ready(corpus(train=text, dev=text, test=text), digits="qqq")
    train = prepared.splits["train"]
    assert train["tokens"][:] == [["the", "cat", "sat", "qqq", "times"], ["a", "dog"]]
    assert train["label"][:] == [1, 0]
    assert train["uid"][:] == ["train-0", "train-1"]
    assert all_of(prepared, "id") == [0, 1, 2, 3, 4, 5]
    assert prepared.task == "classification"
    assert prepared.counts["train"] == {
        "kept": 2,
        "classes": {"bad": 1, "good": 1},
        "dropped": {},
    }


def test_every_dropped_row_is_counted_by_reason(corpus: Make, ready: Ready) -> None:
    train = [*sentences(10), (None, 1), (" \n ", 0), ("a b c d", None), ("short", 1)]
    tiny = corpus(train=[*train, ("long " * 9, 1)], dev=sentences(4), test=sentences(4))
    tiny.dropped = {"train": {"neutral": 7}}
    prepared = ready(tiny, longer_than=1, shorter_than=9)
    assert prepared.counts["train"] == {
        "kept": 10,
        "classes": {"bad": 5, "good": 5},
        "dropped": {"neutral": 7, "empty": 2, "unlabelled": 1, "too short": 1, "too long": 1},
    }


def test_bounds_are_strict(corpus: Make, ready: Ready) -> None:
    texts = [(" ".join("abcdefgh"[:n]), n % 2) for n in range(1, 9)]
    prepared = ready(corpus(train=texts, dev=texts, test=texts), longer_than=2, shorter_than=6)
    assert [len(tokens) for tokens in prepared.splits["dev"]["tokens"]] == [3, 4, 5]


def test_drop_longest_drops_every_longest_document_of_each_split(
    corpus: Make, ready: Ready
) -> None:
    long, short = [("a b c", 0), ("a b c", 1)], [("a b", 0), ("b a", 1)]
    prepared = ready(
        corpus(train=long + short, dev=[*short, ("a", 0), ("b", 1)], test=long + short),
        drop_longest=True,
    )
    assert prepared.counts["train"]["dropped"] == {"longest": 2}
    assert prepared.splits["dev"]["tokens"][:] == [["a"], ["b"]]


def test_drop_shortest_drops_every_shortest_document_of_each_split(
    corpus: Make, ready: Ready
) -> None:
    long, short = [("a b c", 0), ("a b c", 1)], [("a b", 0), ("b a", 1)]
    given = corpus(train=long + short, dev=[*short, *long], test=long + short)
    prepared = ready(given, drop_shortest=True)
    assert prepared.counts["train"]["dropped"] == {"shortest": 2}
    assert prepared.splits["dev"]["tokens"][:] == [["a", "b", "c"]] * 2
    assert ready(given, drop_shortest=True, longer_than=1).counts["dev"]["kept"] == 4


def test_both_extremes_are_dropped(corpus: Make, ready: Ready) -> None:
    three = [(text, label) for text in ("a b c", "a b", "a") for label in (0, 1)]
    given = corpus(train=three, dev=three, test=three)
    both = ready(given, drop_shortest=True, drop_longest=True)
    assert both.counts["test"]["kept"] == 2
    assert both.counts["test"]["dropped"] == {"shortest": 2, "longest": 2}


def test_drop_longest_leaves_a_set_bound_alone(corpus: Make, ready: Ready) -> None:
    tiny = corpus(train=sentences(4), dev=sentences(4), test=sentences(4))
    assert ready(tiny, drop_longest=True, shorter_than=99).counts["dev"]["kept"] == 4


def test_missing_splits_are_carved_by_class(corpus: Make, ready: Ready) -> None:
    texts = [(f"{text} u{i}", int(i < 20)) for i, (text, _) in enumerate(sentences(100))]
    prepared = ready(corpus(train=texts), dev_fraction=0.1, test_fraction=0.2)
    assert {n: c["kept"] for n, c in prepared.counts.items()} == {
        "train": 70,
        "dev": 10,
        "test": 20,
    }
    assert prepared.counts["test"]["classes"] == {"bad": 16, "good": 4}
    assert sorted(all_of(prepared, "id")) == list(range(100))
    again = ready(corpus(train=texts), dev_fraction=0.1, test_fraction=0.2)
    assert all_of(again, "id") == all_of(prepared, "id")
    other = ready(corpus(train=texts), dev_fraction=0.1, test_fraction=0.2, split_seed=1)
    assert all_of(other, "id") != all_of(prepared, "id")


def test_carving_does_not_touch_splits_that_exist(corpus: Make, ready: Ready) -> None:
    prepared = ready(corpus(train=sentences(20), test=sentences(10)), dev_fraction=0.5)
    assert {n: c["kept"] for n, c in prepared.counts.items()} == {
        "train": 10,
        "dev": 10,
        "test": 10,
    }


def test_limits_and_the_test_sample_are_counted(corpus: Make, ready: Ready) -> None:
    tiny = corpus(train=sentences(40), dev=sentences(10), test=sentences(20))
    prepared = ready(tiny, limits={"train": 6, "dev": None, "test": 100}, test_sample=0.5)
    assert prepared.counts["train"] == {
        "kept": 6,
        "classes": {"bad": 3, "good": 3},
        "dropped": {"over the limit": 34},
    }
    assert prepared.counts["dev"]["kept"] == 10
    assert prepared.counts["test"]["dropped"] == {"not in the test sample": 10}


documents = st.lists(
    st.tuples(
        st.one_of(st.none(), st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)),
        st.sampled_from([0, 1, None]),
    ),
    max_size=12,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(documents, st.booleans(), st.booleans())
def test_no_row_is_lost_uncounted(
    corpus: Make, train: Documents, with_dev: bool, drop_longest: bool
) -> None:
    bulk = [("a " * (2 + i % 4), i % 2) for i in range(80)]
    splits = {
        "train": bulk + train,
        **({"dev": [*sentences(4), ("a b", 0), ("a b", 1)]} if with_dev else {}),
    }
    chosen = Preparation(tokenizer="whitespace", longer_than=1, drop_longest=drop_longest)
    with tempfile.TemporaryDirectory() as folder:
        load = corpus(**splits).load
        prepared = prepare(chosen, load=load, fingerprint="f", cache_dir=Path(folder))
        ids = all_of(prepared, "id")
    counted = sum(c["kept"] + sum(c["dropped"].values()) for c in prepared.counts.values())
    assert counted == sum(map(len, splits.values()))
    assert len(set(ids)) == len(ids) == sum(c["kept"] for c in prepared.counts.values())


@pytest.mark.parametrize(
    ("splits", "chosen", "message"),
    [
        ({"train": [("a", 0)] * 9}, {}, "train split .* each of its 6 rows is labelled 'bad'"),
        (
            {"train": sentences(9), "dev": [("a", 1)] * 3},
            {},
            "dev split .* each of its 3 rows is labelled 'good'",
        ),
        ({"train": sentences(6)}, {"min_df": 9}, "min_df=9: no word occurs in that many of the 4"),
        ({"train": [(None, 0), (" ", 1)]}, {}, "is blank; is `text` the right column"),
        ({"train": []}, {}, "train split has no rows"),
        ({"dev": [("a", 0)]}, {}, r"splits \['dev'\]; expected train"),
        (
            {"train": sentences(6), "dev": [("a", 1)]},
            {"longer_than": 2},
            r"dev split is empty after carving and filtering \(rows dropped: too short 1\)",
        ),
        (
            {"train": sentences(6)},
            {"longer_than": 50},
            r"train split is empty after carving and filtering \(rows dropped: too short 4\)",
        ),
        ({"train": [("a", 0)]}, {}, "train split is empty"),
        ({"train": sentences(6), "test": [("a", 2)]}, {}, "row 'test-0': label 2, expected 0 to 1"),
        ({"train": [("a b", None)] * 5}, {}, "unlabelled 5"),
    ],
)
def test_hopeless_data_is_refused_on_one_line(
    corpus: Make, ready: Ready, splits: dict, chosen: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        ready(corpus(**splits), **chosen)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("limits", [{"train": 0}, {"valid": 3}])
def test_wrong_limits_are_refused(
    corpus: Make, ready: Ready, limits: dict[str, int | None]
) -> None:
    with pytest.raises(ValueError, match=r"limits\."):
        ready(corpus(train=sentences(10)), limits=limits)


def asked(questions: Make, answers: list[str | None], **more: list) -> Any:
    texts = ["Mary is in the Kitchen .", "John is in the garden .", "Sue ran to the office ."]
    text = (texts * len(answers))[: len(answers)]
    return questions(text=text, query=["Where is Mary ?"] * len(text), answer=answers, **more)


def test_questions_become_tokens_and_answers_words(questions: Make, ready: Ready) -> None:
    prepared = ready(asked(questions, [" Kitchen ", "garden", "office"]))
    train = prepared.splits["train"]
    assert prepared.task == "qa"
    assert train["query_tokens"][0] == ["where", "is", "mary", "?"]
    assert train["answer"][:] == ["kitchen", "garden", "office"]
    assert prepared.answers == prepared.vocabulary.own
    assert {"where", "?"} <= set(prepared.answers)


def test_answers_that_cannot_be_given_are_dropped_and_counted(
    questions: Make, ready: Ready
) -> None:
    train = asked(questions, ["kitchen"] * 5)
    other = asked(questions, ["kitchen", "Mars", None, "the garden", ""])
    train.splits |= {"dev": other.splits["dev"], "test": other.splits["test"]}
    assert ready(train).counts["test"] == {
        "kept": 1,
        "classes": {},
        "dropped": {"unlabelled": 2, "answer not in vocabulary": 2},
    }


def test_an_answer_of_the_train_rows_can_be_given_however_rare(
    questions: Make, ready: Ready
) -> None:
    prepared = ready(asked(questions, ["kitchen", "Yes ", "kitchen"]), min_df=3)
    assert set(prepared.vocabulary.own) == {
        "where",
        "is",
        "mary",
        "?",
        ".",
        "the",
        "kitchen",
        "yes",
    }
    assert prepared.counts["train"]["dropped"] == {}


def test_where_rows_name_candidates_nothing_else_is_an_answer(
    questions: Make, ready: Ready
) -> None:
    candidates = [["Kitchen", "garden"], ["office", "Garden"], ["garden"]]
    prepared = ready(asked(questions, ["kitchen", "office", "garden"], candidates=candidates))
    assert sorted(prepared.answers) == ["garden", "kitchen", "office"]
    assert len(prepared.vocabulary.own) > 3


def pairs(questions: Make, **more: list) -> Any:
    texts = ["A man sleeps .", "Two dogs run .", "A man sleeps ."]
    hypotheses = ["He is awake .", "Animals move .", "A man rests ."]
    columns = {"text": texts, "query": hypotheses, "label": [1, 2, 0], **more}
    return questions(("neutral", "contradiction", "entailment"), **columns)


def test_premise_and_hypothesis_become_tokens(questions: Make, ready: Ready) -> None:
    prepared = ready(pairs(questions))
    train = prepared.splits["train"]
    assert prepared.task == "nli"
    assert prepared.answers == ()
    assert train["tokens"][0] == ["a", "man", "sleeps", "."]
    assert train["query_tokens"][0] == ["he", "is", "awake", "."]
    assert train["label"][:] == [1, 2, 0]
    assert "awake" in prepared.vocabulary.own
    assert prepared.counts["test"]["classes"] == {
        "neutral": 1,
        "contradiction": 1,
        "entailment": 1,
    }


def test_a_pair_without_hypothesis_or_label_is_dropped_and_counted(
    questions: Make, ready: Ready
) -> None:
    texts, labels = ["a b", "b c", "c d", "d e", "e f"], [0, 1, 2, None, 0]
    broken = pairs(questions, text=texts, query=["x", "y", "z", "x", " "], label=labels)
    assert ready(broken).counts["dev"]["dropped"] == {"empty": 1, "unlabelled": 1}


def test_the_documents_of_a_corpus_are_all_its_texts(questions: Make, ready: Ready) -> None:
    texts = ["a b c", "d", "e f g"]
    prepared = ready(pairs(questions, text=texts, query=["x", "y", "z y"]), longer_than=1)
    assert prepared.counts["train"]["kept"] == 2
    assert list(prepared.documents()) == [
        ["a", "b", "c"],
        ["x"],
        ["d"],
        ["y"],
        ["e", "f", "g"],
        ["z", "y"],
    ] * len(SPLITS)


def test_a_corpus_says_how_it_differs_also_from_the_cache(corpus: Make, ready: Ready) -> None:
    tiny = corpus(train=sentences(8), dev=sentences(4), test=sentences(4))
    tiny.differs = "a substitute"
    assert [ready(tiny).differs, ready(tiny).differs] == ["a substitute"] * 2
    assert tiny.loads == 1


def test_candidates_follow_the_tokens(questions: Make, ready: Ready) -> None:
    candidates = [["Kitchen", "garden", "kitchen"], ["office"], None]
    prepared = ready(asked(questions, ["kitchen", "garden", "office"], candidates=candidates))
    assert prepared.splits["dev"]["candidates"][:] == [["kitchen", "garden"]]
    assert prepared.counts["dev"]["dropped"] == {"answer not a candidate": 2}


def test_evidence_keeps_its_places(questions: Make, ready: Ready) -> None:
    marked = questions(("x", "y"), text=["A 1 c", "b 2 b"], label=[0, 1], evidence=[[1], None])
    dev = ready(marked, digits="qqq").splits["dev"]
    assert dev["evidence"][:] == [[1], []]
    assert dev["tokens"][0][1] == "qqq"
    with pytest.raises(ValueError, match="tokenizer=spacy: the corpus marks evidence"):
        ready(marked, tokenizer="spacy")


def test_evidence_beyond_its_document_is_refused(questions: Make, ready: Ready) -> None:
    marked = questions(("x", "y"), text=["a b", "b a"], label=[0, 1], evidence=[[0], [2]])
    with pytest.raises(ValueError, match=r"row 'train-1': evidence \[2\] lies beyond its 2 tokens"):
        ready(marked)


def test_the_second_time_nothing_is_read_or_tokenised(corpus: Make, ready: Ready) -> None:
    tiny = corpus(train=sentences(20))
    first = ready(tiny)
    second = ready(tiny, min_df=2, longer_than=1)
    assert tiny.loads == 1
    assert all_of(second, "tokens") == all_of(first, "tokens")
    ready(tiny, lowercase=False)
    assert tiny.loads == 2


def test_another_fingerprint_is_another_text(corpus: Make, tmp_path: Path) -> None:
    tiny = corpus(train=sentences(20))
    for fingerprint in ("one", "two", "one"):
        prepare(
            Preparation(tokenizer="whitespace"),
            load=tiny.load,
            fingerprint=fingerprint,
            cache_dir=tmp_path,
        )
    assert tiny.loads == 2


CACHED = """
import sys
from pathlib import Path
from attention_audit.text import Preparation, prepare

def load():
    import importlib.util
    from datasets import Dataset
    from types import SimpleNamespace
    print("read")
    rows = {"uid": list("abcdefghijklmnopqrst"), "text": ["It's a b.", "c d"] * 10,
            "label": [0, 1] * 10}
    return SimpleNamespace(
        splits={"train": Dataset.from_dict(rows)}, classes=("x", "y"), source="s", dropped={},
        differs="",
    )

prepared = prepare(Preparation(), load=load, fingerprint="f", cache_dir=Path(sys.argv[1]))
print(prepared.vocabulary.words, "spacy" in sys.modules)
"""


def test_two_processes_at_once_read_once_and_a_third_not_at_all(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CACHED, str(tmp_path)]
    pair = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = "".join(process.communicate()[0] for process in pair)
    assert [process.returncode for process in pair] == [0, 0]
    assert printed.count("read") == 1
    third = subprocess.run(command, capture_output=True, text=True, check=True)
    assert third.stdout.rstrip().endswith("False")
    assert "read" not in third.stdout
    assert third.stderr == ""


def test_a_run_that_is_interrupted_leaves_no_half_written_text(
    corpus: Make, ready: Ready, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    tiny = corpus(train=sentences(20), test=sentences(5))
    with monkeypatch.context() as patch:
        patch.setattr("attention_audit.text.tokenised.json.dumps", _after(1, interrupted))
        with pytest.raises(KeyboardInterrupt):
            ready(tiny)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]
    assert ready(tiny).counts["test"]["kept"] == 5


def _after(calls: int, then: Any) -> Any:
    import json

    left = [calls]
    real = json.dumps

    def dumps(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        return real(*args, **kwargs) if left[0] >= 0 else then()

    return dumps


def test_what_a_killed_run_left_is_cleared_away(corpus: Make, ready: Ready, tmp_path: Path) -> None:
    tiny = corpus(train=sentences(20))
    ready(tiny)
    (folder,) = [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]
    building = folder.rename(folder.with_suffix(".building"))
    (building / "train.arrow").write_bytes(b"half")
    assert ready(tiny).counts["train"]["kept"] == 13
    assert not building.exists()


def test_the_treebanks_published_sizes(corpus: Make, ready: Ready) -> None:
    folder = os.environ.get("ATTENTION_AUDIT_DATA")
    if folder is None:
        pytest.skip("ATTENTION_AUDIT_DATA does not name the folder of real corpora")
    texts: dict[str, list[tuple[str | None, int | None]]] = {"train": [], "dev": [], "test": []}
    with (Path(folder) / "sst" / "sst_dataset.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            texts[row["exp_split"]].append((row["text"], int(row["label"])))
    prepared = ready(corpus(**texts), longer_than=5, drop_longest=True)
    assert {name: list(c["classes"].values()) for name, c in prepared.counts.items()} == {
        "train": [3034, 3321],
        "dev": [397, 424],
        "test": [863, 862],
    }


def test_the_vocabulary_of_the_whole_corpus_knows_words_of_every_split_and_dropped_row(
    corpus: Make, ready: Ready
) -> None:
    tiny = corpus(train=[*sentences(20), ("only once", 1)], test=[*sentences(4), ("unseen", 1)])
    of_train = ready(tiny, longer_than=2).vocabulary
    of_all = ready(tiny, longer_than=2, vocabulary="corpus").vocabulary
    assert not {"only", "unseen"} & set(of_train.words)
    assert {"only", "once", "unseen"} <= set(of_all.words)


@pytest.mark.parametrize("damaged", ["*.arrow", "*.json"])
def test_damaged_tokens_are_made_again(
    corpus: Make, ready: Ready, tmp_path: Path, damaged: str, caplog: pytest.LogCaptureFixture
) -> None:
    tiny = corpus(train=sentences(20), test=sentences(5))
    before = ready(tiny).splits["train"].to_dict()
    for path in (tmp_path / "cache").rglob(damaged):
        path.write_bytes(path.read_bytes()[:20])
    assert ready(tiny).splits["train"].to_dict() == before
    assert tiny.loads == 2
    assert "is damaged" in caplog.text
