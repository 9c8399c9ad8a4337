from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from scipy.stats import chi2_contingency

from attention_audit.corpora.simulator import Simulator
from attention_audit.corpora.stories import MOVES, PEOPLE, PLACES

STATEMENT = re.compile(r"\d+ (\w+) (.+) to the (\w+)\.")
QUESTION = re.compile(r"(\d+) Where is (\w+)\? \t(\w+)\t(\d+)")


class Statistics:
    """What can be told apart between two sets of stories."""

    def __init__(self, lines: Iterable[str]) -> None:
        names = ("people", "places", "verbs", "answers", "asked", "distance", "same person")
        self.counts: dict[str, Counter] = {name: Counter() for name in (*names, "same asked")}
        self.shapes: Counter[str] = Counter()
        self.stays = 0
        story: list[str] = []
        for line in lines:
            if line.startswith("1 ") and story:
                self._add(story)
                story = []
            story.append(line.rstrip("\n"))
        self._add(story)

    def _add(self, story: list[str]) -> None:
        self.shapes["".join("Q" if "\t" in line else "S" for line in story)] += 1
        actors, asked, place = [], [], dict[str, str]()
        for line in story:
            if match := QUESTION.fullmatch(line):
                number, person, answer, support = match.groups()
                assert place[person] == answer
                self.counts["answers"][answer] += 1
                self.counts["asked"][person] += 1
                self.counts["distance"][len(asked), int(number) - int(support)] += 1
                asked.append(person)
                continue
            match = STATEMENT.fullmatch(line)
            assert match, line
            person, verb, there = match.groups()
            self.stays += place.get(person) == there
            place[person] = there
            actors.append(person)
            self.counts["people"][person] += 1
            self.counts["verbs"][verb] += 1
            self.counts["places"][there] += 1
        self.counts["same person"].update(a == b for a, b in pairwise(actors))
        self.counts["same asked"].update(a == b for a, b in pairwise(asked))


@pytest.fixture(scope="module")
def simulated() -> Statistics:
    return Statistics(Simulator().lines("train"))


@pytest.fixture
def real(data: Path) -> Statistics:
    file = data / "babi/tasks_1-20_v1-2/en-10k/qa1_single-supporting-fact_train.txt"
    with file.open() as lines:
        return Statistics(lines)


def test_form_of_the_stories(simulated: Statistics) -> None:
    assert simulated.shapes == {"SSQSSQSSQSSQSSQ": 2000}
    assert simulated.stays == 0
    assert set(simulated.counts["people"]) == set(PEOPLE)
    assert set(simulated.counts["places"]) == set(PLACES)
    assert set(simulated.counts["verbs"]) == set(MOVES)


def test_vocabulary_and_shape_equal_the_real_files(real: Statistics, simulated: Statistics) -> None:
    assert simulated.shapes == real.shapes
    assert simulated.stays == real.stays == 0
    for name, counts in real.counts.items():
        assert set(counts) == set(simulated.counts[name]), name


NAMES = ("people", "places", "verbs", "answers", "asked", "distance", "same person", "same asked")


@pytest.mark.parametrize("name", NAMES)
def test_distributions_equal_the_real_files(
    real: Statistics, simulated: Statistics, name: str
) -> None:
    theirs, ours = real.counts[name], simulated.counts[name]
    keys = sorted(theirs)
    table = [[counts[key] for key in keys] for counts in (theirs, ours)]
    distance = sum(abs(a / sum(table[0]) - b / sum(table[1])) for a, b in zip(*table, strict=True))
    assert distance / 2 < 0.03  # two fair samples of this size differ by up to 0.026
    assert chi2_contingency(table).pvalue > 0.001
