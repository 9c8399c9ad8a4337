"""One cell's fitted model: from a configuration to a model in its folder, and nothing more."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.cell.keeping import BEST, EPOCH, LAST, check_vocabulary, keep, load, read
from attention_audit.cell.locating import Place
from attention_audit.corpora import Source
from attention_audit.privacy import discreet
from attention_audit.store import GRID, Cell
from attention_audit.trainer import device_count, guarded, make_trainer

if TYPE_CHECKING:
    import pytorch_lightning as pl
    from torch import Tensor

    from attention_audit.models import AttentionModel
    from attention_audit.models.training import AttentionTask
    from attention_audit.predictions import Given
    from attention_audit.text import Embeddings, Prepared, TextDataModule

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Fitted:
    """A model fitted on a corpus, on its best epoch's weights, with the data to analyse it on."""

    task: AttentionTask
    data: TextDataModule
    prepared: Prepared


@dataclass(frozen=True)
class Serving:
    """What an auxiliary fit serves, and what it is given that its configuration only describes.

    Attributes:
        role: such as `seed`, in a word.
        base: the cell that it is fitted for, by its place in the store.
        prepared: the corpus, as the base read it.
        given: attention for each instance, where the fit needs it.
    """

    role: str
    base: str
    prepared: Prepared
    given: Given | None = None

    @property
    def manifest(self) -> dict[str, str]:
        """What the cell's manifest says of it; a grid cell is nobody's."""
        return {"role": self.role} | ({} if self.role == GRID else {"base": self.base})


def fit_or_load(
    config: Mapping[str, Any],
    place: Place,
    logger: pl.loggers.Logger | None = None,
    serving: Serving | None = None,
) -> Fitted:
    """The cell's fitted model: loaded if it is there, else trained, from its last epoch if killed.

    Call it under the cell's `fit_lock`, after `cell.open`.

    Args:
        config: resolved.
        place: of the cell.
        logger: of the epochs.
        serving: of an auxiliary fit; None is a grid cell's.

    Raises:
        ValueError: unusable data, before any training; a stored model that cannot be used.
        FileNotFoundError: the stored model was removed.
    """
    import pytorch_lightning as pl

    prepared = serving.prepared if serving else prepare_corpus(config, place.source, place.corpus)
    # Only now: what preparing draws depends on what is cached.
    pl.seed_everything(config["seed"], workers=True, verbose=False)
    with discreet(config["dataset"]["private"]):
        task, data, embeddings = build(config, prepared, serving.given if serving else None)
    if embeddings.found and serving is None:
        _log.info("word vectors cover %.1f %% of the vocabulary", 100 * embeddings.coverage)
    if place.cell.is_fitted:
        _log.info("%s: fitted before", place.cell.folder)
        check_vocabulary(place.cell, prepared)
    else:
        place.cell.discard_analyses()
        seconds = fit(config, place.cell, task, data, logger)
        keep(
            place,
            serving.manifest if serving else {"role": GRID},
            prepared,
            embeddings,
            config,
            seconds,
        )
    load(place.cell, task)
    return Fitted(task, data, prepared)


def prepare_corpus(config: Mapping[str, Any], source: Source, content: str) -> Prepared:
    """The corpus of a configuration, tokenised, split and filtered; logs what was dropped."""
    from attention_audit.text import Preparation, prepare

    with discreet(config["dataset"]["private"]):
        prepared = prepare(
            Preparation(**config["dataset"]["text"]),
            load=source.load,
            fingerprint=content,
            cache_dir=Path(config["cache_dir"]),
            limits=config["limits"],
        )
        if prepared.task != config["dataset"]["task"]:
            raise ValueError(
                f"dataset.task={config['dataset']['task']}: the rows of {prepared.source} are "
                f"those of {prepared.task}; set dataset.task={prepared.task}"
            )
    for split, counts in prepared.counts.items():
        dropped = ", ".join(f"{n} {reason}" for reason, n in counts["dropped"].items() if n)
        classes = ", ".join(f"{name} {n}" for name, n in counts["classes"].items())
        sizes = f"{counts['kept']} kept ({classes})" if classes else f"{counts['kept']} kept"
        _log.info("%s: %s; dropped: %s", split, sizes, dropped or "none")
    return prepared


def build(
    config: Mapping[str, Any], prepared: Prepared, given: Given | None = None
) -> tuple[AttentionTask, TextDataModule, Embeddings]:
    """The unfitted model of a configuration, its batches, and its initial embeddings."""
    from attention_audit.text import TextDataModule

    embeddings = instantiate(config["vectors"]).embed(
        prepared.vocabulary, config["seed"], prepared.documents
    )
    data = TextDataModule(
        prepared,
        prepared.vocabulary,
        answers=prepared.answers or None,
        batch_size=config["dataset"]["batch_size"],
        seed=config["seed"],
    )
    frozen = None if _objective(config) else given
    outputs = len(prepared.answers or prepared.classes)
    model = make_model(config, embeddings.matrix, outputs, frozen)
    return _task(config, prepared, model, data.class_counts, given), data, embeddings


def make_model(
    config: Mapping[str, Any], vectors: Tensor, outputs: int, frozen: Given | None = None
) -> AttentionModel:
    """The model of a configuration.

    Args:
        config: resolved.
        vectors: [vocabulary, width], the initial embeddings.
        outputs: number of classes or answers.
        frozen: the attention, where it is given and not learned.
    """
    from attention_audit.models import assemble

    attention = _part(config["attention"])
    return assemble(
        vectors,
        _part(config["encoder"]),
        attention if frozen is None else partial(attention, given=frozen),
        outputs=outputs,
        query=config["dataset"]["task"] != "classification",
    )


def _task(
    config: Mapping[str, Any],
    prepared: Prepared,
    model: AttentionModel,
    class_counts: Sequence[int],
    given: Given | None,
) -> AttentionTask:
    """The fit that the configuration asks for: of the labels, or of what its objective says."""
    from attention_audit.models.training import AttentionTask, Training

    kind: Callable[..., AttentionTask] = AttentionTask
    if (objective := _objective(config)) is not None:
        kind = partial(instantiate(objective, _partial_=True), given=given)
    classes = len(prepared.answers or prepared.classes)
    return kind(model, prepared.task, classes, class_counts, Training(**config["training"]))


def _objective(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What an auxiliary fit wants instead of right labels; what it is given is for that then."""
    return (config.get("auxiliary") or {}).get("objective")


def _part(node: Mapping[str, Any]) -> Any:
    """The constructor of an encoder or attention; `name` is for the store."""
    return instantiate({k: v for k, v in node.items() if k != "name"}, _partial_=True)


def fit(
    config: Mapping[str, Any],
    cell: Cell,
    task: AttentionTask,
    data: TextDataModule,
    logger: pl.loggers.Logger | None,
) -> float:
    """Train and leave the best epoch in `best.ckpt`; returns the seconds it took."""
    from attention_audit.models.checkpoints import WholeCheckpoints

    started = time.monotonic()
    if device_count(config) > 1 and logger is not None:
        _log.info("several devices: epochs are not logged, only what is found after the fit")
        logger = None
    checkpoints = WholeCheckpoints(cell.write_file)
    trainer = make_trainer(config, _watchers(config, cell), logger, checkpoints)
    try:
        with guarded():
            trainer.fit(task, datamodule=data, ckpt_path=_resumable(cell), weights_only=True)
    except SystemExit:
        if trainer.strategy.launcher is not None:  # processes of several devices
            trainer.strategy.launcher.kill(signal.SIGTERM)
        raise
    return time.monotonic() - started


def _watchers(config: Mapping[str, Any], cell: Cell) -> list[pl.Callback]:
    """Keep the best and the last epoch, or all; stop early: where that is asked for."""
    from attention_audit.models.checkpoints import EpochCheckpoint, EveryEpoch
    from attention_audit.models.patience import Patience
    from attention_audit.models.training import SELECTION

    asked = config.get("auxiliary") or {}
    return [
        *([Patience(asked["patience"])] if "patience" in asked else []),
        *([EveryEpoch(cell.folder, EPOCH)] if asked.get("every_epoch") else []),
        # The best epoch is written first, so that the last one's file never knows of more than it.
        EpochCheckpoint(cell.folder, BEST, SELECTION),
        EpochCheckpoint(cell.folder, LAST),
    ]


def _resumable(cell: Cell) -> Path | None:
    """The last epoch of a fit that was killed, if it can be gone on with."""
    last = cell.folder / LAST
    if not last.exists() or not (cell.folder / BEST).exists():
        return None
    try:
        stored = read(last, "fitting from the start")
    except ValueError as error:
        _log.warning("%s", error)
        return None
    _log.info("going on after epoch %d, where a fit was ended", int(stored["epoch"]) + 1)
    return last
