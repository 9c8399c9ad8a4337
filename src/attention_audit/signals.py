"""SIGTERM ends the program as Ctrl-C does: through its `finally` blocks."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

STATUS = 128 + signal.SIGTERM


def end_on_sigterm() -> None:
    """Let SIGTERM raise `SystemExit(143)` in the main thread; call it there."""
    signal.signal(signal.SIGTERM, _end)


def _end(signum: int, frame: FrameType | None) -> None:
    raise SystemExit(STATUS)


def sigterm_as_it_is() -> Callable[..., None]:
    """A function that puts back what SIGTERM does now, if that was chosen by somebody.

    Lightning replaces it, and on the signal waits for the end of a batch, which in an analysis
    never comes. A scheduler's own handler must be the one that is called, too.
    """
    handler: Any = signal.getsignal(signal.SIGTERM)

    def put_back(*_: Any) -> None:
        if callable(handler) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)

    return put_back
