"""One HTML file that asks nothing of the network: its frame, its look, and what may run in it.

Only the page's own style and script are allowed, by their hashes, whatever else it came to hold.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

GUARD = (
    "The figure shows what the attention computed. It does not show what the prediction rests on."
)


def document(title: str, body: str, style: str = "", script: str = "") -> str:
    """A page in the common look.

    Args:
        title: plain text; it is escaped here.
        body: HTML, in which what is not ours is escaped.
        style: beside the common one.
        script: runs at the end of the body.
    """
    whole = look() + style
    ours = "'none'" if not script else _hash(script)
    policy = (
        f"default-src 'none'; script-src {ours}; style-src {_hash(whole)}; "
        "base-uri 'none'; form-action 'none'"
    )
    run = f"<script>{script}</script>" if script else ""
    return framed(title, policy, f"<style>{whole}</style>", body + run)


def framed(title: str, policy: str, style: str, body: str) -> str:
    """What stands around every page.

    Args:
        title: plain text; it is escaped here.
        policy: what may be loaded and run, whatever the page came to hold.
        style: the element that brings the style sheet.
        body: HTML, in which what is not ours is escaped.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
{style}
</head>
<body>
{body}
</body>
</html>
"""


def resource(package: str, name: str) -> str:
    """The text of a file that lies beside a package's modules."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def harmless(data: Any) -> str:
    """JSON in which nothing can end the element that it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def look() -> str:
    """The style sheet that every page begins with."""
    return resource(__package__, "look.css")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def check_place(option: str, path: Path, inputs: Collection[Path] = ()) -> None:
    """Refuse a place where no page can be written, before any work.

    Args:
        option: of the command line, that named it.
        path: the page's file.
        inputs: files that must stay.

    Raises:
        ValueError, FileNotFoundError: another ending, a folder, an input, or no folder to be in.
    """
    if path.suffix != ".html":
        raise ValueError(f"{option} {path}: expected a name that ends with .html")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} {path}: no such folder as {path.parent}")
    if path.is_dir() or path in inputs:
        raise ValueError(
            f"{option} {path}: found a folder or the input; expected a name for the page"
        )
