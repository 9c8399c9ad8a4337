import logging
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from attention_audit.diagnostics import (
    SPLITS,
    fit_frozen,
    fit_log_odds,
    fit_regularised,
    give_log_odds,
    log_odds,
    log_odds_attention,
)
from attention_audit.diagnostics.log_odds import REGULARISED

VOCABULARY = 40
UNSEEN = [0, 1, 2, 3, 39]


def corpus(classes, documents=300, seed=0, share=None):
    """Texts of random words 10-38 of uneven frequency; word 4 + c stands in texts of class c."""
    generator = np.random.default_rng(seed)
    labels = generator.choice(classes, documents, p=share)
    texts = [
        (10 + 29 * generator.random(generator.integers(3, 12)) ** 2).astype(int) for _ in labels
    ]
    return [
        [*text.tolist(), 4 + int(label)] for text, label in zip(texts, labels, strict=True)
    ], labels


def test_the_word_that_decides_weighs_by_far_the_most():
    documents, labels = corpus(2)
    without_it = [[word for word in text if word != 4] for text in documents]
    weights = fit_log_odds(without_it, labels, VOCABULARY)
    assert weights.shape == (VOCABULARY,)
    assert weights.argmax() == 5
    assert weights[5] > 4 * np.delete(weights, 5).max()


def test_the_words_that_decide_among_three_classes():
    documents, labels = corpus(3)
    weights = fit_log_odds(documents, labels, VOCABULARY)
    assert set(weights.argsort()[-3:]) == {4, 5, 6}
    assert weights[4:7].min() > 3 * np.delete(weights, [4, 5, 6]).max()


@pytest.mark.parametrize(("classes", "share"), [(2, [0.85, 0.15]), (3, [0.6, 0.3, 0.1])])
def test_equal_to_scikit_learn_on_text(classes, share):
    documents, labels = corpus(classes, share=share)
    text = [" ".join(f"word{word}" for word in words) for words in documents]
    vectoriser = TfidfVectorizer(vocabulary=[f"word{word}" for word in range(VOCABULARY)])
    regression = LogisticRegression(
        solver="newton-cg", class_weight="balanced", tol=1e-10, max_iter=1000
    ).fit(vectoriser.fit_transform(text), labels)
    expected = sum(np.abs(row) for row in regression.coef_) / len(regression.coef_)
    assert fit_log_odds(documents, labels, VOCABULARY) == pytest.approx(expected, abs=1e-4)


def test_words_that_no_document_has_weigh_nothing():
    weights = fit_log_odds(*corpus(2), VOCABULARY)
    assert (weights[UNSEEN] == 0).all()
    assert (np.delete(weights, [*UNSEEN, 6, 7, 8, 9]) > 0).all()


def test_arrays_lists_and_documents_without_words_are_taken():
    documents, labels = corpus(2)
    expected = fit_log_odds([*documents, []], np.append(labels, 0), VOCABULARY)
    arrays = [*map(np.array, documents), np.array([], dtype=np.int32)]
    assert (fit_log_odds(arrays, np.append(labels, 0), VOCABULARY) == expected).all()


def test_names_of_classes_do_not_matter():
    documents, labels = corpus(2)
    assert (
        fit_log_odds(documents, 7 * labels, VOCABULARY)
        == fit_log_odds(documents, labels, VOCABULARY)
    ).all()


def test_a_fit_that_is_cut_short_says_so(caplog, monkeypatch):
    documents, labels = corpus(3)
    with caplog.at_level(logging.WARNING):
        fit_log_odds(documents, labels, VOCABULARY)
    assert caplog.messages == []
    monkeypatch.setattr(log_odds, "_STEPS", 2)
    fit_log_odds(documents, labels, VOCABULARY)
    assert caplog.messages == ["log-odds: no optimum within 2 steps; the last weights count"]


@pytest.mark.parametrize(
    ("documents", "labels", "said"),
    [
        ([[2], [3]], [1, 1], "found 2 training documents of class 1 alone; expected two classes"),
        ([], [], "found 0 training documents of no class; expected two classes"),
        ([[2], [3]], [0, 1, 1], "found 2 documents and 3 labels; expected one label per document"),
        ([[2], [5]], [0, 1], "found word id 5; expected 0 to 4"),
        ([[2], [-1]], [0, 1], "found word id -1; expected 0 to 4"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_one_line(documents, labels, said):
    with pytest.raises(ValueError, match=f"^log-odds: {said}[^\n]*$"):
        fit_log_odds(documents, np.array(labels, dtype=np.int64), 5)


WEIGHTS = np.array([0.0, 0.0, 6.0, 1.0, 1.0])


def test_attention_is_the_share_of_each_word():
    assert log_odds_attention([3, 2, 3, 0], WEIGHTS).tolist() == [0.125, 0.75, 0.125, 0]


def test_a_text_whose_words_weigh_nothing_is_uniform():
    assert log_odds_attention([0, 1, 0, 0], WEIGHTS).tolist() == [0.25] * 4


def test_a_text_without_words_has_no_weights():
    assert log_odds_attention([], WEIGHTS).shape == (0,)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=30),
    st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1e12)), min_size=5, max_size=5),
)
def test_attention_sums_to_one_in_the_order_of_the_weights(words, weights):
    found = log_odds_attention(words, np.array(weights))
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    assert (
        np.argsort(found, kind="stable") == np.argsort(np.array(weights)[words], kind="stable")
    ).all()


def by_id(given):
    return dict(zip(given.ids.tolist(), (row.tolist() for row in given.rows()), strict=True))


def test_every_instances_words_have_the_weights_learned_from_the_train_split(reading, texts):
    found = by_id(give_log_odds(reading()))
    documents, labels = [*texts["train"].values()], np.array([one % 2 for one in texts["train"]])
    weights = fit_log_odds(documents, labels, 12)
    every = {one: text for split in SPLITS for one, text in texts[split].items()}
    assert found.keys() == every.keys()
    for one, text in every.items():
        assert found[one] == pytest.approx(log_odds_attention(text, weights).tolist(), abs=1e-4)
    # Word 10 stands in no text of the train split, and 11 neither.
    assert found[32] == pytest.approx([0, 0, 1])


@pytest.mark.parametrize("split", SPLITS)
def test_labels_of_the_train_split_alone_are_learned_from(reading, split):
    base = reading()
    expected = by_id(give_log_odds(base))

    def relabelled(asked):
        for batch in base.batches(asked):
            labels = (batch.ids % 10 > 1).long() if asked == split else batch.labels
            yield replace(batch, labels=labels)

    found = by_id(give_log_odds(replace(base, batches=relabelled)))
    assert (found == expected) == (split != "train")


def test_frozen_log_odds_are_the_fits_attention(noted, reading):
    fit, given = noted(), give_log_odds(reading())
    fit_frozen(fit, given)
    [asked] = fit.asked
    assert asked["role"] == "log_odds_trained"
    assert asked["given"] is given
    assert asked["change"] == {
        "attention": {"_target_": "attention_audit.models.attentions.Frozen", "name": "frozen"},
        "auxiliary": {"given": {"log_odds": 1}},
    }


def test_regularised_keeps_the_bases_attention(noted, reading):
    fit, given = noted(), give_log_odds(reading())
    fit_regularised(fit, given, 2.0)
    [asked] = fit.asked
    assert asked["role"] == "log_odds_regularised"
    assert asked["given"] is given
    objective = {"_target_": REGULARISED, "strength": 2.0}
    assert asked["change"] == {"auxiliary": {"objective": objective, "given": {"log_odds": 1}}}


def test_the_room_opens_without_scikit_learn():
    code = "import sys, attention_audit.diagnostics; print('sklearn' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"
