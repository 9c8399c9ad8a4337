from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.text import BucketSampler, BudgetSampler

lengths = st.lists(st.integers(2, 300), min_size=1, max_size=80)


@given(lengths, st.integers(1, 20), st.integers(0, 3), st.integers(0, 3))
def test_an_epoch_has_every_row_once(
    rows: list[int], batch_size: int, seed: int, epoch: int
) -> None:
    sampler = BucketSampler(rows, batch_size, seed)
    sampler.sampler.set_epoch(epoch)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    assert sorted(row for batch in batches for row in batch) == list(range(len(rows)))
    assert sum(len(batch) < batch_size for batch in batches) <= 1
    assert max(map(len, batches)) <= batch_size


@given(lengths, st.integers(1, 20), st.integers(1, 4), st.integers(0, 3))
def test_processes_share_an_epochs_batches_evenly(
    rows: list[int], batch_size: int, parts: int, epoch: int
) -> None:
    whole = BucketSampler(rows, batch_size, 0)
    shares = [BucketSampler(rows, batch_size, 0, part, parts) for part in range(parts)]
    for sampler in (whole, *shares):
        sampler.set_epoch(epoch)
    batches = list(whole)
    shared = [list(share) for share in shares]
    assert {len(share) for share in shared} == {len(batches) // parts} == {len(shares[0])}
    kept = len(batches) - len(batches) % parts
    assert sorted(batch for share in shared for batch in share) == sorted(batches[:kept])


def test_order_depends_on_seed_and_epoch_only() -> None:
    rows = list(range(2, 202))
    one, same, other = (BucketSampler(rows, 8, seed) for seed in (0, 0, 1))
    first = list(one)
    assert first == list(one) == list(same)
    assert first != list(other)
    one.set_epoch(1)
    assert list(one) != first
    one.set_epoch(0)
    assert list(one) == first


def test_batches_hold_rows_of_similar_length_in_mixed_order() -> None:
    rows = np.random.default_rng(0).integers(2, 400, size=2000)
    batches = [rows[batch] for batch in BucketSampler(rows, 32, 0)]
    padded = sum(len(batch) * batch.max() for batch in batches)
    assert padded < 1.25 * rows.sum()
    longest = [batch.max() for batch in batches]
    assert longest != sorted(longest)


@given(lengths, st.integers(1, 2000), st.integers(1, 40))
def test_the_budget_is_kept_and_every_row_comes_once(
    rows: list[int], budget: int, most_rows: int
) -> None:
    sampler = BudgetSampler(rows, budget, most_rows)
    batches = list(sampler)
    assert sorted(row for batch in batches for row in batch) == list(range(len(rows)))
    for batch in batches:
        assert 1 <= len(batch) <= most_rows
        assert len(batch) == 1 or len(batch) * max(rows[row] for row in batch) <= budget
    in_order = [rows[row] for batch in batches for row in batch]
    assert in_order == sorted(rows)
    assert batches == list(BudgetSampler(rows, budget, most_rows))


def test_a_document_over_the_budget_is_a_batch_of_its_own() -> None:
    assert list(BudgetSampler([5, 2000, 6], budget=1000)) == [[0, 2], [1]]
