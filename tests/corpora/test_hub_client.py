"""Whether the hub answers, and where its client caches."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from attention_audit.corpora.hub_client import ask, client_offline, endpoint, hub_cache, offline


def test_a_hub_that_accepts_and_stays_silent_does_not_answer() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        start = time.monotonic()
        assert ask(f"http://127.0.0.1:{silent.getsockname()[1]}", 0.3).problem == "does not answer"
        assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("status", "headers", "problem"),
    [
        (404, {"X-Error-Code": "RepoNotFound"}, ""),
        (401, {}, ""),
        (403, {}, "answers with HTTP 403, not as the hub does"),
        (503, {}, "answers with HTTP 503, not as the hub does"),
    ],
)
def test_a_refusal_in_the_hubs_way_is_an_answer(
    hub: Any, status: int, headers: dict[str, str], problem: str
) -> None:
    hub.answer = lambda path, asked: (status, b"{}", headers)
    assert ask(hub.endpoint, 2.0) == (problem, None)


def test_the_commit_is_told_with_the_answer(hub: Any) -> None:
    hub.repositories["some/reviews"] = {}
    url = f"{hub.endpoint}/api/datasets/some/reviews/revision/main"
    assert ask(url, 2.0) == ("", hub.commit("some/reviews"))


def test_addresses_and_folders_are_the_clients_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    assert endpoint() == "https://huggingface.co"
    assert hub_cache() == Path.home() / ".cache" / "huggingface" / "hub"
    assert not offline()
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    monkeypatch.setenv("HF_HOME", "/there")
    assert endpoint() == "https://mirror.example"
    assert hub_cache() == Path("/there/hub")
    monkeypatch.setenv("HF_HUB_CACHE", "/elsewhere")
    assert hub_cache() == Path("/elsewhere")


def test_an_imported_client_is_kept_off_the_network_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import huggingface_hub.constants  # noqa: F401  (it is the one that reads the variable)

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    constants = sys.modules["huggingface_hub.constants"]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with client_offline():
        assert offline()
        assert constants.HF_HUB_OFFLINE
    assert not offline()
    assert not constants.HF_HUB_OFFLINE
