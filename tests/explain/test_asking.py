"""What was asked is read as the corpus was, and what cannot be asked is refused."""

from __future__ import annotations

import pytest

from attention_audit.batch import EOS, SOS, UNK
from attention_audit.cell import Restored
from attention_audit.explain import Asked, ask
from attention_audit.text import Vocabulary
from attention_audit.text.tokenisers import normaliser, reader

VOCABULARY = Vocabulary.from_documents([["a", "film", "qqq"]])
OUTPUTS = ("kitchen", "office", "garden", "hall")


@pytest.fixture
def restored():
    normalise = normaliser(lowercase=True, digits="qqq")
    read = reader("spacy", normalise)
    return Restored(None, VOCABULARY, OUTPUTS, read, lambda answer: normalise(answer.strip()))


def test_words_are_read_as_the_corpus_was(restored):
    question = ask(restored, Asked("A  film,\nof 1999"))
    assert [word.text for word in question.words] == ["a", "film", ",", "of", "qqq"]
    assert [word.known for word in question.words] == [True, True, False, False, True]
    a, film, number = VOCABULARY.encode(["a", "film", "qqq"])
    assert question.batch.tokens.tolist() == [[SOS, a, film, UNK, UNK, number, EOS]]
    assert question.batch.query_tokens is None
    assert question.batch.candidates is None
    assert question.query == ()


def test_a_word_that_is_spelt_like_a_special_token_is_unknown(restored):
    restored = Restored(None, VOCABULARY, OUTPUTS, str.split, str)
    question = ask(restored, Asked("<pad> film"))
    assert question.words[0].known is False
    assert question.batch.tokens[0, 1] == UNK


def test_which_words_are_known_need_not_be_told(restored):
    question = ask(restored, Asked("a floobydust", "a what"), told=False)
    assert {word.known for word in (*question.words, *question.query)} == {None}


def test_query_and_candidates_are_in_the_batch(restored):
    question = ask(restored, Asked("a film", "what", ("GARDEN", " kitchen")))
    assert question.batch.query_tokens.tolist() == [[SOS, UNK, EOS]]
    assert question.batch.candidates.tolist() == [[True, False, True, False]]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000"])
def test_a_text_without_a_word_is_refused(restored, text):
    with pytest.raises(ValueError, match=r"^SENTENCE: found '.*', expected at least one word"):
        ask(restored, Asked(text))
    with pytest.raises(ValueError, match=r"^--query: found '.*', expected at least one word"):
        ask(restored, Asked("a", text))


def test_a_candidate_must_be_an_answer(restored):
    line = "^--candidates: found 'moon', expected of the model's 4 answers, such as 'kitchen', 'of"
    with pytest.raises(ValueError, match=line):
        ask(restored, Asked("a", "b", ("office", "moon")))


@pytest.mark.parametrize(
    ("task", "asked", "line"),
    [
        ("qa", Asked("a"), "--query: missing; the cell's task is qa, expected --query with the qu"),
        ("nli", Asked("a"), "--query: missing; .* with the hypothesis"),
        ("classification", Asked("a", "b"), "--query: found one, expected none"),
        ("classification", Asked("a", None, ("b",)), "--candidates: found some, expected none"),
        ("nli", Asked("a", "b", ("b",)), "--candidates: found some, expected none"),
    ],
)
def test_what_the_task_misses_or_has_no_use_for_is_refused(task, asked, line):
    with pytest.raises(ValueError, match=f"^{line}"):
        asked.check(task)


def test_what_the_task_asks_is_taken():
    Asked("a").check("classification")
    Asked("a", "b").check("nli")
    Asked("a", "b", ("c",)).check("qa")
