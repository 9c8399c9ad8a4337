"""Our own generator of bAbI stories, for a real task without a download.

It writes the lines that the original files have, so that one parser reads both. The process was
read off the original files (task 1, en-10k) and is checked against them in the tests: four
people, six places, five verbs, all uniform, but nobody moves to where they are; a story has five
questions, one after every second statement; a question asks for the person of one of the last
five statements, drawn uniformly (so whoever moved more often lately is asked for more often).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import PositiveInt

from attention_audit.corpora.babi import questions
from attention_audit.corpora.corpus import Corpus, asked

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
MOVES = ("moved", "went", "journeyed", "travelled", "went back")
QUESTIONS_A_STORY = 5
STATEMENTS_A_QUESTION = 2
RECENT = 5

T = TypeVar("T")


class Simulator:
    """Generates `train` and `test` questions of a bAbI task.

    Equal parameters give equal stories on every machine: only `random.random` is used, whose
    sequence Python guarantees.
    """

    VERSION = 1

    def __init__(
        self,
        task: Literal[1] = 1,
        train: PositiveInt = 10_000,
        test: PositiveInt = 1_000,
        seed: int = 0,
    ) -> None:
        if task not in STORIES:
            raise ValueError(f"task: found {task}, expected one of {', '.join(map(str, STORIES))}")
        self.task = task
        self.sizes = {"train": train, "test": test}
        self.seed = seed

    def missing(self) -> str | None:
        return None

    def files(self) -> list[Path]:
        return []

    def identity(self) -> dict[str, Any]:
        parameters = {"task": self.task, **self.sizes, "seed": self.seed}
        return {"reader": "babi simulator", "version": self.VERSION, **parameters}

    def load(self) -> Corpus:
        """The generated splits, with the supporting statement's positions as evidence."""
        splits = {
            split: asked(questions(self.lines(split), split, f"simulated {split}"), evidence=True)
            for split in self.sizes
        }
        return Corpus(splits, (), f"babi_{self.task} simulator v{self.VERSION}")

    def lines(self, split: str) -> Iterator[str]:
        """The split's lines in the format of the original files, down to the last question."""
        dice = Dice(f"babi {self.task} {split} {self.seed}")
        remaining = self.sizes[split]
        while remaining > 0:
            for line in STORIES[self.task](dice):
                if remaining > 0:
                    yield line
                remaining -= "\t" in line


class Dice:
    """Uniform draws that are the same on every machine and Python version."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[int(self._random.random() * len(choices))]


class World:
    """Who is where, and the story so far as numbered lines."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.place: dict[str, str] = {}
        self.support: dict[str, int] = {}
        self.actors: list[str] = []
        self.number = 0

    def line(self, text: str) -> str:
        self.number += 1
        return f"{self.number} {text}"

    def move(self) -> str:
        """Somebody goes to a place other than where they are."""
        person = self.dice.pick(PEOPLE)
        there = self.place.get(person)
        self.place[person] = self.dice.pick([place for place in PLACES if place != there])
        verb = self.dice.pick(MOVES)
        line = self.line(f"{person} {verb} to the {self.place[person]}.")
        self.support[person] = self.number
        self.actors.append(person)
        return line

    def ask_for_person(self) -> str:
        """Where is the person of one of the most recent statements?"""
        person = self.dice.pick(self.actors[-RECENT:])
        return self.line(f"Where is {person}? \t{self.place[person]}\t{self.support[person]}")


def single_supporting_fact(dice: Dice) -> Iterator[str]:
    """One story of task 1."""
    world = World(dice)
    for _ in range(QUESTIONS_A_STORY):
        for _ in range(STATEMENTS_A_QUESTION):
            yield world.move()
        yield world.ask_for_person()


STORIES: dict[int, Callable[[Dice], Iterator[str]]] = {1: single_supporting_fact}
