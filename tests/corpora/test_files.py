from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attention_audit.corpora import Corpus
from attention_audit.corpora.files import Files


def table(folder: Path, content: str | bytes, name: str = "own.csv", **options: Any) -> Files:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Files(path, **options)


def rows(corpus: Corpus, split: str = "train") -> list[tuple[str, str, int]]:
    columns = corpus.splits[split]
    return list(zip(columns["uid"], columns["text"], columns["label"], strict=True))


def refused(source: Files, error: type[Exception] = ValueError) -> str:
    with pytest.raises(error) as caught:
        source.load()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_quotes_line_ends_mark_and_literal_texts(tmp_path: Path) -> None:
    content = (
        '\ufefftext,label\r\n"a, b",no\r\n"one\r\ntwo ""three""",yes\r\n'
        "NA,no\r\n007,yes\r\nnull,no\r\nNone,no\r\n"
    )
    corpus = table(tmp_path, content).load()
    assert rows(corpus) == [
        ("train-0", "a, b", 0),
        ("train-1", 'one\r\ntwo "three"', 1),
        ("train-2", "NA", 0),
        ("train-3", "007", 1),
        ("train-4", "null", 0),
        ("train-5", "None", 0),
    ]
    assert corpus.classes == ("no", "yes")
    assert corpus.source == "table own.csv"


def test_labels_that_look_missing_are_labels(tmp_path: Path) -> None:
    corpus = table(tmp_path, "text,label\na,NA\nb,null\nc,None\nd,nan\n").load()
    assert corpus.classes == ("NA", "None", "nan", "null")
    assert corpus.dropped == {"train": {}}


def test_numbers_sort_as_numbers(tmp_path: Path) -> None:
    corpus = table(tmp_path, "text,label\na,10\nb,9\nc,-1\n").load()
    assert corpus.classes == ("-1", "9", "10")
    assert [label for *_, label in rows(corpus)] == [2, 1, 0]


def test_splits_by_any_of_their_names_and_own_ids(tmp_path: Path) -> None:
    content = "id,text,label,part\n7,a,x,train\n8,b,y,Train\n9,c,x,VALIDATION\n3,d,y,test\n"
    source = table(tmp_path, content, split_column="part", id_column="id")
    corpus = source.load()
    assert rows(corpus) == [("7", "a", 0), ("8", "b", 1)]
    assert rows(corpus, "dev") == [("9", "c", 0)]
    assert rows(corpus, "test") == [("3", "d", 1)]


def test_rows_without_a_known_label_are_counted(tmp_path: Path) -> None:
    content = "text,label,split\na,x,train\nb, ,train\nc,y,train\nd,z,test\ne,x,test\n"
    corpus = table(tmp_path, content, split_column="split").load()
    assert corpus.dropped == {"train": {"unlabelled": 1}, "test": {"unknown label": 1}}
    assert rows(corpus, "test") == [("test-1", "e", 0)]
    assert [uid for uid, *_ in rows(corpus)] == ["train-0", "train-2"]


def test_classes_give_order_and_names(tmp_path: Path) -> None:
    content = "text,label\na,1\nb,0\nc,2\n"
    listed = table(tmp_path, content, classes=[1, 0]).load()
    assert listed.classes == ("1", "0")
    assert listed.dropped == {"train": {"unknown label": 1}}
    named = table(tmp_path, content, classes={1: "good", "0": "bad"}).load()
    assert named.classes == ("good", "bad")
    assert [label for *_, label in rows(named)] == [0, 1]


def test_tab_separated_with_quotes_as_plain_characters(tmp_path: Path) -> None:
    content = 'text\tlabel\n5" disc, new\t1\n"open\t0\n'
    corpus = table(tmp_path, content, name="own.TSV", quoted=False).load()
    assert [text for _, text, _ in rows(corpus)] == ['5" disc, new', '"open']
    semicolons = table(tmp_path, "text;label\na,b;1\nc;0\n", delimiter=";").load()
    assert rows(semicolons)[0][1] == "a,b"


def test_no_header(tmp_path: Path) -> None:
    content = "\ufeff1,first,x\n2,second,y\n"
    corpus = table(tmp_path, content, header=False, text_column=1, label_column="2").load()
    assert [text for _, text, _ in rows(corpus)] == ["first", "second"]


def test_blank_texts_stay_for_the_preparation_to_count(tmp_path: Path) -> None:
    corpus = table(tmp_path, "text,label\n,0\n  ,1\na,0\n").load()
    assert [text for _, text, _ in rows(corpus)] == ["", "  ", "a"]


def test_a_first_text_of_a_megabyte(tmp_path: Path) -> None:
    corpus = table(tmp_path, f"text,label\n{'word ' * 200_000},0\nb,1\n").load()
    assert len(rows(corpus)[0][1]) == 1_000_000


def test_a_file_changed_in_place_is_read_anew(tmp_path: Path) -> None:
    assert rows(table(tmp_path, "text,label\na,0\nb,1\n").load())[0][1] == "a"
    assert rows(table(tmp_path, "text,label\nc,0\nd,1\n").load())[0][1] == "c"


def test_missing_file(tmp_path: Path) -> None:
    source = Files(tmp_path / "nothing.csv")
    assert source.missing() == f"the table {tmp_path}/nothing.csv"
    assert "nothing.csv" in refused(source, FileNotFoundError)
    assert "dataset.path=" in refused(Files(None), FileNotFoundError)
    assert Files(None).files() == []


BAD = [
    ("body,label\na,0\n", {}, "column 'text' is missing; found the columns 'body', 'label'"),
    ("text,text,label\na,b,0\n", {}, "column 'text' appears more than once"),
    ("text,label\na,0\nb,1\n", {"split_column": "fold"}, "(split_column)"),
    ("text,label\na,0\nb,1\n", {"id_column": "key"}, "(id_column)"),
    ("text,label\na,0\nb,0\n", {}, "must hold two or more classes in the train rows: found '0' (2"),
    ("text,label\na,0\nb,2\n", {"classes": [0, 1]}, "expected '0', '1', found '0' (1 rows), '2'"),
    ("text,label,split\na,0,train\nb,1,holdout\n", {"split_column": "split"}, "holds 'holdout'"),
    ("text,label,split\na,0,train\nb,1,\n", {"split_column": "split"}, "holds ''"),
    ("text,label,split\na,0,test\nb,1,test\n", {"split_column": "split"}, "no train rows"),
    ("text,label\n,0\n  ,1\n", {}, "column 'text' is blank in all of its 2 rows"),
    ("text,label\n", {}, "found no rows"),
    ("", {}, "found no rows"),
    ("text,label\na,0,\nb,1,\n", {}, "the first row has 3 fields, the header 2"),
    ("text,label\na,0\nb,c,1\n", {}, "Expected 2 fields in line 3, saw 3"),
    ('text,label\na,0\n"b,1\n', {}, "EOF inside string"),
]


@pytest.mark.parametrize(("content", "options", "expected"), BAD)
def test_refused_with_one_line(
    tmp_path: Path, content: str, options: dict[str, Any], expected: str
) -> None:
    message = refused(table(tmp_path, content, **options))
    assert expected in message
    assert "own.csv" in message


def test_not_utf8(tmp_path: Path) -> None:
    message = refused(table(tmp_path, "text,label\na,0\nnaïve,1\n".encode("latin-1")))
    assert "not UTF-8: line 3, byte 3 is 0xef" in message
    assert "iconv -f LATIN1" in message
    assert "iconv -f UTF-16" in refused(table(tmp_path, "text,label\n".encode("utf-16")))


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([True, False], "quotes"),
        (["x"], "two or more"),
        ({"a": "same", "b": "same"}, "two or more"),
    ],
)
def test_classes_that_cannot_be(tmp_path: Path, classes: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        Files(tmp_path, classes=classes)


def test_identity_has_no_path_and_tells_options_apart(tmp_path: Path) -> None:
    first, second = Files(tmp_path / "a.csv"), Files(tmp_path / "b.csv", text_column="body")
    assert str(tmp_path) not in str(first.identity())
    assert first.identity() != second.identity()
    assert first.identity() == Files(tmp_path / "c.csv").identity()


def test_no_chatter(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table(tmp_path, "text,label\na,0\nb,1\n").load()
    refused(table(tmp_path, "text,label\na,0\nb,c,1\n"))
    assert capfd.readouterr() == ("", "")


def test_real_tables(data: Path) -> None:
    news = Files(
        data / "agnews" / "train_world_scitech_4000_text_label.csv",
        header=False,
        text_column=0,
        label_column=1,
    ).load()
    assert news.classes == ("sci_tech", "world")
    assert len(news.splits["train"]) == 4000
    numbered = Files(data / "agnews" / "train_random5000_text_label.csv").load()
    assert numbered.classes == ("0.0", "1.0", "2.0", "3.0")
