"""What all pages share: their look, what may run in them, and data that can end no element."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any


def resource(package: str, name: str) -> str:
    """The text of a file that stands beside a package's modules."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def look() -> str:
    """The style sheet that every page begins with."""
    return resource(__package__, "look.css")


def ink() -> str:
    """The script that says which ink can be read on a colour."""
    return resource(__package__, "ink.js")


def digest(text: str) -> str:
    """A script or style as a content policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def harmless(data: Any) -> str:
    """JSON in which nothing can end the element that it stands in, nor a script's line.

    Raises:
        ValueError: NaN or an infinite number, which no browser reads.
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
