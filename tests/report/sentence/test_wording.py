"""Numbers are written so that none looks like what it is not."""

from __future__ import annotations

import math

import pytest

from attention_audit.report.sentence import Word
from attention_audit.report.sentence.wording import marked, pvalue_of, written


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [
        (0.12345, False, "0.123"),
        (0.12345, True, "+0.123"),
        (-0.5, True, "-0.500"),
        (-0.0004, True, "0.000"),
        (0.0004, True, "0.000"),
        (-0.0, False, "0.000"),
        (math.nan, False, "undefined"),
    ],
)
def test_a_number(value, signed, text):
    assert written(value, signed) == text


@pytest.mark.parametrize(
    ("pvalue", "text"),
    [
        (None, ""),
        (math.nan, ""),
        (0.0, "<.001"),
        (0.00099, "<.001"),
        (0.001, "0.001"),
        (1.0, "1.000"),
    ],
)
def test_a_pvalue_is_never_written_as_0(pvalue, text):
    assert pvalue_of(pvalue) == text


def test_a_word_the_vocabulary_lacks_is_marked_and_none_reorders_its_line():
    assert marked(Word("a", True)) == marked(Word("a", None)) == "a"
    assert marked(Word("a", False)) == "a [unk]"
    assert marked(Word("a\u202eb\x1b", False)) == "a\\u202eb\\x1b [unk]"
