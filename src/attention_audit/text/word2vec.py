"""Word vectors trained on the corpus itself, by gensim's Word2Vec (Mikolov et al. 2013)."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from filelock import FileLock
from pydantic import Field, PositiveInt

from attention_audit.text.embeddings import Embeddings, Fill, key

if TYPE_CHECKING:
    from attention_audit.text.prepared import CorpusText
    from attention_audit.text.vocabulary import Vocabulary

_log = logging.getLogger(__name__)

# gensim passes over what a sentence has beyond so many words.
_LONGEST_SENTENCE = 10_000


class Word2Vec:
    """Vectors by continuous bag of words, trained on every document of the corpus, without labels.

    Documents of all splits count, as tokenised, before any is dropped. The vectors are kept in the
    cache folder, so that cells of other seeds, encoders and attentions share them.

    Args:
        dimension: the vectors' width.
        window: words on either side that a word is predicted from, at most.
        min_count: a word with a vector occurs at least so often in the corpus.
        epochs: passes over the corpus.
        seed: of the training; the cell's own seed draws the vectors of the other words.
        missing: a word without vector is drawn from N(0, 1) (`normal`) or is zero (`zeros`).
    """

    VERSION = 1

    def __init__(
        self,
        dimension: PositiveInt = 300,
        window: PositiveInt = 10,
        min_count: PositiveInt = 2,
        epochs: PositiveInt = 5,
        seed: Annotated[int, Field(ge=0, lt=2**32)] = 0,
        missing: Fill = "normal",
    ) -> None:
        self.settings = {
            "vector_size": dimension,
            "window": window,
            "min_count": min_count,
            "epochs": epochs,
            "seed": seed,
        }
        self.fill = missing

    def missing(self) -> str | None:
        """None if gensim is installed, else one phrase: what was looked for."""
        if find_spec("gensim") is not None:
            return None
        return (
            "vectors=word2vec: the package gensim is not installed; pip install gensim, or choose "
            "other vectors"
        )

    def files(self) -> list[Path]:
        """None: the corpus, which determines these vectors, is the cell's own."""
        return []

    def identity(self) -> dict[str, Any]:
        """What determines these vectors, beside the corpus, the vocabulary and the cell's seed."""
        whole = {**self.settings, "missing": self.fill}
        return {"reader": "word2vec", "version": self.VERSION, **whole}

    def embed(self, vocabulary: Vocabulary, seed: int, documents: CorpusText) -> Embeddings:
        """Vectors for the vocabulary: from the cache, or trained and put there.

        Raises:
            FileNotFoundError: gensim is not installed.
            ValueError: no word of the corpus, or of the vocabulary, occurs `min_count` times.
        """
        if (absent := self.missing()) is not None:
            raise FileNotFoundError(absent)
        width = self.settings["vector_size"]
        found = Embeddings.of(vocabulary, self._vectors(documents), width, seed, self.fill)
        if not found.found:
            raise self._too_rare(f"of the vocabulary's {len(vocabulary.own)} words")
        return found

    def _vectors(self, documents: CorpusText) -> dict[bytes, np.ndarray]:
        folder = documents.cache_dir / f"word2vec-{self._key(documents)}"
        if found := _read(folder):
            return found
        documents.cache_dir.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if found := _read(folder):  # another process was first
                return found
            shutil.rmtree(folder, ignore_errors=True)
            self._build(documents, folder)
            return _read_whole(folder)

    def _key(self, documents: CorpusText) -> str:
        identity = [self.VERSION, version("gensim"), self.settings, documents.key]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]

    def _build(self, documents: CorpusText, folder: Path) -> None:
        """Train, write the files under another name, and rename their folder when complete."""
        words, matrix = self._train(documents)
        building = folder.with_suffix(".building")
        shutil.rmtree(building, ignore_errors=True)  # left by a run that was killed
        building.mkdir()
        try:
            (building / "words.json").write_text(json.dumps(words), encoding="ascii")
            np.save(building / "vectors.npy", matrix, allow_pickle=False)
            building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)

    def _train(self, documents: CorpusText) -> tuple[list[str], np.ndarray]:
        """The words that occur often enough, and their vectors, float32 [words, dimension]."""
        from gensim.models.word2vec import Word2Vec as Gensim

        sentences = _Sentences(documents)
        with _quiet():
            # The one worker keeps the order of the updates, and with it the vectors, the same.
            model = Gensim(sg=0, workers=1, **self.settings)
            model.build_vocab(sentences)
            if not len(model.wv):
                raise self._too_rare("of the corpus")
            _log.info("training vectors of %d words on the corpus", len(model.wv))
            model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
        return model.wv.index_to_key, model.wv.vectors

    def _too_rare(self, where: str) -> ValueError:
        least = self.settings["min_count"]
        return ValueError(
            f"vectors.min_count={least}: no word {where} occurs so often in the corpus; lower it"
        )


@dataclass(frozen=True, eq=False)
class _Sentences:
    """The documents as gensim takes them: as often as it asks, long ones in pieces."""

    documents: CorpusText

    def __iter__(self) -> Iterator[list[str]]:
        for words in self.documents():
            for start in range(0, len(words), _LONGEST_SENTENCE):
                yield words[start : start + _LONGEST_SENTENCE]


def _read(folder: Path) -> dict[bytes, np.ndarray] | None:
    """The cached vectors; None if they are not there, or something has damaged them."""
    if not folder.is_dir():
        return None
    try:
        return _read_whole(folder)
    except (OSError, EOFError, ValueError, TypeError, IndexError) as error:
        _log.warning("%s is damaged (%s): training again", folder, type(error).__name__)
        return None


def _read_whole(folder: Path) -> dict[bytes, np.ndarray]:
    """Vectors by word; they stay on disk until they are looked at."""
    words = json.loads((folder / "words.json").read_text(encoding="ascii"))
    matrix = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    return dict(zip(map(key, words), np.asarray(matrix), strict=True))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without gensim's many log lines."""
    logger = logging.getLogger("gensim")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
