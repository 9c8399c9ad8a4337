"""Models fitted beside a cell's own: each a cell of the store, cached, resumable and shared."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from attention_audit.cell import (
    Fitted,
    Place,
    Serving,
    epoch_weights,
    failure_kept,
    fit_or_load,
    logged,
    place_of,
)
from attention_audit.privacy import discreet, saves_tokens
from attention_audit.store import GRID, Cell, now
from attention_audit.trainer import guarded, make_trainer

if TYPE_CHECKING:
    from attention_audit.diagnostics import Subject
    from attention_audit.predictions import Given

# Of a grid cell, what its model is read from; the rest is that cell's own concern.
MODEL = {"checkpoint.ckpt", "vocabulary.json", "manifest.json", "identity.json", "status.json"}

_log = logging.getLogger(__name__)


class Auxiliaries:
    """Fits further models on a cell's corpus, in its settings but for what is said to change.

    Args:
        config: the cell's, resolved.
        place: of the cell.
        fitted: its model.
    """

    def __init__(self, config: Mapping[str, Any], place: Place, fitted: Fitted) -> None:
        self.config = {**config, "analysis": {}, "force": False, "auxiliary": None}
        self.place = place
        self.fitted = fitted
        self.base = self._subject(fitted)
        self._known = {place.cell.folder: self.base}

    def __call__(self, role: str, change: Mapping[str, Any], given: Given | None = None) -> Subject:
        """See `attention_audit.diagnostics.Fit`.

        Raises:
            ValueError, FileNotFoundError: a stored model that cannot be used.
        """
        config = _changed(self.config, change)
        place = Place(place_of(config, self.place.corpus), self.place.source, self.place.corpus)
        cell = place.cell
        if cell.folder not in self._known:
            base = self.place.cell.path_in_store
            _log.info("%s for %s: %s", role, base, cell.path_in_store)
            serving = Serving(role, base, self.fitted.prepared, given)
            fitted = _fit(config, place, serving)
            self._known[cell.folder] = self._subject(fitted, partial(epoch_weights, cell))
        return self._known[cell.folder]

    def _subject(
        self, fitted: Fitted, epochs: Callable[[], list[Mapping[str, Any]]] = list
    ) -> Subject:
        """As diagnostics ask it, all of them on the same batches."""
        from attention_audit.diagnostics import Subject

        return Subject(fitted.task.model, self.fitted.data.loader, _fingerprint(fitted), epochs)


def _fit(config: Mapping[str, Any], place: Place, serving: Serving) -> Fitted:
    """Fit, and store what the model says of the test split, unless that was done before."""
    cell = place.cell
    started = now()
    with cell.fit_lock():
        if _is_usable(cell):
            return fit_or_load(config, place, serving=serving)
        if _was_grid(cell):  # damaged; it stays what it was, and its own analyses are to be made
            serving = replace(serving, role=GRID)
        cell.open(config)
        if cell.is_fitted and not cell.is_grid and not _has_model(cell):
            _log.warning("%s is without its checkpoint: fitting it again", cell.folder)
            cell.discard()
        if not cell.is_fitted:
            # Until the fit ends, too, it is known what it is for.
            cell.write_json("manifest", serving.manifest)
        cell.set_running(started)
        with failure_kept(cell), logged(cell):
            fitted = fit_or_load(config, place, serving=serving)
            if cell.is_grid:
                cell.clear_failure()
            else:
                cell.set_running(started)
                store_predictions(config, cell, fitted)
                cell.seal()
                cell.set_fitted()
        return fitted


def _was_grid(cell: Cell) -> bool:
    """Whether a grid cell's finished fit was here, as far as its damaged files tell."""
    try:
        return cell.is_fitted and cell.is_grid
    except ValueError:
        return False


def _is_usable(cell: Cell) -> bool:
    """Whether the fit is there and whole, and what the model says of the test split, too."""
    damaged = set(cell.damaged())
    if damaged & MODEL or not cell.is_fitted:
        return False
    # A grid cell's checkpoint is its user's, to delete and to ask for again.
    return cell.is_grid or (
        not damaged and (cell.folder / "metrics.json").exists() and _has_model(cell)
    )


def _has_model(cell: Cell) -> bool:
    return (cell.folder / "checkpoint.ckpt").exists()


def store_predictions(
    config: Mapping[str, Any], cell: Cell, fitted: Fitted, *analyses: Any
) -> None:
    """Test the model, store its scores and predictions, and run the analyses on it."""
    from attention_audit.callbacks import StorePredictions

    rows = {row["id"]: row for row in fitted.prepared.splits["test"]}
    predictions = StorePredictions(
        cell, rows, config["budget"]["resamples"], tokens=saves_tokens(config)
    )
    with discreet(config["dataset"]["private"]), guarded():
        make_trainer(config, [predictions, *analyses]).test(
            fitted.task, datamodule=fitted.data, verbose=False
        )


def _fingerprint(fitted: Fitted) -> str:
    """Names fitted weights by their content."""
    whole = hashlib.sha256()
    for name, weights in sorted(fitted.task.state_dict().items()):
        whole.update(name.encode())
        whole.update(weights.cpu().contiguous().numpy().tobytes())
    return whole.hexdigest()[:16]


def _changed(config: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with other values at some dotted keys."""
    changed = dict(config)
    for key, value in change.items():
        first, _, rest = key.partition(".")
        changed[first] = _changed(changed[first], {rest: value}) if rest else value
    return changed
