"""Bad input through run.py: one line, a non-zero exit, and no training."""

from __future__ import annotations

import pytest

ROWS = [f"a fine film no {n},good\na dull film no {n},bad" for n in range(20)]
GOOD = "text,label\n" + "\n".join(ROWS) + "\n"


def split(rows: str) -> str:
    return "text,label,split\n" + rows


TRAINING = "".join(f"fine {n},good,train\ndull {n},bad,train\n" for n in range(9))

TABLES: dict[str, tuple[str | bytes, str, str]] = {
    "column": (GOOD.replace("text,", "review,", 1), "", "column 'text' is missing; found the"),
    "one class": (GOOD.replace(",bad", ",good"), "", "must hold two or more classes"),
    "blank": ("text,label\n" + "  ,good\n ,bad\n" * 9, "", "column 'text' is blank in all"),
    "latin-1": (GOOD.replace("fine", "fin\xe9").encode("latin-1"), "", "not UTF-8: line 2, byte"),
    "utf-16": (GOOD.encode("utf-16"), "", "not UTF-8: line 1"),
    "empty": ("", "", "found no rows"),
    "header only": ("text,label\n", "", "found no rows"),
    "empty dev": (split(TRAINING + ",good,dev\n,bad,dev\nfine,good,test\n"), "", "dev split"),
    "short dev": (
        split(TRAINING + "fine,good,dev\nfine so fine,good,test\n"),
        "dataset.text.longer_than=1",
        "dev split is empty after carving and filtering (rows dropped: too short 1)",
    ),
    "split": (split(TRAINING + "fine,good,holdout\n"), "", "the split column holds 'holdout'"),
    "no label": (GOOD, "dataset.label_column=stars", "column 'stars' is missing"),
    "wider": ("text,label\na, fine, film,good\n", "", "put quotes"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_cannot_be_used(program, tmp_path, case):
    content, override, said = TABLES[case]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(
        program(
            "dataset=files", "dataset.path=table.csv", "logger=none", *filter(None, [override])
        ),
        said,
    )
    assert list(tmp_path.rglob("*.ckpt")) == []


def refused(outcome, said: str) -> None:
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert said in outcome.err
    assert "epoch" not in outcome.out


VECTORS = ["vectors=glove", "vectors.path=vectors.txt"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("dataset=files", "no path is set (dataset.path=FILE or FOLDER)"),
        ("dataset=files dataset.path=nowhere.csv", "looked for the table nowhere.csv"),
        ("vectors=glove", "vectors.path: not set; expected vectors.path=..."),
        ("vectors=glove vectors.path=nowhere.txt", "vectors.path=nowhere.txt: no such file"),
        ("trainer.max_epochs=two", "trainer.max_epochs: Value 'two'"),
        ("dataset.epochs=two", "trainer.max_epochs: While dereferencing"),
        ("encoder=gru", "encoder=gru: unknown; expected one of average, cnn, lstm"),
        ("+encoder.hiden=3", "encoder.hiden: unknown (did you mean 'hidden'?)"),
        ("seed=-1", "seed: found -1"),
        ("adversary.frontier=[0.1,2]", "frontier: found [0.1, 2.0]"),
        ("adversary.search=false adversary.exact=false", "found search=false and exact=false"),
        ("--config-dir nowhere", "--config-dir nowhere: no such folder"),
    ],
)
def test_what_is_refused_leaves_nothing(program, tmp_path, line, said):
    refused(program(*line.split()), said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [("the 1 2\nof 1\n", "line 2"), ("the one two\n", "line 1"), ("", "vectors.txt")],
)
def test_vectors_that_cannot_be_used(program, tmp_path, corpora, content, said):
    (tmp_path / "vectors.txt").write_text(content)
    table = ("dataset=files", "dataset.path=table.csv", "logger=none")
    refused(program(*table, *VECTORS), said)
    assert list(tmp_path.rglob("*.ckpt")) == []


def test_online_without_a_key_is_refused(program, tmp_path, corpora, tiny):
    table = ("dataset=files", "dataset.path=table.csv", *tiny)
    refused(program(*table, "logger.mode=online"), "found no W&B API key")
