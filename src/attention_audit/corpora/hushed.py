"""The `datasets` library without its chatter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hushed() -> Iterator[None]:
    """Progress bars on a terminal only, and no log lines: our own errors say what is wrong."""
    import datasets
    from datasets.utils import logging

    bars, level = datasets.is_progress_bar_enabled(), logging.get_verbosity()
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            datasets.enable_progress_bars()
