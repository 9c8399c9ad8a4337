from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.text.tokenisers import normaliser, reader, tokeniser

spacy_tokens = tokeniser("spacy")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It doesn't work.", ["It", "does", "n't", "work", "."]),
        ("  two\n\n\tlines   here ", ["two", "lines", "here"]),
        ("", []),
        (" \u00a0\n\t ", []),
        ("at 10am (sharp)", ["at", "10", "am", "(", "sharp", ")"]),
        ("Mr <de> , <de>. <DE>", ["Mr", "<de>", ",", "<de>", ".", "<", "DE", ">"]),
    ],
)
def test_spacy_rules(text: str, tokens: list[str]) -> None:
    assert spacy_tokens(text) == tokens


@given(st.text())
def test_no_token_is_blank_and_no_character_is_lost(text: str) -> None:
    tokens = spacy_tokens(text)
    assert all(token.strip() for token in tokens)
    assert "".join("".join(tokens).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("token", "expected"),
    [("Word", "word"), ("9/11", "qqq"), ("mp3", "qqq"), ("x²", "qqq"), ("½", "½"), ("...", "...")],
)
def test_normalised_tokens(token: str, expected: str) -> None:
    assert normaliser(lowercase=True, digits="qqq")(token) == expected


def test_case_and_digits_can_be_kept() -> None:
    assert normaliser(lowercase=False, digits="keep")("@Entity12") == "@Entity12"


def test_a_reader_splits_and_normalises():
    read = reader("spacy", normaliser(lowercase=True, digits="qqq"))
    assert read("It's  A1\n<de>") == ["it", "'s", "qqq", "<de>"]
    assert read(" \n") == []
