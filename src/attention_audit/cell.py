"""One cell's fitted model: from a configuration to a model in its folder, and nothing more."""

from __future__ import annotations

import logging
import platform
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.corpora import Source, choose
from attention_audit.privacy import discreet
from attention_audit.store import Cell, Store, fingerprint
from attention_audit.trainer import device_count, guarded, make_trainer

if TYPE_CHECKING:
    import pytorch_lightning as pl

    from attention_audit.models.training import AttentionTask
    from attention_audit.text import Embeddings, Prepared, TextDataModule

CHECKPOINT = "checkpoint.ckpt"
LAST = "last.ckpt"
BEST = "best.ckpt"
# Arguments of the Trainer that leave the weights as they are, but for the last bits.
WEIGHTLESS = {"_target_", "accelerator", "deterministic", "profiler"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """A cell of the store, with the corpus source that it is made from."""

    cell: Cell
    source: Source
    corpus: str


@dataclass(frozen=True)
class Fitted:
    """A model fitted on a corpus, on its best epoch's weights, with the data to analyse it on."""

    task: AttentionTask
    data: TextDataModule
    prepared: Prepared


def locate(config: Mapping[str, Any], source: Source | None = None) -> Place:
    """The cell that a resolved configuration names: all that determines its weights, hashed.

    Neither paths nor anything that leaves the weights as they are (store, logger, analyses,
    threads) counts; the content of the corpus and of the vectors does. Light: no torch.

    Args:
        config: resolved.
        source: of the corpus, where it has been found already.

    Raises:
        FileNotFoundError: no source of the corpus, or no vectors file.
        ValueError: a name that cannot be a folder.
    """
    source = source or find_source(config)
    corpus = corpus_fingerprint(config, source)
    return Place(place_of(config, corpus), source, corpus)


def place_of(config: Mapping[str, Any], corpus: str) -> Cell:
    """The cell of a resolved configuration on a corpus of this fingerprint; raises as `locate`."""
    cache = Path(config["cache_dir"])
    vectors = instantiate(config["vectors"])
    if absent := vectors.missing():
        raise FileNotFoundError(absent)
    identity = _identity(config) | {
        "corpus": corpus,
        "vectors": fingerprint(vectors.identity(), vectors.files(), cache),
    }
    return Store(Path(config["store"])).cell(
        dataset=config["dataset"]["name"],
        encoder=config["encoder"]["name"],
        attention=config["attention"]["name"],
        seed=config["seed"],
        identity=identity,
    )


def find_source(config: Mapping[str, Any], use: Callable[[Source], bool] | None = None) -> Source:
    """The first source of a resolved configuration's corpus that is there.

    Args:
        config: resolved.
        use: which sources are looked at; None is all of them.

    Raises:
        FileNotFoundError: no source is there.
    """
    sources = instantiate(config["dataset"]["sources"], _convert_="all")
    return choose([source for source in sources if use is None or use(source)])


def corpus_fingerprint(config: Mapping[str, Any], source: Source) -> str:
    """What names the content that a source gives."""
    return fingerprint(source.identity(), source.files(), Path(config["cache_dir"]))


def _identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """What determines the weights, corpus and vectors aside; an allow-list but for the trainer.

    Any Trainer argument can be added on the command line, and most change the weights.
    """
    dataset = {key: config["dataset"].get(key) for key in ("name", "task", "text", "batch_size")}
    whole = ("encoder", "attention", "training", "limits", "seed")
    return {
        "dataset": dataset,
        "trainer": {k: v for k, v in config["trainer"].items() if k not in WEIGHTLESS}
        | {"devices": device_count(config)},
        **{key: config[key] for key in whole},
    }


def fit_or_load(
    config: Mapping[str, Any], place: Place, logger: pl.loggers.Logger | None = None
) -> Fitted:
    """The cell's fitted model: loaded if it is there, else trained, from its last epoch if killed.

    Call it under the cell's lock, after `cell.open`.

    Raises:
        ValueError: unusable data, before any training; a stored model that cannot be used.
        FileNotFoundError: the stored model was removed.
    """
    import pytorch_lightning as pl

    prepared = prepare_corpus(config, place.source, place.corpus)
    # Only now: what preparing draws depends on what is cached.
    pl.seed_everything(config["seed"], workers=True, verbose=False)
    with discreet(config["dataset"]["private"]):
        task, data, embeddings = build(config, prepared)
    if place.cell.is_fitted:
        _log.info("%s: fitted before", place.cell.folder)
        _check_vocabulary(place.cell, prepared)
    else:
        place.cell.discard_analyses()
        seconds = fit(config, place.cell, task, data, logger)
        _keep(place, prepared, embeddings, config, seconds)
    _load(place.cell, task)
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
    config: Mapping[str, Any], prepared: Prepared
) -> tuple[AttentionTask, TextDataModule, Embeddings]:
    """The unfitted model of a configuration, its batches, and its initial embeddings."""
    from attention_audit.models import assemble
    from attention_audit.models.training import AttentionTask, Training
    from attention_audit.text import TextDataModule

    embeddings = instantiate(config["vectors"]).embed(
        prepared.vocabulary, config["seed"], prepared.documents
    )
    if embeddings.found:
        _log.info("word vectors cover %.1f %% of the vocabulary", 100 * embeddings.coverage)
    data = TextDataModule(
        prepared,
        prepared.vocabulary,
        answers=prepared.answers or None,
        batch_size=config["dataset"]["batch_size"],
        seed=config["seed"],
    )
    classes = len(prepared.answers or prepared.classes)
    model = assemble(
        embeddings.matrix,
        _part(config["encoder"]),
        _part(config["attention"]),
        outputs=classes,
        query=prepared.task != "classification",
    )
    training = Training(**config["training"])
    task = AttentionTask(model, prepared.task, classes, data.class_counts, training)
    return task, data, embeddings


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
    from attention_audit.models.checkpoints import EpochCheckpoint, WholeCheckpoints
    from attention_audit.models.training import SELECTION

    started = time.monotonic()
    # The best epoch is written first, so that the last one's file never knows of more than it.
    epochs = [EpochCheckpoint(cell.folder, BEST, SELECTION), EpochCheckpoint(cell.folder, LAST)]
    if device_count(config) > 1 and logger is not None:
        _log.info("several devices: epochs are not logged, only what is found after the fit")
        logger = None
    trainer = make_trainer(config, epochs, logger, WholeCheckpoints(cell.write_file))
    try:
        with guarded():
            trainer.fit(task, datamodule=data, ckpt_path=_resumable(cell), weights_only=True)
    except SystemExit:
        if trainer.strategy.launcher is not None:  # processes of several devices
            trainer.strategy.launcher.kill(signal.SIGTERM)
        raise
    return time.monotonic() - started


def _resumable(cell: Cell) -> Path | None:
    """The last epoch of a fit that was killed, if it can be gone on with."""
    last = cell.folder / LAST
    if not last.exists() or not (cell.folder / BEST).exists():
        return None
    try:
        stored = _read(last, "fitting from the start")
    except ValueError as error:
        _log.warning("%s", error)
        return None
    _log.info("going on after epoch %d, where a fit was ended", int(stored["epoch"]) + 1)
    return last


def _keep(
    place: Place,
    prepared: Prepared,
    embeddings: Embeddings,
    config: Mapping[str, Any],
    seconds: float,
) -> None:
    """Turn a finished fit into the cell's lasting files; `fitted` is said last."""
    from attention_audit.models.checkpoints import save

    cell, private = place.cell, config["dataset"]["private"]
    best = _read(cell.folder / BEST, "delete it and run again, to fit from the start")
    save(cell.write_file, CHECKPOINT, {"state_dict": best["state_dict"]})
    cell.write_json("vocabulary", prepared.vocabulary.to_dict())
    manifest = {
        "role": "grid",
        "settings": {
            "source": prepared.source,
            "train_rows": prepared.counts["train"]["kept"],
            "epochs": config["trainer"]["max_epochs"],
            "vectors": _vectors_name(config["vectors"]),
        },
        "corpus": {
            "source": prepared.source,
            "differs": prepared.differs,
            "private": private,
            "fingerprint": place.corpus,
            "classes": prepared.classes,
            "answers": () if private else prepared.answers,
            "splits": prepared.counts,
            "vocabulary": len(prepared.vocabulary),
        },
        "vectors": {
            "found": embeddings.found,
            "coverage": embeddings.coverage,
            "missing": () if private else embeddings.missing,
        },
        "best_epoch": int(best["epoch"]) + 1,
        "fit_seconds": round(seconds, 2),
        "threads": config["threads"],
        "machine": _machine(),
        "versions": _versions(),
    }
    cell.write_json("manifest", manifest)
    _log.info("kept epoch %d of %d", manifest["best_epoch"], config["trainer"]["max_epochs"])
    cell.seal()
    cell.set_fitted()
    for name in (BEST, LAST):
        (cell.folder / name).unlink(missing_ok=True)


def _vectors_name(vectors: Mapping[str, Any]) -> str:
    """A file's name, else what the vectors are."""
    if "path" in vectors:
        return Path(vectors["path"]).name
    return str(instantiate(vectors).identity()["reader"])


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    packages = ("attention-audit", "torch", "pytorch-lightning", "hydra-core", "numpy", "scipy")
    return {"python": sys.version.split()[0], **{name: version(name) for name in packages}}


def _machine() -> dict[str, Any]:
    """What the last bits of a fit depend on, beside the versions."""
    import torch

    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "torch_threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def _check_vocabulary(cell: Cell, prepared: Prepared) -> None:
    """A model must meet the word ids that it was fitted on."""
    if cell.read_json("vocabulary") != prepared.vocabulary.to_dict():
        raise ValueError(
            f"{cell.folder} was fitted on another vocabulary than today's text preparation gives: "
            "run the cell with force=true"
        )


def _load(cell: Cell, task: AttentionTask) -> None:
    remedy = "run the cell with force=true, to fit it again"
    path = cell.folder / CHECKPOINT
    stored = _read(path, remedy)
    try:
        task.load_state_dict(stored["state_dict"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a checkpoint of this cell's model: {remedy}") from error
    if not all(weights.isfinite().all() for weights in task.state_dict().values()):
        raise ValueError(f"{path} holds weights that are not finite: {remedy}")
    task.eval()


def _read(path: Path, remedy: str) -> dict[str, Any]:
    """A checkpoint's content; FileNotFoundError or ValueError say the remedy."""
    import pickle

    import torch

    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: {remedy}")
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    except (RuntimeError, OSError, EOFError, pickle.UnpicklingError) as error:
        raise ValueError(f"{path} is not a whole checkpoint: {remedy}") from error
    return content
