"""Each check passes on sound input and names what is wrong with other."""

from __future__ import annotations

import numpy as np
import pytest

from attention_audit.report.heatmap import check
from attention_audit.report.heatmap.wording import without_isolates

LOWER = np.tril(np.ones((4, 4), dtype=bool))


@pytest.fixture
def checked(attention):
    """The checks of an input by name."""

    def make(scale=(0.0, 1.0), **changes):
        found = {one.name: one for one in check(attention(**changes), scale)}
        return found

    return make


def failed(found):
    return {name for name, one in found.items() if one.passed is False}


def test_sound_input_passes(checked):
    found = checked(text="The student laughed.")
    assert [one.passed for one in found.values()] == [True] * 5 + [None] * 3 + [True]
    assert found["shape and axes"].detail == (
        "4 query tokens (rows) x 4 key tokens (columns), as given"
    )
    assert found["row sums"].detail == "1 within 0.001: from 1.0000 to 1.0000"


def test_a_causal_lower_triangle_passes(checked, softmax):
    found = checked(weights=softmax(4, 4, mask=LOWER), mask="causal")
    assert failed(found) == set()
    assert found["mask"].detail == "no weight in the 6 masked cells"


def test_rows_that_sum_to_098_are_named_with_their_sums(checked, softmax):
    found = checked(weights=softmax(4, 4) * 0.98)
    assert failed(found) == {"row sums"}
    detail = without_isolates(found["row sums"].detail)
    assert detail.startswith("not 1 within 0.001 in 4 rows: position 0 'the' (0.9800), position 1")


def test_the_row_among_layers_and_heads_is_named(checked, softmax):
    weights = softmax(12, 12, 4, 4)
    weights[7, 3, 2] *= 1.1
    found = checked(weights=weights)
    assert failed(found) == {"row sums"}
    detail = without_isolates(found["row sums"].detail)
    assert "in 1 row: layer 7 head 3 position 2 'laughed' (1.1000)" in detail


def test_of_many_rows_ten_are_named(checked, softmax):
    detail = checked(weights=softmax(12, 12, 4, 4) / 2)["row sums"].detail
    assert " in 576 rows: " in detail
    assert detail.count("(0.5000)") == 10
    assert " and 566 more" in detail


def test_key_x_query_is_suspected_not_assumed(checked, softmax):
    found = checked(weights=softmax(4, 4).T)
    assert failed(found) == {"row sums"}
    assert found["row sums"].detail.endswith(
        "the columns sum to 1: if the array is key x query, say axes: key_query"
    )
    turned = checked(weights=softmax(4, 4).T, axes="key_query")
    assert failed(turned) == set()
    assert turned["shape and axes"].detail.endswith("given as key x query and transposed")


def test_a_negative_value_is_named_with_its_place(checked):
    found = checked(weights=[[1.05, -0.05, 0, 0], *[[0.25] * 4] * 3])
    assert failed(found) == {"negative values", "colour scale"}
    detail = without_isolates(found["negative values"].detail)
    assert detail == "1 value in 1 row: position 0 'the' (-0.05 at key position 1 'student')"
    assert found["colour scale"].detail.startswith("1 value, from 1.05 to 1.05, not from 0 to 1")


@pytest.mark.parametrize("value", [None, np.nan, np.inf, -np.inf])
def test_a_missing_value_is_named_with_its_place(checked, value):
    found = checked(weights=[[0.25] * 4, [0.25] * 4, [0.25, 0.25, value, 0.25], [0.25] * 4])
    assert failed(found) == {"missing values"}
    detail = without_isolates(found["missing values"].detail)
    assert detail == (
        "1 value missing or infinite in 1 row: position 2 'laughed' (at key position 2 'laughed')"
    )
    assert "1 row with a value missing not judged" in found["row sums"].detail


def test_where_all_is_missing_no_sum_is_judged(checked):
    found = checked(weights=[[None] * 4] * 4)
    assert found["row sums"].passed is None
    assert failed(found) == {"missing values"}


def test_weight_on_masked_cells_is_told_with_the_largest(checked, softmax):
    found = checked(weights=softmax(4, 4), mask="causal")
    assert failed(found) == {"row sums", "mask"}
    assert found["mask"].detail.startswith("6 cells with weight, the largest 0.")


def test_a_causal_array_with_its_axes_turned_is_suspected(checked, softmax):
    found = checked(weights=softmax(4, 4, mask=LOWER).T, mask="causal")
    assert "mask" in failed(found)
    assert "turned round it keeps to the mask" in found["mask"].detail


def test_a_mask_the_other_way_round_is_suspected(checked, softmax):
    inverted = (~np.eye(4, dtype=bool)).tolist()
    found = checked(weights=np.eye(4), mask=inverted)
    assert "mask" in failed(found)
    mask = np.zeros((4, 4), dtype=bool)
    mask[:, 3] = True
    found = checked(weights=softmax(4, 4, mask=~mask), mask=mask.tolist())
    assert "a mask is true where attention may go" in found["mask"].detail


def test_an_unsaid_causal_mask_is_pointed_out(checked, softmax):
    found = checked(weights=softmax(4, 4, mask=LOWER))["mask"]
    assert found.passed is None
    assert "above the diagonal all are 0, drawn as 0" in found.detail
    assert "diagonal" not in checked()["mask"].detail
    assert "diagonal" not in checked(weights=np.eye(4))["mask"].detail


def test_padding(checked, softmax):
    real = np.array([True, True, True, False])
    found = checked(weights=softmax(4, 4, mask=real), padding=".")
    assert failed(found) == set()
    assert found["padding"].detail == "no weight on 1 padded key token"
    found = checked(weights=softmax(4, 4), padding=".")
    assert failed(found) == {"row sums", "padding"}
    # The padded query's own row is nobody's.
    assert "3 cells with weight" in found["padding"].detail
    assert "3 rows: " in found["padding"].detail


def test_a_padding_token_that_no_token_is_is_told(checked):
    found = checked(padding="[PAD]")["padding"]
    assert found.passed is None
    assert without_isolates(found.detail) == "no token is '[PAD]', which the input names as padding"
    assert checked()["padding"].detail == "the input names no padding"


def test_an_input_of_padding_alone_fails(checked):
    assert failed(checked(padding=[True] * 4)) == {"padding"}
    assert failed(checked(padding={"key": [True] * 4})) == {"padding"}


def test_rows_where_attention_may_go_nowhere_fail(checked):
    mask = [[False] * 4, *[[True] * 4] * 3]
    weights = [[None] * 4, *[[0.25] * 4] * 3]
    found = checked(weights=weights, mask=mask)
    assert failed(found) == {"mask"}
    assert without_isolates(found["mask"].detail) == (
        "attention may go nowhere in 1 row: position 0 'the'; a mask is true where attention may go"
    )


def test_values_that_are_all_pale_are_told(checked):
    weights = np.full((4, 4), 0.05)
    detail = checked(weights=weights)["colour scale"].detail
    assert detail == (
        "every value is from 0 to 1, the largest 0.05; --range sets a shorter scale, to tell them "
        "apart"
    )
    assert "largest" not in checked()["colour scale"].detail


def test_tokens_out_of_order_are_named(checked):
    found = checked(text="laughed the student.")["order of tokens"]
    assert found.passed is False
    assert without_isolates(found.detail) == (
        "key: position 2 'laughed' does not come in the text after the tokens before it"
    )


def test_what_no_token_has_of_the_text_is_told(checked):
    detail = checked(text="The tall student laughed.")["order of tokens"].detail
    assert without_isolates(detail).endswith("no token has 'tall' of the text")


@pytest.mark.parametrize(
    ("tokens", "rule", "passed", "said"),
    [
        (["[CLS]"], "rows renormalised", True, "'[CLS]': rows renormalised"),
        (["[CLS]"], None, False, "'[CLS]'; by what rule is not stated: say excluded_rule"),
        (["."], "rows renormalised", False, "query position 3 '.' is said to be excluded"),
    ],
)
def test_excluded_tokens(checked, tokens, rule, passed, said):
    found = checked(excluded_tokens=tokens, excluded_rule=rule)["excluded tokens"]
    assert (found.passed, without_isolates(found.detail)) == (passed, said)


def test_weights_that_need_no_sum(checked):
    raw = [[3.0, -1.0, 0.0, 0.0]] * 4
    found = checked(weights=raw, normalised=False)
    assert failed(found) == {"colour scale"}
    assert found["row sums"].passed is found["negative values"].passed is None
    assert failed(checked(weights=raw, normalised=False, scale=(-1.0, 3.0))) == set()


def test_every_check_is_always_there(checked):
    assert list(checked()) == list(checked(weights=[[None] * 4] * 4, mask="causal", padding="."))
