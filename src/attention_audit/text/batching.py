"""Which rows share a batch: documents of about the same length, so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

NOISE = 0.1


class BucketSampler:
    """Batches for training: rows of similar length together, the batches in random order.

    Each epoch sorts the rows by length times (1 + noise), noise uniform in [-0.1, 0.1], as the
    original program does, cuts the row into batches, and shuffles those. The order depends on
    (seed, epoch) only. Every row comes once an epoch; the shortest batch may be smaller.

    Of `parts` processes that train together, the one with number `part` gets every so-manieth
    batch; all of them get equally many, so that up to parts - 1 batches of an epoch are left out.

    Lightning looks for `batch_sampler.sampler.set_epoch`, hence `sampler`.

    Args:
        lengths: tokens of each row.
        batch_size: rows of a batch, at least 1.
        seed: of the order, at least 0.
        part: number of this process, from 0.
        parts: processes that train together.
    """

    def __init__(
        self,
        lengths: Sequence[int] | np.ndarray,
        batch_size: int,
        seed: int,
        part: int = 0,
        parts: int = 1,
    ) -> None:
        self.lengths = np.asarray(lengths, dtype=np.float64)
        self.batch_size = batch_size
        self.seed = seed
        self.part, self.parts = part, parts
        self.epoch = 0

    @property
    def sampler(self) -> BucketSampler:
        return self

    def set_epoch(self, epoch: int) -> None:
        """The epoch whose order the next iteration gives."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self._batches // self.parts

    @property
    def _batches(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng([self.seed, self.epoch])
        noise = random.uniform(-NOISE, NOISE, size=len(self.lengths))
        order = np.argsort(self.lengths * (1 + noise), kind="stable")
        shuffled = random.permutation(self._batches)
        for batch in shuffled[self.part :: self.parts][: len(self)]:
            yield order[batch * self.batch_size : (batch + 1) * self.batch_size].tolist()


class BudgetSampler:
    """Batches for evaluation: sorted by length, as many rows as the budget of tokens allows.

    A batch of n rows, the longest of L tokens, costs n * L. A row that alone is over the budget
    is a batch of its own. The order is always the same: shortest first, ties by row.

    Args:
        lengths: tokens of each row.
        budget: most tokens of a batch, padding included.
        most_rows: most rows of a batch.
    """

    def __init__(
        self, lengths: Sequence[int] | np.ndarray, budget: int = 16_384, most_rows: int = 512
    ) -> None:
        lengths = np.asarray(lengths, dtype=np.int64)
        self.batches: list[list[int]] = [[]]
        for row in np.argsort(lengths, kind="stable").tolist():
            rows = len(self.batches[-1]) + 1
            if rows > 1 and (rows > most_rows or rows * lengths[row] > budget):
                self.batches.append([])
            self.batches[-1].append(row)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.batches)
