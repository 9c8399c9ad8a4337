"""The engine of one cell: fit or load, analyse, track, and say what was found."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.cell import Fitted, Place, find_source, fit_or_load, locate
from attention_audit.configuration import check, check_corpus
from attention_audit.privacy import discreet, refuse_secrets, saves_tokens, without_secrets
from attention_audit.store import Cell, Store, now
from attention_audit.trainer import guarded, make_trainer

if TYPE_CHECKING:
    from attention_audit.callbacks import AnalysisCallback

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
                place.cell.discard()
            if not _finished(config, place.cell, analyses):
                _work(config, place, analyses, sweep)
    _report(config, place.cell, analyses, legend=sweep is None)
    return place.cell


def is_done(config: Mapping[str, Any], place: Place) -> bool:
    """Whether the cell of a checked configuration and all its analyses are in the store."""
    cell = place.cell
    return not config["force"] and _finished(config, cell, _analyses(config, cell))


def give_up(config: Mapping[str, Any], cell: Cell, reason: str, sweep: str) -> None:
    """Note the failure of a cell whose process ended without a word, killed say.

    Args:
        config: resolved.
        cell: nobody's any more.
        reason: what is known of the end.
        sweep: the sweep's name on W&B.
    """
    from attention_audit.tracking import note_failure

    with cell.lock():
        cell.open(config)
        cell.set_failed(RuntimeError(reason))
        note_failure(config, cell, sweep)


def _finished(config: Mapping[str, Any], cell: Cell, analyses: Sequence[AnalysisCallback]) -> bool:
    needed = ["metrics.json", *(["tokens.parquet"] if saves_tokens(config) else [])]
    if cell.damaged() or cell.status().state != "fitted":
        return False
    if not all((cell.folder / n).exists() for n in needed):
        return False
    return all(analysis.stored.done for analysis in analyses)


def _analyses(config: Mapping[str, Any], cell: Cell) -> list[AnalysisCallback]:
    analyses = []
    for node in config["analysis"].values():
        # Called here, so that what the constructor refuses is told in its own words.
        analysis: AnalysisCallback = instantiate(node, _partial_=True, _convert_="all")()
        settings = {key: value for key, value in node.items() if key != "_target_"}
        analysis.place(cell, settings, saves_tokens(config))
        analyses.append(analysis)
    return analyses


def _work(
    config: Mapping[str, Any],
    place: Place,
    analyses: Sequence[AnalysisCallback],
    sweep: str | None,
) -> None:
    from attention_audit.tracking import publish, tracked

    cell = place.cell
    started = now()
    cell.open(config)
    cell.set_running(started)
    with _failure_kept(cell), _logged(cell), tracked(config, cell, sweep) as logger:
        fitted = fit_or_load(config, place, logger)
        cell.set_running(started)
        with discreet(config["dataset"]["private"]):
            _analyse(config, cell, fitted, [one for one in analyses if not one.stored.done])
        publish(logger, cell, {one.name: one.histograms for one in analyses})
        Store(cell.root).write_summary()
    cell.seal()
    # Said last: a cell is finished once its W&B run is, too.
    cell.set_fitted()


def _analyse(
    config: Mapping[str, Any], cell: Cell, fitted: Fitted, pending: Sequence[AnalysisCallback]
) -> None:
    from attention_audit.callbacks import StorePredictions

    test = fitted.prepared.splits["test"]
    rows = {row["id"]: row for row in test}
    names = ", ".join(analysis.name for analysis in pending)
    _log.info("analysing %d test instances: %s", len(rows), names or "predictions only")
    predictions = StorePredictions(
        cell, rows, config["budget"]["resamples"], tokens=saves_tokens(config)
    )
    with guarded():
        make_trainer(config, [predictions, *pending]).test(
            fitted.task, datamodule=fitted.data, verbose=False
        )


@contextmanager
def _failure_kept(cell: Cell) -> Iterator[None]:
    """A failure is written into the cell's folder on its way up."""
    try:
        yield
    except BaseException as error:
        cell.set_failed(error, without_secrets)
        raise


@contextmanager
def _logged(cell: Cell) -> Iterator[None]:
    """What is logged meanwhile also goes to the cell's log.txt."""
    handler = logging.FileHandler(cell.folder / "log.txt", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


def _report(
    config: Mapping[str, Any], cell: Cell, analyses: Sequence[AnalysisCallback], legend: bool
) -> None:
    from attention_audit.terminal import show, stdout

    rows = cell.read_json("metrics")["summary"]
    for analysis in analyses:
        rows += analysis.stored.read_summary()["summary"]
    corpus = cell.read_json("manifest")["corpus"]
    epsilon = config["analysis"].get("adversarial", {}).get("epsilon")
    show(cell, rows, corpus, epsilon, stdout(), legend)
