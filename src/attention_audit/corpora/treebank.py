"""The Stanford Sentiment Treebank's bracketed files, as a binary corpus.

Socher et al. 2013; roots 0 and 1 are negative, 3 and 4 positive, 2 (neutral) is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from attention_audit.corpora.cleaning import treebank as clean_words
from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.corpora.decoding import read_text

SPLITS = ("train", "dev", "test")
NEUTRAL = 2
_ROOT = re.compile(r"\s*\(([0-4]) ")
_LEAF = re.compile(r"\([0-4] ([^() ]+)\)")


class Treebank:
    """Reads `train.txt`, `dev.txt` and `test.txt` in `folder`, one tree a line."""

    VERSION = 1

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()

    def missing(self) -> str | None:
        absent = [path.name for path in self.files() if not path.is_file()]
        return f"the treebank's {', '.join(absent)} in {self.folder}" if absent else None

    def files(self) -> list[Path]:
        return [self.folder / f"{split}.txt" for split in SPLITS]

    def identity(self) -> dict[str, Any]:
        return {"reader": "treebank", "version": self.VERSION}

    def cleaned(self, text: str) -> str:
        return clean_words(text)

    def load(self) -> Corpus:
        """The three splits; ValueError names the line that is not a tree."""
        splits, dropped = {}, {}
        for split, path in zip(SPLITS, self.files(), strict=True):
            trees = _trees(path)
            kept = [
                Example(f"{split}-{row}", text, int(root > NEUTRAL))
                for row, (root, text) in enumerate(trees)
                if root != NEUTRAL
            ]
            splits[split] = labelled(kept)
            dropped[split] = {"neutral": len(trees) - len(kept)}
        return Corpus(splits, ("negative", "positive"), "treebank files", dropped)


def _trees(path: Path) -> list[tuple[int, str]]:
    """Root label and cleaned text of each tree of a file."""
    trees = []
    # Not splitlines(): the treebank has no-break spaces and other separators inside leaves.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        root = _ROOT.match(line)
        if root is None:
            raise ValueError(
                f"{path}: line {number} is not a tree: found {line.strip()[:40]!r}, expected "
                f"'(LABEL ...)' with a label from 0 to 4; use the treebank's original files"
            )
        trees.append((int(root[1]), clean_words(" ".join(_LEAF.findall(line)))))
    return trees
