"""The `datasets` library, and the hub's client under it, without their chatter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hushed() -> Iterator[None]:
    """Progress bars on a terminal only, and no log lines: our own errors say what is wrong."""
    import datasets
    from datasets.utils import logging
    from huggingface_hub.utils import logging as client_logging

    loggers = {log: log.get_verbosity() for log in (logging, client_logging)}
    bars = datasets.is_progress_bar_enabled()
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    for log in loggers:
        log.set_verbosity(log.CRITICAL)
    try:
        yield
    finally:
        for log, level in loggers.items():
            log.set_verbosity(level)
        if bars:
            datasets.enable_progress_bars()
