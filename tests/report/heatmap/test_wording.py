"""Tokens as they are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.report.heatmap.wording import (
    counted,
    listed,
    number,
    place,
    quoted,
    runs_leftwards,
    visible,
    without_isolates,
)


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("laughed", "laughed"),
        ("", "(empty)"),
        (" the", "\u2423the"),
        ("a b ", "a b\u2423"),
        ("  ", "\u2423\u2423"),
        ("\n", "\\n"),
        ("a\u202eb", "a\\u202eb"),
        ("\u200b", "\\u200b"),
        ("\ud800", "\\ud800"),
        ("\x1b[2J", "\\x1b[2J"),
        ("می\u200cروم", "می\u200cروم"),
        ("\u200d", "\\u200d"),
        ("학생", "학생"),
    ],
)
def test_what_cannot_be_seen_is_shown(token, shown):
    assert visible(token) == shown


@given(st.text())
def test_what_is_shown_can_be_written_and_breaks_no_line(token):
    shown = visible(token)
    assert shown
    shown.encode("utf-8")
    assert len(shown.splitlines()) == 1
    assert not any(
        0x202A <= ord(char) <= 0x202E or ord(char) in range(0x2066, 0x206A) for char in shown
    )


def test_a_token_in_a_sentence_is_isolated_from_it():
    assert place(3, "שלום") == f"position 3 {quoted('שלום')}"
    assert quoted("שלום") == "\u2068'שלום'\u2069"
    assert without_isolates(quoted("a")) == "'a'"


@pytest.mark.parametrize(
    ("value", "decimals", "said"),
    [(0.614, 2, "0.61"), (-3.0, -2, "-3"), (99_999.9, 1, "99999.9"), (-2.5329e12, 2, "-2.533e+12")],
)
def test_numbers(value, decimals, said):
    assert number(value, decimals) == said


def test_counting():
    assert [counted(1, "row"), counted(1200, "row")] == ["1 row", "1,200 rows"]
    assert listed("abc", most=2) == "a, b and 1 more"
    assert listed("abc", most=3) == "a, b, c"


def test_scripts_from_right_to_left():
    assert runs_leftwards(["a", "שלום"])
    assert runs_leftwards(["ضحك"])
    assert not runs_leftwards(["a", "학생", "1"])
