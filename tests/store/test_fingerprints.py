"""Who a corpus is: its files' content."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from attention_audit.store import fingerprint, fingerprints


def corpus(folder: Path, texts=("one", "two")) -> list[Path]:
    folder.mkdir(parents=True)
    paths = [folder / f"{i}.txt" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
    return paths


def test_fingerprint_ignores_order_and_place(tmp_path):
    here, there = corpus(tmp_path / "a"), corpus(tmp_path / "b" / "c")
    prints = [fingerprint({"v": 1}, p, tmp_path / "k") for p in (here, here[::-1], there, 2 * here)]
    assert len(set(prints)) == 1
    assert re.fullmatch("[0-9a-f]{64}", prints[0])


def test_fingerprint_sees_content_names_and_identity(tmp_path):
    first = corpus(tmp_path / "a")
    renamed = corpus(tmp_path / "c")
    renamed[1] = renamed[1].rename(renamed[1].with_name("other.txt"))
    cases = [
        ({"v": 1}, first),
        ({"v": 2}, first),
        ({"v": 1}, first[:1]),
        ({"v": 1}, corpus(tmp_path / "b", ("one", "too"))),
        ({"v": 1}, renamed),
        ({"v": 1}, []),
    ]
    assert len({fingerprint(i, p, tmp_path / "k") for i, p in cases}) == len(cases)


def test_fingerprint_reads_unchanged_files_once(tmp_path, monkeypatch):
    paths = corpus(tmp_path / "a", [str(i) for i in range(500)])
    first = fingerprint({}, paths, tmp_path / "k")
    monkeypatch.setattr(fingerprints, "hash_file", lambda path: pytest.fail(f"read {path} again"))
    assert fingerprint({}, paths, tmp_path / "k") == first
    [entry] = (tmp_path / "k").iterdir()
    assert entry.stat().st_size < 500


def test_fingerprint_notices_a_change_and_a_touch(tmp_path, names_in):
    paths = corpus(tmp_path / "a")
    first = fingerprint({}, paths, tmp_path / "k")
    os.utime(paths[0], (2e9 - 1e9 + 5, 1e9 + 5))
    assert fingerprint({}, paths, tmp_path / "k") == first
    paths[0].write_text("uno")
    assert fingerprint({}, paths, tmp_path / "k") != first
    assert len(names_in(tmp_path / "k")) == 1


def test_fingerprint_does_not_trust_a_file_that_is_just_being_written(tmp_path):
    path = corpus(tmp_path / "a", ["one"])[0]
    os.utime(path)
    now = path.stat().st_mtime_ns
    first = fingerprint({}, [path], tmp_path / "k")
    path.write_text("two")
    os.utime(path, ns=(now, now))  # same size, same clock tick
    assert fingerprint({}, [path], tmp_path / "k") != first


def test_fingerprint_of_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.txt is missing") as caught:
        fingerprint({}, [*corpus(tmp_path / "a"), tmp_path / "gone.txt"], tmp_path / "k")
    assert "\n" not in str(caught.value)
