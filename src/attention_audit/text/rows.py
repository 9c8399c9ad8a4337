"""Rows of a tokenised split that are still in, and the count of those that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attention_audit.text.preparation import Preparation
from attention_audit.text.splitting import draw

if TYPE_CHECKING:
    from datasets import Dataset

SPLITS = ("train", "dev", "test")
_UNLABELLED = -1
# one stream of random numbers for each purpose, so that no choice depends on another
_CARVING = {"test": 0, "dev": 1}
_TEST_SAMPLE = 2
_LIMIT = {"train": 3, "dev": 4, "test": 5}


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a split by number, with what the filters look at.

    Attributes:
        dataset: the tokenised split that the numbers refer to.
        index: int64 [rows], increasing.
        lengths: int64 [rows], words.
        strata: int64 [rows], the class, or 0 for every row with an answer; -1 unlabelled.
        blank: bool [rows], no word in the document, or in the question where there is one.
    """

    dataset: Dataset
    index: np.ndarray
    lengths: np.ndarray
    strata: np.ndarray
    blank: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> Rows:
        """All rows of a tokenised split."""
        import pyarrow.compute as pc

        table = dataset.with_format("arrow")[:]
        if "label" in table.column_names:
            strata = np.asarray(pc.fill_null(table["label"], _UNLABELLED), dtype=np.int64)
        else:
            strata = np.where(np.asarray(table["answer"].is_valid()), 0, _UNLABELLED)
        lengths = np.asarray(pc.list_value_length(table["tokens"]), dtype=np.int64)
        blank = lengths == 0
        if "query_tokens" in table.column_names:
            blank |= np.asarray(pc.list_value_length(table["query_tokens"])) == 0
        return cls(dataset, np.arange(len(lengths)), lengths, strata, blank)

    def __len__(self) -> int:
        return len(self.index)

    def where(self, chosen: np.ndarray) -> Rows:
        """The rows where `chosen` (bool [rows]) holds."""
        columns = (self.index, self.lengths, self.strata, self.blank)
        return Rows(self.dataset, *(column[chosen] for column in columns))

    def drop(self, unwanted: np.ndarray, reason: str, dropped: dict[str, int]) -> Rows:
        """The rows where `unwanted` (bool [rows]) does not hold; the others are counted."""
        if unwanted.any():
            dropped[reason] = dropped.get(reason, 0) + int(unwanted.sum())
        return self.where(~unwanted)

    def select(self) -> Dataset:
        """These rows as a dataset."""
        return self.dataset.select(self.index)


def usable(rows: Rows, dropped: dict[str, int]) -> Rows:
    """Without the rows that have no word, no question where one is asked, or no label."""
    rows = rows.drop(rows.blank, "empty", dropped)
    return rows.drop(rows.strata == _UNLABELLED, "unlabelled", dropped)


def carved(splits: dict[str, Rows], settings: Preparation) -> dict[str, Rows]:
    """Three splits: test and dev, where absent, are shares of the whole train split, by class."""
    train, found = splits["train"], dict(splits)
    whole = len(train)
    for name, share in (("test", settings.test_fraction), ("dev", settings.dev_fraction)):
        if name not in found:
            count = min(max(1, round(share * whole)), len(train))
            taken = draw(train.strata, count, (settings.split_seed, _CARVING[name]))
            found[name], train = train.where(taken), train.where(~taken)
    return found | {"train": train}


def sampled(test: Rows, settings: Preparation, dropped: dict[str, int]) -> Rows:
    """The share of the test split that is kept, by class."""
    if settings.test_sample is None:
        return test
    count = min(max(1, round(settings.test_sample * len(test))), len(test))
    kept = draw(test.strata, count, (settings.split_seed, _TEST_SAMPLE))
    return test.drop(~kept, "not in the test sample", dropped)


def of_length(rows: Rows, settings: Preparation, dropped: dict[str, int]) -> Rows:
    """The rows within the length bounds."""
    longest = rows.lengths.max(initial=0)
    shortest = rows.lengths.min(initial=longest)
    if settings.longer_than is not None:
        rows = rows.drop(rows.lengths <= settings.longer_than, "too short", dropped)
    elif settings.drop_shortest:
        rows = rows.drop(rows.lengths == shortest, "shortest", dropped)
    if settings.shorter_than is not None:
        return rows.drop(rows.lengths >= settings.shorter_than, "too long", dropped)
    if settings.drop_longest:
        return rows.drop(rows.lengths == longest, "longest", dropped)
    return rows


def limited(
    name: str, rows: Rows, limit: int | None, settings: Preparation, dropped: dict[str, int]
) -> Rows:
    """At most `limit` rows, by class."""
    if limit is None or len(rows) <= limit:
        return rows
    kept = draw(rows.strata, limit, (settings.split_seed, _LIMIT[name]))
    return rows.drop(~kept, "over the limit", dropped)
