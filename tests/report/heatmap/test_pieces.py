"""Pieces of words summed to words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from attention_audit.report.heatmap import parse
from attention_audit.report.heatmap.attention import MASKED, OPEN, PADDING
from attention_audit.report.heatmap.pieces import by_word, words_by_mark

MARKED = {
    "##": (["[CLS]", "un", "##do", "it", "[SEP]"], (0, 1, 1, 2, 3)),
    "\u2581": (["<s>", "\u2581un", "do", "\u2581it", "</s>"], (0, 1, 1, 2, 3)),
    "\u0120": (["un", "do", "\u0120it", "<|end|>"], (0, 0, 1, 2)),
    " ": (["un", "do", " it"], (0, 0, 1)),
    "@@": (["un@@", "do", "it"], (0, 0, 1)),
    "</w>": (["un", "do</w>", "it</w>"], (0, 0, 1)),
}


@pytest.mark.parametrize("mark", MARKED)
def test_marks_tell_words_apart(mark):
    tokens, words = MARKED[mark]
    assert words_by_mark(tokens, mark, [False] * len(tokens)) == words


def test_padding_is_no_part_of_a_word():
    tokens, padding = ["\u2581un", "do", "pad", "pad"], [False, False, True, True]
    assert words_by_mark(tokens, "\u2581", padding) == (0, 0, 1, 2)


def test_columns_are_summed_and_rows_averaged(attention):
    weights = [[0.5, 0.3, 0.2], [0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    found = by_word(attention(tokens=["un", "##do", "it"], weights=weights, words="##"))
    assert found.query == found.key == ("undo", "it")
    np.testing.assert_allclose(found.weights[0, 0], [[0.65, 0.35], [0.9, 0.1]])
    assert found.words is None


def test_an_own_list_of_words(attention):
    found = by_word(attention(words=[0, 0, 1, 2]))
    assert found.key == ("thestudent", "laughed", ".")
    sides = by_word(attention(words={"key": [0, 0, 0, 0]}))
    assert (len(sides.query), sides.key) == (4, ("thestudentlaughed.",))
    np.testing.assert_allclose(sides.weights, 1.0)


def test_byte_level_words_are_read_as_text(attention, softmax):
    tokens = ["<s>", "Ġcaf", "Ã©", "Ġ", "íķĻ", "ìĥ", "Ŀ", "Ġìĥ"]
    found = by_word(attention(tokens=tokens, weights=softmax(8, 8), words=[0, 1, 1, 2, 2, 2, 2, 3]))
    # The last is a part of a character.
    assert found.key == ("<s>", "café", "학생", "ìĥ")
    assert by_word(attention(tokens=["Ã", "©", "b", "c"], words=[0, 0, 1, 2])).key[0] == "Ã©"


def test_a_words_cell_is_open_where_any_of_its_pieces_is(attention):
    tokens = ["un", "##do", "it", "##s", "[PAD]"]
    changes = {"tokens": tokens, "weights": [[0.2] * 5] * 5, "words": "##", "mask": "causal"}
    states = by_word(attention(padding="[PAD]", **changes)).states
    assert states.tolist() == [
        [OPEN, MASKED, PADDING],
        [OPEN, OPEN, PADDING],
        [PADDING, PADDING, PADDING],
    ]


def test_masked_values_do_not_count(attention):
    weights = [[1.0, None, None], [0.5, 0.5, None], [0.2, 0.3, 0.5]]
    changes = {"tokens": ["un", "##do", "it"], "weights": weights, "words": "##"}
    found = by_word(attention(mask="causal", **changes)).weights[0, 0]
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.5, 0.5]])


def test_without_words_there_are_none(attention):
    with pytest.raises(ValueError, match="words: missing"):
        by_word(attention())


@drawn(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_a_rows_sum_stays(numbers, seed):
    words = sorted(numbers)
    rows = np.random.default_rng(seed).dirichlet(np.ones(len(words)), size=len(words))
    whole = {"tokens": ["x"] * len(words), "weights": rows, "words": words}
    found = by_word(parse(whole)).weights
    assert found.shape[-1] == len(set(words))
    np.testing.assert_allclose(found.sum(-1), 1.0)
