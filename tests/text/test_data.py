from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from attention_audit.batch import EOS, SOS, Batch
from attention_audit.text import TextDataModule

Ready = Any


@pytest.fixture
def module(ready: Ready, corpus: Any) -> TextDataModule:
    texts = [(" ".join(["w"] * (1 + i % 9) + [f"u{i}"]), int(i % 3 == 0)) for i in range(60)]
    prepared = ready(corpus(train=texts))
    return TextDataModule(prepared, prepared.vocabulary, batch_size=8, seed=5)


def ids(loader: Any) -> list[int]:
    return [id_ for batch in loader for id_ in batch.ids.tolist()]


def test_batches_are_the_documents(ready: Ready, corpus: Any) -> None:
    texts = [("the cat sat", 1), ("dog", 0)]
    unseen = [("the unseen <pad> cat", 1), ("dog", 0)]
    prepared = ready(corpus(train=texts, dev=texts, test=unseen))
    module = TextDataModule(prepared, prepared.vocabulary)
    (batch,) = module.test_dataloader()
    assert isinstance(batch, Batch)
    encode = prepared.vocabulary.encode
    assert batch.tokens.tolist() == [
        [SOS, *encode(["dog"]), EOS, 0, 0, 0],
        [SOS, *encode(["the"]), 1, 1, *encode(["cat"]), EOS],
    ]
    assert batch.labels.tolist() == [0, 1]
    assert batch.ids.tolist() == [5, 4]
    assert batch.lengths.tolist() == [3, 6]
    assert batch.candidates is None
    assert batch.query_tokens is None
    assert module.class_counts == (1, 1)


def test_an_epoch_of_training_has_every_row_once(module: TextDataModule) -> None:
    expected = sorted(module.documents("train").ids.tolist())
    loader = module.train_dataloader()
    assert sorted(ids(loader)) == expected
    assert ids(loader) == ids(module.train_dataloader())
    loader.batch_sampler.sampler.set_epoch(1)
    assert sorted(ids(loader)) == expected
    assert ids(loader) != ids(module.train_dataloader())


def test_evaluation_order_is_by_length_and_fixed(module: TextDataModule) -> None:
    for loader in (module.val_dataloader(), module.test_dataloader(), module.loader("train")):
        sizes = [n for batch in loader for n in batch.lengths.tolist()]
        assert sizes == sorted(sizes)
    assert ids(module.loader("train")) == ids(module.loader("train"))


def test_class_counts_are_those_of_training(module: TextDataModule) -> None:
    labels = module.documents("train").labels
    assert module.class_counts == ((labels == 0).sum(), (labels == 1).sum())


def test_a_very_long_document_is_a_batch_of_its_own(ready: Ready, corpus: Any) -> None:
    texts = [("w " * 20_000, 0), ("a b", 1), ("a c", 0)]
    prepared = ready(corpus(train=texts, dev=texts, test=texts))
    loader = TextDataModule(prepared, prepared.vocabulary).test_dataloader()
    assert [tuple(batch.tokens.shape) for batch in loader] == [(2, 4), (1, 20_002)]


QUESTIONS = {
    "text": ["a b c", "b a", "c a"],
    "query": ["where a ?", "b", "x y"],
    "answer": ["a", "b", "c"],
}
CANDIDATES = [["a", "b"], ["b", "unheard"], ["c", "a"]]


def test_questions_answers_and_candidates(ready: Ready, questions: Any) -> None:
    prepared = ready(questions(**QUESTIONS, candidates=CANDIDATES))
    module = TextDataModule(prepared, prepared.vocabulary, prepared.answers)
    (batch,) = module.test_dataloader()
    answers = prepared.answers
    order = batch.ids.sub(6).tolist()
    assert [answers[label] for label in batch.labels] == ["abc"[row] for row in order]
    allowed = [{a for a, yes in zip(answers, row, strict=True) if yes} for row in batch.candidates]
    assert allowed == [[{"a", "b"}, {"b", "unheard"}, {"a", "c"}][row] for row in order]
    assert [n - 2 for n in batch.query_lengths.tolist()] == [[3, 1, 2][row] for row in order]
    assert module.class_counts == ()


def test_without_candidates_every_answer_is_allowed(ready: Ready, questions: Any) -> None:
    prepared = ready(questions(**QUESTIONS))
    (batch,) = TextDataModule(prepared, prepared.vocabulary, prepared.answers).val_dataloader()
    assert batch.candidates is None


def test_pairs_have_a_query_and_a_class(ready: Ready, questions: Any) -> None:
    columns = QUESTIONS | {"label": [1, 2, 0]}
    del columns["answer"]
    prepared = ready(questions(("x", "y", "z"), **columns))
    module = TextDataModule(prepared, prepared.vocabulary)
    (batch,) = module.test_dataloader()
    order = batch.ids.sub(6).tolist()
    assert batch.labels.tolist() == [[1, 2, 0][row] for row in order]
    assert [n - 2 for n in batch.query_lengths.tolist()] == [[3, 1, 2][row] for row in order]
    assert batch.candidates is None
    assert module.class_counts == (1, 1, 1)


def test_answers_of_another_model_are_refused(ready: Ready, questions: Any) -> None:
    prepared = ready(questions(**QUESTIONS))
    with pytest.raises(ValueError, match=r"train split: 1 answers \(such as 'c'\)"):
        TextDataModule(prepared, prepared.vocabulary, ("a", "b"))


@pytest.mark.parametrize("sizes", [{"batch_size": 0}, {"budget": 0}])
def test_sizes_below_one_are_refused(ready: Ready, corpus: Any, sizes: dict[str, int]) -> None:
    prepared = ready(corpus(train=[("a b", 0), ("b c", 1)] * 5))
    with pytest.raises(ValueError, match="expected at least 1"):
        TextDataModule(prepared, prepared.vocabulary, **sizes)


class Recorder(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.seen: list[list[int]] = []

    def training_step(self, batch: Batch, _: int) -> torch.Tensor:
        self.seen.append(batch.ids.tolist())
        return (self.weight * batch.tokens.float().mean()).sum()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def fitted(module: TextDataModule, folder: Path, epochs: int) -> list[list[int]]:
    recorder = Recorder()
    trainer = pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    with warnings.catch_warnings():
        # Lightning proposes worker processes, and torch its own way of flattening a Batch
        warnings.simplefilter("ignore")
        trainer.fit(recorder, datamodule=module)
    return recorder.seen


def test_lightning_moves_on_to_the_next_epochs_order(
    module: TextDataModule, tmp_path: Path
) -> None:
    seen = fitted(module, tmp_path, epochs=2)
    loader = module.train_dataloader()
    expected = [batch.ids.tolist() for batch in loader]
    loader.batch_sampler.sampler.set_epoch(1)
    assert seen == expected + [batch.ids.tolist() for batch in loader]
    assert fitted(module, tmp_path, epochs=2) == seen
