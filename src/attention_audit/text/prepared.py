"""A corpus made ready: tokenised, split three ways, filtered, and every dropped row counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attention_audit.text.preparation import Preparation
from attention_audit.text.rows import SPLITS, Rows, carved, limited, of_length, sampled, usable
from attention_audit.text.tokenised import Corpus, Tokenised, tokenised
from attention_audit.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class Prepared:
    """The three splits of a corpus, ready to be encoded.

    Attributes:
        splits: train, dev and test, each with at least one row and the columns id (int64, unique
            across splits: the row's place in the corpus as it was read), uid, tokens, then label
            or query_tokens, answer and perhaps candidates; perhaps evidence (token positions).
        classes: names in label order; () for question answering.
        source: where the corpus came from, for people.
        counts: for each split `kept`, `classes` (name -> rows) and `dropped` (reason -> rows).
        vocabulary: the words of the train split (or of the corpus: see `Preparation`), questions
            included.
        answers: question answering: the words that can be an answer; () for classification.
    """

    splits: dict[str, Dataset]
    classes: tuple[str, ...]
    source: str
    counts: dict[str, dict[str, Any]]
    vocabulary: Vocabulary
    answers: tuple[str, ...]

    @property
    def task(self) -> Literal["classification", "qa"]:
        return "qa" if "answer" in self.splits["train"].column_names else "classification"


def prepare(
    preparation: Preparation,
    *,
    load: Callable[[], Corpus],
    fingerprint: str,
    cache_dir: Path,
    limits: Mapping[str, int | None] | None = None,
) -> Prepared:
    """Tokenise a corpus (once: the tokens are cached), carve missing splits, filter, count.

    In this order, the original program's: rows without words or label are dropped; dev and test
    are carved from the train split where the corpus has none, each a share of the whole train
    split, by class; `test_sample`; the length bounds, per split; `limits`; last, for question
    answering, rows whose answer cannot be given because it is no word of the train split, or not
    among the row's own candidates.

    Args:
        preparation: the settings.
        load: reads the corpus; not called when its tokens are cached.
        fingerprint: identifies the content that `load` gives.
        cache_dir: where tokens are kept.
        limits: most rows of each split, drawn with the seed, by class; None is no limit.

    Raises:
        ValueError: before any training: a split that is or becomes empty, texts that are all
            blank, a train or dev split of one class, a limit below 1 or for an unknown split.
    """
    limits = limits or {}
    _check_limits(limits)
    corpus = tokenised(preparation, load, fingerprint, cache_dir)
    dropped = {name: dict(corpus.dropped.get(name, {})) for name in SPLITS}
    splits = {name: usable(Rows.of(d), dropped[name]) for name, d in corpus.splits.items()}
    splits = carved(splits, preparation)
    splits["test"] = sampled(splits["test"], preparation, dropped["test"])
    for name in SPLITS:
        rows = of_length(splits[name], preparation, dropped[name])
        splits[name] = limited(name, rows, limits.get(name), preparation, dropped[name])
    return _finished(preparation, corpus, splits, dropped)


def _finished(
    preparation: Preparation,
    corpus: Tokenised,
    splits: dict[str, Rows],
    dropped: dict[str, dict[str, int]],
) -> Prepared:
    known = [splits["train"].select()]
    if preparation.vocabulary == "corpus":
        known = list(corpus.splits.values())
    documents = chain.from_iterable(_documents(dataset) for dataset in known)
    vocabulary = Vocabulary.from_documents(documents, preparation.min_df)
    asked = "answer" in splits["train"].dataset.column_names
    answers = vocabulary.own if asked else ()
    if asked:
        splits = {n: _answerable(rows, set(answers), dropped[n]) for n, rows in splits.items()}
    counts = {name: _counts(splits[name], corpus.classes, dropped[name]) for name in SPLITS}
    for name in SPLITS:
        _refuse_empty(name, counts[name])
    _refuse_no_words(vocabulary, preparation.min_df, counts["train"]["kept"])
    if not asked:
        # Not of dev either: the best epoch could not be told from the others.
        for name in ("train", "dev"):
            _refuse_one_class(name, counts[name]["classes"], corpus.source)
    datasets = {name: splits[name].select() for name in SPLITS}
    return Prepared(datasets, corpus.classes, corpus.source, counts, vocabulary, answers)


def _check_limits(limits: Mapping[str, int | None]) -> None:
    for name, limit in limits.items():
        if name not in SPLITS:
            raise ValueError(f"limits.{name}: no such split; expected one of {', '.join(SPLITS)}")
        if limit is not None and limit < 1:
            raise ValueError(f"limits.{name}={limit}: expected at least 1, or null for no limit")


def _documents(dataset: Dataset) -> Iterator[list[str]]:
    asked = "query_tokens" in dataset.column_names
    for table in dataset.with_format("arrow").iter(batch_size=1000):
        documents = table["tokens"].to_pylist()
        queries = table["query_tokens"].to_pylist() if asked else [[]] * len(documents)
        yield from (words + query for words, query in zip(documents, queries, strict=True))


def _answerable(rows: Rows, answers: set[str], dropped: dict[str, int]) -> Rows:
    table = rows.select().with_format("arrow")[:]
    given = table["answer"].to_pylist()
    strange = np.array([answer not in answers for answer in given], dtype=bool)
    if "candidates" not in table.column_names:
        return rows.drop(strange, "answer not in vocabulary", dropped)
    allowed = table["candidates"].to_pylist()
    barred = np.array([a not in (c or ()) for a, c in zip(given, allowed, strict=True)], dtype=bool)
    kept = rows.drop(strange, "answer not in vocabulary", dropped)
    return kept.drop(barred[~strange], "answer not a candidate", dropped)


def _refuse_empty(name: str, counts: Mapping[str, Any]) -> None:
    if counts["kept"] == 0:
        dropped = ", ".join(f"{reason} {n}" for reason, n in counts["dropped"].items())
        raise ValueError(
            f"{name} split is empty after carving and filtering (rows dropped: "
            f"{dropped or 'none'}); expected at least one row: give more rows, or widen "
            "dataset.text.longer_than and shorter_than"
        )


def _refuse_no_words(vocabulary: Vocabulary, min_df: int, documents: int) -> None:
    if not vocabulary.own:
        raise ValueError(
            f"dataset.text.min_df={min_df}: no word occurs in that many of the {documents} train "
            "documents; lower it"
        )


def _refuse_one_class(name: str, classes: Mapping[str, int], source: str) -> None:
    present = [name for name, n in classes.items() if n]
    if len(present) < 2:
        raise ValueError(
            f"{name} split of {source}: each of its {sum(classes.values())} rows is labelled "
            f"{present[0]!r}; expected at least two classes: check the label column"
        )


def _counts(rows: Rows, classes: tuple[str, ...], dropped: Mapping[str, int]) -> dict[str, Any]:
    by_class = np.bincount(rows.strata, minlength=len(classes)).tolist()
    return {
        "kept": len(rows),
        "classes": dict(zip(classes, by_class, strict=False)),
        "dropped": dict(dropped),
    }
