"""What the diagnostics' verdict says, and beside which published figures."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from attention_audit.batch import collate
from attention_audit.callbacks import GuidedMLP, LogOdds, ModelAdversary, Seeds, Uniform
from attention_audit.diagnostics import Finding, Subject
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import LSTM
from attention_audit.models.training import AttentionTask, Training
from attention_audit.store import Cell, Store
from attention_audit.verdict import verdict, write_verdict

ALIKE = {"differs": "", "splits": {"train": {"kept": 6920}, "test": {"kept": 1725}}}
DIFFERENCE = Finding(
    *("needed", "uniform_f1_difference", -0.02, -0.04, 0.01, "It is what it is."),
    *("f1", "2_uniform", "uniform", "base"),
)
SCORE = Finding(
    *("of use", "guided_base_f1", 0.81, 0.79, 0.83, "It is so, too."),
    *("f1", "3_guided_mlp", "base_lstm"),
)
PLAIN = Finding("stable", "seed_jsd", 0.1, 0.09, 0.11, "So it is.")


@pytest.fixture
def cell_of(tmp_path: Path) -> Callable[..., Cell]:
    """A cell whose analyses found this."""

    def make(*findings: Finding, corpus: Any = ALIKE, **names: str) -> Cell:
        named = {"dataset": "sst", "encoder": "lstm", "attention": "additive", **names}
        cell = Store(tmp_path).cell(**named, seed=0, identity={"corpus": repr(corpus)})
        cell.open({})
        cell.write_json("manifest", {"role": "grid", "corpus": corpus})
        found = [asdict(finding) for finding in findings]
        cell.analysis("some", {}, 1).write({"summary": [], "findings": found})
        return cell

    return make


def lines_of(cell: Cell) -> list[dict[str, Any]]:
    return verdict(cell, cell.analyses())


def test_a_line_says_what_was_found(cell_of):
    [line] = lines_of(cell_of(PLAIN))
    assert line == {
        "condition": "stable",
        "quantity": "seed_jsd",
        "value": 0.1,
        "lo": 0.09,
        "hi": 0.11,
        "sentence": "So it is.",
        "published": None,
        "source": "",
    }


def test_the_published_difference_is_uniform_minus_base(cell_of):
    [line] = lines_of(cell_of(DIFFERENCE))
    assert line["published"] == -0.009  # 0.822 - 0.831
    assert line["source"].startswith("Wiegreffe & Pinter 2019, Table 2, unverified")


@pytest.mark.parametrize(
    ("setting", "figure"),
    [("uniform", 0.812), ("trained_mlp", 0.817), ("base_lstm", 0.824), ("adversary", 0.592)],
)
def test_a_published_score_stands_beside_a_score(cell_of, setting, figure):
    finding = Finding(**{**asdict(SCORE), "setting": setting})
    [line] = lines_of(cell_of(finding))
    assert line["published"] == figure
    assert line["source"].startswith("Wiegreffe & Pinter 2019, Table 3, unverified")


@pytest.mark.parametrize(
    "names",
    [
        *({"encoder": "cnn"}, {"encoder": "average"}, {"encoder": "mlp"}),
        *({"attention": "dot"}, {"attention": "uniform"}),
        *({"dataset": "files"}, {"dataset": "adr"}),
    ],
    ids=str,
)
def test_no_figure_stands_beside_another_model_or_corpus(cell_of, names):
    for line in lines_of(cell_of(DIFFERENCE, SCORE, **names)):
        assert (line["published"], line["source"]) == (None, "")


@pytest.mark.parametrize(
    "corpus",
    [
        {**ALIKE, "differs": "generated"},
        {**ALIKE, "splits": {"train": {"kept": 500}, "test": {"kept": 1725}}},
        {**ALIKE, "splits": {"train": {"kept": 6920}, "test": {"kept": 100}}},
    ],
    ids=["another", "less to train on", "less to test on"],
)
def test_no_figure_stands_beside_a_corpus_that_is_not_alike(cell_of, corpus):
    for line in lines_of(cell_of(DIFFERENCE, SCORE, corpus=corpus)):
        assert (line["published"], line["source"]) == (None, "")


@pytest.mark.parametrize("metric", ["macro_f1", "accuracy", ""])
def test_no_figure_stands_beside_another_score(cell_of, metric):
    findings = [Finding(**{**asdict(one), "metric": metric}) for one in (DIFFERENCE, SCORE)]
    assert [line["published"] for line in lines_of(cell_of(*findings))] == [None, None]


def test_a_corpus_that_one_table_lacks_has_the_other_tables_figure(cell_of):
    sizes = {"train": {"kept": 1426}, "test": {"kept": 357}}
    corpus = {**ALIKE, "splits": sizes}
    difference, score = lines_of(cell_of(DIFFERENCE, SCORE, corpus=corpus, dataset="20news"))
    assert difference["published"] == -0.008
    assert (score["published"], score["source"]) == (None, "")


def test_an_undefined_number_stays_one(cell_of):
    nothing = Finding("of use", "guided_adversary", math.nan, math.nan, math.nan, "None was.")
    cell = cell_of(nothing)
    write_verdict(cell)
    [line] = cell.read_json("verdict")["findings"]
    assert (line["value"], line["lo"], line["hi"]) == (None, None, None)


def test_of_an_analysis_under_two_configs_the_later_one_is_written(cell_of):
    cell = cell_of(PLAIN)
    older, newer, other = (
        cell.analysis(name, {"config": config}, 1)
        for name, config in (("seeds", 1), ("seeds", 2), ("uniform", 1))
    )
    for age, (analysis, finding) in enumerate(
        ((newer, SCORE), (older, PLAIN), (other, DIFFERENCE))
    ):
        analysis.write({"summary": [], "findings": [asdict(finding)]})
        written = 10**9 * (1000 - age)
        os.utime(analysis.folder / "summary.json", ns=(written, written))
    quantities = {line["quantity"] for line in write_verdict(cell)}
    assert quantities == {"seed_jsd", "guided_base_f1", "uniform_f1_difference"}
    lines = cell.read_json("verdict")["findings"]
    assert [line["quantity"] for line in lines].count("guided_base_f1") == 1


def test_without_findings_nothing_is_written(cell_of):
    cell = cell_of()
    cell.analysis("permutation", {}, 1).write({"summary": []})
    assert write_verdict(cell) == []
    assert not (cell.folder / "verdict.json").exists()


# Words that would say more than was measured.
CLAIMS = re.compile(
    r"expla|because|important|proves|proof|reason|faithful|valid|must|\bnan\b", re.I
)
UNIFORM = {"_target_": "attention_audit.models.attentions.Uniform", "name": "uniform"}
MLP = {"_target_": "attention_audit.models.encoders.Average", "hidden": 4, "name": "mlp"}
CONFIG = {
    "seed": 0,
    "encoder": {"_target_": "attention_audit.models.encoders.LSTM", "hidden": 3, "name": "lstm"},
    "attention": {"_target_": "attention_audit.models.attentions.Additive", "name": "additive"},
}
BUDGET = {"permutations": 3, "adversaries": 2, "steps": 3, "resamples": 20}
ADVERSARY = {"epsilon": 0.05, "objective": "paper", "search": True, "exact": True, "frontier": []}
DIAGNOSTICS = {
    "uniform": lambda: Uniform(UNIFORM, 20),
    "seeds": lambda: Seeds(ADVERSARY, BUDGET, 2),
    "guided_mlp": lambda: GuidedMLP(MLP, UNIFORM, [0.0, 0.1], least_jsd=0.0, resamples=20),
    "guided_mlp, none chosen": lambda: GuidedMLP(MLP, UNIFORM, [0.0], least_jsd=0.69, resamples=20),
    "model_adversary": lambda: ModelAdversary(UNIFORM, ADVERSARY, BUDGET, [0.0, 0.1], seeds=1),
    "log_odds": lambda: LogOdds(resamples=20),
}


class World:
    """A small model on small splits, and others beside it, all of them never fitted."""

    def __init__(self, classes: int) -> None:
        self.numbers = itertools.count()
        self.classes = classes
        texts = [[4 + (3 * row + word) % 9 for word in range(2 + row % 4)] for row in range(18)]
        self.splits = {
            split: [
                collate(texts[place:end], [row % classes for row in range(end - place)], ids)
                for place, end in ((start, start + 4), (start + 4, start + 6))
                for ids in [list(range(place, end))]
            ]
            for split, start in (("train", 0), ("dev", 6), ("test", 12))
        }
        self.base = self.subject()
        counts = [1] * classes
        self.task = AttentionTask(self.base.model, "classification", classes, counts, Training())

    def subject(self) -> Subject:
        number = next(self.numbers)
        torch.manual_seed(number)
        model = assemble(3 * torch.randn(13, 4), partial(LSTM, hidden=3), Additive, self.classes)
        return Subject(model.eval(), lambda split: self.splits[split], f"weights-{number}")

    def fit(self, role: str, change: Any, given: Any = None) -> Subject:
        return self.subject()


def findings_of(name: str, classes: int) -> list[Finding]:
    world, diagnostic = World(classes), DIAGNOSTICS[name]()
    diagnostic.prepare(world.base, world.fit, CONFIG)
    base = world.base.read("test")
    return diagnostic.diagnose(base, world.task, world.splits["test"]).findings


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_sentences_say_what_was_measured_and_no_more(name, classes):
    findings = findings_of(name, classes)
    assert findings
    for finding in findings:
        for text in (finding.sentence, finding.condition):
            assert not CLAIMS.search(text), text
        assert "\n" not in finding.sentence
        assert finding.sentence.endswith(".")
        shown = [finding.value, *((finding.lo, finding.hi) if "[" in finding.sentence else ())]
        share = finding.quantity.startswith("surprising")
        for number in shown:
            if math.isfinite(number) and not share:
                assert f"{abs(number):.3f}" in finding.sentence


@pytest.mark.parametrize("name", DIAGNOSTICS)
def test_figures_are_asked_for_where_the_papers_table_has_one(name):
    tables = {finding.table for finding in findings_of(name, 2)} - {""}
    expected = {"uniform": {"2_uniform"}, "guided_mlp": {"3_guided_mlp"}}
    assert tables == expected.get(name.partition(",")[0], set())


def test_the_claims_are_seen():
    assert CLAIMS.search("This proves that attention is no explanation.")
    assert not CLAIMS.search(PLAIN.sentence)
