import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.measures import interval, score, score_difference, score_interval
from attention_audit.models.scores import Scores

METRICS = ("f1", "macro_f1", "accuracy")


def simulated(instances, classes, right, seed=0, labels=None):
    """Labels, and predictions of which a share `right` is right and the rest drawn."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, classes, instances) if labels is None else labels
    guessed = generator.integers(0, classes, len(labels))
    return labels, np.where(generator.random(len(labels)) < right, labels, guessed)


def by_torchmetrics(metric, labels, predictions, classes):
    scores = Scores("classification", classes)
    certain = torch.nn.functional.one_hot(torch.from_numpy(predictions), classes).double()
    scores.update(certain, torch.from_numpy(labels))
    found = {(s.quantity, s.klass): s.value for s in scores.compute()}
    return found["f1", "1"] if metric == "f1" else found[metric, "overall"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("metric", "classes", "among"),
    [
        *((metric, 2, [0, 1]) for metric in METRICS),
        *((metric, 2, [0]) for metric in METRICS),
        *((metric, 2, [1]) for metric in METRICS),
        *((metric, 4, [0, 1, 2, 3]) for metric in METRICS[1:]),
        *((metric, 4, [0, 3]) for metric in METRICS[1:]),
    ],
)
def test_equal_to_torchmetrics(metric, classes, among, seed):
    labels = np.random.default_rng(seed).choice(among, 60)
    _, predictions = simulated(60, classes, 0.6, seed, labels)
    expected = by_torchmetrics(metric, labels, predictions, classes)
    assert score(metric, labels, predictions, classes) == pytest.approx(
        expected, abs=1e-6, nan_ok=True
    )


@pytest.mark.parametrize("metric", METRICS)
def test_the_interval_is_that_of_the_score_of_each_resample(metric):
    labels, predictions = simulated(40, 2, 0.5)
    drawn = np.random.default_rng(7).integers(0, 40, size=(150, 40), dtype=np.int32)
    each = [score(metric, labels[rows], predictions[rows], 2) for rows in drawn]
    found = score_interval(metric, labels, predictions, classes=2, seed=7, resamples=150)
    assert found.value == score(metric, labels, predictions, 2)
    assert found[1:3] == pytest.approx(np.quantile(each, [0.025, 0.975]), abs=1e-15)
    assert found.n == 40


def test_the_difference_scores_both_on_each_resample():
    labels, a = simulated(40, 3, 0.5)
    _, b = simulated(40, 3, 0.4, seed=1, labels=labels)
    drawn = np.random.default_rng(7).integers(0, 40, size=(150, 40), dtype=np.int32)
    each = [
        score("macro_f1", labels[rows], a[rows], 3) - score("macro_f1", labels[rows], b[rows], 3)
        for rows in drawn
    ]
    found = score_difference("macro_f1", labels, a, b, classes=3, seed=7, resamples=150)
    assert found[1:3] == pytest.approx(np.quantile(each, [0.025, 0.975]), abs=1e-15)


def test_the_interval_of_accuracy_is_that_of_the_mean_hit():
    # More instances than one block of resamples holds.
    labels, predictions = simulated(3000, 3, 0.7)
    found = score_interval("accuracy", labels, predictions, classes=3, seed=5, confidence=0.9)
    hits = (labels == predictions).astype(float)
    assert (found.lo, found.hi) == interval(hits, seed=5, confidence=0.9)
    assert found.value == hits.mean()


def test_a_paired_interval_is_much_narrower_than_two():
    labels, a = simulated(2000, 2, 0.6)
    b = a.copy()
    b[:10] = 1 - b[:10]
    one, other = (score_interval("f1", labels, x, classes=2, seed=s) for s, x in ((0, a), (1, b)))
    both = score_difference("f1", labels, a, b, classes=2, seed=0)
    assert both.value == one.value - other.value
    assert both.lo <= both.value <= both.hi
    assert 0 < both.hi - both.lo < 0.2 * (one.hi - one.lo)


@pytest.mark.parametrize("metric", METRICS)
def test_identical_predictions_do_not_differ_at_all(metric):
    labels, predictions = simulated(100, 2, 0.3)
    found = score_difference(metric, labels, predictions, predictions, classes=2, seed=0)
    assert found == (0, 0, 0, 100)


def test_a_class_without_an_instance_has_no_f1():
    nobody, all_found = np.zeros(5, dtype=np.int64), np.array([0, 0, 1, 1, 1])
    assert np.isnan(score("f1", nobody, all_found, 2))
    assert np.isnan(score_interval("f1", nobody, all_found, classes=2, seed=0)[:3]).all()
    assert score("macro_f1", nobody, all_found, 2) == pytest.approx(4 / 7)
    assert score("f1", 1 - nobody, nobody, 2) == 0


def test_resamples_without_the_class_are_left_out():
    labels, predictions = np.array([1, 0, 0, 0]), np.array([1, 0, 0, 0])
    # A resample has no instance of class 1 in (3/4)^4 = 32 % of cases; in the others F1 is 1.
    assert score_interval("f1", labels, predictions, classes=2, seed=0) == (1, 1, 1, 4)


@pytest.mark.parametrize("metric", METRICS)
def test_no_instances_no_score(metric):
    nothing = np.array([], dtype=np.int64)
    found = score_difference(metric, nothing, nothing, nothing, classes=2, seed=0)
    assert np.isnan([score(metric, nothing, nothing, 2), *found[:3]]).all()
    assert found.n == 0


def test_the_seed_alone_decides():
    labels, predictions = simulated(50, 2, 0.3)
    first, again, other = (
        score_interval("f1", labels, predictions, classes=2, seed=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_what_does_not_fit_is_said():
    labels = np.array([0, 1, 2])
    with pytest.raises(ValueError, match="f1: found 3 classes; expected 2"):
        score("f1", labels, labels, 3)
    with pytest.raises(ValueError, match="predictions: found class 3; expected 0 to 2"):
        score("accuracy", labels, labels + 1, 3)
    with pytest.raises(ValueError, match="labels: found class -1; expected 0 to 2"):
        score_interval("accuracy", labels - 1, labels, classes=3, seed=0)
    # A TypeError where the suite runs with annotations checked.
    with pytest.raises((ValueError, TypeError), match="instances"):
        score_difference("accuracy", labels, labels, labels[1:], classes=3, seed=0)


columns = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 3)
)


@settings(deadline=None, max_examples=60)
@given(columns, st.sampled_from(METRICS))
def test_scores_lie_between_0_and_1_and_differences_turn_round(drawn, metric):
    classes = 2 if metric == "f1" else 4
    labels, a, b = (np.array(column) % classes for column in drawn)
    found = score_interval(metric, labels, a, classes=classes, seed=0, resamples=60)
    there, back = (
        score_difference(metric, labels, *pair, classes=classes, seed=0, resamples=60)
        for pair in ((a, b), (b, a))
    )
    if metric == "f1" and not labels.any():
        assert np.isnan([*found[:3], *there[:3], *back[:3]]).all()
        return
    assert 0 <= found.lo <= found.hi <= 1
    assert 0 <= found.value <= 1
    assert there.value == -back.value
    assert there.value == found.value - score(metric, labels, b, classes)
    assert (there.lo, there.hi) == pytest.approx((-back.hi, -back.lo), abs=1e-15)


@settings(deadline=None, max_examples=40)
@given(columns, st.randoms())
def test_neither_the_order_nor_the_names_of_classes_matter(drawn, random):
    labels, a, _ = (np.array(column) for column in drawn)
    order, names = list(range(len(a))), list(range(4))
    random.shuffle(order)
    random.shuffle(names)
    renamed = np.array(names)[labels[order]], np.array(names)[a[order]]
    for metric in METRICS[1:]:
        assert score(metric, *renamed, 4) == pytest.approx(score(metric, labels, a, 4), abs=1e-15)


def test_the_intervals_cover_the_truth_as_often_as_they_say():
    """Two in five are of class 1; of each class `a` finds 80 % and `b`, apart from it, 70 %."""
    truth = {share: 0.8 * share / (0.4 + 0.4 * share + 0.6 * (1 - share)) for share in (0.8, 0.7)}
    generator = np.random.default_rng(0)
    covered = np.zeros(2)
    for _ in range(300):
        labels = (generator.random(200) < 0.4).astype(np.int64)
        a, b = (np.where(generator.random(200) < share, labels, 1 - labels) for share in truth)
        one = score_interval("f1", labels, a, classes=2, seed=0, resamples=300)
        both = score_difference("f1", labels, a, b, classes=2, seed=0, resamples=300)
        covered += one.lo <= truth[0.8] <= one.hi, both.lo <= truth[0.8] - truth[0.7] <= both.hi
    assert (covered >= 0.90 * 300).all()
    assert (covered <= 0.98 * 300).all()


def test_memory_does_not_grow_with_the_instances():
    labels, a = simulated(50_000, 4, 0.8)
    _, b = simulated(50_000, 4, 0.8, seed=1, labels=labels)
    tracemalloc.start()
    score_difference("macro_f1", labels, a, b, classes=4, seed=0, resamples=500)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
