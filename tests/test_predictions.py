"""What models say, and are given, is found by the instance's id, whatever the order."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.batch import Batch, collate
from attention_audit.predictions import Given, Predictions

ROWS = {
    7: [0.5, 0.0, 0.25, 0.25],
    2: [0.0, 1.0],
    30: [0.25, 0.75, 0.0],
    11: [],
    5: [1.0],
}


def given_rows(rows=ROWS, **outputs) -> Given:
    ids = torch.tensor([*rows], dtype=torch.int64)
    return Given.of(ids, [torch.tensor(row) for row in rows.values()], **outputs)


def batch_of(*ids: int, rows=ROWS) -> Batch:
    """Texts with as many words as their rows have weights."""
    return collate([[4] * len(rows[instance]) for instance in ids], [0] * len(ids), [*ids])


def found_in(given: Given, batch: Batch) -> dict[int, list[float]]:
    """The weights of each instance at its words, after a look at all that is around them."""
    found = given.attention(batch.ids, batch.mask)
    assert found.shape == batch.mask.shape
    assert (found[~batch.mask] == 0).all()
    assert (found[:, 0] == 0).all(), "<sos>"
    return {
        instance: row[kept].tolist()
        for instance, row, kept in zip(batch.ids.tolist(), found, batch.mask, strict=True)
    }


@pytest.mark.parametrize("ids", [(2, 5, 7, 11, 30), (30, 7, 11, 5, 2), (7,), (11,), (30, 2, 30)])
def test_each_instance_gets_its_own_weights_in_any_order(ids):
    assert found_in(given_rows(), batch_of(*ids)) == {instance: ROWS[instance] for instance in ids}


@pytest.mark.parametrize(
    "row",
    [
        *([0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
        [0.0, 1.0, 0.0],
    ],
)
def test_a_weight_of_zero_keeps_its_place_and_its_row_its_length(row):
    rows = {1: [0.0, 1.0], 4: row, 6: [1.0, 0.0]}
    given = given_rows(rows)
    assert [each.tolist() for each in given.rows()] == [*rows.values()]
    assert found_in(given, batch_of(6, 4, 1, rows=rows)) == rows


@st.composite
def texts(draw):
    """Weights of texts, zeros among them, by ids in any order; and the order of a batch."""
    ids = draw(st.lists(st.integers(0, 10**12), min_size=1, max_size=8, unique=True))
    weight = st.one_of(st.just(0.0), st.floats(1e-3, 1.0))
    rows = {}
    for instance in ids:
        row = draw(st.lists(weight, max_size=6).filter(lambda row: not row or sum(row) > 0))
        rows[instance] = [value / sum(row) for value in row]
    chosen = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=8, unique=True))
    return rows, chosen


@given(texts())
def test_what_went_in_comes_out(drawn):
    rows, chosen = drawn
    given = Given.of(
        torch.tensor([*rows]), [torch.tensor(row, dtype=torch.float64) for row in rows.values()]
    )
    assert found_in(given, batch_of(*chosen, rows=rows)) == {one: rows[one] for one in chosen}
    by_id = zip(given.ids.tolist(), (row.tolist() for row in given.rows()), strict=True)
    assert dict(by_id) == rows
    assert given.ids.tolist() == sorted(rows)


def test_nothing_given_has_no_rows():
    assert given_rows({}).rows() == []


def test_an_instance_that_nothing_was_given_for_is_refused():
    unknown = collate([[4], [4], [4]], [0] * 3, [5, 6, 8])
    said = r"^given attention: nothing is there for instance 6 and 1 more: [^\n]+$"
    with pytest.raises(ValueError, match=said):
        given_rows().attention(unknown.ids, unknown.mask)
    with pytest.raises(ValueError, match="nothing is there for instance 6"):
        given_rows({}).attention(unknown.ids[1:2], unknown.mask[1:2])


def test_a_text_with_another_number_of_words_is_refused():
    batch = collate([[4], [4] * 3], [0, 0], [5, 7])
    with pytest.raises(ValueError, match=r"instance 7: found 3 words, expected 4: [^\n]+$"):
        given_rows().attention(batch.ids, batch.mask)


@pytest.mark.parametrize(
    "row",
    [[0.5, 0.4], [0.7, 0.7], [1.5, -0.5], [float("nan"), 1.0], [float("inf"), 0.0], [0.0, 0.0]],
)
def test_a_row_that_is_no_distribution_is_refused(row):
    with pytest.raises(ValueError, match=r"^given attention: .*instance 4 are no distribution"):
        given_rows({3: [1.0], 4: row})


def test_the_noise_of_many_words_in_float32_is_no_fault():
    weights = torch.rand(5000)
    row = (weights / weights.sum()).tolist()
    assert found_in(given_rows({1: row}), batch_of(1, rows={1: row})) == {1: row}


def test_an_id_that_comes_twice_is_refused():
    with pytest.raises(ValueError, match="an instance's id comes twice"):
        Given.of(torch.tensor([3, 4, 3]), [torch.ones(1)] * 3)


def test_outputs_are_found_by_id_too():
    outputs = torch.tensor([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5]])
    given = given_rows(probabilities=outputs)
    assert torch.equal(given.outputs(torch.tensor([5, 7, 2])), outputs[[4, 0, 1]])
    with pytest.raises(ValueError, match="given outputs: nothing is there for instance 3"):
        given.outputs(torch.tensor([5, 3]))


def test_outputs_that_were_not_given_are_not_made_up():
    with pytest.raises(ValueError, match="came without outputs"):
        given_rows().outputs(torch.tensor([5]))


def predictions(ids: list[int], linear: bool = True) -> Predictions:
    """Everything about an instance tells its id."""
    return Predictions(
        ids=torch.tensor(ids),
        labels=torch.tensor(ids) % 2,
        probabilities=torch.tensor([[1 - one / 100, one / 100] for one in ids]),
        attention=[torch.full((one % 4,), one / 100) for one in ids],
        token_logits=[torch.full((one % 4, 1), float(one)) for one in ids] if linear else None,
    )


def same(one: Predictions, other: Predictions) -> bool:
    """Equal in every part, rows of words included."""
    return (
        all(
            torch.equal(getattr(one, name), getattr(other, name))
            for name in ("ids", "labels", "probabilities")
        )
        and all(map(torch.equal, one.attention, other.attention))
        and all(map(torch.equal, one.token_logits or [], other.token_logits or []))
        and (one.token_logits is None) == (other.token_logits is None)
    )


@given(
    st.lists(st.integers(0, 99), min_size=1, max_size=9, unique=True), st.randoms(), st.booleans()
)
def test_all_parts_change_their_order_together(ids, random, linear):
    order = random.sample(ids, len(ids))
    found = predictions(ids, linear).of(torch.tensor(order))
    assert same(found, predictions(order, linear))


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([4, 9, 7], "nothing is there for instance 7"),
        ([4, 9], "found 3 instances, expected 2, each once"),
        ([4, 4, 9], "found 3 instances, expected 3, each once"),
        ([4, 9, 6, 4], "found 3 instances, expected 4, each once"),
    ],
)
def test_other_instances_are_refused(ids, said):
    with pytest.raises(ValueError, match=f"^predictions: {re.escape(said)}"):
        predictions([9, 4, 6]).of(torch.tensor(ids))


@pytest.mark.parametrize("linear", [True, False])
def test_batches_are_joined_one_after_another(linear):
    parts = [predictions([9, 4], linear), predictions([6], linear), predictions([1, 3], linear)]
    assert same(Predictions.joined(parts), predictions([9, 4, 6, 1, 3], linear))


def test_the_predicted_class_is_the_most_probable():
    assert predictions([40, 60, 99]).classes.tolist() == [0, 1, 1]
