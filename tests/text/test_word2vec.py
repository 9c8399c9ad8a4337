"""Word vectors trained on the corpus: what they depend on, where they are kept, what is refused."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from omegaconf import OmegaConf

from attention_audit.text import RandomVectors, Vocabulary, Word2Vec
from attention_audit.text import word2vec as module
from attention_audit.text.prepared import CorpusText

CONF = Path(__file__).parents[2] / "conf" / "vectors" / "word2vec.yaml"
KINDS = {"animals": ["cat", "dog", "cow", "hen"], "metals": ["iron", "tin", "zinc", "lead"]}

# A program of its own, for a process of its own: prints a digest of the vectors of a small corpus.
DIGEST = """
import hashlib, sys
from pathlib import Path
from datasets import Dataset
from attention_audit.text import Vocabulary, Word2Vec
from attention_audit.text.prepared import CorpusText
documents = [[f"w{n * k % 13}" for k in range(9)] for n in range(50)]
text = CorpusText("k", Path(sys.argv[1]), {"train": Dataset.from_dict({"tokens": documents})})
found = Word2Vec(dimension=5).embed(Vocabulary.from_documents(documents), 0, text)
print(hashlib.sha256(found.matrix.numpy().tobytes()).hexdigest())
"""

Text = Callable[..., CorpusText]


@pytest.fixture
def text(tmp_path: Path) -> Text:
    """The texts of a corpus with these documents (and questions), its cache in `tmp_path`."""
    from datasets import Dataset

    def make(documents: list[list[str]], key: str = "k", **columns: list) -> CorpusText:
        rows = Dataset.from_dict({"tokens": documents, **columns})
        return CorpusText(key, tmp_path / "cache", {"train": rows})

    return make


@pytest.fixture
def kinds() -> list[list[str]]:
    """Sentences of two kinds of words that never meet."""
    draw = np.random.default_rng(0)
    return [draw.choice(KINDS[kind], 6).tolist() for kind in KINDS for _ in range(600)]


def test_words_of_one_kind_are_near_each_other(text: Text, kinds: list[list[str]]) -> None:
    vocabulary = Vocabulary.from_documents(kinds)
    found = Word2Vec(dimension=10, epochs=10).embed(vocabulary, 0, text(kinds))
    assert (found.found, found.coverage, found.missing) == (8, 1.0, ())
    unit = torch.nn.functional.normalize(found.matrix)
    place = {word: unit[vocabulary.words.index(word)] for word in vocabulary.own}
    same = min(place[a] @ place[b] for kind in KINDS.values() for a in kind for b in kind)
    other = max(place[a] @ place[b] for a in KINDS["animals"] for b in KINDS["metals"])
    assert same > other + 0.1


def test_rare_words_are_drawn_with_the_cells_seed_or_zero(text: Text) -> None:
    documents = [["often", "often", "once"], ["twice", "twice"]]
    vocabulary = Vocabulary.from_documents(documents)
    rare = vocabulary.words.index("once")
    by_seed = [Word2Vec(dimension=4).embed(vocabulary, seed, text(documents)) for seed in (0, 1)]
    drawn = RandomVectors(4).embed(vocabulary, 1, text(documents))
    assert (by_seed[1].found, by_seed[1].missing) == (2, ("once",))
    assert torch.equal(by_seed[1].matrix[rare], drawn.matrix[rare])
    assert not torch.equal(by_seed[0].matrix[rare], by_seed[1].matrix[rare])
    often = vocabulary.words.index("often")
    assert torch.equal(by_seed[0].matrix[often], by_seed[1].matrix[often])
    zeros = Word2Vec(dimension=4, missing="zeros").embed(vocabulary, 0, text(documents))
    assert not zeros.matrix[[0, 1, 2, 3, rare]].any()
    assert torch.equal(zeros.matrix[often], by_seed[0].matrix[often])


def test_questions_are_trained_on_too(text: Text) -> None:
    asked = text([["a", "b"]] * 3, query_tokens=[["where"], ["where"], []])
    vocabulary = Vocabulary.from_documents([["a", "b", "where"]])
    assert Word2Vec(dimension=3).embed(vocabulary, 0, asked).found == 3


def test_they_are_the_same_in_every_process(tmp_path: Path) -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST, str(tmp_path / seed)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(digests) == 1


def test_they_are_trained_once_and_kept(text: Text, kinds: list[list[str]], monkeypatch) -> None:
    vocabulary = Vocabulary.from_documents(kinds)
    first = Word2Vec(dimension=4).embed(vocabulary, 0, text(kinds))
    [folder] = [path for path in text(kinds).cache_dir.iterdir() if path.is_dir()]
    assert {path.name for path in folder.iterdir()} == {"words.json", "vectors.npy"}
    trained = []
    train = Word2Vec._train
    monkeypatch.setattr(Word2Vec, "_train", lambda *a: trained.append(a) or train(*a))
    again = Word2Vec(dimension=4, missing="zeros").embed(vocabulary, 5, text(kinds))
    assert torch.equal(first.matrix[4:], again.matrix[4:])
    assert not trained
    for other in ({"window": 2}, {"seed": 1}, {"epochs": 1}, {"min_count": 3}):
        Word2Vec(dimension=4, **other).embed(vocabulary, 0, text(kinds))
    Word2Vec(dimension=4).embed(vocabulary, 0, text(kinds, key="another corpus"))
    monkeypatch.setattr(module, "version", lambda _: "9.9")
    Word2Vec(dimension=4).embed(vocabulary, 0, text(kinds))
    assert len(trained) == 6


@pytest.mark.parametrize("file", ["words.json", "vectors.npy"])
@pytest.mark.parametrize("content", [b"", b'["cat"]', b"\x93NUMPY\x01"])
def test_a_damaged_cache_is_trained_again(
    text: Text, kinds: list[list[str]], file: str, content: bytes, caplog
) -> None:
    vocabulary = Vocabulary.from_documents(kinds)
    first = Word2Vec(dimension=4, epochs=1).embed(vocabulary, 0, text(kinds))
    [path] = text(kinds).cache_dir.rglob(file)
    path.write_bytes(content)
    again = Word2Vec(dimension=4, epochs=1).embed(vocabulary, 0, text(kinds))
    assert torch.equal(first.matrix, again.matrix)
    assert "is damaged" in caplog.text


def test_vectors_with_pickled_objects_are_not_read(text: Text, kinds: list[list[str]]) -> None:
    vocabulary = Vocabulary.from_documents(kinds)
    first = Word2Vec(dimension=4, epochs=1).embed(vocabulary, 0, text(kinds))
    [path] = text(kinds).cache_dir.rglob("vectors.npy")
    np.save(path, np.array([object()] * 8), allow_pickle=True)
    again = Word2Vec(dimension=4, epochs=1).embed(vocabulary, 0, text(kinds))
    assert torch.equal(first.matrix, again.matrix)


def test_a_failed_training_leaves_nothing(text: Text, kinds: list[list[str]], monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.np, "save", broken)
    with pytest.raises(OSError, match="No space left"):
        Word2Vec(dimension=4).embed(Vocabulary.from_documents(kinds), 0, text(kinds))
    assert [path.suffix for path in text(kinds).cache_dir.iterdir()] in ([], [".lock"])


def test_what_stands_beyond_the_longest_sentence_of_gensim_counts(text: Text) -> None:
    documents = [["long"] * 10_000 + ["tail", "end"] * 500]
    vocabulary = Vocabulary.from_documents(documents)
    both = [vocabulary.words.index(word) for word in ("tail", "end")]
    few, many = (
        Word2Vec(dimension=4, epochs=epochs).embed(vocabulary, 0, text(documents)).matrix[both]
        for epochs in (1, 30)
    )
    assert (few - many).abs().max() > 0.1  # they were trained, not only counted


def test_gensim_says_nothing(text: Text, kinds: list[list[str]], caplog) -> None:
    level = logging.getLogger("gensim").level
    with caplog.at_level(logging.INFO):
        Word2Vec(dimension=4).embed(Vocabulary.from_documents(kinds), 0, text(kinds))
    assert {record.name for record in caplog.records} == {module.__name__}
    assert logging.getLogger("gensim").level == level


@pytest.mark.parametrize("known", [["a"], ["b"]])
def test_words_that_are_all_too_rare_are_one_clear_line(text: Text, known: list[str]) -> None:
    documents = [["a", "b", *("b" if known == ["a"] else "")]]
    vocabulary = Vocabulary.from_documents([known])
    with pytest.raises(ValueError, match=r"^vectors\.min_count=2: no word .*; lower it$"):
        Word2Vec(dimension=4).embed(vocabulary, 0, text(documents))


def test_without_gensim_one_line_says_so(text: Text, monkeypatch) -> None:
    assert Word2Vec().missing() is None
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    phrase = r"^vectors=word2vec: the package gensim is not installed; pip install gensim"
    with pytest.raises(FileNotFoundError, match=phrase):
        Word2Vec().embed(Vocabulary.from_documents([["a"]]), 0, text([["a"]]))


def test_the_configuration_names_every_setting() -> None:
    vectors = instantiate(OmegaConf.load(CONF))
    assert vectors.identity() == Word2Vec().identity()
    settings = {key for key in OmegaConf.load(CONF) if key != "_target_"}
    assert len(settings) == len(vectors.identity()) - 2  # reader and version
    assert vectors.files() == []
    others = [{"dimension": 5}, {"window": 5}, {"min_count": 5}, {"epochs": 6}, {"seed": 5}]
    for other in (*others, {"missing": "zeros"}):
        assert Word2Vec(**other).identity() != Word2Vec().identity()


def test_naming_them_loads_nothing_heavy() -> None:
    heavy = {"torch", "gensim", "datasets"}
    code = (
        "import sys; from attention_audit.text import Word2Vec; Word2Vec().identity();"
        f"Word2Vec().missing(); print(*set(sys.modules) & {heavy!r})"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.split() == []
