"""A folder per split with a folder per class with a file per document, as aclImdb has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attention_audit.corpora.cleaning import Cleaning, clean
from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.corpora.decoding import read_text


class LabelledFolders:
    """Reads `folder/<split>/<class>/*.txt`.

    splits: our split's name -> its folder.
    classes: class folder -> class name, in label order.
    cleaning: "line_breaks" turns `<br />` into a space.
    """

    VERSION = 1

    def __init__(
        self,
        folder: str | Path,
        splits: Mapping[str, str],
        classes: Mapping[str, str],
        cleaning: Cleaning = "none",
    ) -> None:
        self.folder = Path(folder).expanduser()
        self.splits = dict(splits)
        self.classes = dict(classes)
        self.cleaning: Cleaning = cleaning

    def missing(self) -> str | None:
        folders = [f"{s}/{c}" for s in self.splits.values() for c in self.classes]
        empty = [name for name in folders if not any((self.folder / name).glob("*.txt"))]
        return f"text files in {', '.join(empty)} of {self.folder}" if empty else None

    def files(self) -> list[Path]:
        return [
            path for split in self.splits for name in self.classes for path in self._of(split, name)
        ]

    def identity(self) -> dict[str, Any]:
        return {
            "reader": "folders",
            "version": self.VERSION,
            "splits": self.splits,
            "classes": self.classes,
            "cleaning": self.cleaning,
        }

    def cleaned(self, text: str) -> str:
        return clean(text, self.cleaning)

    def load(self) -> Corpus:
        """All files; ValueError names one that is not UTF-8."""
        splits = {split: labelled(self._examples(split)) for split in self.splits}
        sizes = ", ".join(f"{len(rows):,} {split}" for split, rows in splits.items())
        source = f"folders of {self.folder.name} ({sizes} files)"
        return Corpus(splits, tuple(self.classes.values()), source)

    def _of(self, split: str, name: str) -> list[Path]:
        return sorted((self.folder / self.splits[split] / name).glob("*.txt"))

    def _examples(self, split: str) -> list[Example]:
        return [
            Example(f"{split}-{name}-{path.stem}", clean(read_text(path), self.cleaning), label)
            for label, name in enumerate(self.classes)
            for path in self._of(split, name)
        ]
