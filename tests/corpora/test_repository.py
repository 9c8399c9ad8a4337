"""What is known of a repository without its rows: its commit, and whether it is in reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attention_audit.corpora.repository import Repository

COMMIT, OTHER = "a" * 40, "b" * 40


def repository(revision: str = "main", path: str = "some/reviews") -> Repository:
    return Repository(path, None, revision, 2.0)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The client's cache of the repository."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "hub" / "datasets--some--reviews"


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (200, b"<html>please log in</html>", "does not answer as the hub does"),
        (200, b"{}", "does not answer as the hub does"),
        (200, b"[]", "does not answer as the hub does"),
        (404, b"blocked", "answers with HTTP 404, not as the hub does"),
    ],
)
def test_whoever_stands_in_between_is_not_taken_for_the_hub(
    hub: Any, monkeypatch: pytest.MonkeyPatch, cache: Path, status: int, body: bytes, problem: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    hub.answer = lambda path, asked: (status, body, {})
    assert f"{hub.endpoint} {problem}" in str(repository().missing())
    assert repository().commit is None


def test_a_hub_without_such_a_repository_answers(
    hub: Any, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    assert repository().missing() is None
    assert repository().commit is None
    hub.repositories["some/reviews"] = {"README.md": b"reviews"}
    assert repository().commit == hub.commit("some/reviews")


def test_only_tables_of_this_revision_count_as_cached(cache: Path) -> None:
    assert not repository().cached()
    write(cache / "snapshots" / COMMIT / "README.md")
    assert not repository().cached()
    write(cache / "snapshots" / COMMIT / "data" / "train.parquet")
    assert repository().cached()
    assert repository(COMMIT).cached()
    assert not repository(OTHER).cached()
    write(cache / "refs" / "main", OTHER)
    assert not repository().cached()
    assert repository().commit == OTHER


@pytest.mark.parametrize("path", ["no address", "a/b/c", "./reviews", "reviews.csv?", "", "/a"])
def test_what_is_no_repository_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"expected OWNER/NAME .*dataset=files"):
        repository(path=path)


def test_a_local_folder_is_not_read_in_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "some" / "reviews" / "train.csv", "text,label\na,0\nb,1\n")
    with pytest.raises(ValueError, match="there is a local 'some/reviews'"):
        repository().tables()
