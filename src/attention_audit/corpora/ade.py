"""The ADE corpus, version 2 (Gurulingappa et al. 2012): sentences on adverse drug effects.

A public substitute for the tweets on adverse drug reactions that the papers use, which only their
authors give out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.corpora.decoding import read_text

POSITIVE, NEGATIVE = "DRUG-AE.rel", "ADE-NEG.txt"
_DIFFERS = "sentences of medical reports, a public substitute for the papers' tweets"
_RELATION = re.compile(r"(\d+)\|(.*)(?:\|[^|]*){6}")
_SENTENCE = re.compile(r"(\d+) NEG(?: (.*))?")


class AdeFiles:
    """Reads `DRUG-AE.rel` and `ADE-NEG.txt` in `folder`, each sentence once, as one split "train".

    `DRUG-AE.rel` has a line for each pair of a drug and its effect: the lines of one sentence of
    one abstract are one document, and none of them counts as dropped. A sentence that stands in
    several abstracts, or repeatedly in `ADE-NEG.txt`, is kept the first time and else counted as
    "duplicate"; one of `ADE-NEG.txt` that is in the other file too, as "also positive".
    """

    VERSION = 1

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()

    def missing(self) -> str | None:
        absent = [path.name for path in self.files() if not path.is_file()]
        return f"the ADE corpus's {' and '.join(absent)} in {self.folder}" if absent else None

    def files(self) -> list[Path]:
        return [self.folder / POSITIVE, self.folder / NEGATIVE]

    def identity(self) -> dict[str, Any]:
        return {"reader": "ade", "version": self.VERSION}

    def load(self) -> Corpus:
        """The sentences of both files; ValueError names the line that is not as described."""
        positive, negative = self.files()
        dropped: Counter[str] = Counter()
        related = _related(positive, dropped)
        unrelated = _unrelated(negative, set(related), dropped)
        rows = [Example(uid, text, 0) for text, uid in unrelated.items()]
        rows += [Example(uid, text, 1) for text, uid in related.items()]
        return Corpus(
            {"train": labelled(rows)},
            ("not related", "related"),
            f"ADE corpus files ({len(unrelated):,} and {len(related):,} sentences)",
            {"train": dict(dropped)},
            _DIFFERS,
        )


def _related(path: Path, dropped: Counter[str]) -> dict[str, str]:
    """Distinct sentence -> its uid, in the order of the file."""
    kept: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for number, abstract, text in _lines(path, _RELATION, "ID|sentence|six more fields"):
        if (abstract, text) in seen:
            continue
        seen.add((abstract, text))
        if text in kept:
            dropped["duplicate"] += 1
        else:
            kept[text] = f"{path.stem}-{number}"
    return kept


def _unrelated(path: Path, related: set[str], dropped: Counter[str]) -> dict[str, str]:
    """Distinct sentence -> its uid, in the order of the file, without those that are `related`."""
    kept: dict[str, str] = {}
    for number, _, text in _lines(path, _SENTENCE, "ID NEG sentence"):
        if text in related:
            dropped["also positive"] += 1
        elif text in kept:
            dropped["duplicate"] += 1
        else:
            kept[text] = f"{path.stem}-{number}"
    return kept


def _lines(path: Path, form: re.Pattern[str], expected: str) -> Iterator[tuple[int, str, str]]:
    """Number, abstract and sentence of each line that is not blank."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        found = form.fullmatch(line.rstrip("\r"))
        if found is None:
            raise ValueError(
                f"{path}: line {number} is not of the ADE corpus: found {line.strip()[:60]!r}, "
                f"expected '{expected}'; use the release's original files"
            )
        yield number, found[1], (found[2] or "").strip()
