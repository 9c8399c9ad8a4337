from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from hypothesis import example, given
from hypothesis import strategies as st

from attention_audit.corpora import choose
from attention_audit.corpora.hub import Hub
from attention_audit.corpora.newsgroups import (
    HALVES,
    Newsgroups,
    without_header,
    without_quotations,
    without_signature,
)

CLASSES = {"rec.sport.baseball": "baseball", "rec.sport.hockey": "hockey"}
POST = """\
From: someone@somewhere.edu (Some One)
Subject: Re: The pitcher's arm
Organization: A Place
Lines: 12

In article <1993Apr5.1@elsewhere.edu> another@elsewhere.edu writes:
> he threw 100 pitches
>> and then more
Jos\xe9 threw hard -- it's 2-1!

And that's   that.

--
Some One   |  "a motto"
"""
LINES = st.sampled_from(
    [
        *("", " ", "\t", "-", "--", " ---- ", "- -", "-- ", "text", "  indented", "end.-", "\x0b"),
        *("> quoted", " > not quoted", "| quoted", ">", "|", "In article <1>", " In article <1>"),
        *("A. B. writes:", "he writes in <2>", "X wrote:", "X says:", "X said: no"),
        *("Quoted from Y", "X said", "From: X", "caf\xe9 \x85 \xa0", "\r", "text\r"),
    ]
)
POSTS = st.lists(LINES, max_size=9).map("\n".join)


def fill(folder: Path, body: bytes = POST.encode("latin-1"), posts: int = 1) -> Newsgroups:
    for half in HALVES:
        for group in [*CLASSES, "sci.space"]:
            (folder / half / group).mkdir(parents=True, exist_ok=True)
            for n in range(posts):
                (folder / half / group / f"10{n}").write_bytes(body)
    return Newsgroups(folder, CLASSES)


def test_posts_of_both_halves_become_rows_of_one_split(tmp_path: Path) -> None:
    source = fill(tmp_path)
    corpus = source.load()
    text = "José threw hard it s 2 1 And that s that"
    assert corpus.splits["train"].to_dict() == {
        "uid": [f"{half}/{group}/100" for half in HALVES for group in CLASSES],
        "text": [text] * 4,
        "label": [0, 1, 0, 1],
    }
    assert [*corpus.splits] == ["train"]
    assert corpus.classes == ("baseball", "hockey")
    assert corpus.source == "newsgroup posts by date (4 files)"
    assert (corpus.dropped, corpus.differs) == ({}, "")
    assert len(source.files()) == 4
    assert str(tmp_path) not in str(source.identity())


def test_a_copy_with_the_line_ends_of_windows_reads_alike(tmp_path: Path) -> None:
    rows = fill(tmp_path / "unix").load().splits["train"].to_dict()
    body = POST.encode("latin-1").replace(b"\n", b"\r\n")
    assert fill(tmp_path / "windows", body).load().splits["train"].to_dict() == rows


def test_a_post_without_words_of_its_own_keeps_its_row(tmp_path: Path) -> None:
    source = fill(tmp_path, b"From: x\n\nY wrote:\n> all of it\n")
    assert source.load().splits["train"]["text"][:] == [""] * 4


def test_hidden_files_and_folders_are_no_posts(tmp_path: Path) -> None:
    source = fill(tmp_path)
    group = tmp_path / HALVES[0] / "rec.sport.hockey"
    (group / ".DS_Store").write_bytes(b"\x00")
    (group / "old").mkdir()
    assert len(source.files()) == 4


def test_an_empty_group_is_named(tmp_path: Path) -> None:
    source = fill(tmp_path)
    assert source.missing() is None
    (tmp_path / HALVES[1] / "rec.sport.hockey" / "100").unlink()
    assert source.missing() == f"posts in 20news-bydate-test/rec.sport.hockey of {tmp_path}"


@pytest.mark.parametrize(
    ("post", "rest"),
    [
        ("From: x\nLines: 2\n\nbody\n\nmore", "body\n\nmore"),
        ("From: x\nno empty line", ""),
        ("From: x\n \nbody", ""),
    ],
)
def test_the_header_ends_at_the_first_empty_line(post: str, rest: str) -> None:
    assert without_header(post) == rest


@pytest.mark.parametrize(
    ("post", "rest"),
    [
        ("body\nmore\n--\nme\n", "body\nmore"),
        ("body\n\nmore\n \nme", "body\n\nmore"),
        ("\nbody\n- -\nme\n\n", "\nbody\n- -\nme\n\n"),
        ("---\nbody", "---\nbody"),
    ],
)
def test_the_signature_begins_at_the_last_border(post: str, rest: str) -> None:
    assert without_signature(post) == rest


def test_quoted_lines_and_their_introductions_go() -> None:
    post = "In article <1>\nA writes:\n> a\n| b\n > c\nas he says: d\nquoted from\nX said"
    assert without_quotations(post) == " > c\nquoted from\nX said"


@given(post=POSTS)
@example(post="")
@example(post=POST)
@example(post="head\n\n\n\n--\n\n")
def test_the_same_is_removed_as_by_scikit_learn(post: str) -> None:
    theirs = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    assert without_header(post) == theirs.strip_newsgroup_header(post)
    assert without_signature(post) == theirs.strip_newsgroup_footer(post)
    assert without_quotations(post) == theirs.strip_newsgroup_quoting(post)


def test_the_dataset_takes_either_place_of_the_folders_and_else_the_hub(
    composed: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    listed = composed("dataset=20news")["dataset"]["sources"]
    sources = [instantiate(source, _convert_="all") for source in listed]
    assert isinstance(sources[-1], Hub)
    fill(tmp_path / "data")
    assert choose(sources) is sources[1]
    fill(tmp_path / "data" / "20news")
    assert choose(sources) is sources[0]
    assert choose(sources).load().classes == ("baseball", "hockey")
