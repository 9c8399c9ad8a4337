"""The engine of one cell: fit or load, analyse, track, and say what was found."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.auxiliaries import Auxiliaries, store_predictions
from attention_audit.cell import (
    Fitted,
    Place,
    failure_kept,
    find_source,
    fit_or_load,
    locate,
    logged,
)
from attention_audit.configuration import check, check_corpus
from attention_audit.privacy import discreet, refuse_secrets, saves_tokens
from attention_audit.store import Cell, Store, now
from attention_audit.verdict import verdict, write_verdict

if TYPE_CHECKING:
    from attention_audit.callbacks import StoredAnalysis

_log = logging.getLogger(__name__)


def run(config: Mapping[str, Any], sweep: str | None = None) -> Cell:
    """Run one cell: what is in the store already is not computed again, unless `force`.

    Args:
        config: the resolved configuration.
        sweep: the sweep's name, which groups its runs on W&B.

    Returns:
        The finished cell.

    Raises:
        ValueError, FileNotFoundError: bad input, before any training.
    """
    refuse_secrets(config)
    check_corpus(config)
    find_source(config)  # before anything that takes long to import
    check(config)
    import torch

    torch.set_num_threads(config["threads"])
    place = locate(config)
    analyses = _analyses(config, place.cell)
    if config["force"] or not _finished(config, place.cell, analyses):
        with place.cell.lock():
            if config["force"]:
                with place.cell.fit_lock():
                    place.cell.discard()
            if not _finished(config, place.cell, analyses):
                _work(config, place, analyses, sweep)
    _report(config, place.cell, analyses, legend=sweep is None)
    return place.cell


def is_whole(config: Mapping[str, Any], place: Place) -> bool:
    """Whether the cell of a checked configuration and all its analyses are in the store."""
    return _finished(config, place.cell, _analyses(config, place.cell))


def give_up(config: Mapping[str, Any], cell: Cell, reason: str, sweep: str) -> None:
    """Note the failure of a cell whose process ended without a word, killed say.

    Args:
        config: resolved.
        cell: nobody's any more.
        reason: what is known of the end.
        sweep: the sweep's name on W&B.
    """
    from attention_audit.tracking import note_failure

    with cell.lock(), cell.fit_lock():
        cell.open(config)
        cell.set_failed(RuntimeError(reason))
        note_failure(config, cell, sweep)


def _finished(config: Mapping[str, Any], cell: Cell, analyses: Sequence[StoredAnalysis]) -> bool:
    needed = ["metrics.json", *(["tokens.parquet"] if saves_tokens(config) else [])]
    if cell.damaged() or cell.status().state != "fitted" or not cell.is_grid:
        return False
    if not all((cell.folder / n).exists() for n in needed):
        return False
    return all(analysis.stored.done for analysis in analyses)


def _analyses(config: Mapping[str, Any], cell: Cell) -> list[StoredAnalysis]:
    analyses = []
    for node in config["analysis"].values():
        # Called here, so that what the constructor refuses is told in its own words.
        analysis: StoredAnalysis = instantiate(node, _partial_=True, _convert_="all")()
        analysis.accept(config)
        settings = {key: value for key, value in node.items() if key != "_target_"}
        analysis.place(cell, settings, saves_tokens(config))
        analyses.append(analysis)
    return analyses


def _work(
    config: Mapping[str, Any],
    place: Place,
    analyses: Sequence[StoredAnalysis],
    sweep: str | None,
) -> None:
    from attention_audit.tracking import publish, tracked

    cell = place.cell
    started = now()
    with ExitStack() as fitting:
        fitting.enter_context(cell.fit_lock())
        cell.open(config)
        cell.set_running(started)
        with failure_kept(cell), logged(cell), tracked(config, cell, sweep) as logger:
            fitted = fit_or_load(config, place, logger)
            cell.enter_grid()
            # Others may need this model as this cell may need theirs.
            fitting.close()
            cell.set_running(started)
            _analyse(config, place, fitted, [one for one in analyses if not one.stored.done])
            lines = write_verdict(cell)
            drawn = {one.name: one.histograms for one in analyses}
            publish(
                logger,
                cell,
                drawn,
                lines,
                examples=not config["dataset"]["private"],
                figures=_figures(config, cell),
            )
            Store(cell.root).write_summary()
    cell.seal()
    # Said last: a cell is finished once its W&B run is, too.
    cell.set_fitted()


def _figures(config: Mapping[str, Any], cell: Cell) -> dict[str, str]:
    """The report's plots of the cell, where they are wanted and can be drawn."""
    settings = config["logger"]
    if settings["mode"] == "none" or not settings.get("figures"):
        return {}
    if not all(map(find_spec, ("altair", "vl_convert"))):
        _log.info("W&B gets no figures: they need pip install -e '.[report]'")
        return {}
    from attention_audit.report.figures import cell_figures

    return dict(cell_figures(cell))


def _analyse(
    config: Mapping[str, Any], place: Place, fitted: Fitted, pending: Sequence[StoredAnalysis]
) -> None:
    from attention_audit.callbacks import Diagnostic

    names = ", ".join(analysis.name for analysis in pending)
    instances = len(fitted.prepared.splits["test"])
    _log.info("analysing %d test instances: %s", instances, names or "predictions only")
    diagnostics = [one for one in pending if isinstance(one, Diagnostic)]
    others = [one for one in pending if not isinstance(one, Diagnostic)]
    # First, so that a fit that fails costs none of them.
    store_predictions(config, place.cell, fitted, *others)
    if diagnostics:
        auxiliaries = Auxiliaries(config, place, fitted)
        with discreet(config["dataset"]["private"]):
            for one in diagnostics:
                one.prepare(auxiliaries.base, auxiliaries, config)
        store_predictions(config, place.cell, fitted, *diagnostics)


def _report(
    config: Mapping[str, Any], cell: Cell, analyses: Sequence[StoredAnalysis], legend: bool
) -> None:
    from attention_audit.terminal import show, stdout

    rows = cell.read_json("metrics")["summary"]
    for analysis in analyses:
        rows += analysis.stored.read_summary()["summary"]
    corpus = cell.read_json("manifest")["corpus"]
    epsilon = config["analysis"].get("adversarial", {}).get("epsilon")
    lines = verdict(cell, [analysis.stored for analysis in analyses])
    show(cell, rows, corpus, epsilon, stdout(), legend, lines)
