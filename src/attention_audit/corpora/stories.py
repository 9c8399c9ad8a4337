"""What all simulated bAbI stories share, and the stories of task 1.

Task 1: five verbs and six places, all uniform, but nobody moves to where they are; a story has
five questions, one after every second statement; a question asks for the person of one of the
last five statements, drawn uniformly (so whoever moved more often lately is asked for more often).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
MOVES = ("moved", "went", "journeyed", "travelled", "went back")
QUESTIONS_A_STORY = 5
STATEMENTS_A_QUESTION = 2
RECENT = 5

T = TypeVar("T")


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
