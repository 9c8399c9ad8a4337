"""What all analyses share, through a real `trainer.test`."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import pytorch_lightning as pl
import torch

from attention_audit.callbacks import Adversarial, AnalysisCallback, Correlation, Permutation
from attention_audit.callbacks.analysis import Part
from attention_audit.measures import interval, summarise
from attention_audit.models.encoders import CNN, Average

# Lightning's own use of torch, and its advice about loaders.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
]
TASKS = [
    *(("classification", 2), ("classification", 3), ("classification", 5)),
    *(("qa", 4), ("nli", 2), ("nli", 3)),
]
QUANTITIES = {
    "correlation": {
        *("tau_gradient", "tau_loo", "tau_gradient_loo", "tau_random"),
        *("gap_loo", "gap_gradient"),
    },
    "permutation": {"delta_y_med"},
    "adversarial": {
        *("eps_max_jsd", "search_gap", "search_shortfall"),
        *(f"frontier_{epsilon}" for epsilon in ("0.001", "0.005", "0.01", "0.02", "0.05", "0.1")),
    },
}
EXACT = {"eps_max_jsd_exact"}
FOUND = {"eps_max_jsd_found", "jsd_ceiling", "jsd_achieved"}
# Of quantities that are no column of the instances: a share of another's.
SHARES = {"search_shortfall"}


def _analyses():
    return [
        Correlation(resamples=50, seed=1),
        Permutation(permutations=7, resamples=50, seed=1),
        Adversarial(epsilon=0.05, adversaries=2, steps=4, resamples=50, seed=1),
    ]


@pytest.mark.parametrize(("task", "outputs"), TASKS)
def test_every_task_is_analysed_and_stored(bench, task, outputs):
    bench, analyses = bench(task, outputs), _analyses()
    rows = bench.run(*analyses)
    predictions = bench.cell.read_table("instances").to_pydict()
    best = EXACT if (task, outputs) == ("classification", 2) else FOUND
    for analysis in analyses:
        found = rows[analysis.name]
        quantities = QUANTITIES[analysis.name] | (best if analysis.name == "adversarial" else set())
        assert {row["quantity"] for row in found} == quantities
        assert set(analysis.histograms) <= quantities | EXACT | FOUND
        instances = analysis.stored.read_instances().to_pydict()
        assert quantities - SHARES <= set(instances)
        assert instances["id"] == predictions["id"]
        assert instances["predicted"] == predictions["prediction"]
        few = {str(klass) for klass in predictions["prediction"]} if outputs <= 3 else set()
        assert found.classes() == {"overall", *few}


@pytest.mark.parametrize("klass", ["overall", "0", "1"])
def test_rows_are_means_of_the_defined_instances_with_intervals(bench, klass):
    analyses = _analyses()
    rows = bench().run(*analyses)
    for analysis in analyses:
        instances = analysis.stored.read_instances()
        for quantity in QUANTITIES[analysis.name] - SHARES:
            values = instances[quantity].to_numpy()
            if klass != "overall":
                values = values[instances["predicted"].to_numpy() == int(klass)]
            expected = summarise(values, seed=0, resamples=50)
            mean = rows[analysis.name].one(quantity, "mean", klass)
            assert mean["n"] == expected.n > 0
            assert mean["n_undefined"] == expected.n_undefined == len(values) - expected.n
            assert mean["value"] == pytest.approx(values[~np.isnan(values)].mean())
            assert (mean["lo"], mean["hi"]) == pytest.approx((expected.lo, expected.hi))
            assert mean["lo"] <= mean["value"] <= mean["hi"]
            std = rows[analysis.name].one(quantity, "std", klass)
            assert std["value"] == pytest.approx(values[~np.isnan(values)].std())


def test_shares_of_significant_taus(bench):
    analysis = Correlation(resamples=50)
    rows = bench().run(analysis)["correlation"]
    pvalue = analysis.stored.read_instances()["tau_gradient_pvalue"].to_numpy()
    defined = pvalue[~np.isnan(pvalue)]
    row = rows.one("tau_gradient", "sig_frac")
    assert row["value"] == pytest.approx((defined <= 0.05).mean())
    expected = interval((defined <= 0.05).astype(float), seed=0, resamples=50)
    assert (row["lo"], row["hi"]) == pytest.approx(expected)
    assert (row["n"], row["n_undefined"]) == (len(defined), len(pvalue) - len(defined))


def test_tau_of_constant_attention_is_counted_and_not_averaged(bench, uniform):
    bench, analysis = bench(attention=uniform), Correlation(resamples=50)
    rows = bench.run(analysis)["correlation"]
    for quantity in ("tau_gradient", "tau_loo", "tau_random", "gap_loo", "gap_gradient"):
        row = rows.one(quantity, "mean")
        assert (row["n"], row["n_undefined"]) == (0, 8)
        assert row["value"] is row["lo"] is row["hi"] is None
    # The two importances that are not attention still agree or not.
    row = rows.one("tau_gradient_loo", "mean")
    assert (row["n"], row["n_undefined"]) == (6, 2)  # one word, and none
    assert -1 <= row["lo"] <= row["value"] <= row["hi"] <= 1


def test_tokens_are_the_words_of_each_instance_in_the_same_order(bench):
    bench = bench()
    analyses = _analyses()
    bench.run(*analyses)
    ids = bench.cell.read_table("instances")["id"].to_pylist()
    stored = bench.cell.read_table("tokens")
    lengths = [len(words) for words in stored["token"].to_pylist()]
    assert stored["id"].to_pylist() == ids
    columns = {
        "correlation": ("gradient", "loo"),
        "adversarial": ("adversarial_attention", "exact_attention"),
    }
    for analysis in analyses:
        if analysis.name in columns:
            tokens = analysis.stored.read_tokens()
            assert tokens["id"].to_pylist() == ids
            for column in columns[analysis.name]:
                assert [len(row) for row in tokens[column].to_pylist()] == lengths
    assert not (analyses[1].stored.folder / "tokens.parquet").exists()


def test_an_instance_has_the_same_numbers_alone_and_among_others(bench):
    bench = bench()
    together, alone = _analyses(), _analyses()
    bench.run(*together)
    stored = {one.name: one.stored.read_instances().to_pydict() for one in together}
    chosen = bench.batches[0].ids.tolist().index(104)  # three words among five
    one = bench.batches[0].rows(slice(chosen, chosen + 1))
    end = int(one.lengths)
    bench.batches = [
        type(one)(**{**vars(one), "tokens": one.tokens[:, :end], "mask": one.mask[:, :end]})
    ]
    bench.run(*alone)
    for analysis in alone:
        row = stored[analysis.name]["id"].index(104)
        for name, [value] in analysis.stored.read_instances().to_pydict().items():
            found = stored[analysis.name][name][row]
            assert found == pytest.approx(value, abs=1e-5, nan_ok=True), name


class Failing(AnalysisCallback):
    name = "failing"

    def analyse(self, model, batch):
        raise ArithmeticError("no such number")

    def summarise(self, instances):
        return []


def test_an_exception_in_an_analysis_is_not_swallowed_and_nothing_is_stored(bench):
    bench, first, failing = bench(), Permutation(permutations=2, resamples=5), Failing()
    with pytest.raises(ArithmeticError, match="no such number"):
        bench.run(first, failing)
    assert first.stored.done
    assert not failing.stored.done


class Watching(AnalysisCallback):
    """Notes how the model stands while it is analysed."""

    name = "watching"

    def analyse(self, model, batch):
        value = model(batch).logits.sum()
        self.seen = (torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        self.differentiable, self.modes = value.requires_grad, {m.training for m in model.modules()}
        return Part({"value": np.zeros(len(batch))}, {})

    def summarise(self, instances):
        return []


@pytest.mark.parametrize("inference_mode", [False, True])
def test_gradients_work_although_testing_is_without(bench, inference_mode):
    class Outside(pl.Callback):
        def on_test_end(self, trainer, pl_module):
            self.gradients = torch.is_grad_enabled()

    watching, correlation, outside = Watching(), Correlation(resamples=5), Outside()
    bench = bench()
    for analysis in (watching, correlation):
        analysis.place(bench.cell, {})
    bench.test(watching, correlation, outside, inference_mode=inference_mode)
    assert watching.seen == (True, False)
    assert watching.differentiable
    assert not outside.gradients
    rows = correlation.stored.read_tokens()["gradient"].to_pylist()
    assert any(value > 0 for row in rows for value in row)


def test_dropout_is_inactive_while_analysing(bench, dropping):
    bench = bench(encoder=dropping)
    watching, first, second = Watching(), _analyses(), _analyses()
    bench.task.train()  # as a careless caller leaves it
    bench.run(watching, *first)
    assert watching.modes == {False}
    stored = [one.stored.read_instances() for one in first]
    bench.run(*second)
    for one, analysis in zip(stored, second, strict=True):
        for name in one.column_names:
            again = analysis.stored.read_instances()[name].to_numpy()
            np.testing.assert_array_equal(one[name].to_numpy(), again)


def test_analyses_leave_no_gradient_in_the_parameters(bench):
    bench = bench()
    bench.run(*_analyses())
    assert all(parameter.grad is None for parameter in bench.task.parameters())


def test_the_place_of_an_analysis_follows_its_settings_and_version(bench):
    cell = bench().cell
    place = Permutation().place(cell, {"permutations": 100})
    assert place == Permutation().place(cell, {"permutations": 100})
    assert place != Permutation().place(cell, {"permutations": 10})
    newer = type("Newer", (Permutation,), {"version": Permutation.version + 1})
    assert place != newer().place(cell, {"permutations": 100})


@pytest.mark.parametrize("encoder", [partial(Average, hidden=6), partial(CNN, filters=2)])
def test_equal_words_tie_whatever_the_batch(bench, encoder):
    """A context-free model gives a repeated word one importance; float noise must not rank it."""
    random = np.random.default_rng(0)
    documents = [random.integers(4, 9, size=n).tolist() for n in random.integers(3, 12, size=40)]
    one = bench(documents=documents, encoder=encoder)
    together, alone = Correlation(resamples=5), Correlation(resamples=5)
    one.run(together)
    found = together.stored.read_instances().to_pydict()
    one.batches = [
        replace(row, tokens=row.tokens[:, :end], mask=row.mask[:, :end])
        for batch in one.batches
        for place in range(len(batch))
        for row in [batch.rows(slice(place, place + 1))]
        for end in [int(row.lengths)]
    ]
    alone.version = 2
    one.run(alone)
    again = alone.stored.read_instances().to_pydict()
    assert again["id"] == found["id"]
    for name in ("tau_gradient", "tau_loo", "tau_gradient_loo"):
        np.testing.assert_allclose(found[name], again[name], rtol=0, atol=1e-12)
