"""What is drawn of each word, and what has to be known of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_audit.report.sentence import Word
from attention_audit.report.sentence.measured import shares


def test_importances_are_drawn_as_shares_and_said_to_be(measured):
    attention, gradient, leave_one_out, adversary, difference = measured().columns
    assert gradient.values.tolist() == [0.25, 0.75, 0.0]
    assert leave_one_out.values == pytest.approx([0.1, 0.3, 0.6])
    for column in (gradient, leave_one_out):
        assert column.meaning.endswith("as a share of its sum")
    assert attention.values is not adversary.values
    assert difference.values == pytest.approx([0.65, -0.7, 0.05])
    assert [column.signed for column in measured().columns] == [False] * 4 + [True]


@given(arrays(float, 5, elements=st.floats(0, 1e6)))
def test_shares_are_on_the_scale_of_attention(values):
    found = shares(values)
    if values.any() and values.sum() > 0:
        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()
    else:
        assert np.isnan(found).all()


def test_a_share_that_is_undefined_stays_so():
    np.testing.assert_array_equal(shares(np.array([1.0, np.nan, 3.0])), [0.25, np.nan, 0.75])
    assert np.isnan(shares(np.array([np.nan]))).all()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("exact", "the most different attention whose output is within 0.01 (TVD): the exact max"),
        ("found", ": the best of search, single words and mixes of two; another may be more"),
        ("search", ": the best of the search; another may be more different"),
    ],
)
def test_how_the_adversary_was_come_by_is_said(measured, kind, said):
    assert said in measured(kind=kind).columns[3].meaning


def test_an_adversary_that_is_the_attention_itself_is_told(measured):
    same = np.array([0.1, 0.7, 0.2])
    told = measured(adversary=same).columns[3].meaning
    assert told == "the model's own: there is no other whose output is within 0.01 (TVD)"
    told = measured(adversary=same, kind="search").columns[3].meaning
    assert told.startswith("the model's own: no other was found")


def test_unknown_words_are_counted_those_of_the_query_too(measured):
    [note] = measured(query=(Word("why", False),)).notes
    assert note.startswith("2 of 4 words marked [unk]")
    assert [*measured(words=(Word("a", True),) * 3).notes] == []


def test_of_a_private_corpus_it_is_said_that_they_are_not_told(measured):
    [note] = measured(words=tuple(Word(text, None) for text in "abc")).notes
    assert note.startswith("The corpus is private: which of the words its vocabulary lacks")
