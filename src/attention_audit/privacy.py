"""What keeps the content of a private corpus inside its store and cache, and secrets out of them.

The store holds what it is asked to: a cell's `vocabulary.json` has the words, `instances.parquet`
the rows' own ids, and `tokens.parquet` both words and their numbers, where `save_tokens` is true.
The cache holds the tokenised texts. Nothing else has a word, text or id of such a corpus.
"""

from __future__ import annotations

import logging
import os
import re
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent
# A user's part of an address, with a password; and a token of the hub.
_PASSWORD = re.compile(r"(?<=://)[^/\s@:]*:[^/\s@]+(?=@)")
_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{20,}")
# Variables whose values are nobody else's, and the length from which a value is no common word.
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", flags=re.IGNORECASE)
_SHORTEST = 12
# As repr writes text and bytes. An apostrophe within or after a word opens nothing.
_QUOTED = re.compile(r"""(?<!\w)b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""", flags=re.DOTALL)
_LONE = re.compile(r"""(?<!\w)'|\"""")


def saves_tokens(config: Mapping[str, Any]) -> bool:
    """Whether the numbers of each word go to files: as asked, else unless the corpus is private."""
    asked = config["save_tokens"]
    return bool(asked if asked is not None else not config["dataset"]["private"])


def refuse_secrets(config: Mapping[str, Any]) -> None:
    """Refuse a resolved configuration that holds a secret, which would be stored and sent to W&B.

    Raises:
        ValueError: names the key, never the value.
    """
    for key, text in _texts(config):
        if without_secrets(text) != text:
            raise ValueError(
                f"{key}: holds a password or token, which would be stored with the cell; leave it "
                "out: WANDB_API_KEY and HF_TOKEN are read from the environment"
            )


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a configuration, its keys too, by place."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield key or "a key", str(name)
            yield from _texts(inner, f"{key}.{name}".removeprefix("."))
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{key}[{number}]")


def without_secrets(text: str) -> str:
    """The text with *** for passwords in addresses, tokens, and values of secret variables."""
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST:
            text = text.replace(value, "***")
    return _TOKEN.sub("***", _PASSWORD.sub("***", text))


@contextmanager
def discreet(private: bool) -> Iterator[None]:
    """Around work on a corpus: where it is private, no exception or log line quotes it.

    A ValueError or OSError that this package raised keeps its message with all that is quoted in
    it blanked: our messages put every value from data in quotes. Of any other exception only its
    type and its place are kept. Warnings are ignored, and of log lines only our own are written.
    """
    if not private:
        yield
        return
    try:
        with warnings.catch_warnings(), _only_our_lines():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:  # noqa: BLE001 (all of them are raised, in other words)
        raise _without_data(error) from None


def blanked(message: str) -> str:
    """The message with '...' for each quoted part; for all from the first where that is unsure.

    Where a value holds quotes itself, repr's are double or escaped, and one quote too many in our
    own words would turn what is quoted and what is not inside out.
    """
    outside = _QUOTED.split(message)
    if '"' not in message and not any(_LONE.search(part) or "\\" in part for part in outside):
        return _QUOTED.sub("'...'", message)
    found = (_QUOTED.search(message), _LONE.search(message))
    starts = [one.start() for one in found if one]
    return message[: min(starts)] + "'...'" if starts else message


def _without_data(error: Exception) -> Exception:
    *_, last = traceback.extract_tb(error.__traceback__)
    ours = _PACKAGE in Path(last.filename).parents
    if isinstance(error, OSError) and error.errno is not None:
        # The system's own words, with at most a file's name.
        return OSError(error.errno, error.strerror, error.filename)
    if ours and (type(error) is ValueError or isinstance(error, OSError)):
        return type(error)(blanked(str(error)))
    return RuntimeError(
        f"{type(error).__name__} in {last.filename}:{last.lineno}; its message is withheld, for it "
        "could quote the private corpus"
    )


@contextmanager
def _only_our_lines() -> Iterator[None]:
    handlers = logging.getLogger().handlers[:]
    for handler in handlers:
        handler.addFilter(_is_ours)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(_is_ours)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.startswith(__package__)
