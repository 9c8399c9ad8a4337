"""Prepared splits as padded batches of word ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytorch_lightning as pl
from torch.utils.data import DataLoader, Dataset

from attention_audit.batch import Batch, collate
from attention_audit.text.batching import BucketSampler, BudgetSampler
from attention_audit.text.prepared import Prepared
from attention_audit.text.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Ragged:
    """Lists of different lengths, end to end: list i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: np.ndarray
    offsets: np.ndarray

    def __getitem__(self, row: int) -> list[int]:
        return self.flat[self.offsets[row] : self.offsets[row + 1]].tolist()

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)


@dataclass(frozen=True, eq=False)
class Documents(Dataset[Batch]):
    """A split as word ids, encoded once.

    Attributes:
        words: word ids of each document, without `<sos>` and `<eos>`.
        labels: int64 [rows], class or answer.
        ids: int64 [rows], unique across the splits.
        queries: word ids of each question or hypothesis, where the task has them.
        candidates: the answers that each row may give, where the corpus names them.
        answers: how many answers there are, 0 unless the task is question answering.
    """

    words: Ragged
    labels: np.ndarray
    ids: np.ndarray
    queries: Ragged | None
    candidates: Ragged | None
    answers: int

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def lengths(self) -> np.ndarray:
        """int64 [rows]: tokens of each row, `<sos>` and `<eos>` included."""
        return self.words.lengths + 2

    def batch(self, rows: Sequence[int]) -> Batch:
        """These rows, padded to the longest of them."""
        return collate(
            [self.words[row] for row in rows],
            self.labels[rows].tolist(),
            self.ids[rows].tolist(),
            None if self.queries is None else [self.queries[row] for row in rows],
            None if self.candidates is None else [self.candidates[row] for row in rows],
            self.answers,
        )

    def __getitem__(self, row: int) -> Batch:
        return self.batch([row])

    def __getitems__(self, rows: list[int]) -> Batch:
        """What a `DataLoader` asks for: the whole batch at once."""
        return self.batch(rows)


class TextDataModule(pl.LightningDataModule):
    """Prepared splits as dataloaders of `Batch`.

    Train: rows of similar length together, in an order that depends on (seed, epoch). Dev and
    test: sorted by length, as many rows as `budget` padded tokens hold, always the same batches.

    Args:
        prepared: the splits.
        vocabulary: words by id.
        answers: question answering: the answers by label; None for other tasks.
        batch_size: rows of a training batch, at least 1.
        seed: of the training order, at least 0.
        budget: most tokens, padding included, of a dev or test batch.

    Raises:
        ValueError: an answer that is not among `answers`, or a size below 1.
    """

    def __init__(
        self,
        prepared: Prepared,
        vocabulary: Vocabulary,
        answers: tuple[str, ...] | None = None,
        batch_size: int = 32,
        seed: int = 0,
        budget: int = 16_384,
    ) -> None:
        super().__init__()
        if batch_size < 1 or budget < 1:
            raise ValueError(
                f"dataset.batch_size={batch_size}, token budget {budget}: expected at least 1"
            )
        self.classes = prepared.classes
        self.answers = answers
        self.batch_size, self.seed, self.budget = batch_size, seed, budget
        self._documents = {
            split: _encode(split, rows, vocabulary, answers)
            for split, rows in prepared.splits.items()
        }

    @property
    def class_counts(self) -> tuple[int, ...]:
        """Training rows of each class, in label order; () for question answering."""
        if self.answers is not None:
            return ()
        labels = self._documents["train"].labels
        return tuple(np.bincount(labels, minlength=len(self.classes)).tolist())

    def documents(self, split: str) -> Documents:
        """A split's word ids, labels and ids, row by row as in `Prepared`."""
        return self._documents[split]

    def loader(self, split: str) -> DataLoader[Any]:
        """The split in evaluation order: the train split too, each row once, unshuffled."""
        documents = self._documents[split]
        return _loader(documents, BudgetSampler(documents.lengths, self.budget))

    def train_dataloader(self) -> DataLoader[Any]:
        documents = self._documents["train"]
        part, parts = (
            (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)
        )
        batches = BucketSampler(documents.lengths, self.batch_size, self.seed, part, parts)
        if not len(batches):
            raise ValueError(
                f"trainer.devices: {parts} of them share {len(documents)} train rows in batches of "
                f"{self.batch_size}: fewer than one batch each; lower dataset.batch_size"
            )
        return _loader(documents, batches)

    def val_dataloader(self) -> DataLoader[Any]:
        return self.loader("dev")

    def test_dataloader(self) -> DataLoader[Any]:
        return self.loader("test")


def _as_it_is(batch: Any) -> Any:
    return batch


def _loader(documents: Documents, batches: BucketSampler | BudgetSampler) -> DataLoader[Any]:
    return DataLoader(documents, batch_sampler=batches, collate_fn=_as_it_is)


def _encode(
    split: str, rows: Any, vocabulary: Vocabulary, answers: tuple[str, ...] | None
) -> Documents:
    table = rows.with_format("arrow")[:]
    labels = (
        np.asarray(table["label"], dtype=np.int64)
        if answers is None
        else _labels(split, table["answer"].to_pylist(), answers)
    )
    asked = "query_tokens" in table.column_names
    return Documents(
        words=_ragged(table["tokens"], vocabulary),
        labels=labels,
        ids=np.asarray(table["id"], dtype=np.int64),
        queries=_ragged(table["query_tokens"], vocabulary) if asked else None,
        candidates=_candidates(table, answers),
        answers=len(answers or ()),
    )


def _ragged(column: Any, vocabulary: Vocabulary) -> Ragged:
    flat = vocabulary.encode_flat(pc.list_flatten(column))
    return Ragged(flat, _offsets(pc.list_value_length(column)))


def _offsets(lengths: Any) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


def _labels(split: str, given: list[str], answers: tuple[str, ...]) -> np.ndarray:
    label = {answer: place for place, answer in enumerate(answers)}
    strange = [answer for answer in given if answer not in label]
    if strange:
        raise ValueError(
            f"{split} split: {len(strange)} answers (such as {strange[0]!r}) are not among the "
            f"{len(answers)} answers of the model; was it fitted on another corpus?"
        )
    return np.array([label[answer] for answer in given], dtype=np.int64)


def _candidates(table: Any, answers: tuple[str, ...] | None) -> Ragged | None:
    if answers is None or "candidates" not in table.column_names:
        return None
    candidates = table["candidates"].combine_chunks()
    place = pc.index_in(pc.list_flatten(candidates), value_set=pa.array(answers, pa.string()))
    known = np.asarray(place.is_valid())
    row = np.asarray(pc.list_parent_indices(candidates))[known]
    lengths = np.bincount(row, minlength=len(candidates))
    return Ragged(np.asarray(place.drop_null(), dtype=np.int64), _offsets(lengths))
