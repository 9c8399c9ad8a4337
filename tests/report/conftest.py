"""A browser to open pages in, which lets no fault of theirs pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention_audit.store import Cell, Store

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
    or asked for anything but itself, and what lies in the `folder` that it may read.
    """
    contexts, faults, readable = [], [], ["blob:", "data:"]

    def fault(kind: str) -> Callable[[Any], None]:
        return lambda found: faults.append(f"{kind}: {found}")

    def ask(request: Any) -> None:
        if not request.is_navigation_request() and not request.url.startswith(tuple(readable)):
            faults.append(f"request: {request.url}")

    def dismiss(dialog: Any) -> None:
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open_file(
        path: Path,
        width: int = 1200,
        dark: bool = False,
        folder: Path | None = None,
        fragment: str = "",
    ) -> Any:
        if folder is not None:
            readable.append(f"{folder.resolve().as_uri()}/")
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", fault("error"))
        page.on("request", ask)
        page.on("dialog", dismiss)
        page.goto(path.resolve().as_uri() + fragment)
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Where the cells of `stored` are."""
    return Store(tmp_path / "multirun")


@pytest.fixture
def begun(store: Store) -> Callable[..., Cell]:
    """Makes a cell that nothing has become of yet."""

    def make(
        dataset: str = "sst", encoder: str = "lstm", attention: str = "additive", seed: int = 0
    ) -> Cell:
        names = {"dataset": dataset, "encoder": encoder, "attention": attention}
        cell = store.cell(**names, seed=seed, identity=names | {"seed": seed})
        cell.open({"dataset": {"name": dataset}, "auxiliary": None})
        cell.set_running()
        return cell

    return make


@pytest.fixture
def stored(begun: Callable[..., Cell]) -> Callable[..., Cell]:
    """Makes a finished cell of few instances; its numbers are nobody's."""

    def make(
        *names: str,
        classes: tuple[str, ...] = ("negative", "positive"),
        private: bool = False,
        differs: str = "",
        seed: int = 0,
    ) -> Cell:
        cell = begun(*names, seed=seed)
        corpus = {
            "source": f"files of {cell.dataset}",
            "differs": differs,
            "private": private,
            "classes": classes,
            "vocabulary": 16_000,
            "splits": {
                "train": {"kept": 6355, "classes": dict.fromkeys(classes, 3000)},
                "test": {"kept": 1725, "classes": dict.fromkeys(classes, 800)},
            },
        }
        settings = {"epochs": 8, "vectors": "random vectors"}
        manifest = {"role": "grid", "settings": settings, "best_epoch": 3, "corpus": corpus}
        cell.write_json("manifest", manifest)
        scores = [("accuracy", "overall", 0.8), ("f1", "1", 0.71), ("macro_f1", "overall", 0.7)]
        rows = [
            {"quantity": quantity, "klass": klass, "statistic": "value", "value": value}
            for quantity, klass, value in scores
        ]
        cell.write_json("metrics", {"summary": rows})
        cell.set_fitted()
        return cell

    return make


@pytest.fixture
def rows() -> Callable[..., list[dict[str, Any]]]:
    """Mean, std and share of significant ones, as an analysis summarises a quantity."""

    def make(quantity: str, mean: float, klass: str = "overall") -> list[dict[str, Any]]:
        counts = {"n": 40, "n_undefined": 2}
        values = {"mean": mean, "std": 0.25, "sig_frac": 0.5}
        return [
            {"quantity": quantity, "klass": klass, "statistic": name, "value": value, **counts}
            | ({"lo": value - 0.125, "hi": value + 0.125} if name != "std" else {})
            for name, value in values.items()
        ]

    return make


@pytest.fixture
def audited(
    stored: Callable[..., Cell], rows: Callable[..., list[dict[str, Any]]]
) -> Callable[..., Cell]:
    """Makes a finished cell with the first paper's analyses of eight instances."""

    def make(*names: str, **about: Any) -> Cell:
        cell = stored(*names, **about)
        ids, predicted = np.arange(8), np.arange(8) % 2
        cell.write_table("instances", {"id": ids, "length": 4 + 2 * ids})
        tau = np.array([np.nan, -0.5, 0.1, 0.3, 0.3, 0.5, 0.7, 1.0])
        taus = {f"tau_{name}": tau for name in ("gradient", "loo", "gradient_loo", "random")}
        pvalues = {f"{name}_pvalue": np.abs(1 - tau) / 2 for name in taus}
        gaps = {"gap_loo": tau * 0, "gap_gradient": tau * 0 + 0.5}
        classes = ("overall", "0", "1")
        summary = [row for name in (*taus, *gaps) for k in classes for row in rows(name, 0.25, k)]
        cell.analysis("correlation", {}, 1).write(
            {"summary": summary}, {"id": ids, **taus, **pvalues, **gaps, "predicted": predicted}
        )
        peaks = np.linspace(0.1, 1, 8)
        change = {"delta_y_med": ids / 8, "max_attention": peaks, "predicted": predicted}
        cell.analysis("permutation", {}, 1).write(
            {"summary": rows("delta_y_med", 0.4)}, {"id": ids, **change}
        )
        jsd = {"eps_max_jsd": np.linspace(0, 0.6, 8), "eps_max_jsd_exact": np.full(8, 0.65)}
        summary = [
            row for name in (*jsd, "frontier_0.01", "frontier_0.1") for row in rows(name, 0.5)
        ]
        cell.analysis("adversarial", {"epsilon": 0.01}, 1).write(
            {"summary": summary},
            {"id": ids, **jsd, "max_attention": peaks, "predicted": predicted},
        )
        return cell

    return make
