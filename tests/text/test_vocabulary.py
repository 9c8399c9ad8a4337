from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.text import Vocabulary

DOCUMENTS = [["the", "cat", "the"], ["the", "dog"], ["a", "cat"]]
texts = st.lists(st.lists(st.text(max_size=4)))


def test_order_is_document_frequency_then_alphabet() -> None:
    words = Vocabulary.from_documents(DOCUMENTS).words
    assert words == ("<pad>", "<unk>", "<sos>", "<eos>", "cat", "the", "a", "dog")


def test_min_df_counts_documents_not_occurrences() -> None:
    assert Vocabulary.from_documents([["a", "a"], ["b"], ["b"]], min_df=2).own == ("b",)


def test_unknown_words_and_words_spelt_like_special_tokens_are_unk() -> None:
    vocabulary = Vocabulary.from_documents([["<pad>", "cat", "<eos>"]])
    assert len(vocabulary) == 5
    assert vocabulary.encode(["<pad>", "cat", "<eos>", "dog"]) == [1, 4, 1, 1]


def test_a_wrong_list_of_words_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with"):
        Vocabulary(("cat", "dog"))
    with pytest.raises(ValueError, match="'cat' more than once"):
        Vocabulary(("<pad>", "<unk>", "<sos>", "<eos>", "cat", "cat"))


@given(texts)
def test_known_words_survive_encoding_and_storing(documents: list[list[str]]) -> None:
    vocabulary = Vocabulary.from_documents(documents)
    stored = Vocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert stored == vocabulary
    for document in documents:
        assert stored.decode(vocabulary.encode(document)) == document


@given(texts, st.lists(st.text(max_size=4)), st.integers(1, 3))
def test_arrow_encodes_as_python_does(
    documents: list[list[str]], tokens: list[str], min_df: int
) -> None:
    vocabulary = Vocabulary.from_documents(documents, min_df)
    flat = vocabulary.encode_flat(pa.array([*tokens, "<pad>"], pa.string()))
    assert flat.dtype == np.int64
    assert flat.tolist() == vocabulary.encode([*tokens, "<pad>"])


@given(texts)
def test_ids_do_not_depend_on_the_order_of_documents(documents: list[list[str]]) -> None:
    assert Vocabulary.from_documents(documents) == Vocabulary.from_documents(documents[::-1])
