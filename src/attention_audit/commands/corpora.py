"""A table of all corpora: what is found here, in which sizes, beside the published ones."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import attention_audit.schema  # noqa: F401  (registers the configuration's types)
from attention_audit.cell import corpus_fingerprint, find_source, prepare_corpus
from attention_audit.commandline import configurations
from attention_audit.configuration import check_corpus
from attention_audit.corpora import Source
from attention_audit.corpora.hub import Hub
from attention_audit.published import CorpusStatistics, corpus_statistics
from attention_audit.terminal import stdout

if TYPE_CHECKING:
    from attention_audit.text import Prepared

ABOUT = "list the corpora: where each is found, its sizes by class, and the published ones"
COLUMNS = ("corpus", "", "found", "published", "dropped")


class Line(NamedTuple):
    """One thing about a corpus, as the table's columns after the first have it."""

    about: str
    found: str
    published: str = ""
    dropped: str = ""


class Unusable(NamedTuple):
    """A corpus that is there and cannot be read, and why."""

    reason: str


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="NAME or KEY=VALUE",
        help="corpora to list (all of them if none is named), and settings as for run.py",
    )
    parser.add_argument("--download", action="store_true", help="fetch corpora from the hub")


def run(arguments: Namespace) -> int:
    """Print the table; 1 if a corpus is there and cannot be used."""
    overrides = [word for word in arguments.words if "=" in word]
    named = [word for word in arguments.words if "=" not in word]
    table = _table()
    broken = False
    for config in configurations([f"dataset={name}" for name in named or ["*"]], overrides):
        dataset = config["dataset"]
        if not named and "path" in dataset and dataset["path"] is None:
            continue  # the user's own: nothing to look for until a path is given
        _say(f"reading {dataset['name']}")
        found = survey(config, arguments.download)
        broken |= isinstance(found, Unusable)
        lines = [Line("unusable", found.reason)] if isinstance(found, Unusable) else found
        for number, line in enumerate(lines):
            name = "" if number else dataset["name"]
            table.add_row(*map(Text, (name, *line)), end_section=number == len(lines) - 1)
    stdout().print(table)
    return int(broken)


def survey(config: Mapping[str, Any], download: bool = False) -> list[Line] | Unusable:
    """What is known here of a configuration's corpus.

    Args:
        config: resolved.
        download: ask the hub for what is not in its client's cache.
    """
    try:
        check_corpus(config)
        source = find_source(config, None if download else _is_here)
        prepared = prepare_corpus(config, source, corpus_fingerprint(config, source))
    except FileNotFoundError as error:
        return [Line("not here", f"{error}{_fetchable(config)}")]
    except (ValueError, OSError, RuntimeError) as error:
        return Unusable(str(error))
    return [*_lines(config["dataset"]["name"], prepared)]


def _is_here(source: Source) -> bool:
    return not isinstance(source, Hub) or source.cached()


def _fetchable(config: Mapping[str, Any]) -> str:
    """What `--download` would fetch."""
    names = [s["path"] for s in config["dataset"]["sources"] if s["_target_"].endswith(".hub.Hub")]
    return f"; or fetch the hub's {' or '.join(names)} with --download" if names else ""


def _lines(name: str, prepared: Prepared) -> Iterator[Line]:
    figures = corpus_statistics(name)
    # The last one is the authors' program's count, which is what its results were made on.
    theirs = None if prepared.differs or not figures else figures[-1]
    yield Line("source", prepared.source, f"none: {prepared.differs}" if prepared.differs else "")
    yield from _splits(prepared, theirs)
    vocabulary, length = len(prepared.vocabulary.own), _mean_length(prepared)
    yield Line("vocabulary", f"{vocabulary:,}", f"{theirs.vocabulary:,}" if theirs else "")
    yield Line("mean length", f"{length:.1f}", f"{theirs.mean_length:g}" if theirs else "")
    for split in ("dev", "test"):
        if repeats := prepared.also_in_train(split):
            yield Line(f"{split} texts also in train", f"{repeats:,}")


def _splits(prepared: Prepared, theirs: CorpusStatistics | None) -> Iterator[Line]:
    """A line a split; the published train split holds what we carve as dev."""
    train = theirs.train_size if theirs else ()
    published = {"train": train, "test": theirs.test_size if theirs else ()}
    if "dev" in prepared.carved:
        published["train"] = ()
        yield Line("train + dev", _sizes(prepared, "train", "dev"), _counted(train))
    for split, counts in prepared.counts.items():
        dropped = ", ".join(f"{n:,} {reason}" for reason, n in counts["dropped"].items() if n)
        yield Line(
            f"{split} (carved)" if split in prepared.carved else split,
            _sizes(prepared, split),
            _counted(published.get(split, ())),
            dropped,
        )


def _sizes(prepared: Prepared, *splits: str) -> str:
    rows = [prepared.counts[split] for split in splits]
    total = f"{sum(counts['kept'] for counts in rows):,}"
    classes = [
        f"{sum(counts['classes'][name] for counts in rows):,} {name}" for name in prepared.classes
    ]
    return f"{total}: {', '.join(classes)}" if classes else total


def _counted(sizes: Sequence[int]) -> str:
    return " / ".join(f"{size:,}" for size in sizes)


def _mean_length(prepared: Prepared) -> float:
    """Words of a train document; a carved dev split counts, as in the published figure."""
    splits = ["train", *(name for name in ("dev",) if name in prepared.carved)]
    return float(np.concatenate([prepared.lengths(split) for split in splits]).mean())


def _table() -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    return table


def _say(text: str) -> None:
    Console(stderr=True).print(Text(text))
