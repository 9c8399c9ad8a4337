"""No word, text or id of a private corpus reaches W&B, the terminal, a log or a shared table."""

from __future__ import annotations

import csv
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attention_audit.callbacks import Permutation
from attention_audit.corpora.corpus import Corpus, Example, labelled
from attention_audit.privacy import blanked, discreet, saves_tokens

# Long, as must be a number that is looked for: W&B's files hold many letters and digits by chance.
MARK = "zqxjvk"
ADMISSIONS = range(98_700_001, 98_700_081)
# What the store keeps of a private corpus, and the cache.
KEPT = ("vocabulary.json", "instances.parquet")


class Reader:
    """A corpus whose every word and id is marked; `fault` is what is wrong with it."""

    def __init__(self, fault: str | None = None) -> None:
        self.fault = fault

    def missing(self) -> str | None:
        return None

    def files(self) -> list[Path]:
        return []

    def identity(self) -> dict[str, Any]:
        return {"fault": self.fault}

    def load(self) -> Corpus:
        if self.fault == "bare":
            raise pa.ArrowInvalid(f"Expected 2 columns, got 3: {MARK}id7,{MARK}word")
        if self.fault == "noisy":
            warnings.warn(f"found {MARK}word", stacklevel=1)
            logging.getLogger("some.package").error("found %s", f"{MARK}word")
        labels = {"label": 7}
        rows = [
            Example(f"{MARK}id{n}", self._text(n), labels.get(self.fault or "", n % 2))
            for n in range(80)
        ]
        return Corpus({"train": labelled(rows)}, ("no", "yes"), "a test")

    def _text(self, n: int) -> str:
        return " ".join(f"{MARK}{n % 2}w{(n * k) % 11}" for k in range(3, 9))


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_AUDIT_CACHE", str(tmp_path / "cache"))
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "wandb"))
    module = ModuleType("marked")
    module.Reader = Reader  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "marked", module)


@pytest.fixture
def cell(program: Callable[..., Any], tiny: tuple[str, ...]) -> Callable[..., Any]:
    """Runs a small cell of the marked corpus, with W&B offline; `fault` is the reader's."""

    def run(*more: str, fault: str = "null", private: bool = True) -> Any:
        corpus = [
            *("dataset=planted", "dataset.name=marked", f"dataset.private={str(private).lower()}"),
            f"dataset.sources=[{{_target_: marked.Reader, fault: {fault}}}]",
        ]
        small = ("dataset.hidden=4", "dataset.embedding=4", "encoder=average", "analysis=paper")
        return program(*corpus, *small, *tiny, "logger=wandb", *more)

    return run


def folder(root: Path, dataset: str = "marked") -> Path:
    [found] = (root / "multirun" / dataset).glob("*/*-*")
    return found


def strings_of(path: Path) -> str:
    """What a file says: a table's cells (which are compressed on disk), else its bytes."""
    if path.suffix == ".parquet":
        return str(pq.read_table(path).to_pydict())
    return path.read_bytes().decode("latin-1")


def marked(root: Path) -> set[str]:
    """The files below `multirun` that hold a mark, by name."""
    files = (path for path in (root / "multirun").rglob("*") if path.is_file())
    return {path.name for path in files if MARK in strings_of(path)}


def run_records(found: Path, read: Callable[[Path], list[Any]]) -> str:
    return "".join(str(record) for path in found.rglob("*.wandb") for record in read(path))


def test_a_whole_cell_keeps_a_private_corpus_to_itself(cell, tmp_path, wandb_records) -> None:
    outcome = cell()
    assert outcome.code == 0, outcome.err
    assert MARK not in outcome.out + outcome.err
    found = folder(tmp_path)
    records = run_records(found, wandb_records)
    assert "accuracy" in records
    assert MARK not in records
    assert marked(tmp_path) <= {*KEPT}
    assert (found / "log.txt").stat().st_size > 100
    assert not list(found.rglob("tokens.parquet"))
    # What each table may hold: only the cell's own has the rows' ids, and nothing has words.
    assert MARK in strings_of(found / "instances.parquet")
    for path in (found / "analyses").glob("*/instances.parquet"):
        assert MARK not in strings_of(path)
    assert len(list((found / "analyses").iterdir())) == 3


def test_without_private_the_same_cell_would_be_seen(cell, tmp_path) -> None:
    """So that the scan is known to find what is there."""
    assert cell(private=False).code == 0
    sent = {name for name in marked(tmp_path) if name.startswith("examples")}
    assert len(sent) == 1  # W&B's table of them
    assert {"tokens.parquet", *KEPT, *sent} == marked(tmp_path)
    failed = cell("seed=1", fault="label", private=False)
    assert f"{MARK}id0" in failed.err
    assert {"traceback.txt", "status.json"} <= marked(tmp_path)


FAILURES = {
    "label": "row '...': label 7, expected 0 to 1",
    "bare": "ArrowInvalid in ",
    "vectors": "vocabulary words (such as '...', '...', '...')",
    "diverged": "diverged: after epoch 1",
    "analysis": "KeyError in ",
}


@pytest.mark.parametrize("sweep", [False, True])
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_cell_keeps_it_too(
    cell, tmp_path, wandb_records, monkeypatch, failure: str, sweep: bool
) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError(f"{MARK}0w3")

    (tmp_path / "vectors.txt").write_text("cat 1 2\n")
    more = {
        "vectors": ("vectors=glove", f"vectors.path={tmp_path / 'vectors.txt'}"),
        "diverged": ("training.learning_rate=1e30",),
    }
    if failure == "analysis":
        monkeypatch.setattr(Permutation, "analyse", broken)
    fault = failure if failure in ("label", "bare") else "null"
    outcome = cell(*more.get(failure, ()), *(["-m"] if sweep else []), fault=fault)
    assert outcome.code != 0
    said = " ".join((outcome.out + outcome.err).split())
    found = folder(tmp_path)
    traceback = (found / "traceback.txt").read_text()
    assert FAILURES[failure] in said
    assert FAILURES[failure] in traceback
    assert MARK not in said + traceback + run_records(found, wandb_records)
    assert marked(tmp_path) <= {*KEPT}


def test_warnings_and_lines_of_libraries_are_not_heard(cell, tmp_path) -> None:
    outcome = cell(fault="noisy")
    assert outcome.code == 0, outcome.err
    assert MARK not in outcome.out + outcome.err
    assert "train: " in outcome.out
    assert marked(tmp_path) <= {*KEPT}


def test_tokens_are_written_when_asked_and_then_only_what_lacks_them_is_made(
    cell, tmp_path
) -> None:
    assert cell().code == 0
    found = folder(tmp_path)
    fitted = (found / "checkpoint.ckpt").stat().st_mtime_ns
    analyses = {path.name for path in (found / "analyses").iterdir()}
    assert cell().code == 0
    assert not (found / "tokens.parquet").exists()
    assert cell("save_tokens=true").code == 0
    assert (found / "tokens.parquet").exists()
    assert (found / "checkpoint.ckpt").stat().st_mtime_ns == fitted
    more = {path.name for path in (found / "analyses").iterdir()} - analyses
    with_tokens = {path.parent.name for path in (found / "analyses").rglob("tokens.parquet")}
    assert {name.rpartition("-")[0] for name in with_tokens} == {"correlation", "adversarial"}
    assert with_tokens < more
    assert marked(tmp_path) <= {*KEPT, "tokens.parquet"}
    written = {path: path.stat().st_mtime_ns for path in found.rglob("*.parquet")}
    assert cell("save_tokens=true").code == 0
    assert written == {path: path.stat().st_mtime_ns for path in found.rglob("*.parquet")}


def test_tokens_of_a_public_corpus_can_be_left_out(cell, tmp_path) -> None:
    assert cell("save_tokens=false", private=False).code == 0
    assert not list(folder(tmp_path).rglob("tokens.parquet"))


@pytest.mark.parametrize(
    ("asked", "private", "saved"),
    [(None, False, True), (None, True, False), (True, True, True), (False, False, False)],
)
def test_when_tokens_are_saved(asked: bool | None, private: bool, saved: bool) -> None:
    assert saves_tokens({"save_tokens": asked, "dataset": {"private": private}}) is saved


def write_mimic(place: Path) -> None:
    """MIMIC-III's tables with marked notes."""
    place.mkdir(parents=True)
    header = (
        *("row_id", "subject_id", "hadm_id", "chartdate", "charttime", "storetime"),
        *("category", "description", "cgid", "iserror", "text"),
    )
    with (place / "NOTEEVENTS.csv").open("w", newline="") as file:
        notes = csv.writer(file)
        notes.writerow(header)
        for n, admission in enumerate(ADMISSIONS):
            text = f'{MARK}{n % 2}w{n % 7} "{MARK}a"\n[**{MARK}name**] ' * 4
            row = (n, 1, admission, "2101-01-01", "", "", "Discharge summary", "Report", "", "")
            notes.writerow((*row, text))
    with (place / "DIAGNOSES_ICD.csv").open("w", newline="") as file:
        codes = csv.writer(file)
        codes.writerow(("row_id", "subject_id", "hadm_id", "seq_num", "icd9_code"))
        for n, admission in enumerate(ADMISSIONS):
            codes.writerow((n, 1, admission, 1, "25000" if n % 2 else "4019"))
    parts = {"train": ADMISSIONS[:40], "dev": ADMISSIONS[40:60], "test": ADMISSIONS[60:]}
    for split, part in parts.items():
        (place / f"{split}_50_hadm_ids.csv").write_text("".join(f"{one}\n" for one in part))


@pytest.fixture
def mimic(program, tiny, tmp_path) -> Iterator[Callable[..., Any]]:
    """Runs a small cell of MIMIC-III's diabetes corpus, with vectors of its own."""
    write_mimic(tmp_path / "data" / "mimic")
    small = ("vectors=word2vec", "vectors.dimension=4", "vectors.epochs=1", "dataset.hidden=4")
    chosen = ("dataset=diabetes", f"data_dir={tmp_path / 'data'}", "dataset.text.min_df=1")
    return lambda *more: program(*chosen, *small, *tiny, "encoder=average", *more)


def mimic_marks(text: str) -> bool:
    return MARK in text or numbered(text)


def numbered(text: str) -> bool:
    return any(str(admission) in text for admission in ADMISSIONS)


def test_a_cell_of_mimic(mimic, tmp_path, wandb_records) -> None:
    outcome = mimic()
    assert outcome.code == 0, outcome.err
    found = folder(tmp_path, "diabetes")
    assert not mimic_marks(outcome.out + outcome.err)
    assert not mimic_marks(run_records(found, wandb_records))
    assert marked(tmp_path) == {"vocabulary.json"}
    texts = [path for path in found.rglob("*") if path.is_file() and path.name not in KEPT]
    for path in texts:
        if path.suffix in (".json", ".txt", ".yaml", ".csv", ".wandb", ".log"):
            assert not numbered(strings_of(path)), path


@pytest.mark.parametrize("broken", ["NOTEEVENTS.csv", "train_50_hadm_ids.csv"])
def test_a_broken_file_of_mimic(mimic, tmp_path, wandb_records, broken: str) -> None:
    path = tmp_path / "data" / "mimic" / broken
    path.write_text(path.read_text().replace("98700005", f'98700005,"{MARK}more'))
    outcome = mimic()
    assert outcome.code == 2
    assert broken in outcome.err
    found = folder(tmp_path, "diabetes")
    said = outcome.out + outcome.err + (found / "traceback.txt").read_text()
    assert not mimic_marks(said + run_records(found, wandb_records))
    assert not marked(tmp_path)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("/a/b.csv: row 'x': label 7 of 2", "/a/b.csv: row '...': label 7 of 2"),
        ("don't quote \"it's\" or 'a', it's", "don't quote '...'"),
        ("the rows' words (such as 'a', 'b')", "the rows' words (such as '...', '...')"),
        ("found ['a', 'b'], b'd' and key='e'", "found ['...', '...'], '...' and key='...'"),
        ("'ends in \\\\' and 'x'", "'...' and '...'"),
        ("nothing quoted, 5 of 7 rows", "nothing quoted, 5 of 7 rows"),
        ("2 rows; never 'closed", "2 rows; never '...'"),
        ('put quotes (") around " x"', "put quotes ('...'"),
        ("row 'a'b 'c'", "row '...'"),
        ("", ""),
    ],
)
def test_quoted_parts_are_blanked(message: str, expected: str) -> None:
    assert blanked(message) == expected


texts = st.lists(
    st.sampled_from([MARK, "'", '"', "\\", " ", "\n", "b'", ", ", "é", "(", ")"]), max_size=8
).map("".join)


@example(["\\" + MARK + "'\""], 'a lone " ')
@given(st.lists(texts, min_size=1), st.sampled_from(["", "don't ", 'a lone " ', "rows' "]))
def test_no_quoted_value_survives(values: list[str], literal: str) -> None:
    shown = ", ".join(f"{value!r} ({value.encode()!r})" for value in values)
    said = blanked(f"{literal}file x: row {values[0]!r}: found {shown}; {values}: expected others")
    assert MARK not in said


def raised(error: Exception, private: bool = True) -> BaseException:
    with pytest.raises(type(error) if not private else Exception) as caught, discreet(private):
        raise error
    return caught.value


def test_other_exceptions_keep_their_type_and_place_only() -> None:
    for error in (KeyError(MARK), UnicodeDecodeError("utf-8", b"zqx", 0, 1, MARK), OSError(MARK)):
        kept = raised(error)
        assert type(kept) is RuntimeError
        assert str(kept).startswith(f"{type(error).__name__} in {__file__}:")
        assert MARK not in str(kept)
        assert kept.__suppress_context__
    # A ValueError that is not of this package may quote anything.
    assert type(raised(ValueError(MARK))) is RuntimeError


def test_an_error_of_the_system_keeps_the_file() -> None:
    kept = raised(FileNotFoundError(2, "No such file or directory", "/a/b"))
    assert type(kept) is FileNotFoundError
    assert str(kept) == "[Errno 2] No such file or directory: '/a/b'"


def test_ends_that_are_no_errors_pass() -> None:
    for end in (KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(end)) as caught, discreet(True):
            raise end
        assert caught.value is end


def test_a_public_corpus_is_not_touched() -> None:
    error = KeyError(MARK)
    assert raised(error, private=False) is error


def test_filters_are_taken_away_again() -> None:
    handlers = logging.getLogger().handlers
    before = [handler.filters[:] for handler in handlers]
    raised(KeyError(MARK))
    assert before == [handler.filters for handler in handlers]
