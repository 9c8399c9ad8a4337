"""Weights & Biases: one run for each grid cell, offline unless asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from attention_audit.store import Cell

if TYPE_CHECKING:
    from pytorch_lightning.loggers import WandbLogger
    from wandb import Run

HISTOGRAM_BINS = 40


@contextmanager
def tracked(
    config: Mapping[str, Any], cell: Cell, sweep: str | None
) -> Iterator[WandbLogger | None]:
    """A logger whose run lasts as long as the block; None where `logger=none`.

    The run's id is the cell's, so a cell that is run again goes on in its own run. It is finished
    whatever happens, failed if the block raises, so that the next cell gets a run of its own.

    Raises:
        ValueError: online without an API key.
    """
    if config["logger"]["mode"] == "none":
        yield None
        return
    from pytorch_lightning.loggers import WandbLogger

    run = _start(config, cell, sweep)
    try:
        yield WandbLogger(experiment=run)
    except BaseException:
        run.finish(exit_code=1)
        raise
    run.finish()


def note_failure(config: Mapping[str, Any], cell: Cell, sweep: str | None) -> None:
    """Mark the run of a cell as failed whose process could not do it itself."""
    if config["logger"]["mode"] != "none":
        _start(config, cell, sweep).finish(exit_code=1)


def _start(config: Mapping[str, Any], cell: Cell, sweep: str | None) -> Run:
    import wandb

    settings = config["logger"]
    online = settings["mode"] == "online"
    if online and not wandb.login(prompt=False, verify=False):
        raise ValueError(
            "logger.mode=online: found no W&B API key; expected WANDB_API_KEY or `wandb login`; "
            "or keep logger.mode=offline and `wandb sync` later"
        )
    # Lightning's logger would take an earlier cell's run for its own: it is given this one.
    return wandb.init(
        project=settings["project"],
        entity=settings["entity"],
        dir=str(cell.folder.resolve()),  # the process that writes it has a folder of its own
        id=f"{cell.dataset}-{cell.encoder}-{cell.attention}-{cell.seed}-{cell.hash8}",
        name=f"{cell.name} seed {cell.seed}",
        group=sweep,
        tags=[cell.dataset, cell.encoder, cell.attention],
        config=dict(config) | {"cell": cell.hash8},
        mode=settings["mode"],
        resume="allow" if online else None,
        reinit="create_new",
        settings=wandb.Settings(
            silent=True,
            console="off",
            x_disable_stats=True,
            disable_git=True,
            disable_code=True,
        ),
    )


def publish(
    logger: WandbLogger | None,
    cell: Cell,
    histograms: Mapping[str, Sequence[str]],
    verdict: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Put the whole cell's results into the run's summary.

    All of them each time, so that offline runs of one cell agree in whatever order they are
    synchronised. Names are `<quantity>/<klass>/<statistic>`; undefined values are left out.

    Args:
        logger: of `tracked`.
        cell: a finished cell.
        histograms: analysis name -> the instance columns to draw.
        verdict: the lines of the diagnostics' verdict, which become a table.
    """
    if logger is None:
        return
    import wandb

    summary: dict[str, Any] = {}
    for row in cell.summary():
        value = row.get("value")
        if value is not None and math.isfinite(value):
            summary[f"{row['quantity']}/{row['klass']}/{row['statistic']}"] = value
    # As in the summary, of two configs of one analysis the later one counts.
    for analysis in sorted(cell.analyses(), key=lambda one: one.written):
        if not (columns := histograms.get(analysis.name)):
            continue
        instances = analysis.read_instances()
        # An older version of the analysis may lack some.
        for column in sorted(set(columns) & set(instances.column_names)):
            values = instances[column].to_numpy()
            defined = values[np.isfinite(values)]
            if defined.size:
                counts = np.histogram(defined, bins=HISTOGRAM_BINS)
                summary[f"{column}/histogram"] = wandb.Histogram(np_histogram=counts)
    if verdict:
        columns = list(verdict[0])
        rows = [[line[column] for column in columns] for line in verdict]
        summary["verdict"] = wandb.Table(columns=columns, data=rows)
    logger.experiment.summary.update(summary)
