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
class CorpusText:
    """All texts of a tokenised corpus, before any row is dropped.

    Attributes:
        key: names the content of the texts.
        cache_dir: where what is made of them can be kept.
    """

    key: str
    cache_dir: Path
    splits: Mapping[str, Dataset]

    def __call__(self) -> Iterator[list[str]]:
        """The tokens of each document, and of each question after its document."""
        for dataset in self.splits.values():
            for words, query in _texts(dataset):
                yield words
                if query:
                    yield query


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
        answers: question answering: what can be an answer: the candidates of the train rows where
            the corpus names candidates, else every word; () for the other tasks.
        carved: the splits that the source lacks, taken from its train split.
        differs: why these rows are not those of the papers; "" where they are.
        documents: every document and every question, for word vectors trained on the corpus.
    """

    splits: dict[str, Dataset]
    classes: tuple[str, ...]
    source: str
    counts: dict[str, dict[str, Any]]
    vocabulary: Vocabulary
    answers: tuple[str, ...]
    carved: tuple[str, ...]
    differs: str
    documents: CorpusText

    @property
    def task(self) -> Literal["classification", "qa", "nli"]:
        columns = self.splits["train"].column_names
        if "answer" in columns:
            return "qa"
        return "nli" if "query_tokens" in columns else "classification"

    def lengths(self, split: str) -> np.ndarray:
        """int64 [rows]: words of each document of a split."""
        import pyarrow.compute as pc

        tokens = self.splits[split].with_format("arrow")[:]["tokens"]
        return np.asarray(pc.list_value_length(tokens), dtype=np.int64)

    def also_in_train(self, split: str) -> int:
        """Rows of a split whose words (and question's words) a train row has, too."""
        import pyarrow.compute as pc

        known = pc.is_in(self._whole_texts(split), value_set=self._whole_texts("train"))
        return pc.sum(known).as_py() or 0

    def _whole_texts(self, split: str) -> Any:
        import pyarrow.compute as pc

        table = self.splits[split].with_format("arrow")[:]
        parts = [table[name] for name in ("tokens", "query_tokens") if name in table.column_names]
        return pc.binary_join_element_wise(*(pc.binary_join(part, " ") for part in parts), "\n")


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
    return _finished(preparation, corpus, splits, dropped, cache_dir)


def _finished(
    preparation: Preparation,
    corpus: Tokenised,
    splits: dict[str, Rows],
    dropped: dict[str, dict[str, int]],
    cache_dir: Path,
) -> Prepared:
    known = [splits["train"].select()]
    if preparation.vocabulary == "corpus":
        known = list(corpus.splits.values())
    texts = chain.from_iterable(_texts(dataset) for dataset in known)
    documents = (words + query for words, query in texts)
    possible = _possible_answers(known)
    vocabulary = Vocabulary.from_documents(documents, preparation.min_df, possible)
    columns = splits["train"].dataset.column_names
    asked = "answer" in columns
    answers = vocabulary.own if asked else ()
    if "candidates" in columns:
        answers = tuple(word for word in answers if word in possible)
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
    return Prepared(
        splits=datasets,
        classes=corpus.classes,
        source=corpus.source,
        counts=counts,
        vocabulary=vocabulary,
        answers=answers,
        carved=tuple(name for name in SPLITS if name not in corpus.splits),
        differs=corpus.differs,
        documents=CorpusText(corpus.key, cache_dir, corpus.splits),
    )


def _check_limits(limits: Mapping[str, int | None]) -> None:
    for name, limit in limits.items():
        if name not in SPLITS:
            raise ValueError(f"limits.{name}: no such split; expected one of {', '.join(SPLITS)}")
        if limit is not None and limit < 1:
            raise ValueError(f"limits.{name}={limit}: expected at least 1, or null for no limit")


def _texts(dataset: Dataset) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each row's document and of its question (none where nothing is asked)."""
    asked = "query_tokens" in dataset.column_names
    for table in dataset.with_format("arrow").iter(batch_size=1000):
        documents = table["tokens"].to_pylist()
        queries = table["query_tokens"].to_pylist() if asked else [[]] * len(documents)
        yield from zip(documents, queries, strict=True)


def _possible_answers(known: list[Dataset]) -> set[str]:
    """Answers, and candidates where rows have them: words of the vocabulary however rare."""
    import pyarrow.compute as pc

    found: set[str] = set()
    for dataset in known:
        table = dataset.with_format("arrow")[:]
        if "answer" in table.column_names:
            found.update(pc.unique(table["answer"]).to_pylist())
        if "candidates" in table.column_names:
            found.update(pc.unique(pc.list_flatten(table["candidates"])).to_pylist())
    return found - {None}


def _answerable(rows: Rows, answers: set[str], dropped: dict[str, int]) -> Rows:
    import pyarrow as pa
    import pyarrow.compute as pc

    table = rows.select().with_format("arrow")[:].combine_chunks()
    known = pc.is_in(table["answer"], value_set=pa.array(sorted(answers), pa.string()))
    strange = ~np.asarray(known, dtype=bool)
    kept = rows.drop(strange, "answer not in vocabulary", dropped)
    if "candidates" not in table.column_names:
        return kept
    candidates = table["candidates"].combine_chunks()
    row = pc.list_parent_indices(candidates)
    named = pc.equal(pc.list_flatten(candidates), pc.take(table["answer"], row))
    allowed = np.bincount(np.asarray(row), np.asarray(named), minlength=len(strange)) > 0
    return kept.drop(~allowed[~strange], "answer not a candidate", dropped)


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
