"""The score without attention beside the base's: whose, and which way the difference is."""

from types import SimpleNamespace

import pytest
import torch

from attention_audit.callbacks import Uniform
from attention_audit.diagnostics import Subject
from attention_audit.predictions import Predictions

LABELS = {3: 1, 1: 1, 4: 0, 9: 0, 2: 1}
BASE = {3: 1, 1: 1, 4: 0, 9: 1, 2: 1}
OTHERS = {
    "uniform": {2: 0, 9: 0, 4: 0, 1: 0, 3: 1},
    "plain": {1: 1, 2: 1, 3: 1, 4: 0, 9: 0},
}
F1 = {"base": 6 / 7, "uniform": 1 / 2, "plain": 1.0}
CONFIG = {"encoder": {"_target_": "some.Encoder", "name": "lstm"}}


def saying(classes):
    """Predictions of these classes by id."""
    return Predictions(
        ids=torch.tensor([*classes]),
        labels=torch.tensor([LABELS[one] for one in classes]),
        probabilities=torch.nn.functional.one_hot(torch.tensor([*classes.values()]), 2).double(),
        attention=[torch.ones(1)] * len(classes),
        token_logits=None,
    )


@pytest.fixture
def found():
    def fit(role, change, given=None):
        subject = Subject(torch.nn.Linear(1, 1), lambda split: [], role)
        subject._read["test"] = saying(OTHERS[role])
        return subject

    analysis = Uniform({"_target_": "some.Uniform", "name": "uniform"}, resamples=50)
    analysis.prepare(SimpleNamespace(), fit, CONFIG)
    task = SimpleNamespace(task="classification", classes=2)
    return analysis.diagnose(saying(BASE), task, [])


def test_scores_and_differences_are_to_the_bases(found):
    rows = {row["quantity"]: row["value"] for row in found.rows}
    expected = {f"{name}_f1": value for name, value in F1.items()}
    expected |= {f"{name}_f1_difference": F1[name] - F1["base"] for name in OTHERS}
    assert rows == pytest.approx(expected)


def test_findings_say_how_much_is_lost(found):
    for finding, name in zip(found.findings, OTHERS, strict=True):
        assert finding.quantity == f"{name}_f1_difference"
        assert finding.value == pytest.approx(F1[name] - F1["base"])
        assert finding.lo <= finding.value <= finding.hi
        assert f"{F1[name]:.3f}, the base model's {F1['base']:.3f}" in finding.sentence
    published = [(one.table, one.setting, one.minus) for one in found.findings]
    assert published == [("2_uniform", "uniform", "base"), ("", "", "")]


def test_predicted_classes_stand_in_the_bases_order(found):
    for name, classes in OTHERS.items():
        assert found.instances[f"{name}_predicted"].tolist() == [classes[one] for one in BASE]
