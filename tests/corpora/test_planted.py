from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.corpora.planted import Planted

SMALL = {"train": 60, "dev": 10, "test": 20}


def owner(word: str, classes: tuple[str, ...]) -> str | None:
    return next((name for name in classes if word.startswith(name)), None)


@settings(deadline=None, max_examples=25)
@given(
    classes=st.sampled_from([("negative", "positive"), ("alpha", "beta", "gamma")]),
    evidence=st.integers(1, 5),
    fewer=st.integers(1, 5),
    spread=st.sampled_from([0.01, 0.3, 1.0]),
    seed=st.integers(0, 5),
)
def test_evidence_is_the_majority_and_lies_where_it_is_said(
    classes: tuple[str, ...], evidence: int, fewer: int, spread: float, seed: int
) -> None:
    distractors = max(evidence - fewer, 0)
    source = Planted(
        classes,
        **SMALL,
        evidence=evidence,
        distractors=distractors,
        spread=spread,
        longest=15,
        seed=seed,
    )
    for row in source.load().splits["train"]:
        words = row["text"].split()
        assert 10 <= len(words) <= 15
        owners = [owner(word, classes) for word in words]
        label = classes[row["label"]]
        assert [n for n, name in enumerate(owners) if name == label] == row["evidence"]
        counts = Counter(name for name in owners if name)
        assert counts.total() == evidence + distractors
        assert counts[label] == evidence == max(counts.values())
        planted = [n for n, name in enumerate(owners) if name]
        window = max(evidence + distractors, round(spread * len(words)))
        assert planted[-1] - planted[0] < window


def test_sizes_balance_and_source() -> None:
    corpus = Planted(**SMALL).load()
    assert {split: len(rows) for split, rows in corpus.splits.items()} == SMALL
    assert sum(corpus.splits["test"]["label"]) == 10
    assert corpus.classes == ("negative", "positive")
    assert corpus.source == "planted generator v1"


def test_no_single_word_decides() -> None:
    train = Planted(train=400).load().splits["train"]
    seen: dict[str, set[int]] = {}
    for text, label in zip(train["text"], train["label"], strict=True):
        for word in text.split():
            seen.setdefault(word, set()).add(label)
    marks = {word: labels for word, labels in seen.items() if word.startswith(("neg", "pos"))}
    assert len(marks) == 40
    assert sum(labels == {0, 1} for labels in marks.values()) > 30


def test_the_seed_decides_everything_but_splits_differ() -> None:
    first, again = Planted(**SMALL).load().splits, Planted(**SMALL).load().splits
    assert first["train"].to_dict() == again["train"].to_dict()
    assert first["train"]["text"][:10] != first["dev"]["text"][:10]
    assert first["train"]["text"][:] != Planted(**SMALL, seed=1).load().splits["train"]["text"][:]


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"classes": ["only"]}, "classes"),
        ({"classes": ["a b", "c"]}, "classes"),
        ({"classes": ["ba", "bo"]}, "coincide"),
        ({"distractors": 3}, "distractors"),
        ({"shortest": 3}, "shortest"),
        ({"shortest": 50}, "shortest"),
    ],
)
def test_impossible_parameters(wrong: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        Planted(**wrong)
