"""What stands around every page of the report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from attention_audit.report.document import framed

# Only files of the report's own folder, whatever a page came to hold.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
PAGES = {"index.html": "Overview", "plots.html": "Plots", "instances.html": "Instances"}


def page(name: str, scripts: Sequence[str], body: str) -> str:
    """The HTML of a page.

    Args:
        name: its file.
        scripts: files that it runs, in this order.
        body: its content, escaped.
    """
    links = "".join(
        f'<a href="{file}"{" aria-current=page" if file == name else ""}>{title}</a>'
        for file, title in PAGES.items()
    )
    run = "\n".join(f'<script src="{escape(script)}"></script>' for script in scripts)
    body = f"""<header>
<h1>May attention be read as an explanation?</h1>
<nav aria-label="Pages of the report">{links}</nav>
</header>
<main>
<noscript><p class="alarm">What can be chosen or opened here needs the page's scripts, which are
switched off.</p></noscript>
{body}
</main>
{run}"""
    style = '<link rel="stylesheet" href="report.css">'
    return framed(f"{PAGES[name]}: attention on trial", POLICY, style, body)
