"""The hub's client: where it goes, where it caches, and whether the hub answers.

By the client's own rules and without importing it, which takes seconds.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple


class Answer(NamedTuple):
    """The hub's answer, or what is wrong with it: "" if nothing is."""

    problem: str
    commit: str | None = None


def ask(url: str, seconds: float) -> Answer:
    """What the hub says of a revision, within so many seconds, name resolution included."""
    result: list[Answer] = []
    # In a thread, because no timeout bounds the name server's silence.
    probe = threading.Thread(target=lambda: result.append(_ask(url, seconds)), daemon=True)
    probe.start()
    probe.join(seconds)
    return result[0] if result else Answer("does not answer")


def _ask(url: str, seconds: float) -> Answer:
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            about = json.load(answer)
    except urllib.error.HTTPError as error:
        # The hub, unlike whoever stands in between, says why: it has no such repository, say, or
        # not for somebody unknown.
        known = error.code == 401 or "X-Error-Code" in error.headers
        return Answer("" if known else f"answers with HTTP {error.code}, not as the hub does")
    except OSError:
        return Answer("does not answer")
    except (HTTPException, ValueError):
        return Answer("does not answer as the hub does")
    commit = about.get("sha") if isinstance(about, dict) else None
    return Answer("" if commit else "does not answer as the hub does", commit)


def endpoint() -> str:
    """The hub's address, or a mirror's."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def shown_endpoint() -> str:
    """The same for messages: without the name and password that a mirror's address may hold."""
    scheme, parted, rest = endpoint().partition("://")
    return f"{scheme}{parted}{rest.rpartition('@')[2]}"


def offline() -> bool:
    """Whether the user keeps the client off the network."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def hub_cache() -> Path:
    """The folder of what the client has downloaded."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("HF_HOME", f"{cache}/huggingface")
    return Path(os.environ.get("HF_HUB_CACHE", f"{home}/hub")).expanduser()


@contextmanager
def client_offline() -> Iterator[None]:
    """Spare the client its own retries: it reads the variable only when it is imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    _tell_client(offline=True)
    try:
        yield
    finally:
        del os.environ["HF_HUB_OFFLINE"]
        _tell_client(offline=False)


def _tell_client(offline: bool) -> None:
    for name in ("huggingface_hub.constants", "datasets.config"):
        if name in sys.modules:
            vars(sys.modules[name])["HF_HUB_OFFLINE"] = offline
