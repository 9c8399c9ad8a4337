import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.models.scores import Scores


def _scores(task, probabilities, labels, pieces=2):
    scores = Scores(task, probabilities.shape[1])
    for rows in torch.arange(len(labels)).chunk(pieces):
        scores.update(probabilities[rows], labels[rows])
    return {(score.quantity, score.klass): score.value for score in scores.compute()}


def _f1(predicted, labels, klass):
    pairs = list(zip(predicted, labels, strict=True))
    both = sum(p == klass and y == klass for p, y in pairs)
    either = sum((p == klass) + (y == klass) for p, y in pairs)
    return 2 * both / either


def _roc_auc(p, labels):
    """Share of (positive, negative) pairs in the right order, ties half."""
    positive = [x for x, y in zip(p, labels, strict=True) if y == 1]
    negative = [x for x, y in zip(p, labels, strict=True) if y == 0]
    won = sum((x > z) + 0.5 * (x == z) for x in positive for z in negative)
    return won / (len(positive) * len(negative))


def _pr_auc(p, labels):
    """Average precision: sum of precision x gain in recall down the distinct thresholds."""
    total, found, area = sum(labels), 0, 0.0
    for threshold in sorted(set(p), reverse=True):
        chosen = [y for x, y in zip(p, labels, strict=True) if x >= threshold]
        area += (sum(chosen) - found) / total * sum(chosen) / len(chosen)
        found = sum(chosen)
    return area


rows = st.lists(
    st.tuples(st.integers(1, 9).filter(lambda n: n != 5), st.integers(0, 1)),
    min_size=2,
    max_size=12,
).filter(lambda drawn: len({label for _, label in drawn}) == 2)


@settings(deadline=None, max_examples=40)
@given(rows)
def test_binary_scores(drawn):
    p = [tenths / 10 for tenths, _ in drawn]
    labels = [label for _, label in drawn]
    predicted = [int(x > 0.5) for x in p]
    probability = torch.tensor(p, dtype=torch.float64)
    found = _scores(
        "classification", torch.stack([1 - probability, probability], 1), torch.tensor(labels)
    )
    accuracy = sum(a == b for a, b in zip(predicted, labels, strict=True)) / len(labels)
    each = [_f1(predicted, labels, klass) for klass in (0, 1)]
    expected = {
        ("accuracy", "overall"): accuracy,
        ("micro_f1", "overall"): accuracy,
        ("macro_f1", "overall"): sum(each) / 2,
        ("roc_auc", "overall"): _roc_auc(p, labels),
        ("pr_auc", "overall"): _pr_auc(p, labels),
        ("f1", "0"): each[0],
        ("f1", "1"): each[1],
        ("support", "0"): labels.count(0),
        ("support", "1"): labels.count(1),
    }
    assert found == pytest.approx(expected, abs=1e-6)


def _certain(predicted, classes):
    return torch.nn.functional.one_hot(torch.tensor(predicted), classes).double()


def test_f1_is_the_positive_classs():
    predicted, labels = [1, 1, 0, 0, 0], [1, 0, 1, 0, 0]
    found = _scores("classification", _certain(predicted, 2), torch.tensor(labels))
    assert found["f1", "1"] == pytest.approx(0.5)  # 1 of 2 found, 1 of 2 right
    assert found["f1", "0"] == pytest.approx(2 / 3)
    assert found["macro_f1", "overall"] == pytest.approx(7 / 12)
    assert found["accuracy", "overall"] == found["micro_f1", "overall"] == pytest.approx(0.6)


def test_more_classes_have_no_areas():
    predicted, labels = [0, 1, 2, 2, 1, 0], [0, 1, 2, 1, 1, 2]
    found = _scores("classification", _certain(predicted, 3), torch.tensor(labels))
    each = [_f1(predicted, labels, klass) for klass in range(3)]
    assert [found["f1", str(c)] for c in range(3)] == pytest.approx(each)
    assert found["macro_f1", "overall"] == pytest.approx(sum(each) / 3)
    assert found["accuracy", "overall"] == pytest.approx(4 / 6)
    assert {quantity for quantity, _ in found}.isdisjoint({"roc_auc", "pr_auc"})


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_targets_leave_areas_and_the_absent_f1_undefined(label):
    probability = torch.tensor([[0.3, 0.7], [0.8, 0.2], [0.4, 0.6]])
    found = _scores("classification", probability, torch.full((3,), label))
    for quantity in ("roc_auc", "pr_auc"):
        assert math.isnan(found[quantity, "overall"])
    assert math.isnan(found["f1", str(1 - label)])
    assert found["f1", str(label)] > 0
    assert found["macro_f1", "overall"] == found["f1", str(label)]
    assert found["support", str(1 - label)] == 0


def test_a_class_that_is_never_found_has_f1_zero():
    found = _scores("classification", _certain([0, 0, 0], 2), torch.tensor([0, 1, 0]))
    assert found["f1", "1"] == 0


def test_answers_have_accuracy_alone():
    found = _scores("qa", _certain([0, 3, 2, 1], 5), torch.tensor([0, 3, 2, 4]))
    assert found == {("accuracy", "overall"): pytest.approx(0.75)}


def test_inference_is_scored_as_classes_are():
    certain, labels = _certain([0, 1, 2, 2, 1, 0], 3), torch.tensor([0, 1, 2, 1, 1, 2])
    found = _scores("nli", certain, labels)
    assert found == _scores("classification", certain, labels)
    assert {"micro_f1", "macro_f1"} <= {quantity for quantity, _ in found}


@pytest.mark.parametrize(
    ("task", "classes", "selection"),
    [
        ("classification", 2, "roc_auc"),
        ("classification", 3, "accuracy"),
        ("qa", 2, "accuracy"),
        ("qa", 9, "accuracy"),
        ("nli", 3, "accuracy"),
    ],
)
def test_what_the_epoch_is_chosen_by(task, classes, selection):
    assert Scores(task, classes).selection == selection


def test_reset_forgets():
    scores = Scores("qa", 3)
    scores.update(_certain([1, 1], 3), torch.tensor([0, 0]))
    scores.reset()
    scores.update(_certain([1], 3), torch.tensor([1]))
    assert [score.value for score in scores.compute()] == [1.0]
