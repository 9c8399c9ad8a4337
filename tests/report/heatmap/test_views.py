"""Titles state what is known, captions only observe."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention_audit.report.heatmap import views
from attention_audit.report.heatmap.wording import without_isolates

READINGS = re.compile(
    r"\b(because|important|importance|relevant|decisive|look\w*|focus\w*|attend\w*|explain\w*|"
    r"reason\w*|caus\w+|understand\w*|notice\w*|influenc\w*|due|thus|therefore)\b",
    flags=re.IGNORECASE,
)


def first(attention):
    return next(views(attention))[0]


def caption(attention):
    return without_isolates(first(attention).caption(4))


def test_one_matrix_is_one_view(attention):
    [[view]] = views(attention())
    assert view.weights.tolist() == attention().weights[0, 0].tolist()


def test_a_stack_has_a_mean_and_its_heads_for_each_layer(attention, softmax):
    weights = softmax(3, 2, 4, 4)
    stack = [*views(attention(weights=weights))]
    assert [len(layer) for layer in stack] == [3, 3, 3]
    mean, *heads = stack[1]
    np.testing.assert_allclose(mean.weights, weights[1].mean(0))
    np.testing.assert_array_equal(heads[1].weights, weights[1, 1])


def test_what_is_not_stated_is_said_not_to_be(attention):
    assert first(attention()).title == (
        "model not stated, version not stated, layer not stated, head not stated, "
        "aggregation not stated, raw or with residual not stated"
    )


def test_what_is_stated_is_in_the_title(attention):
    changes = {"model": "bert", "version": 1.5, "layer": 3, "head": "b", "kind": "with residual"}
    assert first(attention(aggregation="one head", **changes)).title == (
        "model bert, version 1.5, layer 3, head b, aggregation one head, with residual"
    )


def test_a_stacks_titles_say_what_is_a_mean_and_what_one_head(attention, softmax):
    changes = {"weights": softmax(1, 2, 4, 4), "layer": 7, "head": ["a", "b"], "model": "m"}
    mean, head, _ = next(views(attention(**changes)))
    assert "layer 7, head all 2, aggregation mean over heads, raw or" in mean.title
    assert "layer 7, head a, aggregation none, one head, raw or" in head.title
    averaged, _, _ = next(views(attention(aggregation="mean of 9 texts", **changes)))
    assert "aggregation mean over heads, each given as mean of 9 texts" in averaged.title


def test_a_caption_tells_the_largest_weight_and_the_entropies(attention):
    assert caption(attention(weights=[[0, 1, 0, 0], [0.5, 0.5, 0, 0], *[[0.25] * 4] * 2])) == (
        "Position 0 'the' gives 1.00 to position 1 'student', the largest weight drawn. "
        "Row entropy: 0.00 to 1.39 nats; ln n of those rows: 1.39."
    )


def test_a_caption_tells_ties(attention):
    said = caption(attention(weights=[[0.4, 0.4, 0.1, 0.1]] * 2 + [[0.25] * 4] * 2))
    assert "gives 0.40 to position 0 'the' and as much to 1 other position, the largest" in said
    assert "weight drawn; 1 other row has as large a maximum." in said


def test_a_caption_leaves_out_what_is_masked_missing_or_no_distribution(attention):
    weights = [[0.3, 0.9, 0, 0], [0.5, 0.5, 0, 0], [None, 0.8, 0.2, 0], [0.25] * 4]
    said = caption(attention(weights=weights, mask="causal"))
    assert said.startswith("Position 2 'laughed' gives 0.80 to position 1 'student', the largest")
    assert (
        "Row entropy: 0.69 to 1.39 nats; ln n of those rows: 0.69 to 1.39; 2 rows have none" in said
    )


@pytest.mark.parametrize("weights", [[[None] * 4] * 4, [[2.0, 0, 0, 0]] * 4])
def test_a_caption_without_entropies(attention, weights):
    said = caption(attention(weights=weights))
    assert said == "No cell has a value." or said.endswith("entropy: none is a distribution.")


def test_a_caption_reads_nothing_into_the_numbers(attention, softmax):
    inputs = [
        {},
        {"weights": softmax(2, 3, 4, 4)},
        {"weights": softmax(4, 4), "mask": "causal", "padding": "."},
        {"weights": [[None] * 4] * 4},
        {"weights": [[-1.0, 2.0, 0.0, 0.0]] * 4, "normalised": False},
    ]
    for changes in inputs:
        for layer in views(attention(**changes)):
            for view in layer:
                assert not READINGS.search(view.caption(4))
                assert not READINGS.search(view.title)


def test_maxima_are_those_of_the_figure(attention):
    weights = [[0.30004, 0.30001, 0.2, 0.2], [0.1, 0.9, 0, 0], [0, 0, 0.1, 0.9], [None] * 4]
    found = first(attention(weights=weights, mask="causal")).maxima(4)
    assert [tuple(one) if one else None for one in found] == [
        (0, 0.3, 0),
        (1, 0.9, 0),
        (2, 0.1, 0),
        None,
    ]
    rounded = first(attention(weights=weights)).maxima(4)[0]
    assert rounded is not None
    assert rounded.ties == 1
