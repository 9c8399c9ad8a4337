import math
from functools import partial

import pytest
import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from attention_audit.batch import collate
from attention_audit.models import assemble
from attention_audit.models.attentions import Additive, Dot
from attention_audit.models.checkpoints import EpochCheckpoint
from attention_audit.models.encoders import Average, Encoder
from attention_audit.models.training import SELECTION, AttentionTask, Training

# Lightning's own use of torch, and its advice about loaders.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
]
GOOD, BAD = 4, 5


class Dropping(Encoder):
    """An encoder whose hidden states are noise whenever dropout is active."""

    def __init__(self, embedding, hidden=4):
        super().__init__()
        self.width = hidden
        self.inner = Average(embedding, hidden)
        self.dropout = nn.Dropout(0.5)

    def forward(self, embedded, lengths):
        hidden, summary = self.inner(embedded, lengths)
        return self.dropout(hidden), summary


def _task(classes=2, counts=(30, 10), task="classification", encoder=Average, **settings):
    torch.manual_seed(0)
    model = assemble(
        torch.randn(12, 4),
        partial(encoder, hidden=4),
        Additive,
        classes,
        query=task != "classification",
    )
    return AttentionTask(model, task, classes, counts, Training(**settings))


class Data(pl.LightningDataModule):
    """Documents whose label says which of two words they hold; the test labels are reversed."""

    def __init__(self):
        super().__init__()
        self.asked = []
        documents = [[GOOD if i % 3 else BAD, *range(6, 6 + i % 5)] for i in range(12)]
        labels = [int(i % 3 > 0) for i in range(12)]
        self.parts = {
            "train": collate(documents, labels, list(range(12))),
            "dev": collate(documents[:6], labels[:6], list(range(20, 26))),
            "test": collate(documents[6:], [1 - y for y in labels[6:]], list(range(30, 36))),
        }

    def _loader(self, split):
        self.asked.append(split)
        whole = self.parts[split]
        batches = [whole.rows(slice(0, 4)), whole.rows(slice(4, len(whole)))]
        return DataLoader(batches, batch_size=None)

    def train_dataloader(self):
        return self._loader("train")

    def val_dataloader(self):
        return self._loader("dev")

    def test_dataloader(self):
        return self._loader("test")


def _trainer(epochs=1, callbacks=()):
    return pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=list(callbacks),
        logger=False,
        enable_checkpointing=any(isinstance(one, EpochCheckpoint) for one in callbacks),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        inference_mode=False,
    )


def test_positives_weigh_as_much_as_negatives_in_all():
    assert _task(counts=(30, 10)).class_weights.tolist() == [3.0]  # N / N_pos - 1


def test_classes_weigh_inversely_to_their_number():
    assert _task(3, (10, 20, 30)).class_weights.tolist() == pytest.approx([2, 1, 2 / 3])


def test_a_class_without_a_row_has_a_finite_weight():
    assert _task(3, (10, 0, 20)).class_weights.isfinite().all()


def test_no_weights_if_unwanted_and_never_for_answers():
    assert _task(class_weights="none").class_weights is None
    assert _task(4, (), task="qa").class_weights is None


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_binary_loss(reduction):
    logits, labels = torch.tensor([[0.5], [-2.0], [1.5]]), torch.tensor([1, 0, 0])
    p = torch.sigmoid(logits[:, 0])
    each = torch.stack([-3 * p[0].log(), -(1 - p[1]).log(), -(1 - p[2]).log()])
    found = _task(counts=(30, 10), reduction=reduction).loss(logits, labels)
    torch.testing.assert_close(found, getattr(each, reduction)())


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_loss_of_several_classes(reduction):
    torch.manual_seed(0)
    logits, labels = torch.randn(4, 3), torch.tensor([0, 2, 2, 1])
    weights = torch.tensor([2, 1, 2 / 3])[labels]
    each = -logits.log_softmax(1)[range(4), labels] * weights
    expected = each.sum() if reduction == "sum" else each.sum() / weights.sum()
    found = _task(3, (10, 20, 30), reduction=reduction).loss(logits, labels)
    torch.testing.assert_close(found, expected)


def test_the_loss_of_answers_is_plain():
    logits, labels = torch.randn(4, 5), torch.tensor([0, 2, 4, 1])
    found = _task(5, (), task="qa").loss(logits, labels)
    torch.testing.assert_close(found, F.cross_entropy(logits, labels))


@pytest.mark.parametrize("decay_attention", [False, True])
def test_weight_decay_spares_the_attention_unless_told(decay_attention):
    task = _task(weight_decay=0.01, decay_attention=decay_attention, learning_rate=0.02)
    optimizer = task.configure_optimizers()
    assert isinstance(optimizer, torch.optim.Adam)
    decay = {
        id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]
    }
    attention = {id(p) for p in task.model.attention.parameters()}
    assert set(decay) == {id(p) for p in task.parameters()}
    for parameter, found in decay.items():
        spared = parameter in attention and not decay_attention
        assert found == (0.0 if spared else 0.01)
    assert {(group["lr"], group["amsgrad"]) for group in optimizer.param_groups} == {(0.02, True)}


def _fit(task, data, epochs, folder):
    best = EpochCheckpoint(folder, "best.ckpt", SELECTION)
    last = EpochCheckpoint(folder, "last.ckpt")
    seen = Seen()
    _trainer(epochs, [best, last, seen]).fit(task, datamodule=data)
    return seen


class Seen(pl.Callback):
    """What had been logged by the end of each epoch."""

    def __init__(self):
        self.epochs = []

    def on_train_epoch_end(self, trainer, pl_module):
        self.epochs.append({name: float(x) for name, x in trainer.callback_metrics.items()})

    def on_train_end(self, trainer, pl_module):
        # The task logs its training loss after the callbacks' turn.
        self.epochs[-1]["train/loss"] = float(trainer.callback_metrics["train/loss"])


def _best(folder):
    return torch.load(folder / "best.ckpt", weights_only=True)


def test_the_epoch_is_chosen_on_dev_and_test_is_never_read(tmp_path, monkeypatch):
    data, task = Data(), _task()
    areas = iter([0.4, 0.9, 0.6, 0.9])
    compute = task.scores.compute
    monkeypatch.setattr(
        task.scores,
        "compute",
        lambda: [
            score._replace(value=next(areas)) if score.quantity == "roc_auc" else score
            for score in compute()
        ],
    )
    seen = _fit(task, data, 4, tmp_path)
    assert [epoch[SELECTION] for epoch in seen.epochs] == pytest.approx([0.4, 0.9, 0.6, 0.9])
    assert _best(tmp_path)["epoch"] == 1
    assert "test" not in data.asked


def test_the_selection_is_the_dev_splits_area(tmp_path):
    data, task = Data(), _task(learning_rate=0.05)
    seen = _fit(task, data, 3, tmp_path)
    scores = {s.quantity: s.value for s in _evaluate(task, data.parts["dev"])}
    assert seen.epochs[-1][SELECTION] == pytest.approx(scores["roc_auc"])
    assert seen.epochs[-1]["dev/roc_auc"] == seen.epochs[-1][SELECTION]


def _evaluate(task, batch):
    task.eval()
    task.scores.reset()
    with torch.no_grad():
        task.validation_step.__func__(_Silent(task), batch)
    return task.scores.compute()


class _Silent:
    """A task whose logging goes nowhere, for calling a step outside a trainer."""

    def __init__(self, task):
        self._task = task

    def __getattr__(self, name):
        return getattr(self._task, name)

    def _log_loss(self, *_):
        pass


@pytest.mark.parametrize(
    ("first", "epochs", "eligible"), [(2, 4, [2, 3]), (5, 2, [1]), (0, 1, [0])]
)
def test_epochs_before_the_first_are_not_chosen(tmp_path, first, epochs, eligible):
    seen = _fit(_task(first_epoch=first), Data(), epochs, tmp_path)
    finite = [n for n, epoch in enumerate(seen.epochs) if math.isfinite(epoch[SELECTION])]
    assert finite == eligible
    assert _best(tmp_path)["epoch"] in eligible


@pytest.mark.parametrize("name", ["best", "last"])
def test_checkpoints_hold_plain_containers_only(tmp_path, name):
    task = _task()
    _fit(task, Data(), 1, tmp_path)
    stored = torch.load(tmp_path / f"{name}.ckpt", weights_only=True)
    assert set(stored["state_dict"]) == set(task.state_dict())
    assert all(isinstance(value, torch.Tensor) for value in stored["state_dict"].values())
    assert all(name.startswith("model.") for name in stored["state_dict"])


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_logged_losses_are_per_instance(tmp_path, reduction):
    task = _task(class_weights="none", reduction=reduction, learning_rate=1e-12)
    data = Data()
    seen = _fit(task, data, 1, tmp_path)
    for split in ("train", "dev"):
        batch = data.parts[split]
        with torch.no_grad():
            logits = task.model(batch).logits[:, 0]
        expected = F.binary_cross_entropy_with_logits(logits, batch.labels.float())
        assert seen.epochs[-1][f"{split}/loss"] == pytest.approx(float(expected), rel=1e-5)


def _tested(task, data):
    _trainer().test(task, datamodule=data, verbose=False)
    return task.predictions()


def test_predictions_are_those_of_the_documents_in_order():
    data, task = Data(), _task()
    found = _tested(task, data)
    whole = data.parts["test"]
    logits, attention = task.model(whole)
    assert torch.equal(found.ids, whole.ids)
    assert torch.equal(found.labels, whole.labels)
    torch.testing.assert_close(found.probabilities[:, 1], torch.sigmoid(logits[:, 0]).double())
    bias = task.model.decoder.output.bias
    for row, (weights, values) in enumerate(zip(found.attention, found.token_logits, strict=True)):
        torch.testing.assert_close(weights, attention[row][whole.mask[row]])
        torch.testing.assert_close(weights @ values + bias, logits[row])


def test_a_second_test_forgets_the_first():
    data, task = Data(), _task()
    first, second = _tested(task, data), _tested(task, data)
    assert torch.equal(first.ids, second.ids)
    support = {s.klass: s.value for s in task.test_scores() if s.quantity == "support"}
    assert sum(support.values()) == 6


def test_a_decoder_that_is_not_linear_gives_no_token_logits():
    task, data = _task(3, (), task="qa"), Data()
    words = [[6, 7], [8], [], [9], [10]]
    data.parts["test"] = collate(words, [0, 2, 1, 1, 0], list(range(5)), [[4], [], [5], [6], [7]])
    assert _tested(task, data).token_logits is None


def test_test_scores_are_the_test_splits():
    task = _task()
    data = Data()
    found = _tested(task, data)
    right = (found.probabilities.argmax(1) == data.parts["test"].labels).double().mean()
    scores = {(s.quantity, s.klass): s.value for s in task.test_scores()}
    assert scores["accuracy", "overall"] == pytest.approx(float(right))


def test_dropout_is_active_in_training_and_in_nothing_else(tmp_path):
    data, task = Data(), _task(encoder=Dropping, learning_rate=1e-12)
    modes = []
    task.model.encoder.dropout.register_forward_hook(lambda m, *_: modes.append(m.training))
    seen = _fit(task, data, 1, tmp_path)
    assert modes == [True, True, False, False]
    task.train()  # as a careless caller leaves it
    found = _tested(task, data)
    assert modes[4:] == [False, False]
    again = _tested(task, data)
    assert torch.equal(found.probabilities, again.probabilities)
    assert seen.epochs


@pytest.mark.parametrize("classes", [2, 3])
def test_pairs_are_not_weighted_by_class(classes):
    task = _task(classes=classes, counts=(30, 10, 2)[:classes], task="nli")
    batch = collate([[6, 7], [8]], [0, 1], [0, 1], [[4], [5]])
    logits = task.model(batch).logits
    assert logits.shape == (2, classes)
    likelihood = logits.log_softmax(1)[[0, 1], batch.labels]
    assert task.loss(logits, batch.labels).item() == pytest.approx(-likelihood.mean().item())


def test_answers_learn_their_question():
    torch.manual_seed(0)
    model = assemble(torch.randn(12, 8), partial(Average, hidden=8), Dot, 4, query=True)
    task = AttentionTask(model, "qa", 4, (), Training())
    documents = [[6, 7, 8, 9]] * 4
    batch = collate(documents, [0, 1, 2, 3], [0, 1, 2, 3], [[6], [7], [8], [9]])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        task.loss(model(batch).logits, batch.labels).backward()
        optimizer.step()
    assert model(batch).logits.argmax(1).tolist() == [0, 1, 2, 3]
