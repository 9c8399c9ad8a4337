"""MIMIC-III's tables as its users have them, on notes of our own."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.corpora import streamed
from attention_audit.corpora.mimic import Mimic, pointed
from attention_audit.corpora.mimic_notes import cleaned

HEADER = (
    *("ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CHARTTIME", "STORETIME"),
    *("CATEGORY", "DESCRIPTION", "CGID", "ISERROR", "TEXT"),
)
SECRET = "zqxsecret"
LISTS = {"train": "train.csv", "dev": "dev.csv", "test": "test.csv"}
CLASSES = ("without", "with")


def note(admission: object, text: str, row: int = 1, **columns: str) -> list[str]:
    values = {
        "ROW_ID": str(row),
        "SUBJECT_ID": "7",
        "HADM_ID": str(admission),
        "CHARTDATE": "2151-08-04",
        "CATEGORY": "Discharge summary",
        "DESCRIPTION": "Report",
        "TEXT": text,
        **columns,
    }
    return [values.get(name, "") for name in HEADER]


def table(
    header: Sequence[str], rows: Sequence[Sequence[object]], quoting: int = csv.QUOTE_MINIMAL
):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n", quoting=quoting).writerows([header, *rows])
    return file.getvalue().encode()


def put(path: Path, content: bytes, gz: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    name = f"{path.name}.gz" if gz else path.name
    path.with_name(name).write_bytes(gzip.compress(content) if gz else content)


Tables = Callable[..., Path]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """Writes both tables, and lists by split, into a folder that it returns."""

    def write(
        notes: Sequence[Sequence[str]],
        codes: dict[object, Sequence[str]],
        lists: dict[str, Sequence[object]] | None = None,
        lower: bool = False,
        gz: bool = False,
        quoting: int = csv.QUOTE_MINIMAL,
    ) -> Path:
        named = ("ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE")
        rows = [(1, 7, a, n, code) for a, found in codes.items() for n, code in enumerate(found)]
        for name, header, content in (
            ("NOTEEVENTS.csv", HEADER, notes),
            ("DIAGNOSES_ICD.csv", named, rows),
        ):
            header = [column.lower() for column in header] if lower else header
            put(tmp_path / name, table(header, content, quoting), gz)
        for split, admissions in (lists or {}).items():
            content = "".join(f"{admission}\n" for admission in admissions)
            put(tmp_path / "hadm_splits" / LISTS[split], content.encode())
        return tmp_path

    return write


def rows_of(corpus: Any, split: str = "train") -> list[tuple[str, str, int]]:
    return [(row["uid"], row["text"], row["label"]) for row in corpus.splits[split]]


def anemia(folder: Path) -> Mimic:
    return Mimic(folder, ["285.1"], ["285.21", "285.22", "285.29"], ("chronic", "acute"))


def diabetes(folder: Path) -> Mimic:
    return Mimic(folder, ["250.00"], None, CLASSES, LISTS)


LISTED = {"train": [11, 12, 13], "dev": [21, 22], "test": [31]}


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
def test_the_listed_admissions_and_their_diagnosis(tables, lower, gz, quoting) -> None:
    codes = {a: ["4019", "25000"] if a % 2 else ["V4581"] for a in (11, 12, 13, 21, 22, 31, 99)}
    notes = [note(a, f"text of {a}") for a in (31, 99, 22, 21, 13, 12, 11)]
    folder = tables(notes, codes, LISTED, lower=lower, gz=gz, quoting=quoting)
    reader = diabetes(folder)
    assert reader.missing() is None
    corpus = reader.load()
    assert corpus.classes == CLASSES
    assert corpus.source == "MIMIC-III tables (6 admissions)"
    assert corpus.dropped == {"train": {}, "dev": {}, "test": {}}
    assert corpus.differs == ""
    assert {split: rows_of(corpus, split) for split in LISTED} == {
        split: [(str(a), f"text of {a}", a % 2) for a in admissions]
        for split, admissions in LISTED.items()
    }


def test_acute_against_chronic(tables) -> None:
    codes = {
        1: ["2851"],
        2: ["4019", "28521"],
        10: ["28522"],
        3: ["28529", "2851"],
        4: ["2850"],
        5: ["28520", "2859"],
        6: ["2851"],
        7: [""],
    }
    corpus = anemia(tables([note(a, f"t{a}") for a in (10, 1, 2, 3, 4, 5, 7)], codes)).load()
    assert rows_of(corpus) == [("1", "t1", 1), ("2", "t2", 0), ("10", "t10", 0)]
    assert list(corpus.splits) == ["train"]
    assert corpus.dropped == {"train": {"both classes": 1, "no discharge summary": 1}}


def test_what_is_no_summary_of_a_wanted_admission_is_left_out(tables) -> None:
    notes = [
        note(1, "kept"),
        note(1, "wrong", ISERROR="1"),
        note(1, "nursing", CATEGORY="Nursing/other"),
        note("", "of no admission"),
        note(9, "of an admission of no interest"),
        note(2, "   \n"),
        note(3, "a mistake", ISERROR="1"),
    ]
    codes = {1: ["25000"], 2: ["4019"], 3: ["4019"], 9: ["25000"], 11: ["4019"]}
    lists = {"train": [1, 2, 3, 4], "dev": [11], "test": [12]}
    corpus = diabetes(tables(notes, codes, lists)).load()
    assert rows_of(corpus) == [("1", "kept", 1), ("2", "", 0)]
    assert corpus.dropped == {
        "train": {"no diagnosis": 1, "no discharge summary": 1},
        "dev": {"no discharge summary": 1},
        "test": {"no diagnosis": 1},
    }


def test_reports_stand_before_addenda_each_by_date(tables) -> None:
    late, early = "2151-09-01", "2151-08-01"
    add = {"DESCRIPTION": "Addendum"}
    notes = [
        note(1, "addendum 4", 12, CHARTDATE=late, **add),
        note(1, "addendum 3", 9, CHARTDATE=late, **add),
        note(1, "addendum 2", 50, CHARTDATE=early, CHARTTIME=f"{early} 20:00:00", **add),
        note(1, "addendum 1", 60, CHARTDATE=early, CHARTTIME=f"{early} 08:00:00", **add),
        note(2, "another one's"),
        note(1, "report 2", 70, CHARTDATE=late),
        note(1, "report 1", 80, CHARTDATE=early),
    ]
    corpus = anemia(tables(notes, {1: ["2851"], 2: ["28521"]})).load()
    whole = "report 1 report 2 addendum 1 addendum 2 addendum 3 addendum 4"
    assert rows_of(corpus) == [("1", whole, 1), ("2", "another one's", 0)]


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("block", [1 << 11, 3001, 1 << 14, 1 << 22])
def test_quotes_and_line_ends_within_a_text_survive_block_borders(
    tables, monkeypatch, block: int, gz: bool
) -> None:
    draw = random.Random(block)
    pieces = ["a", "b ", "\n", "\r\n", '"', '""', '"\n"', ",", '",\n1,2,3,"', "'", "é", "\n\n\n"]
    texts = ["".join(draw.choices(pieces, k=draw.randint(0, 400))) for _ in range(300)]
    monkeypatch.setattr(streamed, "_BLOCK_BYTES", block)
    codes = {a: ["2851"] for a in range(len(texts))}
    folder = tables([note(a, text) for a, text in enumerate(texts)], codes, gz=gz)
    found = {uid: text for uid, text, _ in rows_of(anemia(folder).load())}
    assert found == {str(a): cleaned(text) for a, text in enumerate(texts)}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("seen [**2151-7-16**]", "seen <de>"),
        ("Mr.[**Known lastname 123**], [**First Name8 (NamePattern2) **]x", "Mr. <de> , <de> x"),
        ("a [**Hospital\n 18**] b", "a <de> b"),
        ("[** unclosed [**Name**] and **] on", "[* unclosed <de> and *] on"),
        ("wait.... -----\n____ ?!?! ** == (()", "wait. - _ ?!?! * = ()"),
        ("two  words\r\n\r\n\tnext \u00a0one ", "two words next one"),
        ("aaa 1111 a__b", "aaa 1111 a_b"),
        (" \n ", ""),
    ],
)
def test_how_notes_are_cleaned(raw: str, expected: str) -> None:
    assert cleaned(raw) == expected


@given(st.text())
def test_cleaning_again_changes_nothing(text: str) -> None:
    once = cleaned(text)
    assert "  " not in once
    assert once == once.strip()
    if "**" not in text and "<de>" not in text:
        assert cleaned(once) == once


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        *(("25000", "250.00"), ("2851", "285.1"), ("042", "042"), ("0389", "038.9")),
        *(("E8889", "E888.9"), ("E888", "E888"), ("V4581", "V45.81"), ("V08", "V08")),
        *((" 25000 ", "250.00"), ("250.00", "250.00"), ("", "")),
    ],
)
def test_codes_with_their_point(code: str, expected: str) -> None:
    assert pointed(code) == expected


def test_what_is_missing_is_said(tables, tmp_path: Path) -> None:
    phrase = diabetes(tmp_path).missing()
    for name in ("NOTEEVENTS.csv(.gz) and DIAGNOSES_ICD.csv(.gz)", *LISTS.values(), "hadm_splits"):
        assert name in phrase
    tables([], {}, gz=True)
    assert anemia(tmp_path).missing() is None
    assert diabetes(tmp_path).missing().startswith("the admission lists train.csv, dev.csv, ")
    for name in LISTS.values():
        put(tmp_path / name, b"1\n")
    reader = diabetes(tmp_path)
    assert reader.missing() is None
    names = [path.name for path in reader.files()]
    assert names == ["NOTEEVENTS.csv.gz", "DIAGNOSES_ICD.csv.gz", *LISTS.values()]


def test_identity_names_what_changes_rows_and_no_path(tmp_path: Path) -> None:
    identity = diabetes(tmp_path).identity()
    assert str(tmp_path) not in str(identity)
    assert identity == diabetes(tmp_path / "elsewhere").identity()
    others = [
        anemia(tmp_path),
        Mimic(tmp_path, ["250.01"], None, CLASSES, LISTS),
        Mimic(tmp_path, ["250.00"], ["401.9"], CLASSES, LISTS),
        Mimic(tmp_path, ["250.00"], None, ("no", "yes"), LISTS),
        Mimic(tmp_path, ["250.00"], None, CLASSES, LISTS | {"dev": "other.csv"}),
    ]
    assert all(other.identity() != identity for other in others)


def test_every_listed_admission_needs_a_list(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="negative: null means every other listed admission"):
        Mimic(tmp_path, ["250.00"], None, CLASSES)


GOOD = [note(a, f"{SECRET} {a}") for a in range(1, 2000)]
CODES = {a: ["2851", "28521"][a % 2 : a % 2 + 1] for a in range(1, 2000)}


def broken(content: bytes, how: str) -> bytes:
    lines = content.split(b"\n")
    return {
        "another header": b"a,b,c\n" + content,
        "no header": b"\n".join(lines[1:]),
        "empty": b"",
        "latin-1": content.replace(SECRET.encode(), "zqxécret".encode("latin-1")),
        "more fields": b"\n".join([*lines[:700], lines[700] + b",x", *lines[701:]]),
        "fewer fields": content[: content.rindex(b",,,")],
        "date": content.replace(b"2151-08-04", b"8/4/51"),
        "demo": lines[0] + b"\n",
    }[how]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("another header", "its first row has 3 fields, none of them named HADM_ID or DESCRIPTION"),
        ("no header", "its first row has 11 fields, none of them named"),
        ("empty", "its first row has 0 fields"),
        ("latin-1", "not UTF-8: line 2, byte .* is 0xe9; convert"),
        ("more fields", r"row 701 \(the header is row 1\) has 12 fields, expected 11; is it cut"),
        ("fewer fields", r"row 2000 \(the header is row 1\) has 8 fields, expected 11; is it cut"),
        ("date", "CHARTDATE '8/4/51', expected YYYY-MM-DD"),
        ("demo", "holds no discharge summary of the 1999 admissions .* the public demo has none"),
    ],
)
@pytest.mark.parametrize("gz", [False, True])
def test_a_broken_table_is_one_line_that_quotes_no_note(tables, how, message, gz) -> None:
    folder = tables(GOOD, CODES)
    path = folder / "NOTEEVENTS.csv"
    content = broken(path.read_bytes(), how)
    path.unlink()
    put(path, content, gz)
    with pytest.raises(ValueError, match=message) as caught:
        anemia(folder).load()
    said = str(caught.value)
    assert said.startswith(f"{path}{'.gz' if gz else ''}: ")
    assert "\n" not in said
    assert "zqx" not in said
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("how", ["cut short", "not gzip", "first bytes only"])
def test_a_broken_gzip_file_is_one_line(tables, how: str) -> None:
    path = tables(GOOD, CODES, gz=True) / "NOTEEVENTS.csv.gz"
    content = path.read_bytes()
    cut = {
        "cut short": content[:-2000],
        "not gzip": b"plain text",
        "first bytes only": content[:15],
    }
    path.write_bytes(cut[how])
    with pytest.raises(ValueError, match=r"NOTEEVENTS\.csv\.gz: broken gzip file; fetch it again$"):
        anemia(path.parent).load()


def test_a_quote_that_is_never_closed_is_one_line(tables, monkeypatch) -> None:
    monkeypatch.setattr(streamed, "_BLOCK_BYTES", 1 << 12)
    folder = tables([note(1, SECRET * 2000, ISERROR='"'), *GOOD], CODES)
    path = folder / "NOTEEVENTS.csv"
    path.write_bytes(path.read_bytes().replace(b'""""', b'"'))
    with pytest.raises(ValueError, match=r"a row is longer than 4 MB|has \d+ fields") as caught:
        anemia(folder).load()
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("HADM_ID\n1\n", "train.csv: line 1 is 'HADM_ID', expected an admission's number"),
        ("1\n\n2.0\n", "line 3 is '2.0'"),
        ("1\n1\n", r"train\.csv, dev\.csv, test\.csv: 1 admissions are listed more than once"),
        ("21\n", "1 admissions are listed more than once"),
    ],
)
def test_a_broken_list_is_one_line(tables, content: str, message: str) -> None:
    folder = tables([note(1, "t")], {1: ["25000"]}, LISTED)
    put(folder / "hadm_splits" / "train.csv", content.encode())
    with pytest.raises(ValueError, match=message):
        diabetes(folder).load()


def test_a_list_from_windows(tables) -> None:
    folder = tables([note(1, "t")], {1: ["25000"]}, LISTED)
    put(folder / "hadm_splits" / "train.csv", b"\xef\xbb\xbf1\r\n\r\n2\r\n")
    assert rows_of(diabetes(folder).load()) == [("1", "t", 1)]


def test_codes_of_another_kind_are_one_line(tables) -> None:
    folder = tables([note(1, "t")], {1: ["D62"]})
    with pytest.raises(ValueError, match=r"no admission has a diagnosis among 285\.1, 285\.21, "):
        anemia(folder).load()


def test_the_notes_leave_no_file_behind(tables, tmp_path: Path, monkeypatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    folder = tables(GOOD, CODES)
    corpus = anemia(folder).load()
    assert len(corpus.splits["train"]) == 1999
    del corpus
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("name", ["diabetes", "anemia"])
def test_the_configurations_fit_the_reader(composed, tables, name: str, tmp_path: Path) -> None:
    dataset = composed(f"dataset={name}", f"dataset.folder={tmp_path}")["dataset"]
    [source] = instantiate(dataset["sources"], _convert_="all")
    assert dataset["private"] is True
    for split, file in source.lists.items():
        put(tmp_path / "hadm_splits" / file, f"{['train', 'dev', 'test'].index(split)}\n".encode())
    codes = {0: ["25000", "2851"], 1: ["28529"], 2: ["25001", "28522"]}
    tables([note(a, f"t{a}") for a in codes], codes)
    assert source.missing() is None
    corpus = source.load()
    labels = {uid: label for split in corpus.splits for uid, _, label in rows_of(corpus, split)}
    assert labels == {"0": 1, "1": 0, "2": 0}
    assert len(corpus.splits) == (3 if name == "diabetes" else 1)


@pytest.mark.parametrize("copy", ["mimic3_style_uppercase", "mimic-iii-clinical-database-demo-1.4"])
def test_the_public_demo_has_codes_and_no_notes(data: Path, copy: str) -> None:
    reader = anemia(data / "mimic_demo" / copy)
    assert reader.missing() is None
    with pytest.raises(ValueError, match=r"no discharge summary of the \d\d admissions"):
        reader.load()


def test_the_real_lists(data: Path, tables) -> None:
    folder = tables([note(1, "t")], {1: ["25000"]})
    lists = {split: f"{split}_50_hadm_ids.csv" for split in LISTS}
    for name in lists.values():
        put(folder / name, (data / "mimic_demo" / "hadm_splits" / name).read_bytes())
    corpus_of = Mimic(folder, ["250.00"], None, CLASSES, lists)
    listed = corpus_of._admissions({})
    assert {split: len(found) for split, found in listed.items()} == {
        "train": 8066,
        "dev": 1573,
        "test": 1729,
    }
