"""The simulated bAbI stories of tasks 2 and 3: people carry things about.

Everybody and everything starts in a place that the story does not tell. A statement comes from a
uniform draw of a person and of one of moving, getting and dropping, drawn again where it cannot
be: nobody moves to where they are, gets what is not there or drops what they do not have.

After every second statement a question is tried for, fifty times: a statement of the last five
is drawn, and its thing is asked for, if it was got or dropped and the story tells where it is
(task 2) or where it was before (task 3). A story ends with its fifth question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from attention_audit.corpora.stories import (
    MOVES,
    PEOPLE,
    PLACES,
    QUESTIONS_A_STORY,
    RECENT,
    STATEMENTS_A_QUESTION,
    Dice,
)

THINGS = ("apple", "football", "milk")
GETTING = ("got", "grabbed", "picked up", "took")
DROPPING = ("discarded", "dropped", "left", "put down")
TRIES = 50
SUFFIXES = (" there", "", "", "", "")  # one statement in five says "there"


class Visit(NamedTuple):
    """A person came to a place, as told in the line of that number."""

    number: int
    place: str


@dataclass
class Carry:
    """A person has a thing, from the line in which they got it to the one in which they drop it.

    arrivals: how many of the person's visits were told before they got the thing.
    dropped: the number of the line, None while they have it.
    departures: how many were told before they dropped it, None while they have it.
    """

    person: str
    got: int
    arrivals: int
    dropped: int | None = None
    departures: int | None = None


class CarryingWorld:
    """Where people and things are, and what the story so far tells of it.

    always_there: every getting says "there", as in the files of task 2.
    """

    def __init__(self, dice: Dice, always_there: bool) -> None:
        self.dice = dice
        self.getting_suffixes = (" there",) if always_there else SUFFIXES
        self.place = {person: dice.pick(PLACES) for person in PEOPLE}
        self.lies = {thing: dice.pick(PLACES) for thing in THINGS}
        self.visits: dict[str, list[Visit]] = {person: [] for person in PEOPLE}
        self.carries: dict[str, list[Carry]] = {thing: [] for thing in THINGS}
        self.handled: list[str | None] = []
        self.number = 0

    def line(self, text: str) -> str:
        self.number += 1
        return f"{self.number} {text}"

    def statement(self) -> str:
        """The first draw that can be."""
        while True:
            person = self.dice.pick(PEOPLE)
            line = self.dice.pick((self.move, self.get, self.drop))(person)
            if line is not None:
                return line

    def move(self, person: str) -> str | None:
        place = self.dice.pick(PLACES)
        if place == self.place[person]:
            return None
        self.place[person] = place
        self.handled.append(None)
        line = self.line(f"{person} {self.dice.pick(MOVES)} to the {place}.")
        self.visits[person].append(Visit(self.number, place))
        return line

    def get(self, person: str) -> str | None:
        here = [thing for thing, place in self.lies.items() if place == self.place[person]]
        if not here:
            return None
        thing = self.dice.pick(here)
        del self.lies[thing]
        line = self._handle(person, self.dice.pick(GETTING), thing, self.getting_suffixes)
        self.carries[thing].append(Carry(person, self.number, len(self.visits[person])))
        return line

    def drop(self, person: str) -> str | None:
        held = [thing for thing in THINGS if self._has(person, thing)]
        if not held:
            return None
        thing = self.dice.pick(held)
        self.lies[thing] = self.place[person]
        line = self._handle(person, self.dice.pick(DROPPING), thing, SUFFIXES)
        carry = self.carries[thing][-1]
        carry.dropped, carry.departures = self.number, len(self.visits[person])
        return line

    def _handle(self, person: str, verb: str, thing: str, suffixes: tuple[str, ...]) -> str:
        self.handled.append(thing)
        return self.line(f"{person} {verb} the {thing}{self.dice.pick(suffixes)}.")

    def _has(self, person: str, thing: str) -> bool:
        return thing not in self.lies and self.carries[thing][-1].person == person

    def _journey(self, carry: Carry) -> list[Visit]:
        """Where the thing was carried to, in order."""
        return self.visits[carry.person][carry.arrivals : carry.departures]

    def question(self, ask: Callable[[str], str | None]) -> str | None:
        """A question about a thing of the most recent statements, None where no try had one."""
        for _ in range(TRIES):
            thing = self.dice.pick(self.handled[-RECENT:])
            line = ask(thing) if thing else None
            if line is not None:
                return line
        return None

    def where_is(self, thing: str) -> str | None:
        """Task 2: who dropped it and where they were; or who got it and where they went."""
        carry = self.carries[thing][-1]
        if carry.dropped is None:
            told, first = self._journey(carry), carry.got
        else:
            told, first = self.visits[carry.person][: carry.departures], carry.dropped
        if not told:
            return None
        number, place = told[-1]
        return self.line(f"Where is the {thing}? \t{place}\t{first} {number}")

    def where_was(self, thing: str) -> str | None:
        """Task 3: where it was carried from, before it last came to a place of its journey.

        The place is one of this journey or, as likely, one of all its journeys, later ones more
        often: the files ask more often for a late place and for one where the thing was before.
        """
        *_, carry = carries = self.carries[thing]
        journey = self._journey(carry)
        if len(journey) < 2:
            return None
        journeys = [visit for earlier in carries for visit in self._journey(earlier)]
        before = self.dice.pick(_by_rank(self.dice.pick((journey, journeys)))).place
        last = max((n for n, visit in enumerate(journey) if visit.place == before), default=0)
        if last == 0:
            return None
        left, reached = journey[last - 1 : last + 1]
        support = f"{carry.dropped or carry.got} {reached.number} {left.number}"
        return self.line(f"Where was the {thing} before the {before}? \t{left.place}\t{support}")


def _by_rank(visits: list[Visit]) -> list[Visit]:
    """The visits, the nth n + 1 times, so that a uniform draw prefers the later ones."""
    return [visit for rank, visit in enumerate(visits, start=2) for _ in range(rank)]


def two_supporting_facts(dice: Dice) -> Iterator[str]:
    """One story of task 2."""
    world = CarryingWorld(dice, always_there=True)
    return _story(world, world.where_is)


def three_supporting_facts(dice: Dice) -> Iterator[str]:
    """One story of task 3."""
    world = CarryingWorld(dice, always_there=False)
    return _story(world, world.where_was)


def _story(world: CarryingWorld, ask: Callable[[str], str | None]) -> Iterator[str]:
    asked = 0
    while asked < QUESTIONS_A_STORY:
        for _ in range(STATEMENTS_A_QUESTION):
            yield world.statement()
        question = world.question(ask)
        if question is not None:
            yield question
            asked += 1
