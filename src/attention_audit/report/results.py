"""What the store has of each grid cell, as tables, charts and pages show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attention_audit.published import Comparison, PublishedFigure, compare, table1, unlike
from attention_audit.store import Analysis, Cell, Store, latest

State = Literal["done", "failed", "running", "unfinished", "unreadable"]
_STATES: dict[str, State] = {"fitted": "done", "failed": "failed", "running": "running"}
Row = Mapping[str, Any]
# What reading a file that is damaged, or of another version, may raise.
UNREADABLE = (ValueError, OSError, LookupError, TypeError)
# How scores are spelt.
SCORES = {"f1": "F1", "micro_f1": "micro-F1", "macro_f1": "macro-F1", "accuracy": "accuracy"}


@dataclass(frozen=True)
class Result:
    """One grid cell.

    Attributes:
        cell: where it is.
        state: what became of it; `unfinished` has nothing to show yet.
        why: of one that failed or cannot be read.
        rows: its rows of `summary.csv`; none unless it is done.
        manifest: its `manifest.json`, empty unless it is done.
        analyses: by name, of each the one that was written last.
        verdict: its lines, as in `verdict.json`.
        measured: by quantity, the analysis whose it is.
        epsilon: of its adversarial search: the TVD within which the output counts as unchanged.
    """

    cell: Cell
    state: State
    why: str = ""
    rows: tuple[Row, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    verdict: tuple[Row, ...] = ()
    measured: Mapping[str, str] = field(default_factory=dict)
    epsilon: float | None = None

    @property
    def key(self) -> str:
        """Its name as a file's: `<dataset>_<encoder>+<attention>_<seed>-<hash8>`."""
        return self.cell.path_in_store.replace("/", "_")

    @property
    def pair(self) -> tuple[str, str]:
        """Encoder and attention."""
        return self.cell.encoder, self.cell.attention

    @property
    def corpus(self) -> Mapping[str, Any]:
        """Of the manifest: source, classes, and the rows kept of each split."""
        return self.manifest.get("corpus", {})

    @property
    def is_private(self) -> bool:
        """Whether nothing of its instances may be shown; true of what does not say."""
        return bool(self.corpus.get("private", True))

    @property
    def unlike(self) -> str:
        """Why the papers' figures say nothing about its corpus; empty where they do."""
        return (unlike(self.cell.dataset, self.corpus) or "") if self.corpus else ""

    @property
    def score_name(self) -> tuple[str, str]:
        """Quantity and class of its test score.

        The first paper's for a corpus of its; else F1 of two classes, macro-F1 of more, accuracy.
        """
        if (figure := table1(self.cell.dataset)) is not None:
            return figure.quantity, figure.klass
        classes = len(self.corpus.get("classes", ()))
        if classes == 2:
            return "f1", "1"
        return ("macro_f1" if classes else "accuracy"), "overall"

    @property
    def score(self) -> str:
        """Its test score with its name; empty unless it is done."""
        quantity, klass = self.score_name
        value = self.value(quantity, klass)
        if self.state != "done":
            return ""
        return f"{SCORES[quantity]} {'undefined' if value is None else f'{value:.3f}'}"

    def row(self, quantity: str, klass: str = "overall", statistic: str = "") -> Row | None:
        """One of its rows, None without it; the statistic is `value` or `mean` unless named."""
        wanted = (statistic,) if statistic else ("value", "mean")
        found = (r for r in self.rows if (r["quantity"], r["klass"]) == (quantity, klass))
        return next((row for row in found if row["statistic"] in wanted), None)

    def value(self, quantity: str, klass: str = "overall", statistic: str = "") -> float | None:
        """The value of `row`; None too where it is undefined."""
        row = self.row(quantity, klass, statistic)
        return None if row is None else row["value"]

    def beside(self, figures: Iterable[PublishedFigure]) -> list[Comparison]:
        """Its rows beside published figures; without a difference where they are not alike."""
        return compare(self.rows, figures, self.epsilon)

    def lengths(self, ids: np.ndarray) -> np.ndarray:
        """The number of words of each of these instances."""
        table = self.cell.read_table("instances")
        found = dict(zip(table["id"].to_pylist(), table["length"].to_pylist(), strict=True))
        return np.array([found[instance] for instance in ids.tolist()])

    def name_of(self, klass: str) -> str:
        """A class as its corpus names it; `overall` has none."""
        classes = self.corpus.get("classes", [])
        if klass.isdigit() and int(klass) < len(classes):
            return str(classes[int(klass)])
        return "" if klass == "overall" else klass


def fault(cell: Cell, error: Exception) -> str:
    """What an exception says of a cell's files, which it names within the cell's folder."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        said = f"{error.filename} is missing: run the cell again"
    else:
        said = " ".join(str(error).split())
    return said.replace(f"{cell.folder}/", "")


def results(store: Store) -> list[Result]:
    """Every grid cell of a store, sorted by name, seed and hash; no file makes it raise."""
    found = (result(cell) for cell in store.cells())
    return [one for one in found if one is not None]


def result(cell: Cell) -> Result | None:
    """What is known of a cell; None of one that only serves others."""
    try:
        if _serves(cell):
            return None
        status = cell.status()
        state = _STATES.get(status.state, "unfinished")
        if state != "done":
            return Result(cell, state, status.reason or "")
        return finished(cell)
    except UNREADABLE as error:
        return Result(cell, "unreadable", fault(cell, error))


def _serves(cell: Cell) -> bool:
    """A cell that failed before it had a manifest says in its configuration what it serves."""
    if not cell.is_grid:
        return True
    if (cell.folder / "manifest.json").exists():
        return False
    return cell.config.get("auxiliary") is not None


def finished(cell: Cell) -> Result:
    """A cell whose results are all there, whatever its status says.

    Raises:
        ValueError, OSError: a file that cannot be read.
    """
    try:
        verdict = cell.read_json("verdict")["findings"]
    except FileNotFoundError:
        verdict = []
    manifest = cell.read_json("manifest")
    if not {"splits", "classes", "source", "differs"} <= manifest.get("corpus", {}).keys():
        raise ValueError(f"{cell.folder / 'manifest.json'} does not say what its corpus is")
    _check_rows(cell.read_json("metrics"), cell.folder / "metrics.json")
    rows, analyses = tuple(cell.summary()), latest(cell.analyses())
    measured = {quantity: name for name, each in analyses.items() for quantity in _quantities(each)}
    adversarial = analyses.get("adversarial")
    epsilon = None if adversarial is None else _epsilon(adversarial)
    return Result(
        cell, "done", "", rows, manifest, analyses, tuple(verdict), measured, epsilon=epsilon
    )


def _quantities(analysis: Analysis) -> list[str]:
    summary = analysis.read_summary()
    _check_rows(summary, analysis.folder / "summary.json")
    return [row["quantity"] for row in summary["summary"]]


def _check_rows(content: Any, path: Path) -> None:
    if "summary" not in content:
        raise ValueError(f"{path} has no rows: run the cell again")


def _epsilon(analysis: Analysis) -> float:
    config = analysis.identity.get("config", {})
    if "epsilon" not in config:
        raise ValueError(f"{analysis.folder / 'identity.json'} has no epsilon: run the cell again")
    return float(config["epsilon"])
