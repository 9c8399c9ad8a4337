from __future__ import annotations

from hashlib import sha256

import pytest

from attention_audit.corpora.simulator import Simulator

TASK_1 = "eabd31987e3ed6b45e34601d3d2adbced4ee182164b25518f098e497722638b8"


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_corpus(task: int) -> None:
    corpus = Simulator(task=task, train=23, test=7).load()  # type: ignore[arg-type]
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {"train": 23, "test": 7}
    assert corpus.source == f"babi_{task} simulator v1"
    assert corpus.classes == ()
    for row in corpus.splits["train"]:
        words = row["text"].split()
        support = [words[position] for position in row["evidence"]]
        assert row["answer"] in support
        assert row["query"].split()[2 if task == 1 else 3] in support
        assert support.count("to") == {1: 1, 2: 1, 3: 2}[task]


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_same_seed_gives_the_same_stories_on_every_machine(task: int) -> None:
    def lines(split: str, train: int = 2, test: int = 1, seed: int = 0) -> list[str]:
        return list(Simulator(task, train, test, seed).lines(split))  # type: ignore[arg-type]

    assert lines("train") == lines("train", test=9)
    assert lines("train") != lines("train", seed=1)
    assert lines("train", test=2) != lines("test", test=2)
    assert lines("train", train=1)[-len(LAST_LINES[task]) :] == LAST_LINES[task]


def test_stories_of_task_1_are_those_of_version_1() -> None:
    """Other stories under the same version would be taken for those that are cached."""
    assert sha256("\n".join(Simulator().lines("train")).encode()).hexdigest() == TASK_1


def test_identity_tells_tasks_seeds_and_sizes_apart() -> None:
    sources = [Simulator(seed=0), Simulator(seed=1), Simulator(train=5), Simulator(2), Simulator(3)]
    assert len({str(source.identity()) for source in sources}) == 5


def test_a_task_that_is_not_simulated() -> None:
    with pytest.raises(ValueError, match="task: found 7, expected one of 1, 2, 3"):
        Simulator(task=7)  # type: ignore[arg-type]


LAST_LINES = {
    1: [
        "1 John travelled to the garden.",
        "2 Daniel went back to the bedroom.",
        "3 Where is Daniel? \tbedroom\t2",
    ],
    2: [
        "6 Daniel grabbed the milk there.",
        "7 Daniel went to the bedroom.",
        "8 Daniel dropped the milk.",
        "9 Where is the milk? \tbedroom\t8 7",
    ],
    3: [
        "48 Sandra journeyed to the bedroom.",
        "49 Sandra put down the apple.",
        "50 Sandra journeyed to the garden.",
        "51 Where was the apple before the bedroom? \thallway\t49 48 47",
    ],
}
