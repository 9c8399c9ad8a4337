"""Heatmaps from Python: of any library's arrays, shown in a notebook, saved as a page."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest
import torch

from attention_audit.report.heatmap import heatmap, parse

HOSTILE = "</iframe><script>alert(1)</script>"


def lists(weights):
    return weights.tolist()


def tensor(weights):
    return torch.tensor(weights, requires_grad=True)


def half(weights):
    return torch.tensor(weights).bfloat16()


def layers(weights):
    """As a model returns them: a tuple with a tensor for each layer."""
    return tuple(torch.tensor(layer) for layer in weights)


@pytest.mark.parametrize("kind", [lists, np.array, tensor, half, layers, list])
def test_weights_are_taken_as_they_are_at_hand(given, softmax, kind):
    weights = softmax(2, 3, 4, 4)
    found = parse(given(weights=kind(weights))).weights
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, weights, atol=4e-3 if kind is half else 1e-12)


def test_masks_and_padding_may_be_tensors(given, softmax):
    closed = torch.tensor([False, False, False, True])
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    changes = {"weights": softmax(4, 4), "mask": mask, "padding": closed}
    told = {"mask": mask.tolist(), "padding": closed.tolist()}
    found, expected = parse(given(**changes)), parse(given(**{**changes, **told}))
    np.testing.assert_array_equal(found.states, expected.states)
    sides = {"padding": {"query": closed.numpy(), "key": closed}}
    np.testing.assert_array_equal(parse(given(**changes | sides)).states, expected.states)


@pytest.mark.parametrize("kind", [lists, np.array, tensor, layers])
def test_a_batch_is_refused_with_what_to_do(given, softmax, kind):
    with pytest.raises(
        ValueError, match=r"^weights: found 5 axes, .*; of a batch, give one text's"
    ):
        parse(given(weights=kind(softmax(2, 1, 3, 4, 4))))


@pytest.mark.parametrize("kind", [lists, np.array, tensor, half, layers, list])
def test_what_a_transformer_returns_of_one_text_is_drawn_in_one_call(given, softmax, kind):
    weights = softmax(2, 1, 3, 4, 4)
    said = {"weights": kind(weights), "axes": "layer_batch_head_query_key"}
    [(found, _)] = heatmap(given(**said)).drawn
    np.testing.assert_allclose(found.weights, weights[:, 0], atol=4e-3 if kind is half else 1e-12)
    one = given(weights=weights[0], axes="batch_head_query_key")
    np.testing.assert_array_equal(parse(one).weights, weights[0])


@pytest.mark.parametrize("shape", [(2, 2, 3, 4, 4), (1, 2, 2, 4, 4)])
def test_a_batch_of_several_texts_is_refused(given, softmax, shape):
    with pytest.raises(ValueError, match=r"^weights: found a batch of 2, expected one text's$"):
        parse(given(weights=softmax(*shape), axes="layer_batch_head_query_key"))


def test_what_an_array_masks_is_missing(given, softmax):
    masked = np.ma.masked_array(softmax(4, 4), mask=np.triu(np.ones((4, 4), dtype=bool), 1))
    found = parse(given(weights=masked)).weights[0, 0]
    np.testing.assert_array_equal(np.isnan(found), masked.mask)


def test_names_may_be_numpys(given, softmax):
    tokens = np.array(["a", "b", "c", "d"])
    told = {"layer": np.arange(2), "head": range(3), "normalised": np.True_}
    changes = {"weights": softmax(2, 3, 4, 4), **told}
    for named in ({"tokens": tokens}, {"tokens": list(tokens), "layer": [np.int64(0), 1]}):
        found = parse(given(**changes | named))
        assert (found.query, found.layers, found.heads) == (tuple("abcd"), ("0", "1"), tuple("012"))
        assert {type(token) for token in found.query} == {str}


def test_tuples_are_lists(given, softmax):
    rows = softmax(4, 4).tolist()
    changes = {"weights": tuple(map(tuple, rows)), "mask": ((True,) * 4,) * 4}
    np.testing.assert_array_equal(parse(given(**changes)).weights[0, 0], rows)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 4, 4), (0, 3, 4, 4)])
def test_an_array_without_values_is_refused(given, shape):
    with pytest.raises(ValueError, match=r"^weights: found .* values, expected at least one"):
        parse(given(weights=np.zeros(shape)))


def test_a_scale_and_an_input_are_needed(given):
    with pytest.raises(ValueError, match=r"^scale: found 1 0, expected a low and a higher number$"):
        heatmap(given(), scale=(1.0, 0.0))
    with pytest.raises(ValueError, match=r"^found no attention, expected one or more mappings$"):
        heatmap()


def test_layers_of_unlike_shapes_are_refused(given, softmax):
    with pytest.raises(ValueError, match=r"^weights: found "):
        parse(given(weights=(softmax(3, 4, 4), softmax(2, 4, 4))))


def test_a_notebook_shows_the_page_in_a_frame_that_reaches_nothing(given):
    shown = heatmap(given(text=HOSTILE, model=HOSTILE))._repr_html_()
    [(rights, source)] = re.findall(
        r'^<iframe sandbox="([^"]*)".* srcdoc="([^"]*)"></iframe>$', shown
    )
    assert "allow-same-origin" not in rights
    assert html.unescape(source) == heatmap(given(text=HOSTILE, model=HOSTILE)).html


def test_the_frame_draws(given, open_page, tmp_path):
    (tmp_path / "notebook.html").write_text(heatmap(given())._repr_html_())
    opened = open_page(tmp_path / "notebook.html")
    opened.frame_locator("iframe").locator(".drawing svg").wait_for()


def test_several_have_one_scale_and_their_failures_are_known(given, tmp_path):
    made = heatmap(given(), given(weights=[[0.98, 0, 0, 0]] * 4), scale=(0.0, 0.5))
    assert [one.name for one in made.failed] == ["colour scale", "row sums", "colour scale"]
    made.save(tmp_path / "page.html")
    saved = (tmp_path / "page.html").read_text()
    assert saved == made.html
    assert "from 0 to 0.5" in saved
    assert "attention 2" in saved


def test_what_cannot_be_drawn_is_refused(given):
    with pytest.raises(ValueError, match=r"^token: unknown \(did you mean 'tokens'\?\)"):
        heatmap(given(), {"token": ["a"]})


def test_attentions_that_a_model_did_not_return_are_told_from_missing_values(given):
    with pytest.raises(ValueError, match=r"attn_implementation='eager'$"):
        parse(given(weights=(None, None)))
