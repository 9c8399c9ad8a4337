"""What the reader asks of a model, as the model reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention_audit.batch import Batch, collate
from attention_audit.cell import Restored
from attention_audit.report.sentence import Word

# The sentence is no instance of the corpus. What is drawn at random follows from this.
ID = 0
NEEDED = {"qa": "question", "nli": "hypothesis"}


@dataclass(frozen=True)
class Asked:
    """A raw text for a model, and what its task asks besides.

    Attributes:
        text: the document, passage or premise.
        query: the question or hypothesis; None where the task has none.
        candidates: the answers that may be given; () allows all that the model knows.
    """

    text: str
    query: str | None = None
    candidates: tuple[str, ...] = ()

    def check(self, task: str) -> None:
        """Refuse, by a ValueError, what a task misses, or has no use for."""
        if self.query is None and task in NEEDED:
            raise ValueError(
                f"--query: missing; the cell's task is {task}, expected --query with the "
                f"{NEEDED[task]}"
            )
        if self.query is not None and task not in NEEDED:
            raise ValueError(f"--query: found one, expected none: the cell's task is {task}")
        if self.candidates and task != "qa":
            raise ValueError(f"--candidates: found some, expected none: the cell's task is {task}")


@dataclass(frozen=True)
class Question:
    """What was asked, as words and as a batch of one instance."""

    words: tuple[Word, ...]
    query: tuple[Word, ...]
    batch: Batch


def ask(restored: Restored, asked: Asked, told: bool = True) -> Question:
    """The reader's text as the model reads it.

    Args:
        restored: the model.
        asked: the text.
        told: say which words the vocabulary has. Of a private corpus that would give words away.

    Raises:
        ValueError: a text or query without a word; a candidate that is none of the answers.
    """
    words = _tokens(restored, "SENTENCE", asked.text)
    query = [] if asked.query is None else _tokens(restored, "--query", asked.query)
    encode = restored.vocabulary.encode
    batch = collate(
        [encode(words)],
        labels=[0],
        ids=[ID],
        queries=None if asked.query is None else [encode(query)],
        candidates=[_places(restored, asked.candidates)] if asked.candidates else None,
        answers=len(restored.outputs),
    )
    own = set(restored.vocabulary.own)
    sentence, question = (
        tuple(Word(token, token in own if told else None) for token in part)
        for part in (words, query)
    )
    return Question(sentence, question, batch)


def _tokens(restored: Restored, argument: str, text: str) -> list[str]:
    if not (tokens := restored.read(text)):
        raise ValueError(
            f"{argument}: found {text!r}, expected at least one word once it is read as the cell's "
            "corpus was"
        )
    return tokens


def _places(restored: Restored, candidates: Sequence[str]) -> list[int]:
    """The numbers of the answers that are named."""
    place = {answer: number for number, answer in enumerate(restored.outputs)}
    named = [restored.word(candidate) for candidate in candidates]
    for word in named:
        if word not in place:
            raise ValueError(
                f"--candidates: found {word!r}, expected of the model's {len(place):,} answers, "
                f"such as {', '.join(map(repr, restored.outputs[:3]))}"
            )
    return [place[word] for word in named]
