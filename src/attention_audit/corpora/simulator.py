"""Our own generator of bAbI stories, for real tasks without a download.

It writes the lines that the original files have, so that one parser reads both. The processes
were read off the original files (en-10k) and are checked against them in the tests; `stories`
describes task 1, and `carrying` describes tasks 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import PositiveInt

from attention_audit.corpora.babi import questions, without_marks
from attention_audit.corpora.carrying import three_supporting_facts, two_supporting_facts
from attention_audit.corpora.corpus import Corpus, asked
from attention_audit.corpora.stories import Dice, single_supporting_fact

STORIES: dict[int, Callable[[Dice], Iterator[str]]] = {
    1: single_supporting_fact,
    2: two_supporting_facts,
    3: three_supporting_facts,
}


class Simulator:
    """Generates `train` and `test` questions of a bAbI task.

    Equal parameters give equal stories on every machine: only `random.random` is used, whose
    sequence Python guarantees.
    """

    VERSION = 1

    def __init__(
        self,
        task: Literal[1, 2, 3] = 1,
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

    def cleaned(self, text: str) -> str:
        return without_marks(text)

    def load(self) -> Corpus:
        """The generated splits, with the supporting statements' positions as evidence."""
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
