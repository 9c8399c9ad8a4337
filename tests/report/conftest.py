"""A browser to open pages in, which lets no fault of theirs pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


# Not of the session: while Playwright is started, asyncio has a running loop in this thread, which
# other tests' programs could not bear.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium of this machine, as Playwright's `Browser`."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is on the path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium's sandbox asks for rights that containers and root do not have.
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file as Playwright's `Page`.

    At the test's end no opened page may have said anything on its console, raised, shown a dialog
    or asked for anything but itself.
    """
    contexts, faults = [], []

    def fault(kind: str) -> Callable[[Any], None]:
        return lambda found: faults.append(f"{kind}: {found}")

    def ask(request: Any) -> None:
        if not request.is_navigation_request() and not request.url.startswith(("blob:", "data:")):
            faults.append(f"request: {request.url}")

    def dismiss(dialog: Any) -> None:
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open_file(path: Path, width: int = 1200, dark: bool = False) -> Any:
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", fault("error"))
        page.on("request", ask)
        page.on("dialog", dismiss)
        page.goto(path.resolve().as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert faults == []
