from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_audit.batch import PAD
from attention_audit.text import Embeddings, RandomVectors, Vocabulary, WordVectors
from attention_audit.text.prepared import CorpusText

VOCABULARY = Vocabulary.from_documents([["cat", "dog", "new york", "naïve"]])
NO_TEXTS = CorpusText("", Path(), {})


def embed(path: Path, content: str | bytes, **options) -> Embeddings:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return WordVectors(str(path), **options).embed(VOCABULARY, 0, NO_TEXTS)


def vector(embeddings: Embeddings, word: str) -> list[float]:
    return embeddings.matrix[VOCABULARY.words.index(word)].tolist()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "vectors.txt"


@pytest.mark.parametrize(
    "content",
    [
        "cat 1 2\ndog 3 -4e-1\n",
        "2 2\ncat 1 2\ndog 3 -4e-1\n",
        "cat 1 2 \r\ndog 3 -4e-1 \r\n",
        "\ufeffcat 1 2\n\ndog 3 -4e-1",
        gzip.compress(b"2 2\ncat 1 2\ndog 3 -.4\n"),
        "cat 1 2\ncat 9 9\ndog 3 -0.4\ndog x y\n",
        b"\xff\xfe 1 2\ncat 1 2\n\xe9t\xe9 5 6\ndog 3 -.4\n",
    ],
    ids=["glove", "header", "fasttext", "bom", "gzip", "duplicates", "bytes"],
)
def test_the_formats_that_people_have(file: Path, content: str | bytes) -> None:
    if isinstance(content, bytes) and content.startswith(b"\xff"):
        content = b"the 0 0\n" + content
    found = embed(file, content)
    assert found.matrix.dtype == torch.float32
    assert vector(found, "cat") == [1, 2]
    assert vector(found, "dog") == pytest.approx([3, -0.4])
    assert (found.found, found.coverage) == (2, 0.5)
    assert set(found.missing) == {"new york", "naïve"}


def test_words_with_spaces_are_split_from_the_right(file: Path) -> None:
    found = embed(file, "the 0 0\nnew york 5 6\n. . . 7 8\nnaïve 1 1\n")
    assert vector(found, "new york") == [5, 6]
    assert vector(found, "naïve") == [1, 1]


def test_a_missing_word_is_drawn_with_the_seed_whatever_else_the_file_holds(file: Path) -> None:
    one, other = embed(file, "cat 1 2\n"), embed(file, "cat 1 2\nnaïve 0 0\n")
    assert vector(one, "dog") == vector(other, "dog") != [0, 0]
    reseeded = WordVectors(str(file)).embed(VOCABULARY, 1, NO_TEXTS)
    assert vector(reseeded, "dog") != vector(one, "dog")
    drawn = RandomVectors(2).embed(VOCABULARY, 0, NO_TEXTS)
    assert vector(drawn, "dog") == vector(one, "dog")


def test_missing_words_can_be_zero(file: Path) -> None:
    found = embed(file, "cat 1 2\n", missing="zeros")
    assert found.matrix.count_nonzero() == 2


def test_padding_is_zero_even_if_the_file_has_a_vector_for_it(file: Path) -> None:
    found = embed(file, "<pad> 9 9\n<unk> 3 3\ncat 1 2\n")
    assert found.matrix[PAD].tolist() == [0, 0]
    assert vector(found, "<unk>") == [3, 3]
    assert found.found == 1


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("cat 1 2\nelk 1\n", {}, "line 2 has 1 numbers, expected 2"),
        ("cat 1 2\nelk\ndog 1 2\n", {}, "line 2 has 0 numbers, expected 2"),
        ("cat 1 2\nelk 1 2 3\n", {}, "line 2 has 3 numbers, expected 2"),
        ("cat 1\nelk 1 2\n", {}, "line 2 has 2 numbers, expected 1"),
        ("3 2\ncat 1 2\nelk 1 2 3\n", {}, "line 3 has 3 numbers"),
        ("3 2\ncat 1 2\ndog 1 2\n", {}, "promises 3 words, found 2; the file ends at line 3"),
        ("elk 1 2\ncat 1 two\n", {}, "line 2 is not a word and 2 numbers"),
        ("elk 1 2\ncat 1  2\n", {}, "line 2"),
        ("elk 1 2\ncat 1 nan\n", {}, "line 2 holds NaN"),
        ("elk 1 2\ncat 1 1e99\n", {}, "line 2 holds NaN, or a number beyond float32"),
        ("cat 1 2\n", {"dimension": 3}, "have 2 numbers .*expected vectors.dimension=3"),
        ("1 2\ncat 1 2\n", {"dimension": 3}, "have 2 numbers .*expected vectors.dimension=3"),
        ("", {}, "the file is empty"),
        ("\n \n", {}, "the file is empty"),
        ("no vectors in here\n", {}, "line 1 is not a word and its numbers"),
        (b"PK\x03\x04\x00\x00\xff\xfe\n\x00", {}, "line 1 is not a word"),
        ("CAT 1 2\nDOG 1 2\n", {}, "coverage 0, none of the 4 vocabulary words .such as 'cat', "),
        (gzip.compress(b"cat 1 2\n" * 99, mtime=0)[:-12], {}, "broken gzip file"),
        (b"\x1f\x8bnot gzip at all", {}, "broken gzip file"),
    ],
)
def test_a_broken_file_is_refused_on_one_line(
    file: Path, content: str | bytes, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        embed(file, content, **options)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    vectors = WordVectors(str(tmp_path / "none.txt"))
    assert vectors.missing() is not None
    with pytest.raises(FileNotFoundError, match=r"vectors\.path=.*none\.txt: no such file"):
        vectors.embed(VOCABULARY, 0, NO_TEXTS)


def test_identity_names_no_path(file: Path) -> None:
    vectors = WordVectors(str(file), missing="zeros", dimension=50)
    assert vectors.files() == [file]
    assert str(file) not in str(vectors.identity())
    assert vectors.identity() != WordVectors(str(file)).identity()
    assert RandomVectors(5).files() == []
    assert RandomVectors(5).missing() is None
    assert RandomVectors(5).identity() != RandomVectors(6).identity()


def test_random_vectors_are_what_torch_draws() -> None:
    torch.manual_seed(3)
    expected = torch.nn.Embedding(len(VOCABULARY), 7, padding_idx=PAD).weight
    found = RandomVectors(7).embed(VOCABULARY, 3, NO_TEXTS)
    assert torch.equal(found.matrix, expected)
    assert found.coverage == 0


words = st.text(st.characters(codec="utf-8", exclude_characters=" \n\r<"), min_size=1, max_size=5)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(words, st.tuples(*[st.floats(-9, 9, width=32)] * 3), min_size=1))
def test_what_is_written_is_read(file: Path, vectors: dict[str, tuple[float, ...]]) -> None:
    lines = [f"{len(vectors)} 3", *(f"{w} {' '.join(map(repr, v))}" for w, v in vectors.items())]
    file.write_bytes("\n".join(lines).encode())
    vocabulary = Vocabulary.from_documents([list(vectors)])
    matrix = WordVectors(str(file)).embed(vocabulary, 0, NO_TEXTS).matrix
    for word, row in zip(vocabulary.own, matrix[4:].tolist(), strict=True):
        assert tuple(row) == vectors[word]


def test_naming_word_vectors_does_not_load_torch(file: Path) -> None:
    code = (
        "import sys; from attention_audit.text import WordVectors, RandomVectors, Preparation;"
        f"Preparation(); print(WordVectors({str(file)!r}).identity());"
        "sys.exit('torch' in sys.modules or 'datasets' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("name", "word", "width"),
    [
        ("glove.6B.50d/glove.6B.50d.corpora_minfreq5.txt", "the", 50),
        ("gensim_test_data/lee_fasttext.vec", "the", 10),
        ("gensim_test_data/pang_lee_polarity_fasttext.vec", "the", 100),
        ("gensim_test_data/crime-and-punishment.vec", "и", 5),
        ("gensim_test_data/test_glove.txt", "the", 50),
    ],
)
def test_real_files(name: str, word: str, width: int) -> None:
    folder = os.environ.get("ATTENTION_AUDIT_DATA")
    if folder is None:
        pytest.skip("ATTENTION_AUDIT_DATA does not name the folder of real corpora")
    path = Path(folder) / "vectors" / name
    vocabulary = Vocabulary.from_documents([[word, "notawordanywhere"]])
    started = time.process_time()
    found = WordVectors(str(path)).embed(vocabulary, 0, NO_TEXTS)
    assert time.process_time() - started < 5
    assert (found.found, found.missing) == (1, ("notawordanywhere",))
    start = f"{word} ".encode()
    line = next(line for line in path.read_bytes().split(b"\n") if line.startswith(start))
    numbers = np.array(line.split()[1:], dtype=np.float32)
    assert len(numbers) == width
    assert (found.matrix[vocabulary.words.index(word)].numpy() == numbers).all()
