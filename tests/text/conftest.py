"""A small corpus in memory, in the shape that the readers give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from attention_audit.text import Preparation, Prepared, prepare


@dataclass
class TinyCorpus:
    splits: dict[str, Any]
    classes: tuple[str, ...] = ("bad", "good")
    source: str = "a test"
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)
    differs: str = ""
    loads: int = 0

    def load(self) -> TinyCorpus:
        self.loads += 1
        return self


def rows(name: str, **columns: list) -> Any:
    from datasets import Dataset, Features, Value

    count = len(next(iter(columns.values())))
    types = {"label": Value("int64"), "candidates": [Value("string")], "evidence": [Value("int64")]}
    columns = {"uid": [f"{name}-{i}" for i in range(count)], **columns}
    features = Features({key: types.get(key, Value("string")) for key in columns})
    return Dataset.from_dict(columns, features=features)


@pytest.fixture
def questions() -> Callable[..., TinyCorpus]:
    """A corpus of three equal splits with the given columns, in place of text and label."""

    def make(classes: tuple[str, ...] = (), **columns: list) -> TinyCorpus:
        return TinyCorpus(dict.fromkeys(SPLITS, rows("train", **columns)), classes)

    return make


@pytest.fixture
def corpus() -> Callable[..., TinyCorpus]:
    """A corpus of two classes: for each split a list of (text, label)."""
    return classified


def classified(**splits: list[tuple[str | None, int | None]]) -> TinyCorpus:
    return TinyCorpus(
        {
            name: rows(name, text=[t for t, _ in documents], label=[c for _, c in documents])
            for name, documents in splits.items()
        }
    )


SPLITS = ("train", "dev", "test")
PLAIN = {"tokenizer": "whitespace", "digits": "keep"}

Ready = Callable[..., Prepared]


@pytest.fixture
def ready(tmp_path: Path) -> Ready:
    """Prepare a corpus in a fresh cache; settings are those of `Preparation`."""

    def run(corpus: TinyCorpus, limits: dict[str, int | None] | None = None, **settings: Any):
        return prepare(
            Preparation(**{**PLAIN, **settings}),
            load=corpus.load,
            fingerprint="f",
            cache_dir=tmp_path / "cache",
            limits=limits,
        )

    return run
