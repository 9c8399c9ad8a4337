from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from attention_audit.corpora.babi import questions
from attention_audit.corpora.simulator import Simulator

STATEMENT = re.compile(
    r"(?P<person>\w+) ((?P<moved>moved|went|journeyed|travelled|went back) to the (?P<place>\w+)"
    r"|((?P<got>got|grabbed|picked up|took)|(?P<dropped>dropped|discarded|put down|left))"
    r" the (?P<thing>\w+)(?P<there> there)?)\."
)
QUESTION = re.compile(
    r"Where (is|was) the (?P<thing>\w+)( before the (?P<before>\w+))?\? "
    r"\t(?P<answer>\w+)\t(?P<support>\d+( \d+)*)"
)
FILES = {
    2: ["en-10k/qa2_two-supporting-facts_train.txt", "en-10k/qa2_two-supporting-facts_test.txt"],
    3: [
        "en-10k/qa3_three-supporting-facts_test.txt",
        "en/qa3_three-supporting-facts_train.txt",
        "en-valid-10k/qa3_valid.txt",
        "../partial_en-10k_qa3_train/qa3_three-supporting-facts_train.txt",
    ],
}
FAR = 12


class Reader:
    """Understands a story line by line: a second opinion on every answer and support."""

    def __init__(self, counts: dict[str, Counter]) -> None:
        self.counts = counts
        self.visits: dict[str, list[tuple[int, str]]] = {}
        self.holder: dict[str, str] = {}
        self.lies: dict[str, str | None] = {}
        self.trail: dict[str, list[tuple[int, str]]] = {}
        self.handled: dict[str, int] = {}
        self.people: list[str] = []
        self.statements = 0
        self.since_question = 0
        self.questions = 0

    def read(self, number: int, text: str) -> None:
        if match := QUESTION.fullmatch(text):
            self.answer(number, match)
        else:
            match = STATEMENT.fullmatch(text)
            assert match, text
            self.tell(number, match)

    def count(self, name: str, value: object) -> None:
        self.counts[name][value] += 1

    def tell(self, number: int, match: re.Match) -> None:
        person, thing = match["person"], match["thing"]
        kind = "move" if match["moved"] else "get" if match["got"] else "drop"
        told = self.visits.get(person, [])
        here = told[-1][1] if told else None
        self.count("kinds", kind)
        self.count("kinds early", (min(self.statements, 5), kind))
        self.count("verbs", match["moved"] or match["got"] or match["dropped"])
        self.count("people", person)
        if self.people:
            self.count("same person", self.people[-1] == person)
        if thing:
            self.count("things", thing)
            self.count("there", (kind, bool(match["there"])))
            self.handled[thing] = number
        if kind == "move":
            assert here != match["place"]
            self.count("places", match["place"])
            self.visits.setdefault(person, []).append((number, match["place"]))
            for held in (held for held, holder in self.holder.items() if holder == person):
                self.trail[held].append((number, match["place"]))
        elif kind == "get":
            assert thing not in self.holder
            assert None in (here, self.lies.get(thing)) or here == self.lies[thing]
            self.count("place known", here is not None)
            self.holder[thing] = person
            self.trail[thing] = []
        else:
            assert self.holder.pop(thing) == person
            self.lies[thing] = here
            if told:
                self.trail[thing] = self.trail[thing] or [told[-1]]
        self.people.append(person)
        self.statements += 1
        self.since_question += 1

    def answer(self, number: int, match: re.Match) -> None:
        thing, support = match["thing"], [int(line) for line in match["support"].split()]
        held = thing in self.holder
        trail = self.trail[thing]
        if match["before"]:
            last = max(n for n, (_, place) in enumerate(trail) if place == match["before"])
            assert last > 0
            expected, facts = trail[last - 1][1], [trail[last][0], trail[last - 1][0]]
            self.count("before the last place", (len(trail) == 2, last == len(trail) - 1))
        else:
            expected, facts = trail[-1][1], [trail[-1][0]]
        assert match["answer"] == expected
        assert support == [self.handled[thing], *facts]
        if self.questions == 0:  # later ones are often about the same, so not independent
            self.count("first answers", expected)
            self.count("first things asked", thing)
            self.count("first held", held)
        self.count("held", held)
        self.count("held by so many", len(set(self.holder.values())))
        self.count("carried", len(self.holder))
        self.count("gap", (self.questions == 0, min(self.since_question, 24)))
        for n, line in enumerate(support):
            self.count(f"distance {n}", min(number - line, FAR))
        self.count("supporting facts", len(support))
        self.since_question = 0
        self.questions += 1


class Corpus:
    """What can be told apart between two sets of stories."""

    def __init__(self, stories: Iterable[list[str]]) -> None:
        names = {*NAMES, *LAST_NAMES, "supporting facts"}
        self.counts: dict[str, Counter] = {name: Counter() for name in names}
        self.shapes: set[tuple[int, bool]] = set()
        self.means, self.lengths = [], []
        for story in stories:
            reader = Reader(self.counts)
            for line in story:
                number, _, text = line.partition(" ")
                reader.read(int(number), text)
            self.shapes.add((reader.questions, "\t" in story[-1]))
            words = [len(row.text.split()) for row in questions(story, "", "") if row.text]
            self.means += words
            self.lengths.append(words[-1])


NAMES = (
    "kinds",
    "kinds early",
    "verbs",
    "people",
    "same person",
    "places",
    "things",
    "there",
    "place known",
    "first answers",
    "first things asked",
    "first held",
    "held",
    "held by so many",
    "carried",
    "gap",
    "distance 0",
    "distance 1",
)
LAST_NAMES = ("distance 2", "before the last place")
TABLES = [*((2, name) for name in NAMES), *((3, name) for name in (*NAMES, *LAST_NAMES))]


def stories(lines: Iterable[str]) -> Iterator[list[str]]:
    story: list[str] = []
    for line in lines:
        if line.startswith("1 ") and story:
            yield story
            story = []
        story.append(line.rstrip("\n"))
    yield story


@cache
def simulated(task: int) -> Corpus:
    return Corpus(stories(Simulator(task=task).lines("train")))  # type: ignore[arg-type]


@cache
def _original(folder: Path, task: int) -> Corpus:
    files = [(folder / name).read_text().splitlines() for name in FILES[task]]
    distinct = {"\n".join(story): story for lines in files for story in stories(lines)}
    return Corpus(distinct.values())


@pytest.fixture
def real(data: Path) -> Callable[[int], Corpus]:
    return lambda task: _original(data / "babi/tasks_1-20_v1-2", task)


@pytest.mark.parametrize("task", [2, 3])
def test_answers_and_supporting_facts_follow_from_the_story(task: int) -> None:
    ours = simulated(task)  # the reader checks every line
    assert ours.shapes == {(5, True)}
    assert ours.counts["supporting facts"] == {task: 10_000}


@pytest.mark.parametrize("task", [2, 3])
def test_forms_equal_the_real_files(real: Callable[[int], Corpus], task: int) -> None:
    theirs, ours = real(task), simulated(task)
    assert theirs.shapes == ours.shapes
    assert set(theirs.counts["supporting facts"]) == {task}
    for name, counts in theirs.counts.items():
        assert set(counts) == set(ours.counts[name]), name


@pytest.mark.parametrize(("task", "name"), TABLES)
def test_distributions_equal_the_real_files(
    real: Callable[[int], Corpus], task: int, name: str
) -> None:
    theirs, ours = real(task).counts[name], simulated(task).counts[name]
    keys = sorted(theirs | ours)
    table = np.array([[counts[key] for key in keys] for counts in (theirs, ours)])
    shares = table / table.sum(1, keepdims=True)
    assert abs(shares[0] - shares[1]).sum() / 2 < (len(keys) / table.sum(1).min()) ** 0.5
    assert chi2_contingency(table).pvalue > 0.001


@pytest.mark.parametrize(("task", "words"), [(2, 94), (3, 307)])
def test_lengths_equal_the_real_files(real: Callable[[int], Corpus], task: int, words: int) -> None:
    theirs, ours = real(task), simulated(task)
    assert ks_2samp(theirs.lengths, ours.lengths).pvalue > 0.001
    assert np.mean(ours.means) == pytest.approx(words, rel=0.03)
