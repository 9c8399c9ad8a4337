"""What is asked of a model, as the model reads it: a reader's own text, or a test instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from attention_audit.batch import Batch, collate
from attention_audit.cell import Restored
from attention_audit.report.sentence import Word
from attention_audit.store import Cell

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
    """What was asked, as words and as a batch of one instance; `origin` says whose text it is."""

    words: tuple[Word, ...]
    query: tuple[Word, ...]
    batch: Batch
    origin: str = ""


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
    query = None if asked.query is None else _tokens(restored, "--query", asked.query)
    candidates = _places(restored, asked.candidates) if asked.candidates else None
    batch = _batch(restored, ID, words, query, candidates)
    return Question(*_told(restored, words, query, told), batch)


def recall(config: Mapping[str, Any], cell: Cell, restored: Restored, instance: int) -> Question:
    """A test instance as the cell's analyses read it: what they draw at random is drawn again.

    Args:
        config: the cell's, checked.
        cell: the finished cell.
        restored: its model.
        instance: its `id` in the cell's `instances.parquet`.

    Raises:
        ValueError: no such instance, or one whose words the store does not hold, or may not show.
        FileNotFoundError: the cell's words were not stored.
    """
    if config["dataset"]["private"]:
        raise ValueError(
            f"--instance: {cell.folder}: its corpus is private, and no text of it is shown; give a "
            "SENTENCE of your own"
        )
    words, known = (_row(cell, table, instance) for table in ("tokens", "instances"))
    if (task := config["dataset"]["task"]) in NEEDED and "query" not in words:
        raise ValueError(
            f"{cell.folder / 'tokens.parquet'}: found no column 'query' with the {NEEDED[task]}, "
            "as earlier versions stored none: run the cell with force=true"
        )
    if not words["token"]:
        raise ValueError(f"--instance: {instance} has no word that attention could be on")
    # What may not be answered has probability 0.
    allowed = [place for place, one in enumerate(known["probability"]) if one > 0]
    query = words.get("query")
    batch = _batch(restored, instance, words["token"], query, allowed if task == "qa" else None)
    label = restored.outputs[known["label"]]
    origin = f"Test instance {instance} ({known['uid']}) of the corpus; its label is {label!r}."
    return Question(*_told(restored, words["token"], query), batch, origin)


def _row(cell: Cell, name: str, instance: int) -> dict[str, Any]:
    """An instance's row of one of the cell's tables."""
    path = cell.folder / f"{name}.parquet"
    if path.name in cell.damaged():
        raise ValueError(f"{path} is damaged: run the cell again")
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: run the cell again, with save_tokens=true")
    table = cell.read_table(name)
    rows = table.filter(pc.equal(table["id"], instance)).to_pylist()
    if not rows:
        such = ", ".join(map(str, table["id"][:3].to_pylist()))
        raise ValueError(
            f"--instance: found {instance}, expected the id of one of the cell's {len(table):,} "
            f"test instances, such as {such}: the column id of instances.parquet"
        )
    row: dict[str, Any] = rows[0]
    return row


def _batch(
    restored: Restored,
    instance: int,
    words: list[str],
    query: list[str] | None,
    candidates: list[int] | None,
) -> Batch:
    encode = restored.vocabulary.encode
    return collate(
        [encode(words)],
        labels=[0],
        ids=[instance],
        queries=None if query is None else [encode(query)],
        candidates=None if candidates is None else [candidates],
        answers=len(restored.outputs),
    )


def _told(
    restored: Restored, words: list[str], query: list[str] | None, told: bool = True
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The words of text and query, with whether the vocabulary has them where that is told."""
    own = set(restored.vocabulary.own)
    text, asked = (
        tuple(Word(token, token in own if told else None) for token in part)
        for part in (words, query or [])
    )
    return text, asked


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
