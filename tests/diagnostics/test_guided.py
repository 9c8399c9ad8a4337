import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.diagnostics import fit_guided, fit_mlp, normalised, permuted
from attention_audit.predictions import Given

MLP = {"_target_": "attention_audit.models.encoders.Average", "hidden": 5, "name": "mlp"}
ADDITIVE = {"_target_": "attention_audit.models.attentions.Additive", "name": "additive"}


def given_rows(rows, **outputs):
    ids = torch.tensor([*rows], dtype=torch.int64)
    return Given.of(ids, [torch.tensor(row) for row in rows.values()], **outputs)


def by_id(given):
    return dict(zip(given.ids.tolist(), (row.tolist() for row in given.rows()), strict=True))


def test_a_context_free_model_with_an_attention_of_its_own(noted):
    fit = noted()
    fit_mlp(fit, "trained", MLP, ADDITIVE)
    change = {"encoder": MLP, "attention": ADDITIVE}
    assert fit.asked == [{"role": "guided_trained", "change": change, "given": None}]


def test_a_context_free_model_that_attends_as_it_is_told(noted):
    fit, weights = noted(), given_rows({3: [1.0]})
    fit_guided(fit, "base", MLP, weights, {"version": 1, "attention": "ab12"})
    [asked] = fit.asked
    assert asked["role"] == "guided_base"
    assert asked["given"] is weights
    assert asked["change"] == {
        "encoder": MLP,
        "attention": {"_target_": "attention_audit.models.attentions.Frozen", "name": "frozen"},
        "auxiliary": {"given": {"version": 1, "attention": "ab12"}},
    }


LONG = [n / 55 for n in range(11)]
ROWS = {5: [0.5, 0.0, 0.25, 0.25], 90: LONG, 2: [], 7: [1.0], 31: LONG}


@st.composite
def weights(draw):
    ids = draw(st.lists(st.integers(0, 10**9), min_size=1, max_size=6, unique=True))
    row = st.lists(st.one_of(st.just(0.0), st.floats(0.01, 1)), max_size=8)
    drawn = {one: draw(row.filter(lambda row: not row or sum(row) > 0)) for one in ids}
    return {one: [value / sum(row) for value in row] for one, row in drawn.items()}


@given(weights(), st.integers(0, 5))
def test_permuted_keeps_each_rows_weights(rows, seed):
    given = given_rows(rows)
    found = by_id(permuted(given, seed))
    assert {one: sorted(row) for one, row in found.items()} == {
        one: sorted(row) for one, row in by_id(given).items()
    }


@given(weights(), st.randoms(), st.integers(0, 5))
def test_permuted_follows_from_seed_and_id_alone(rows, random, seed):
    whole = by_id(permuted(given_rows(rows), seed))
    order = random.sample([*rows], len(rows))
    assert by_id(permuted(given_rows({one: rows[one] for one in order}), seed)) == whole
    alone = order[0]
    assert by_id(permuted(given_rows({alone: rows[alone]}), seed)) == {alone: whole[alone]}


def test_another_seed_and_another_id_permute_otherwise():
    first, second = (by_id(permuted(given_rows(ROWS), seed)) for seed in (0, 1))
    assert first[90] != ROWS[90]
    assert first[90] != second[90]
    assert first[90] != first[31]


def test_permuted_weights_come_without_outputs():
    outputs = torch.tensor([[0.5, 0.5]] * len(ROWS))
    assert permuted(given_rows(ROWS, probabilities=outputs), 0).probabilities is None


@pytest.mark.parametrize(
    ("importance", "expected"),
    [
        ([1.0, 3.0], [0.25, 0.75]),
        ([0.0, 2.0, 0.0], [0, 1, 0]),
        ([0.0, 0.0], [0.5, 0.5]),
        ([math.nan], [1]),
        ([math.nan, 1.0, 1.0], [0, 0.5, 0.5]),
        ([1e-300, 3e-300], [0.25, 0.75]),
        ([], []),
    ],
)
def test_an_importance_as_weights(importance, expected):
    found = normalised(torch.tensor(importance, dtype=torch.float64))
    assert found.tolist() == pytest.approx(expected)
    assert found.dtype == torch.float32


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-30, 1e30)), min_size=1, max_size=20))
def test_any_importance_can_be_given_as_attention(importance):
    found = normalised(torch.tensor(importance, dtype=torch.float64))
    assert Given.of(torch.tensor([0]), [found]).rows()[0].tolist() == found.tolist()
    ranked = torch.tensor(importance, dtype=torch.float64).argsort(stable=True)
    assert (found[ranked].diff() >= 0).all()
