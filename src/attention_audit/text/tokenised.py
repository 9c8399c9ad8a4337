"""A corpus as tokens, kept in Arrow files so that no text is tokenised twice."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from filelock import FileLock
from rich.console import Console

from attention_audit.text.preparation import Preparation
from attention_audit.text.tokenisers import Tokeniser, normaliser, reader, release

if TYPE_CHECKING:
    from datasets import Dataset, Features

_log = logging.getLogger(__name__)

VERSION = 2
_FACTS = "corpus.json"


class Corpus(Protocol):
    """What a reader gives: splits with uid and text, then label, query and answer, or both."""

    @property
    def splits(self) -> Mapping[str, Dataset]: ...
    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...
    @property
    def dropped(self) -> Mapping[str, Mapping[str, int]]: ...
    @property
    def differs(self) -> str: ...


@dataclass(frozen=True)
class Tokenised:
    """A corpus with every row of its own splits as tokens, nothing filtered.

    `key` names its content: the corpus, and how it was tokenised.
    """

    key: str
    splits: dict[str, Dataset]
    classes: tuple[str, ...]
    source: str
    dropped: dict[str, dict[str, int]]
    differs: str


def tokenised(
    preparation: Preparation, load: Callable[[], Corpus], fingerprint: str, cache_dir: Path
) -> Tokenised:
    """The corpus as tokens: from the cache, or read, tokenised and put there.

    The cached folder is built under another name and renamed when complete, by one process at a
    time, so that it is whole wherever it is seen.

    Raises:
        ValueError: a split without rows, one whose texts are all blank, evidence with a tokenizer
            that moves tokens, evidence beyond its document, or a label that has no class.
    """
    key = _key(preparation, fingerprint)
    folder = cache_dir / key
    if found := _read(folder):
        return found
    cache_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(cache_dir / f"{key}.lock"):
        if found := _read(folder):  # another process was first
            return found
        shutil.rmtree(folder, ignore_errors=True)
        _build(preparation, load(), folder)
        return _read_whole(folder)


def _key(preparation: Preparation, fingerprint: str) -> str:
    rules = release(preparation.tokenizer)
    identity = [VERSION, rules, preparation.tokenising(), fingerprint]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]


def _read(folder: Path) -> Tokenised | None:
    """The cached corpus; None if it is not there, or something has damaged it."""
    from pyarrow import ArrowException

    if not folder.is_dir():
        return None
    try:
        return _read_whole(folder)
    except (ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        _log.warning("%s is damaged (%s): tokenising again", folder, error)
        return None


def _read_whole(folder: Path) -> Tokenised:
    from datasets import Dataset

    facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    return Tokenised(
        key=folder.name,
        splits={name: Dataset.from_file(str(folder / f"{name}.arrow")) for name in facts["splits"]},
        classes=tuple(facts["classes"]),
        source=facts["source"],
        dropped=facts["dropped"],
        differs=facts["differs"],
    )


def _build(preparation: Preparation, corpus: Corpus, folder: Path) -> None:
    building = folder.with_suffix(".building")
    # left by a run that was killed: the lock says that nobody is at work on it
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    try:
        _write(preparation, corpus, building)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _write(preparation: Preparation, corpus: Corpus, folder: Path) -> None:
    normalise = normaliser(preparation.lowercase, preparation.digits)
    read = reader(preparation.tokenizer, normalise)
    first = 0
    for name in _ordered(corpus.splits):
        rows = corpus.splits[name]
        _check(name, rows, preparation)
        work = _Tokenising(name, first, read, normalise, len(corpus.classes))
        with _bars_on_a_terminal_only():
            tokens = rows.map(
                work.batch,
                batched=True,
                with_indices=True,
                remove_columns=rows.column_names,
                features=_features(rows),
                cache_file_name=str(folder / f"{name}.arrow"),
                load_from_cache_file=False,
                new_fingerprint=f"{folder.stem}-{name}",
                desc=f"tokenising {name}",
            )
        first += len(tokens)
        if not work.words:
            raise ValueError(
                f"{name} split of {corpus.source}: the text of each of its {len(rows)} rows is "
                "blank; is `text` the right column?"
            )
    facts = {
        "splits": _ordered(corpus.splits),
        "classes": list(corpus.classes),
        "source": corpus.source,
        "dropped": {name: dict(reasons) for name, reasons in corpus.dropped.items()},
        "differs": corpus.differs,
    }
    (folder / _FACTS).write_text(json.dumps(facts), encoding="utf-8")


def _ordered(splits: Mapping[str, Any]) -> list[str]:
    if "train" not in splits or not set(splits) <= {"train", "dev", "test"}:
        raise ValueError(
            f"corpus has the splits {sorted(splits)}; expected train and perhaps dev and test"
        )
    return [name for name in ("train", "dev", "test") if name in splits]


def _check(name: str, rows: Dataset, preparation: Preparation) -> None:
    if len(rows) == 0:
        raise ValueError(f"{name} split has no rows; expected at least one, or no {name} split")
    if "evidence" in rows.column_names and preparation.tokenizer != "whitespace":
        raise ValueError(
            f"dataset.text.tokenizer={preparation.tokenizer}: the corpus marks evidence by its "
            "place in text.split(), which this tokenizer moves; use tokenizer: whitespace"
        )


class _Tokenising:
    """The step from raw rows to token rows of one split."""

    def __init__(
        self,
        split: str,
        first: int,
        read: Tokeniser,
        normalise: Callable[[str], str],
        classes: int,
    ) -> None:
        self.split, self.first, self.classes = split, first, classes
        self.words = 0
        self._read, self._normalise = read, normalise

    def batch(self, rows: Mapping[str, list], index: list[int]) -> dict[str, list]:
        tokens = [self._read(text or "") for text in rows["text"]]
        self.words += sum(map(len, tokens))
        out = {"id": [self.first + i for i in index], "uid": rows["uid"], "tokens": tokens}
        if "query" in rows:
            out["query_tokens"] = [self._read(query or "") for query in rows["query"]]
        if "answer" in rows:
            out["answer"] = [self._word(answer) for answer in rows["answer"]]
        else:
            out["label"] = self._labels(rows["label"], rows["uid"])
        if "candidates" in rows:
            out["candidates"] = [self._candidates(words) for words in rows["candidates"]]
        if "evidence" in rows:
            out["evidence"] = self._evidence(rows["evidence"], tokens, rows["uid"])
        return out

    def _word(self, answer: str | None) -> str | None:
        return self._normalise(answer.strip()) or None if answer is not None else None

    def _candidates(self, words: list[str | None] | None) -> list[str]:
        named = (self._word(word) for word in words or ())
        return list(dict.fromkeys(word for word in named if word is not None))

    def _labels(self, labels: list[int | None], uids: list[str]) -> list[int | None]:
        for label, uid in zip(labels, uids, strict=True):
            if label is not None and not 0 <= label < self.classes:
                raise ValueError(
                    f"{self.split} split, row {uid!r}: label {label}, expected 0 to "
                    f"{self.classes - 1}, one of the {self.classes} classes"
                )
        return labels

    def _evidence(
        self, evidence: list[list[int] | None], tokens: list[list[str]], uids: list[str]
    ) -> list[list[int]]:
        for places, words, uid in zip(evidence, tokens, uids, strict=True):
            if places and not 0 <= min(places) <= max(places) < len(words):
                raise ValueError(
                    f"{self.split} split, row {uid!r}: evidence {places} lies beyond its "
                    f"{len(words)} tokens, counted from 0"
                )
        return [places or [] for places in evidence]


def _features(rows: Dataset) -> Features:
    from datasets import Features, Value

    word, number = Value("string"), Value("int64")
    columns: dict[str, Any] = {"id": number, "uid": word, "tokens": [word]}
    if "query" in rows.column_names:
        columns["query_tokens"] = [word]
    columns |= {"answer": word} if "answer" in rows.column_names else {"label": number}
    optional = {"candidates": [word], "evidence": [number]}
    return Features(columns | {k: v for k, v in optional.items() if k in rows.column_names})


@contextmanager
def _bars_on_a_terminal_only() -> Iterator[None]:
    from datasets import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    silence = not (Console(stderr=True).is_terminal or are_progress_bars_disabled())
    if silence:
        disable_progress_bars()
    try:
        yield
    finally:
        if silence:
            enable_progress_bars()
