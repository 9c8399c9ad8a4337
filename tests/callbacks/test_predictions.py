import math

import numpy as np
import pytest
import torch

from attention_audit.measures import probabilities

# Lightning's own use of torch, and its advice about loaders.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
]


@pytest.fixture(params=[("classification", 2), ("classification", 3), ("qa", 4)], ids=str)
def stored(request, bench):
    one = bench(*request.param)
    one.run()
    return one, one.cell.read_table("instances").to_pydict(), one.cell.read_table("tokens")


def _rows(bench):
    """(batch, row) of every instance, in the order of the batches."""
    return [(batch, row) for batch in bench.batches for row in range(len(batch))]


@torch.no_grad()
def test_instances_are_the_models_predictions(stored):
    bench, instances, _ = stored
    for place, (batch, row) in enumerate(_rows(bench)):
        logits, attention = bench.task.model(batch)
        expected = probabilities(logits)[row].numpy()
        assert instances["id"][place] == batch.ids[row]
        assert instances["uid"][place] == f"uid-{batch.ids[row] - 100}"
        assert instances["label"][place] == batch.labels[row]
        assert instances["prediction"][place] == expected.argmax()
        np.testing.assert_allclose(instances["probability"][place], expected)
        assert instances["length"][place] == batch.mask[row].sum()
        weights = attention[row][batch.mask[row]].double().numpy()
        if len(weights):
            assert instances["max_attention"][place] == pytest.approx(weights.max())
            entropy = -(weights * np.log(weights)).sum()
            assert instances["entropy"][place] == pytest.approx(entropy, abs=1e-9)


def test_an_instance_without_a_word_has_neither_largest_attention_nor_entropy(stored):
    _, instances, _ = stored
    place = instances["length"].index(0)
    assert math.isnan(instances["max_attention"][place])
    assert math.isnan(instances["entropy"][place])


@torch.no_grad()
def test_tokens_are_the_words_and_their_attention(stored):
    bench, instances, tokens = stored
    assert tokens["id"].to_pylist() == instances["id"]
    rows = tokens.to_pylist()
    for found, (batch, row) in zip(rows, _rows(bench), strict=True):
        logits, attention = bench.task.model(batch)
        kept = batch.mask[row]
        assert found["token"] == [f"w{word}" for word in batch.tokens[row][kept].tolist()]
        np.testing.assert_allclose(found["attention"], attention[row][kept].double())
        if bench.task.task == "classification":
            assert "query" not in found
        else:
            number = int(batch.ids[row]) - 100
            assert found["query"] == [f"q{number}"] * (number % 3)
        if "token_logit" in tokens.column_names:
            bias = bench.task.model.decoder.output.bias.numpy()
            values = np.array(found["token_logit"]).reshape(int(kept.sum()), len(bias))
            total = np.array(found["attention"]) @ values + bias
            np.testing.assert_allclose(total, logits[row], rtol=1e-4, atol=1e-5)
    assert ("token_logit" in tokens.column_names) == (bench.task.task == "classification")


def test_metrics_are_the_test_scores(stored):
    bench, instances, _ = stored
    rows = bench.cell.read_json("metrics")["summary"]
    scores = {(row["quantity"], row["klass"]): row["value"] for row in rows}
    right = np.mean(np.array(instances["prediction"]) == np.array(instances["label"]))
    assert scores["accuracy", "overall"] == pytest.approx(right)
    assert {row["statistic"] for row in rows} == {"value"}


def test_undefined_scores_are_stored_as_undefined(bench):
    one = bench(documents=[[5, 6], [], [4]])
    one.batches = [one.batches[0].rows(slice(0, 1))]
    one.run()
    rows = one.cell.read_json("metrics")["summary"]
    [area] = [row["value"] for row in rows if row["quantity"] == "roc_auc"]
    assert area is None
