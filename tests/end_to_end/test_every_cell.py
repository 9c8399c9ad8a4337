"""Each corpus with each encoder is built, trained a little and analysed; with each attention, too,
on a corpus of each task. (That all cells of the papers' grids compose is tests/test_presets.py's.)
"""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest

from attention_audit.audit import run

CONF = Path(__file__).resolve().parents[2] / "conf"
GROUPS = ("dataset", "encoder", "attention")
OF_EACH_TASK = ("planted", "babi_1", "snli")
PAIRED = {"average": "dot", "cnn": "additive", "lstm": "additive"}
CELLS = [
    cell
    for cell in product(*(sorted(p.stem for p in (CONF / g).glob("*.yaml")) for g in GROUPS))
    # A repository of one's own is run through a hub, in tests of its own.
    if cell[0] != "hub" and (cell[0] in OF_EACH_TASK or PAIRED.get(cell[1], cell[2]) == cell[2])
]
# What a corpus needs to be small and present; every other one is taken as it is.
SMALL = {
    "planted": [f"dataset.sources.0.{split}=40" for split in ("train", "dev", "test")],
    "files": ["dataset.path=table.csv"],
    "imdb": ["dataset.text.min_df=1"],
}


@pytest.mark.parametrize(
    ("dataset", "encoder", "attention"), CELLS, ids=["-".join(cell) for cell in CELLS]
)
def test_a_cell_is_trained_and_analysed(
    composed, tiny, corpora, monkeypatch, dataset, encoder, attention
):
    monkeypatch.chdir(corpora.parent)
    parts = [f"dataset={dataset}", f"encoder={encoder}", f"attention={attention}"]
    cell = run(composed(*parts, "logger=none", *tiny, *SMALL.get(dataset, [])))
    assert (cell.dataset, cell.encoder, cell.attention) == (dataset, encoder, attention)
    assert [a.name for a in cell.analyses()] == ["adversarial", "correlation", "permutation"]
    rows = {(row["quantity"], row["klass"], row["statistic"]): row for row in cell.summary()}
    assert 0 <= rows["accuracy", "overall", "value"]["value"] <= 1
    assert rows["delta_y_med", "overall", "mean"]["n"] > 0
    assert 0 <= rows["eps_max_jsd", "overall", "mean"]["value"] <= math.log(2)
    tau = rows["tau_loo", "overall", "mean"]
    if attention == "uniform":
        # Constant attention has no tau: that is counted, and no number is made of it.
        assert (tau["value"], tau["n"]) == (None, 0)
        assert tau["n_undefined"] > 0
    else:
        assert -1 <= tau["value"] <= 1
