import math

import numpy as np
import pytest
import torch

from attention_audit.diagnostics import ModelConsistency, first_beyond, fit_adversary

# A text of two words, attended (1/2 + x, 1/2 - x), for which the JSD grows with x.
BASE = {1: [0.5, 0.5], 2: [0.5, 0.5]}


def near(told, shift, ids=(2, 1)):
    return told({one: [0.5 + shift, 0.5 - shift] for one in ids})


def jsd_of(shift):
    return sum(
        0.5 * p * math.log(p / m) + 0.5 * 0.5 * math.log(0.5 / m)
        for p, m in ((0.5 + shift, 0.5 + shift / 2), (0.5 - shift, 0.5 - shift / 2))
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_the_change_says_all_that_the_fit_depends_on(reading, noted, texts, weighted):
    base, fit = reading(), noted()
    fit_adversary(base, fit, 0.005, ModelConsistency(epochs=9, patience=4, weighted=weighted))
    [asked] = fit.asked
    assert asked["role"] == "adversary_0.005"
    assert asked["change"] == {
        "trainer.max_epochs": 9,
        "training.reduction": "sum",
        "auxiliary": {
            "objective": {
                "_target_": "attention_audit.models.objectives.ModelConsistent",
                "strength": 0.005,
                "weighted": weighted,
            },
            "patience": 4,
            "given": {"attention": base.weights},
        },
    }
    given = asked["given"]
    assert given.ids.tolist() == sorted([*texts["train"], *texts["dev"]]), "never of the test split"
    for split in ("train", "dev"):
        own = base.read(split)
        assert torch.equal(given.outputs(own.ids), own.probabilities)


def test_the_base_is_read_once_for_all_adversaries(told, speaking, noted):
    base = speaking(train=told({7: [1.0]}), dev=told(BASE))
    for strength in (0.0, 0.1, 1.0):
        fit_adversary(base, noted(), strength, ModelConsistency(1, 1))
    assert base.model.asked == ["train", "dev"]


@pytest.fixture
def adversaries(told, speaking):
    """Of each lambda a model: how far its attention is from the base's on dev, and on test."""

    def make(shifts):
        asked = []

        def adversary(strength):
            asked.append(strength)
            dev, test = shifts[strength]
            return speaking(str(strength), dev=near(told, dev), test=near(told, test))

        return asked, adversary

    return make


SHIFTS = {0.0: (0.0, 0.5), 0.1: (0.2, 0.5), 0.5: (0.4, 0.0), 1.0: (0.49, 0.5)}


def test_the_smallest_lambda_beyond_it_on_dev_is_chosen_and_no_further_one_fitted(
    told, speaking, adversaries
):
    """On test they are as far, or as near, as would mislead."""
    base = speaking(dev=told(BASE), test=told(BASE))
    asked, adversary = adversaries(SHIFTS)
    chosen = first_beyond(base, adversary, [1.0, 0.1, 0.5, 0.0], least=jsd_of(0.3))
    assert chosen.strength == 0.5
    assert chosen.subject.weights == "0.5"
    assert asked == [0.0, 0.1, 0.5]
    assert chosen.dev_jsd == pytest.approx({0.0: 0, 0.1: jsd_of(0.2), 0.5: jsd_of(0.4)}, abs=1e-7)
    assert base.model.asked == chosen.subject.model.asked == ["dev"]


def test_as_far_as_that_is_not_beyond_it(told, speaking):
    base = speaking(dev=told({1: [1.0, 0.0]}), test=told(BASE))
    far = speaking("far", dev=told({1: [0.0, 1.0]}))
    assert first_beyond(base, lambda _: far, [0.1], least=math.log(2)).subject is None
    assert first_beyond(base, lambda _: far, [0.1], least=math.log(2) - 1e-9).subject is far


def test_where_none_is_beyond_it_all_dev_jsds_are_told(told, speaking, adversaries):
    base = speaking(dev=told(BASE), test=told(BASE))
    asked, adversary = adversaries(SHIFTS)
    chosen = first_beyond(base, adversary, [0.5, 0.1], least=0.6)
    assert chosen.strength is None
    assert chosen.subject is None
    assert asked == [0.1, 0.5]
    assert chosen.dev_jsd == pytest.approx({0.1: jsd_of(0.2), 0.5: jsd_of(0.4)}, abs=1e-7)


def test_instances_without_words_do_not_count(told, speaking):
    base = speaking(dev=told({1: [], 2: [0.5, 0.5]}))
    far = speaking("far", dev=told({2: [0.9, 0.1], 1: []}))
    chosen = first_beyond(base, lambda _: far, [0.1], least=0.0)
    assert chosen.dev_jsd[0.1] == pytest.approx(jsd_of(0.4), abs=1e-7)
    assert np.isfinite(chosen.dev_jsd[0.1])
