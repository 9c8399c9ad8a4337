import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.batch import EOS, PAD, SOS, collate

texts = st.lists(st.lists(st.integers(1, 50), max_size=7), min_size=1, max_size=6)


@settings(deadline=None)
@given(texts)
def test_collate_keeps_every_word_and_marks_it(documents):
    batch = collate(documents, [0] * len(documents), list(range(len(documents))))
    assert len(batch) == len(documents)
    assert batch.tokens.shape[1] == batch.lengths.max() == max(map(len, documents)) + 2
    for row, words in enumerate(documents):
        end = len(words) + 2
        assert batch.lengths[row] == end
        assert batch.tokens[row, :end].tolist() == [SOS, *words, EOS]
        assert (batch.tokens[row, end:] == PAD).all()
        assert batch.tokens[row][batch.mask[row]].tolist() == words
    assert not batch.mask[:, 0].any()


def test_queries_and_candidates():
    batch = collate([[5], [6, 7]], [1, 0], [8, 9], [[4, 4], []], [[1], [0, 2]], answers=3)
    assert batch.query_tokens.tolist() == [[SOS, 4, 4, EOS], [SOS, EOS, PAD, PAD]]
    assert batch.query_lengths.tolist() == [4, 2]
    assert batch.candidates.tolist() == [[False, True, False], [True, False, True]]
    assert batch.labels.tolist() == [1, 0]
    assert batch.ids.tolist() == [8, 9]


def test_without_queries_there_are_none():
    batch = collate([[5]], [0], [0])
    assert batch.query_tokens is batch.query_lengths is batch.candidates is None


def test_rows_may_repeat_and_keep_the_padding():
    batch = collate([[5], [6, 7]], [1, 0], [8, 9], [[4], [4]])
    picked = batch.rows(torch.tensor([1, 0, 0]))
    assert picked.ids.tolist() == [9, 8, 8]
    assert picked.tokens[1].tolist() == [SOS, 5, EOS, PAD]
    assert picked.query_tokens.shape == (3, 3)
    assert picked.candidates is None


def test_everything_moves_together():
    batch = collate([[5]], [0], [0], [[4]], [[1]], answers=2)
    moved = batch.to("meta")
    tensors = [value for value in vars(moved).values() if value is not None]
    assert len(tensors) == 8
    assert all(value.device.type == "meta" for value in tensors)
