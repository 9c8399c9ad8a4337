"""What keeps the content of a private corpus inside its store and cache.

The store holds what it is asked to: a cell's `vocabulary.json` has the words, `instances.parquet`
the rows' own ids, and `tokens.parquet` both words and their numbers, where `save_tokens` is true.
The cache holds the tokenised texts. Nothing else has a word, text or id of such a corpus.
"""

from __future__ import annotations

import logging
import re
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent
# As repr writes text and bytes. An apostrophe within or after a word opens nothing.
_QUOTED = re.compile(r"""(?<!\w)b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""", flags=re.DOTALL)
_LONE = re.compile(r"""(?<!\w)'|\"""")


def saves_tokens(config: Mapping[str, Any]) -> bool:
    """Whether the numbers of each word go to files: as asked, else unless the corpus is private."""
    asked = config["save_tokens"]
    return bool(asked if asked is not None else not config["dataset"]["private"])


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
    """The message with '...' for each quoted part, or for all from the first if a quote is lone."""
    if not any(_LONE.search(part) for part in _QUOTED.split(message)):
        return _QUOTED.sub("'...'", message)
    # Where quoted parts begin and end is not certain.
    found = (_QUOTED.search(message), _LONE.search(message))
    return message[: min(one.start() for one in found if one)] + "'...'"


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
