"""The formats that tables come in: the same rows, whatever they are written as."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from attention_audit.corpora import Corpus
from attention_audit.corpora.files import Files

ROWS = [
    {"text": 'a "quoted", text', "label": "x"},
    {"text": "two\nlines", "label": "y"},
    {"text": "naïve", "label": "x"},
]
CSV = 'text,label\n"a ""quoted"", text",x\n"two\nlines",y\nnaïve,x\n'


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    name = path.name.lower()
    if name.endswith(".parquet"):
        parquet.write_table(pa.Table.from_pylist(rows), path)
        return path
    content = CSV
    if "json" in name:
        content = "\n".join(map(json.dumps, rows))
    elif ".csv" not in name:
        content = "\n".join(line.replace(",", "\t") for line in CSV.split("\n"))
        content = content.replace('quoted""\t', 'quoted"",')
    data = content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def texts(corpus: Corpus, split: str = "train") -> list[tuple[str, int]]:
    rows = corpus.splits[split]
    return list(zip(rows["text"], rows["label"], strict=True))


def refused(source: Files, error: type[Exception] = ValueError) -> str:
    with pytest.raises(error) as caught:
        source.load()
    assert "\n" not in str(caught.value)
    return str(caught.value)


NAMES = (
    *("own.csv", "own.CSV", "own.csv.gz", "own.tsv", "own.tab", "own.txt", "own.tsv.gz"),
    *("own.jsonl", "own.ndjson", "own.json", "own.jsonl.gz", "own.parquet"),
)


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    corpus = Files(write(tmp_path / name, ROWS)).load()
    assert texts(corpus) == [('a "quoted", text', 0), ("two\nlines", 1), ("naïve", 0)]
    assert corpus.classes == ("x", "y")


@pytest.mark.parametrize("name", ["own.jsonl", "own.parquet"])
@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        ([10, 9, 10], ("9", "10"), [1, 0, 1]),
        ([1.0, 0.0, None], ("0", "1"), [1, 0]),
        ([0.5, 1.5, 0.5], ("0.5", "1.5"), [0, 1, 0]),
        ([True, False, True], ("false", "true"), [1, 0, 1]),
    ],
)
def test_labels_have_a_type_of_their_own(
    tmp_path: Path, name: str, labels: list[Any], classes: tuple[str, ...], numbers: list[int]
) -> None:
    rows = [{"text": f"text {n}", "label": label} for n, label in enumerate(labels)]
    corpus = Files(write(tmp_path / name, rows)).load()
    assert corpus.classes == classes
    assert [number for _, number in texts(corpus)] == numbers
    assert corpus.dropped["train"] == ({"unlabelled": 1} if None in labels else {})


@pytest.mark.parametrize("name", ["own.jsonl", "own.parquet"])
def test_a_null_text_stays_for_the_preparation_to_count(tmp_path: Path, name: str) -> None:
    rows = [{"text": None, "label": "x"}, {"text": "b", "label": "y"}]
    assert texts(Files(write(tmp_path / name, rows)).load()) == [(None, 0), ("b", 1)]


@pytest.mark.parametrize("name", ["own.jsonl", "own.parquet"])
def test_a_text_that_is_none_is_refused_with_its_type(tmp_path: Path, name: str) -> None:
    rows = [{"text": ["a", "b"], "label": "x"}, {"text": ["c"], "label": "y"}]
    message = refused(Files(write(tmp_path / name, rows)))
    assert "the text of row 1 of the train rows is of type list, expected text" in message


def test_a_character_of_two_escapes_is_one(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(
        '{"text": "\\ud83d\\ude00", "label": 0}\n{"text": "b", "label": 1}\n'
    )
    assert texts(Files(tmp_path / "own.jsonl").load())[0] == ("\U0001f600", 0)


def test_a_name_that_a_json_line_lacks_is_null(tmp_path: Path) -> None:
    rows = [{"text": "a", "label": "x"}, {"label": "y", "text": "b"}, {"text": "c"}]
    corpus = Files(write(tmp_path / "own.jsonl", rows)).load()
    assert corpus.dropped == {"train": {"unlabelled": 1}}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("own.jsonl", b'{"text": "a", "label": 1}\n{"text": "b"', "line 2 is not a JSON object"),
        ("own.jsonl", b'["a", 1]\n', "line 1 is not a JSON object"),
        ("own.jsonl", b"\n\n", "found no rows"),
        ("own.jsonl", '{"text": "ï"}'.encode("latin-1"), "not UTF-8: line 1, byte 11"),
        ("own.jsonl", b'{"text": "cut \\ud83d"}\n', "line 1 holds half a character"),
        ("own.parquet", b"PAR1 and no more", "not a whole Parquet file"),
        ("own.parquet", b"", "not a whole Parquet file"),
        (
            "own.csv.gz",
            gzip.compress(b"text,label\na,0\nb,1\n" * 99, mtime=0)[:-9],
            "broken gzip file",
        ),
        ("own.csv.gz", b"text,label\na,0\n", "broken gzip file"),
        ("own.xlsx", b"PK", "a file of unknown kind; expected one of .csv"),
        ("own.pkl", b"\x80", "a file of unknown kind"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert expected in refused(Files(tmp_path / name))


def test_a_parquet_table_without_rows_is_refused(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array([], pa.string()), "label": pa.array([], pa.int64())})
    parquet.write_table(table, tmp_path / "own.parquet")
    assert "found no rows" in refused(Files(tmp_path / "own.parquet"))


def folder(place: Path, **names: str) -> Path:
    for split, name in names.items():
        rows = [{"text": f"{split} {n}", "label": "xy"[n % 2], "split": "??"} for n in range(4)]
        write(place / name, rows) if not name.endswith(".csv") else (place / name).write_text(
            "text,label\n" + "".join(f"{split} {n},{'xy'[n % 2]}\n" for n in range(4))
        )
    return place


def test_a_folder_has_a_file_a_split_whatever_their_format(tmp_path: Path) -> None:
    place = folder(tmp_path, train="train.jsonl", dev="validation.csv", test="Test.parquet")
    (place / "README.md").write_text("not a table")
    source = Files(place)
    assert [path.name for path in source.files()] == [
        "train.jsonl",
        "validation.csv",
        "Test.parquet",
    ]
    corpus = source.load()
    assert {split: texts(corpus, split)[1] for split in corpus.splits} == {
        "train": ("train 1", 1),
        "dev": ("dev 1", 1),
        "test": ("test 1", 1),
    }
    assert corpus.source == f"tables of {tmp_path.name}"


def test_a_folder_without_a_train_file_says_what_was_looked_for(tmp_path: Path) -> None:
    source = Files(folder(tmp_path, test="test.csv"))
    assert (
        source.missing()
        == f"{tmp_path}/train.* (.csv, .tsv, .tab, .txt, .jsonl, .ndjson, .json, .parquet)"
    )
    refused(source, FileNotFoundError)


def test_two_files_of_one_split_are_refused(tmp_path: Path) -> None:
    place = folder(tmp_path, train="train.csv", dev="dev.csv", other="valid.jsonl")
    assert "dev.csv and valid.jsonl are both its dev split" in refused(Files(place))


def test_splits_can_be_files_anywhere(tmp_path: Path) -> None:
    folder(tmp_path, train="one.jsonl", test="other.csv")
    paths = {"train": str(tmp_path / "one.jsonl"), "test": str(tmp_path / "other.csv")}
    corpus = Files(paths).load()
    assert sorted(corpus.splits) == ["test", "train"]
    absent = Files(paths | {"dev": str(tmp_path / "nothing.csv")}, missing_hint="ask for it")
    assert absent.missing() == f"the table {tmp_path}/nothing.csv (ask for it)"
    with pytest.raises(ValueError, match="expected train, and dev and test"):
        Files({"training": "a.csv"})
