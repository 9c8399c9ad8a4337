"""Tokens that follow their text, and tokens that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.report.heatmap.order import follow

FOLLOWING = {
    "words": (["The", "student", "laughed"], "The student laughed"),
    "lower case, accents lost": (["cafe", "uber"], "Café ÜBER"),
    "WordPiece": (["[CLS]", "un", "##believ", "##able", "[SEP]"], "Unbelievable"),
    "SentencePiece": (["<s>", "\u2581Hello", "\u2581wor", "ld", "</s>"], "Hello world"),
    "byte-level": (["Hello", "\u0120world"], "Hello world"),
    "byte-level, a line break and accents": (
        ["<s>", "a", "Ċ", "Ġcaf", "Ã©", "Ġc", "</s>"],
        "a\n café c",
    ),
    "byte-level, characters in parts": (["íķĻ", "ìĥ", "Ŀ", "Ġ", "ðŁ", "ĺĢ"], "학생 😀"),
    "Maltese": (["ġorġ", "Ċ"], "ġorġ ċ"),
    "spaces": (["Hello", " world"], "Hello world"),
    "BPE": (["lau@@", "ghed"], "laughed"),
    "repeated": (["a", "b", "a"], "a b a"),
    "Korean": (["학생이", "웃었", "##다"], "학생이 웃었다"),
    "Hebrew": (["התלמיד", "צחק"], "התלמיד צחק"),
    "Hebrew with points": (["שלום"], "שָׁלוֹם"),
}


@pytest.mark.parametrize(("tokens", "text"), FOLLOWING.values(), ids=FOLLOWING)
def test_tokens_in_the_order_of_the_text(tokens, text):
    assert follow(tokens, text).first_lost is None
    assert follow(tokens, text).between == ""


@pytest.mark.parametrize(
    ("tokens", "text", "lost"),
    [
        (["student", "the"], "the student", 1),
        (["the", "the"], "the student", 1),
        (["[CLS]", "teacher"], "the student", 1),
        (["웃었다", "학생이"], "학생이 웃었다", 1),
    ],
)
def test_the_first_token_out_of_order_is_named(tokens, text, lost):
    assert follow(tokens, text).first_lost == lost


def test_what_no_token_has_is_told():
    assert follow(["Ġthe", "Ċ"], "The\nthe\n é x").between == "The é x"
    assert follow(["the", "laughed"], "The student laughed .").between == "student ."


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1))
def test_a_texts_own_words_follow_it(words):
    assert follow(words, " ".join(words)) == (len(words), None, "")
