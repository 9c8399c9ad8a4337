"""The stored numbers are those of the pure functions, given what the callback was told."""

import copy
from itertools import pairwise

import numpy as np
import pytest
import torch

from attention_audit.callbacks import Adversarial, Correlation, Permutation
from attention_audit.counterfactual import (
    Decoding,
    Search,
    adversarial_search,
    optimum,
    permutation,
)
from attention_audit.importance import gradient, leave_one_out, random
from attention_audit.measures import kendall_tau, level

# Lightning's own use of torch, and its advice about loaders.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
]


def _stored(analysis, name):
    return analysis.stored.read_instances()[name].to_numpy()


def _each(bench, measure, dtype=torch.float32):
    """`measure(model, batch, attention, decode)` over all batches, end to end."""
    model = copy.deepcopy(bench.task.model).to(dtype).eval()
    parts = []
    for batch in bench.batches:
        with torch.no_grad():
            encoding = model.encode(batch)
            attention, projection = model.attend(encoding), model.project(encoding)
        decode = Decoding(model.decoder, projection)
        parts.append(np.asarray(measure(model, batch, attention, decode)))
    return np.concatenate(parts)


@pytest.fixture(params=[("classification", 2), ("classification", 3), ("qa", 4)], ids=str)
def one(request, bench):
    return bench(*request.param)


PAIRS = {
    "tau_gradient": ("attention", "gradient"),
    "tau_loo": ("attention", "loo"),
    "tau_gradient_loo": ("gradient", "loo"),
    "tau_random": ("attention", "random"),
}


def test_correlation(one):
    analysis = Correlation(resamples=5, seed=7)
    one.run(analysis)

    def importances(model, batch, attention):
        return {
            "attention": attention,
            "gradient": gradient(model, batch),
            "loo": leave_one_out(model, batch),
            "random": random(model, batch, seed=7),
        }

    taus = {}
    for quantity, (left, right) in PAIRS.items():

        def tau(model, batch, attention, _, left=left, right=right):
            found = importances(model, batch, attention)
            levelled = [level(found[side], batch.mask) for side in (left, right)]
            return np.stack(kendall_tau(*levelled, batch.mask), 1)

        expected = _each(one, tau, torch.float64)
        taus[quantity] = expected[:, 0]
        np.testing.assert_array_equal(_stored(analysis, quantity), expected[:, 0])
        np.testing.assert_array_equal(_stored(analysis, f"{quantity}_pvalue"), expected[:, 1])
    whole = taus["tau_gradient_loo"]
    np.testing.assert_array_equal(_stored(analysis, "gap_loo"), whole - taus["tau_loo"])
    np.testing.assert_array_equal(_stored(analysis, "gap_gradient"), whole - taus["tau_gradient"])
    for name, importance in (("gradient", gradient), ("loo", leave_one_out)):
        stored = analysis.stored.read_tokens()[name].to_pylist()
        values = _each(
            one, lambda m, batch, *_, f=importance: f(m, batch)[batch.mask], torch.float64
        )
        np.testing.assert_array_equal([x for row in stored for x in row], values)


def test_permutation(one):
    analysis = Permutation(permutations=9, resamples=5, seed=7)
    one.run(analysis)
    expected = _each(
        one,
        lambda _, batch, attention, decode: (
            permutation(decode, attention, batch.mask, batch.ids, permutations=9, seed=7).median
        ),
    )
    np.testing.assert_array_equal(_stored(analysis, "delta_y_med"), expected)
    largest = _each(one, lambda _, __, attention, ___: attention.amax(1))
    np.testing.assert_allclose(_stored(analysis, "max_attention"), largest)


@pytest.mark.parametrize("objective", ["paper", "program"])
def test_adversarial(one, objective):
    analysis = Adversarial(
        epsilon=0.03, objective=objective, adversaries=3, steps=6, resamples=5, seed=7
    )
    one.run(analysis)
    search = Search(candidates=3, epsilon=0.03, objective=objective, steps=6)

    def found(_, batch, attention, decode):
        return adversarial_search(decode, attention, batch.mask, batch.ids, search, seed=7)

    expected = _each(one, lambda *given: found(*given).eps_max_jsd, torch.float64)
    np.testing.assert_array_equal(_stored(analysis, "eps_max_jsd"), expected)
    stored = analysis.stored.read_tokens()["adversarial_attention"].to_pylist()
    weights = _each(
        one,
        lambda m, batch, *rest: found(m, batch, *rest).best_attention[batch.mask],
        torch.float64,
    )
    np.testing.assert_array_equal([x for row in stored for x in row], weights)
    assert [sum(row) for row in stored] == pytest.approx([1.0 if row else 0.0 for row in stored])


@pytest.mark.parametrize("searched", [True, False])
def test_optimum(one, searched):
    epsilons = [0.01, 0.03, 0.2]
    analysis = Adversarial(
        epsilon=0.03, frontier=[0.2, 0.01], search=searched, adversaries=3, steps=6, resamples=5
    )
    one.run(analysis)
    search = Search(candidates=3, epsilon=0.03, steps=6)

    def found(_, batch, attention, decode):
        other = adversarial_search(decode, attention, batch.mask, batch.ids, search)
        return optimum(decode, attention, epsilons, other if searched else None)

    jsd = _each(one, lambda *given: found(*given).jsd, torch.float64)
    kind = "exact" if one.task.model.decoder.output.out_features == 1 else "found"
    exact = _each(one, lambda *given: [found(*given).exact], torch.float64)
    assert (exact == (kind == "exact")).all()
    np.testing.assert_array_equal(_stored(analysis, f"eps_max_jsd_{kind}"), jsd[:, 1])
    np.testing.assert_array_equal(_stored(analysis, "frontier_0.01"), jsd[:, 0])
    np.testing.assert_array_equal(_stored(analysis, "frontier_0.2"), jsd[:, 2])
    columns = set(analysis.stored.read_instances().column_names)
    assert "frontier_0.03" not in columns
    assert ({"eps_max_jsd", "search_gap"} <= columns) == searched
    if searched:
        gap = jsd[:, 1] - _stored(analysis, "eps_max_jsd")
        np.testing.assert_array_equal(_stored(analysis, "search_gap"), gap)
    if kind == "found":
        highest = _each(one, lambda *given: found(*given).ceiling, torch.float64)
        np.testing.assert_array_equal(_stored(analysis, "jsd_ceiling"), highest)
        share = _stored(analysis, "jsd_achieved")
        some = highest > 0
        np.testing.assert_allclose(share[some], jsd[:, 1][some] / highest[some], rtol=1e-12)
        assert np.isnan(share[~some]).all()
    stored = analysis.stored.read_tokens()[f"{kind}_attention"].to_pylist()
    weights = _each(
        one, lambda m, b, *rest: found(m, b, *rest).attention[:, 1][b.mask], torch.float64
    )
    np.testing.assert_array_equal([x for row in stored for x in row], weights)


@pytest.mark.parametrize("settings", [{}, {"exact": False}, {"search": False}], ids=str)
def test_what_comes_out_with_the_adversary(one, settings):
    analysis = Adversarial(epsilon=0.6, adversaries=3, steps=6, resamples=5, **settings)
    one.run(analysis)
    tokens = analysis.stored.read_tokens().to_pydict()
    rows = dict(zip(tokens["id"], tokens[list(tokens)[-1]], strict=True))

    def outputs(_, batch, attention, decode):
        adversary = torch.zeros_like(attention)
        for place, instance in enumerate(batch.ids.tolist()):
            adversary[place, batch.mask[place]] = torch.tensor(rows[instance], dtype=torch.float64)
        before, after = (decode(a[:, None])[:, 0].detach().numpy() for a in (attention, adversary))
        change = np.abs(after - before).sum(1) / 2
        same = after[np.arange(len(after)), before.argmax(1)]
        return np.stack([change, after.argmax(1), same, before.argmax(1)], 1)

    change, prediction, probability, before = _each(one, outputs, torch.float64).T
    np.testing.assert_allclose(_stored(analysis, "adversary_tvd"), change, atol=1e-12)
    np.testing.assert_array_equal(_stored(analysis, "adversary_prediction"), prediction)
    np.testing.assert_allclose(_stored(analysis, "adversary_probability"), probability, atol=1e-12)
    # This model's answers cannot be changed.
    assert (prediction != before).any() or one.task.task == "qa"
    assert change.max() <= 0.6 + 1e-9


def test_the_search_falls_short_where_its_gap_is_above_a_twentieth(one):
    analysis = Adversarial(epsilon=0.2, adversaries=1, steps=1, resamples=5)
    rows = one.run(analysis)["adversarial"]
    gap = _stored(analysis, "search_gap")
    defined = gap[~np.isnan(gap)]
    assert 0 < (defined > 0.05).mean() < 1
    row = rows.one("search_shortfall", "mean")
    assert row["value"] == pytest.approx((defined > 0.05).mean())
    assert (row["n"], row["n_undefined"]) == (len(defined), len(gap) - len(defined))


def test_the_optimum_is_never_below_the_search_nor_above_the_ceiling(one):
    analysis = Adversarial(epsilon=0.05, adversaries=3, steps=100, resamples=5)
    one.run(analysis)
    gap = _stored(analysis, "search_gap")
    assert (gap[~np.isnan(gap)] >= -1e-12).all()
    frontier = [_stored(analysis, f"frontier_{e}") for e in (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)]
    for tighter, wider in pairwise(frontier):
        assert (np.isnan(tighter) == np.isnan(wider)).all()
        assert (tighter <= wider)[~np.isnan(wider)].all()


def test_neither_search_nor_optimum_is_refused():
    with pytest.raises(ValueError, match=r"search=false and exact=false.*one of them"):
        Adversarial(epsilon=0.01, search=False, exact=False)
