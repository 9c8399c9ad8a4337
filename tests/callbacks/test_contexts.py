"""How attention varies over a word's contexts, and over the epochs of its fit."""

from __future__ import annotations

import numpy as np
import pytest

from attention_audit import audit, cell
from attention_audit.store import Cell, Store


def rows(found: Cell) -> dict[tuple[str, str], dict]:
    return {(row["quantity"], row["statistic"]): row for row in found.summary()}


def test_a_words_weight_in_its_contexts_is_as_stored(planted):
    found = audit.run(planted("analysis=contexts", "encoder=average"))
    [analysis] = found.analyses()
    table = analysis.read_instances().to_pydict()
    stored = found.read_table("tokens").to_pydict()
    fair: dict[str, list[float]] = {}
    for tokens, weights in zip(stored["token"], stored["attention"], strict=True):
        for token, weight in zip(tokens, weights, strict=True):
            fair.setdefault(token, []).append(len(tokens) * weight)
    frequent = sorted(values for values in fair.values() if len(values) >= 5)
    assert sorted(table["occurrences"]) == sorted(map(len, frequent))
    assert sorted(table["mean"]) == pytest.approx(sorted(map(np.mean, frequent)))
    assert sorted(table["std"]) == pytest.approx(sorted(map(np.std, frequent)), abs=1e-6)
    said = rows(found)
    assert said["context_words", "value"]["value"] == len(frequent)
    assert 0 <= said["context_share", "value"]["lo"] <= said["context_share", "value"]["hi"] <= 1


def test_uniform_attention_goes_by_nothing(planted):
    found = audit.run(planted("analysis=contexts", "attention=uniform"))
    assert rows(found)["context_share", "value"]["value"] is None


def test_a_trajectory_ends_where_the_last_epoch_is(planted):
    chosen = planted("analysis=trajectory", "trainer.max_epochs=3", "encoder=average")
    found = audit.run(chosen)
    said = rows(found)
    apart = [said[f"settled_jsd_epoch_{epoch}", "mean"]["value"] for epoch in (1, 2, 3)]
    assert apart[0] > apart[1] > apart[2] == 0
    [analysis] = found.analyses()
    summary = analysis.read_summary()
    assert (summary["epochs"], summary["sample"]) == (3, 24)
    assert summary["same_weights_as_the_cell"] is True
    [other] = [one for one in Store(found.root).cells() if one != found]
    assert other.role == "trajectory"
    assert len(list(other.folder.glob("epoch-*.ckpt"))) == 3
    assert not other.damaged()


def test_an_epochs_taus_are_those_of_the_model_that_it_chose(planted):
    """The cell's own correlation is that of its best epoch, over the whole of a small split."""
    chosen = planted("analysis=[trajectory,correlation]", "trainer.max_epochs=3", "encoder=average")
    found = audit.run(chosen)
    best = found.read_json("manifest")["best_epoch"]
    said = rows(found)
    for tau in ("tau_gradient", "tau_loo"):
        again, own = said[f"{tau}_epoch_{best}", "mean"], said[tau, "mean"]
        assert again["value"] == pytest.approx(own["value"], abs=1e-6)
    assert cell.locate(chosen).cell == found
