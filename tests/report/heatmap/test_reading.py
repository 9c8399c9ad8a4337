"""What is read is read without guessing; what cannot be drawn is refused in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from attention_audit.report.heatmap import Attention, parse, read
from attention_audit.report.heatmap.attention import MASKED, OPEN, PADDING
from attention_audit.report.heatmap.reading import KEYS


def test_a_matrix_is_one_layer_and_one_head(attention):
    found = attention()
    assert found.weights.shape == (1, 1, 4, 4)
    assert found.weights[0, 0, 2].tolist() == [0.05, 0.61, 0.3, 0.04]
    assert found.query == found.key == ("the", "student", "laughed", ".")
    assert (found.layers, found.heads) == (("not stated",), ("not stated",))
    assert (found.states == OPEN).all()


def test_four_axes_are_layers_heads_query_key(attention, softmax):
    weights = softmax(3, 2, 4, 4)
    found = attention(weights=weights, layer=["a", "b", "c"])
    np.testing.assert_array_equal(found.weights, weights)
    assert (found.layers, found.heads) == (("a", "b", "c"), ("0", "1"))


@pytest.mark.parametrize(
    ("axes", "shape"),
    [("head_query_key", (1, 3, 4, 4)), ("layer_query_key", (3, 1, 4, 4))],
)
def test_three_axes_are_what_axes_says(attention, softmax, axes, shape):
    assert attention(weights=softmax(3, 4, 4).tolist(), axes=axes).weights.shape == shape


@pytest.mark.parametrize("axes", [None, "query_key", "key_query", "layer_head_query_key"])
def test_three_axes_without_their_names_are_refused(attention, softmax, axes):
    with pytest.raises(ValueError, match=r"^weights: found 3 axes, which may be layers or heads"):
        attention(weights=softmax(3, 4, 4), axes=axes)


def test_key_query_turns_weights_and_mask(attention, softmax):
    tokens = {"tokens": None, "query_tokens": ["a", "b"], "key_tokens": ["x", "y", "z"]}
    mask = np.array([[True, False, True], [True, True, True]])
    weights = softmax(2, 3, mask=mask)
    turned = attention(weights=weights.T, axes="key_query", mask=mask.T.tolist(), **tokens)
    plain = attention(weights=weights, mask=mask.tolist(), **tokens)
    np.testing.assert_array_equal(turned.weights, plain.weights)
    np.testing.assert_array_equal(turned.states, plain.states)
    assert (turned.transposed, plain.transposed) == (True, False)
    stack = attention(weights=weights.T[None, None], axes="layer_head_key_query", **tokens)
    np.testing.assert_array_equal(stack.weights, plain.weights)


def test_a_causal_mask_closes_what_comes_after(attention):
    states = attention(mask="causal").states
    assert states.tolist() == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "padding",
    [".", [False, False, False, True], {"query": ".", "key": [False, False, False, True]}],
)
def test_padding_closes_its_rows_and_columns_masked_or_not(attention, padding):
    states = attention(padding=padding, mask="causal").states
    assert (states[3] == PADDING).all()
    assert (states[:, 3] == PADDING).all()
    assert states[0, 1] == MASKED


def test_padding_of_one_side_leaves_the_other(attention):
    states = attention(padding={"key": "."}).states
    assert states.tolist() == [[OPEN, OPEN, OPEN, PADDING]] * 4


def test_null_is_a_missing_value(attention):
    weights = [[None, 1, 0, 0], *[[0.25] * 4] * 3]
    assert np.isnan(attention(weights=weights).weights[0, 0, 0, 0])


def test_numbers_may_be_numpys(attention):
    row = [np.float32(0.5), np.float64(0.25), np.int64(0), 0.25]
    assert attention(weights=[row] * 4).weights[0, 0, 0].tolist() == [0.5, 0.25, 0.0, 0.25]
    assert attention(weights=np.eye(4, dtype=np.float16)).weights.dtype == np.float64
    with pytest.raises(ValueError, match=r"^weights: found array\(\[\[ True[^\n]*expected a list"):
        attention(weights=np.eye(4, dtype=bool))


def test_one_text_is_the_keys(attention):
    sides = {"tokens": None, "query_tokens": ["q"], "key_tokens": ["k"], "weights": [[1.0]]}
    assert attention(text="k", **sides).texts == {"key": "k"}
    both = {"query": "q", "key": "k"}
    assert attention(text=both, **sides).texts == both


REFUSED = {
    "an unknown key": ({"weigths": []}, "weigths: unknown (did you mean 'weights'?); expected one"),
    "no weights": ({"weights": None}, "weights: missing; expected query x key numbers"),
    "no tokens": ({"tokens": None}, "query_tokens: missing; expected tokens, or query_tokens and"),
    "one side": ({"tokens": None, "query_tokens": ["a"]}, "key_tokens: missing"),
    "tokens thrice": ({"query_tokens": ["a"]}, "tokens: found beside query_tokens or key_tokens"),
    "tokens that are a text": ({"tokens": "the"}, "tokens: found 'the', expected a list of texts"),
    "tokens that are numbers": ({"tokens": [1, 2]}, "tokens: found [1, 2], expected a list of"),
    "another shape": (
        {"weights": [[1.0]]},
        "weights: found 1 x 1 (query x key), expected 4 x 4 as there are tokens",
    ),
    "one axis": ({"weights": [1, 0, 0, 0]}, "weights: found 1 axis, expected query x key"),
    "five axes": ({"weights": [[[[[1]]]]]}, "weights: found 5 axes, expected at most layers"),
    "no rows": ({"weights": []}, "weights: found [], expected a list of numbers or of lists"),
    "ragged rows": (
        {"weights": [[1, 2], [3]]},
        "weights[1]: found 1 values, expected 2 as in the first",
    ),
    "texts": ({"weights": [["0.5"]]}, "weights[0]: found '0.5', expected numbers"),
    "truth values": ({"weights": [[True]]}, "weights[0]: found True, expected numbers"),
    "a number too large": ({"weights": [[10**400]]}, "weights: found a whole number beyond"),
    "axes": ({"axes": "kq"}, "axes: found 'kq', expected one of query_key, key_query"),
    "axes too many": (
        {"axes": "head_query_key"},
        "axes: found head_query_key, expected the names of 2 axes as in weights",
    ),
    "mask": ({"mask": "casual"}, "mask: found 'casual', expected causal or query x key of true"),
    "mask of numbers": ({"mask": [[1, 0]]}, "mask: found [[1, 0]], expected causal or query x key"),
    "mask's shape": ({"mask": [[True]]}, "mask: found 1 x 1, expected 4 x 4 as weights"),
    "padding by position": ({"padding": [0, 1]}, "padding: found [0, 1], expected the padding"),
    "padding's length": ({"padding": [True]}, "padding: found [True], expected the padding token"),
    "padding of a side": (
        {"padding": {"keys": "."}},
        "padding.keys: unknown (did you mean 'key'?); expected one of key, query",
    ),
    "layers": ({"layer": ["a", "b"]}, "layer: found ['a', 'b'], expected one name, as in weights"),
    "head": ({"head": 1.5}, "head: found 1.5, expected names or numbers"),
    "kind": ({"kind": "rwa"}, "kind: found 'rwa': Input should be 'raw' or 'with residual'"),
    "model": ({"model": 3}, "model: found 3: Input should be a valid string"),
    "text": ({"text": 3}, "text: found 3, expected a text"),
    "words": ({"words": "#"}, "words: found '#', expected one of the marks '##'"),
    "words' length": ({"words": [0]}, "words: found [0], expected a mark, or the word's number"),
    "words that part": ({"words": [0, 1, 0, 1]}, "words: found numbers that fall"),
}


@pytest.mark.parametrize(("changes", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_is_refused_in_one_line(attention, changes, line):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the line is compared)
        attention(**changes)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_unlike_sides_have_no_causal_mask(attention):
    sides = {"tokens": None, "query_tokens": ["q"], "key_tokens": ["k", "l"]}
    with pytest.raises(ValueError, match=r"^mask: causal needs as many queries as keys"):
        attention(weights=[[0.5, 0.5]], mask="causal", **sides)


def test_a_turned_shape_is_not_turned_but_asked_about(attention):
    sides = {"tokens": None, "query_tokens": ["q"], "key_tokens": ["k", "l"]}
    with pytest.raises(
        ValueError, match=r"found 2 x 1 \(query x key\).*; if it is key x query, say"
    ):
        attention(weights=[[0.5], [0.5]], **sides)


@pytest.mark.parametrize("whole", [[], 3, None, "x", [[1.0]]])
def test_only_an_object_is_read(whole):
    with pytest.raises(ValueError, match="expected a JSON object with tokens and weights"):
        parse(whole)


FILES = {
    "no JSON": b"tokens",
    "half": b'{"tokens": ["a"',
    "depth": b"[" * 100_000,
    "a key twice": b'{"tokens": ["a"], "weights": [[1]], "weights": [[0]]}',
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.json: cannot be read as JSON \([^\n]+\); expected"):
        read(path)


@pytest.mark.parametrize("content", [b"\xff\xfe\xfd", b"\x93NUMPY\x01\x00", b"PK\x03\x04\x9f"])
def test_a_file_that_is_no_text_is_told(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.json: found no text in UTF-8 \(.* drawn from Python"):
        read(tmp_path / "x.json")


def test_a_folder(tmp_path):
    with pytest.raises(ValueError, match=r": found a folder, expected a JSON object"):
        read(tmp_path)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.json: no such file; expected a JSON"):
        read(tmp_path / "none.json")


def test_a_file_is_read_with_what_json_does_not_know(tmp_path, given):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(given(weights=[[float("nan")] * 4] * 4)))
    found = read(path)
    assert found.name == "x.json"
    assert np.isnan(found.weights).all()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@drawn(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_whatever_is_given_is_read_or_refused(whole):
    try:
        assert isinstance(parse(whole), Attention)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017 (both ends are right)
