"""Other attention of the base model: the first paper's numbers, and none beyond the frontier."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.batch import collate
from attention_audit.callbacks import Adversarial, Permutation, elsewhere
from attention_audit.callbacks.elsewhere import Elsewhere
from attention_audit.counterfactual import (
    Decoding,
    Search,
    adversarial_search,
    optimum,
    permutation,
)
from attention_audit.measures import jsd, tvd
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import Average

BUDGET = {"permutations": 7, "adversaries": 3, "steps": 25, "resamples": 10}
ADVERSARY = {
    "epsilon": 0.05,
    "objective": "paper",
    "search": True,
    "exact": True,
    "frontier": [0.01, 0.1],
}


def model_of(seed=0, outputs=2, size=4.0):
    torch.manual_seed(seed)
    model = assemble(size * torch.randn(16, 4), partial(Average, hidden=5), Additive, outputs)
    torch.nn.init.constant_(model.decoder.output.bias, 1.5)
    return model.double().eval()


def batch_of(*texts):
    return collate([*texts], [0] * len(texts), list(range(60, 60 + len(texts))))


BATCH = batch_of([5, 6, 7, 8, 9, 10], [11], [12, 13, 4, 5], [6, 6, 7])


def values_of(model, batch=BATCH, budget=None, **adversary):
    found = Elsewhere({**ADVERSARY, **adversary}, {**BUDGET, **(budget or {})})(model, batch)
    assert not found.tokens
    return found.instances


@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("objective", ["paper", "program"])
def test_the_numbers_are_those_of_the_first_papers_analyses(outputs, objective):
    model = model_of(outputs=outputs)
    found = values_of(model, objective=objective)
    permuted = Permutation(permutations=7).analyse(model, BATCH).instances
    searched = Adversarial(
        epsilon=0.05, objective=objective, adversaries=3, steps=25, frontier=(0.01, 0.1)
    )
    theirs = searched.analyse(model, BATCH).instances
    assert np.array_equal(found["permutation_tvd"], permuted["delta_y_med"])
    assert np.array_equal(found["max_attention"], permuted["max_attention"])
    assert np.array_equal(found["search_jsd"], theirs["eps_max_jsd"])
    kind = "exact" if outputs == 2 else "found"
    assert np.array_equal(found[f"{kind}_jsd"], theirs[f"eps_max_jsd_{kind}"])
    assert np.array_equal(found["frontier_0.05"], found[f"{kind}_jsd"])
    for epsilon in ("0.01", "0.1"):
        assert np.array_equal(found[f"frontier_{epsilon}"], theirs[f"frontier_{epsilon}"])
    assert ("excess" in found) == (outputs == 2)
    assert (found["search_jsd"] > 0.01).any(), "the test needs a search that finds something"


def test_permuted_attention_is_as_far_as_the_median_of_its_permutations():
    model = model_of()
    with torch.no_grad():
        encoding = model.encode(BATCH)
        attention = model.attend(encoding)
        decode = Decoding(model.decoder, model.project(encoding))
        every = permutation(decode, attention, BATCH.mask, BATCH.ids, permutations=7)
        apart = jsd(every.attention, attention[:, None]).numpy()
    found = values_of(model)["permutation_jsd"]
    assert found == pytest.approx(np.median(apart, axis=1))
    assert found[1] == 0, "a single word has one permutation"


def test_the_searchs_tvd_is_that_of_its_best_candidate():
    found = values_of(model_of())
    assert (found["search_tvd"] <= 0.05 + 1e-9).all()
    assert (found["search_tvd"] > 0).any()
    assert found["search_tvd"][1] == found["search_jsd"][1] == 0, "the original is left"


@pytest.mark.parametrize(
    ("switch", "gone"),
    [("search", {"search_jsd", "search_tvd"}), ("exact", {"exact_jsd", "frontier_0.05"})],
)
def test_what_is_switched_off_is_left_out_and_nothing_else_changes(switch, gone):
    whole, part = values_of(model_of()), values_of(model_of(), **{switch: False})
    missing = set(whole) - set(part)
    assert gone <= missing
    assert all(name in gone or name.startswith("frontier_") for name in missing)
    for name in set(part) - {"excess"}:
        assert np.array_equal(part[name], whole[name])


@pytest.mark.parametrize("outputs", [2, 3])
def test_a_text_without_words_has_no_numbers(outputs):
    found = values_of(model_of(outputs=outputs), batch_of([5, 6, 7], [], [8, 9]))
    for name, values in found.items():
        if name != "max_attention":
            assert np.isnan(values).tolist() == [False, True, False], name


WORDS = st.lists(st.integers(4, 15), min_size=1, max_size=9)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.1, 1.0, 4.0, 20.0]),
    st.lists(WORDS, min_size=1, max_size=4),
    st.sampled_from(["paper", "program"]),
)
def test_nothing_lies_beyond_a_linear_models_own_frontier(seed, size, texts, objective):
    model = model_of(seed, size=size)  # from undecided to saturated
    found = values_of(model, batch_of(*texts), budget={"steps": 12}, objective=objective)
    assert (found["excess"] <= 1e-9).all()


@pytest.mark.parametrize("search", [False, True])
def test_excess_is_of_the_most_daring_point_above_the_maximum_at_its_own_tvd(search):
    model = model_of(size=6.0)
    found = values_of(model, search=search)["excess"]
    with torch.no_grad():
        encoding = model.encode(BATCH)
        attention, projection = model.attend(encoding), model.project(encoding)
        decode = Decoding(model.decoder, projection)
        points = [permutation(decode, attention, BATCH.mask, BATCH.ids, permutations=7)]
        if search:
            how = Search(candidates=3, epsilon=0.05, steps=25)
            points.append(adversarial_search(decode, attention, BATCH.mask, BATCH.ids, how))
    for row in range(4):
        above = []
        for point in points:
            outputs = decode(point.attention)
            moved = tvd(outputs, decode(attention[:, None]))[row].tolist()
            best = optimum(decode, attention, moved).jsd[row]
            above.append(jsd(point.attention, attention[:, None])[row] - best)
        assert found[row] == pytest.approx(float(torch.cat(above).max()), abs=1e-9)


def test_attention_that_breaks_the_bound_is_seen(monkeypatch):
    """One word of the longest text, said to move the output no more than the permutations do."""
    model, row = model_of(size=8.0), 0

    def broken(decode, attention, mask, ids, **settings):
        found = permutation(decode, attention, mask, ids, **settings)
        alternatives, delta = found.attention.clone(), found.delta.clone()
        alternatives[row, 0] = 0
        alternatives[row, 0, 1 + attention[row, 1:7].argmin()] = 1
        delta[row, 0] = 0
        return replace(found, attention=alternatives, delta=delta)

    whole = values_of(model)["excess"]
    monkeypatch.setattr(elsewhere, "permutation", broken)
    found = values_of(model)["excess"]
    assert found[row] > 0.05
    assert np.array_equal(np.delete(found, row), np.delete(whole, row))
    assert whole[row] <= 1e-9


def test_a_candidate_of_the_search_that_breaks_the_bound_is_seen(monkeypatch):
    search = elsewhere.adversarial_search

    def broken(decode, attention, *arguments):
        found = search(decode, attention, *arguments)
        return replace(found, tvd=found.tvd / 10)

    model = model_of(size=8.0)
    assert (values_of(model)["excess"] <= 1e-9).all()
    monkeypatch.setattr(elsewhere, "adversarial_search", broken)
    assert values_of(model)["excess"].max() > 0.01
    assert values_of(model)["excess"].max() <= math.log(2)
