"""What the plane of models and attentions says of itself."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from attention_audit.batch import collate
from attention_audit.callbacks import ModelAdversary
from attention_audit.diagnostics import Subject
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import Average
from attention_audit.models.training import AttentionTask, Training

BUDGET = {"permutations": 3, "adversaries": 2, "steps": 3, "resamples": 20}
ADVERSARY = {
    "epsilon": 0.05,
    "objective": "paper",
    "search": True,
    "exact": True,
    "frontier": [0.1, 0.01],
}
UNIFORM = {"_target_": "attention_audit.models.attentions.Uniform", "name": "uniform"}
TEXTS = [[4, 5, 6, 7], [8, 9], [10, 4, 11]]
BATCHES = [collate(TEXTS[:2], [0, 1], [22, 20]), collate(TEXTS[2:], [1], [21])]


def read(split):
    """The same texts in each split, under ids of their own."""
    first = {"train": 100, "dev": 200, "test": 0}[split]
    return [replace(batch, ids=batch.ids + first) for batch in BATCHES]


def subject(seed, outputs):
    torch.manual_seed(seed)
    vectors = 3 * torch.randn(12, 4)
    model = assemble(vectors, partial(Average, hidden=4), Additive, outputs)
    return Subject(model.eval(), read, f"weights-{seed}")


def diagnosed(outputs=2, **adversary):
    base = subject(0, outputs)
    task = AttentionTask(base.model, "classification", outputs, [1] * outputs, Training())
    analysis = ModelAdversary(UNIFORM, {**ADVERSARY, **adversary}, BUDGET, [1e-3, 0.0], seeds=2)
    roles = []

    def fit(role, change, given=None):
        roles.append(role)
        return subject(len(roles), outputs)

    analysis.prepare(base, fit, {"seed": 1})
    assert sorted(roles) == ["adversary_0", "adversary_0.001", "seed", "seed", "uniform"]
    return base, analysis, analysis.diagnose(base.read("test"), task, BATCHES)


@pytest.mark.parametrize(
    ("outputs", "adversary", "said", "unsaid"),
    [
        (2, {}, "none of them lies above its own frontier", "there may be larger"),
        (3, {}, "there may be larger", "none of them lies above"),
        (2, {"exact": False}, "Seeds, the uniform model", "frontier"),
    ],
)
def test_the_caption_claims_a_bound_only_where_there_is_one(outputs, adversary, said, unsaid):
    _, _, found = diagnosed(outputs, **adversary)
    assert said in found.more["caption"]
    assert unsaid not in found.more["caption"]
    assert bool(found.more["frontier"]) == ("frontier" in found.more["caption"])


def test_each_model_and_each_attention_is_a_point_with_its_means():
    base, analysis, found = diagnosed()
    points = {(one["kind"], one["which"]): one for one in found.more["points"]}
    assert set(points) == {
        *(("adversary", "0"), ("adversary", "0.001"), ("seed", "0"), ("seed", "2")),
        *(("uniform", ""), ("permutation", ""), ("search", "")),
    }
    assert {kind for (kind, _), one in points.items() if one["own"]} == {"permutation", "search"}
    rows = {row["quantity"]: row["value"] for row in found.rows}
    for (kind, which), one in points.items():
        name = f"{kind}_{which}" if which else kind
        for axis in ("tvd", "jsd"):
            values = found.instances[f"{name}_{axis}"]
            assert one[axis] == pytest.approx(np.nanmean(values))
            assert one[f"{axis}_lo"] <= one[axis] <= one[f"{axis}_hi"]
        assert one["score"] == (None if one["own"] else rows[f"{name}_f1"])
    assert analysis.others["uniform"].read("test").ids.tolist() == base.read("test").ids.tolist()


def test_the_frontier_is_the_mean_of_the_instances_own():
    _, _, found = diagnosed()
    assert [one["epsilon"] for one in found.more["frontier"]] == [0.01, 0.05, 0.1]
    for one in found.more["frontier"]:
        values = found.instances[f"frontier_{one['epsilon']:g}"]
        assert one["jsd"] == pytest.approx(values.mean())
    [excess] = [row for row in found.rows if row["quantity"] == "excess"]
    assert excess["value"] == found.instances["excess"].max() <= 1e-9
    assert (excess["statistic"], excess["n"], excess["n_undefined"]) == ("max", 3, 0)
