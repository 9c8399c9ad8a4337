"""What fits beside a given attention make small, by hand and in a fit."""

import math
from functools import partial

import pytest
import pytorch_lightning as pl
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from attention_audit.batch import collate
from attention_audit.measures import jsd
from attention_audit.models import assemble
from attention_audit.models.attention_model import Output
from attention_audit.models.attentions import Additive
from attention_audit.models.checkpoints import EpochCheckpoint
from attention_audit.models.encoders import Average
from attention_audit.models.objectives import FLOOR, ModelConsistent, Regularised
from attention_audit.models.training import SELECTION, Training
from attention_audit.predictions import Given, Predictions

# Lightning's own use of torch, and its advice about loaders.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
]
BATCH = collate([[4, 5], [6, 7, 8]], [1, 0], [31, 12])
# Of the instances 12 and 31; the weights of a text are of its words.
THEIRS = {12: [0.2, 0.3, 0.5], 31: [0.25, 0.75]}
OURS = torch.tensor([[0, 0.5, 0.5, 0, 0], [0, 0.1, 0.6, 0.3, 0]])
KL = torch.tensor(
    [
        0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75),
        0.1 * math.log(0.1 / 0.2) + 0.6 * math.log(0.6 / 0.3) + 0.3 * math.log(0.3 / 0.5),
    ],
    dtype=torch.float64,
)
COUNTS = {2: (30, 10), 3: (10, 20, 30)}
# By classes: our logits, the outputs given for 12 and 31, and the TVD of 31 and 12.
OUTPUTS = {
    2: (
        torch.tensor([[0.0], [math.log(4.0)]]),
        torch.tensor([[0.3, 0.7], [0.1, 0.9]], dtype=torch.float64),
        torch.tensor([0.4, 0.1], dtype=torch.float64),
    ),
    3: (
        torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]).log(),
        torch.tensor([[0.3, 0.2, 0.5], [0.0, 1.0, 0.0]], dtype=torch.float64),
        torch.tensor([0.75, 0.2], dtype=torch.float64),
    ),
}


def given_rows(rows, outputs=None):
    ids = torch.tensor([*rows])
    return Given.of(ids, [torch.tensor(row) for row in rows.values()], outputs)


def task_of(kind, given, classes=2, strength=0.5, task="classification", more=None, **settings):
    torch.manual_seed(0)
    query = task != "classification"
    model = assemble(torch.randn(12, 4), partial(Average, hidden=4), Additive, classes, query=query)
    counts = () if query else COUNTS[classes]
    return kind(
        model,
        task,
        classes,
        counts,
        Training(**settings),
        given=given,
        strength=strength,
        **(more or {}),
    )


def consistent(classes, strength=0.5, weighted=False, **settings):
    given = given_rows(THEIRS, OUTPUTS[classes][1])
    more = {"weighted": weighted}
    return task_of(ModelConsistent, given, classes, strength, more=more, **settings)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_output_stays_and_the_attention_leaves(classes, reduction):
    logits, _, moved = OUTPUTS[classes]
    found = consistent(classes, reduction=reduction).objective(Output(logits, OURS), BATCH)
    expected = getattr(moved - 0.5 * KL, reduction)()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize(("classes", "weights"), [(2, [3.0, 1.0]), (3, [1.0, 2.0])])
def test_an_instance_weighs_as_its_class_does(classes, weights, reduction):
    """Their labels are 1 and 0: of two classes the positive one weighs N / N_pos - 1."""
    logits, _, moved = OUTPUTS[classes]
    task = consistent(classes, weighted=True, reduction=reduction)
    found = task.objective(Output(logits, OURS), BATCH)
    expected = getattr((moved - 0.5 * KL) * torch.tensor(weights), reduction)()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_without_class_weights_weighted_changes_nothing():
    output = Output(OUTPUTS[2][0], OURS)
    plain = consistent(2, class_weights="none").objective(output, BATCH)
    weighted = consistent(2, weighted=True, class_weights="none").objective(output, BATCH)
    assert torch.equal(plain, weighted)


@pytest.mark.parametrize("classes", [2, 3])
def test_with_lambda_0_it_is_the_mean_tvd(classes):
    logits, _, moved = OUTPUTS[classes]
    found = consistent(classes, strength=0.0).objective(Output(logits, OURS), BATCH)
    torch.testing.assert_close(found, moved.mean(), rtol=0, atol=1e-7)


EDGES = [
    pytest.param([0.0, 1.0], [0.5, 0.5], id="ours"),
    pytest.param([0.5, 0.5], [1.0, 0.0], id="theirs"),
    pytest.param([0.0, 1.0], [1.0, 0.0], id="opposite"),
    pytest.param([1.0, 0.0], [1.0, 0.0], id="alike"),
]


@pytest.mark.parametrize("kind", [ModelConsistent, Regularised])
@pytest.mark.parametrize(("ours", "theirs"), EDGES)
def test_where_an_attention_is_0_or_1_loss_and_gradient_are_finite(kind, ours, theirs):
    given = given_rows({31: theirs}, torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    task = task_of(kind, given)
    logits = torch.tensor([[80.0]], requires_grad=True)
    attention = torch.tensor([[0, *ours, 0]], requires_grad=True)
    loss = task.objective(Output(logits, attention), collate([[4, 5]], [1], [31]))
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()
    assert attention.grad.isfinite().all()
    least = math.log(FLOOR)
    assert abs(loss.item()) <= 0.5 * -least + 2


def test_the_farthest_of_two_words_is_what_the_floor_leaves():
    given = given_rows({31: [1.0, 0.0]}, torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    output = Output(torch.tensor([[80.0]]), torch.tensor([[0, 0.0, 1.0, 0]]))
    found = task_of(ModelConsistent, given).objective(output, collate([[4, 5]], [1], [31]))
    assert float(found) == pytest.approx(0.5 * math.log(FLOOR))


@pytest.mark.parametrize("kind", [ModelConsistent, Regularised])
def test_what_was_given_is_no_part_of_the_model(kind):
    given = given_rows(THEIRS, OUTPUTS[2][1])
    task = task_of(kind, given)
    before = given.weights.clone(), given.probabilities.clone()
    task.objective(task.model(BATCH), BATCH).backward()
    for held in (given.weights, given.probabilities):
        assert not held.requires_grad
        assert held.grad is None
    assert all(name.startswith("model.") for name in task.state_dict())
    optimizer = task.configure_optimizers()
    optimizer.step()
    assert torch.equal(given.weights, before[0])
    assert torch.equal(given.probabilities, before[1])


def test_the_gradient_reaches_attention_and_output():
    task = consistent(2)
    task.objective(task.model(BATCH), BATCH).backward()
    for part in (task.model.attention, task.model.decoder, task.model.encoder):
        assert any(parameter.grad.abs().sum() > 0 for parameter in part.parameters())


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("classes", [2, 3])
def test_regularised_is_the_loss_and_the_divergence_from_what_was_given(classes, reduction):
    """KL(given || attention): what was given has to be covered."""
    logits = OUTPUTS[classes][0]
    task = task_of(Regularised, given_rows(THEIRS), classes, reduction=reduction)
    apart = torch.tensor(
        [
            0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5),
            0.2 * math.log(0.2 / 0.1) + 0.3 * math.log(0.3 / 0.6) + 0.5 * math.log(0.5 / 0.3),
        ],
        dtype=torch.float64,
    )
    expected = task.loss(logits, BATCH.labels) + 0.5 * getattr(apart, reduction)()
    found = task.objective(Output(logits, OURS), BATCH)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_regularised_with_lambda_0_is_the_loss():
    logits = OUTPUTS[2][0]
    task = task_of(Regularised, given_rows(THEIRS), strength=0.0)
    found = float(task.objective(Output(logits, OURS), BATCH))
    labels = BATCH.labels.float()
    weight = torch.tensor([3.0])
    expected = F.binary_cross_entropy_with_logits(logits[:, 0], labels, pos_weight=weight)
    assert found == pytest.approx(float(expected), abs=1e-7)


@pytest.mark.parametrize("kind", [ModelConsistent, Regularised])
def test_an_instance_that_nothing_was_given_for_ends_the_fit(kind):
    task = task_of(kind, given_rows(THEIRS, OUTPUTS[2][1]))
    stranger = collate([[4, 5], [6, 7, 8]], [1, 0], [31, 13])
    with pytest.raises(ValueError, match="nothing is there for instance 13"):
        task.objective(Output(OUTPUTS[2][0], OURS), stranger)


def test_attention_without_outputs_is_not_enough_to_predict_alike():
    task = task_of(ModelConsistent, given_rows(THEIRS))
    with pytest.raises(ValueError, match="came without outputs"):
        task.objective(Output(OUTPUTS[2][0], OURS), BATCH)


def test_a_task_with_a_question_has_no_class_weights():
    batch = collate([[4, 5], [6, 7, 8]], [1, 0], [31, 12], [[4], [5]])
    given = given_rows(THEIRS, OUTPUTS[3][1])
    found = [
        task_of(ModelConsistent, given, 3, task="nli", more={"weighted": weighted})
        for weighted in (False, True)
    ]
    plain, weighted = (task.objective(task.model(batch), batch) for task in found)
    assert torch.equal(plain, weighted)


class Data(pl.LightningDataModule):
    """Texts of three words, whose labels follow from one of them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        texts = torch.randint(4, 12, (24, 3)).tolist()
        labels = [int(text[0] > 7) for text in texts]
        self.train = collate(texts[:16], labels[:16], list(range(16)))
        self.dev = collate(texts[16:], labels[16:], list(range(40, 48)))

    def _loader(self, whole):
        return DataLoader([whole.rows(slice(0, 5)), whole.rows(slice(5, None))], batch_size=None)

    def train_dataloader(self):
        return self._loader(self.train)

    def val_dataloader(self):
        return self._loader(self.dev)


class Epochs(pl.Callback):
    """What the epochs were chosen by, and the dev loss."""

    def __init__(self):
        self.selection, self.loss = [], []

    def on_train_epoch_end(self, trainer, pl_module):
        self.selection.append(float(trainer.callback_metrics[SELECTION]))
        self.loss.append(float(trainer.callback_metrics["dev/loss"]))


def fitted(task, data, folder, epochs):
    """The epochs of a fit; its best one is loaded."""
    seen = Epochs()
    pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=[EpochCheckpoint(folder, "best.ckpt", SELECTION), seen],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    ).fit(task, datamodule=data)
    best = torch.load(folder / "best.ckpt", weights_only=True)
    task.load_state_dict(best["state_dict"])
    seen.best = best["epoch"]
    return seen


@torch.no_grad()
def base_of(data):
    """What a model, never fitted, says of both splits."""
    torch.manual_seed(5)
    model = assemble(3 * torch.randn(12, 4), partial(Average, hidden=4), Additive, 2).eval()
    return Predictions.joined([model.predict(data.train), model.predict(data.dev)])


@torch.no_grad()
def apart(task, data, base):
    """The mean JSD of the dev split's attention to the base's."""
    own = task.model.eval().predict(data.dev)
    theirs = base.attention[len(data.train) :]
    return float(jsd(torch.stack(own.attention), torch.stack(theirs)).mean())


def test_a_larger_lambda_leads_farther_away_and_0_keeps_the_output(tmp_path):
    data = Data()
    base = base_of(data)
    given = Given.of(base.ids, base.attention, base.probabilities)
    far, moved = [], []
    for strength in (0.0, 0.05, 2.0):
        task = task_of(ModelConsistent, given, strength=strength, learning_rate=0.05)
        fitted(task, data, tmp_path / f"{strength}", 15)
        far.append(apart(task, data, base))
        own = task.model.predict(data.dev).probabilities
        theirs = base.probabilities[len(data.train) :]
        moved.append(float((own - theirs).abs().sum(1).mean().detach() / 2))
    assert far[0] < far[1] < far[2]
    assert moved[0] < moved[2]
    assert moved[0] < 0.1


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_epoch_of_the_smallest_dev_loss_is_chosen(tmp_path, reduction):
    data = Data()
    base = base_of(data)
    given = Given.of(base.ids, base.attention, base.probabilities)
    settings = {"learning_rate": 0.5, "reduction": reduction}  # such that the loss goes up again
    task = task_of(ModelConsistent, given, strength=0.01, **settings)
    seen = fitted(task, data, tmp_path, 8)
    assert seen.selection == pytest.approx([-loss for loss in seen.loss])
    assert seen.loss[seen.best] == min(seen.loss)
    assert 0 < seen.best < 7, "the test needs a best epoch that is neither the first nor the last"
    with torch.no_grad():
        whole = task.objective(task.model.eval()(data.dev), data.dev)
    each = float(whole) / (len(data.dev) if reduction == "sum" else 1)
    assert seen.loss[seen.best] == pytest.approx(each, abs=1e-6)


def test_the_regulariser_draws_attention_towards_what_was_given(tmp_path):
    data = Data()
    base = base_of(data)
    given = Given.of(base.ids, base.attention)
    far = []
    for strength in (0.0, 5.0):
        task = task_of(Regularised, given, strength=strength, learning_rate=0.05)
        seen = fitted(task, data, tmp_path / f"{strength}", 15)
        assert max(seen.selection) == seen.selection[seen.best] > 0, "chosen by the dev score"
        far.append(apart(task, data, base))
    assert far[1] < 0.5 * far[0]
