"""A fitted model's lasting files, written and read back."""

from __future__ import annotations

import logging
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.cell.locating import Place
from attention_audit.store import Cell

if TYPE_CHECKING:
    from torch import nn

    from attention_audit.text import Embeddings, Prepared

CHECKPOINT = "checkpoint.ckpt"
LAST = "last.ckpt"
BEST = "best.ckpt"
EPOCH = "epoch-"
REMEDY = "run the cell with force=true, to fit it again"

_log = logging.getLogger(__name__)


def keep(
    place: Place,
    role: Mapping[str, str],
    prepared: Prepared,
    embeddings: Embeddings,
    config: Mapping[str, Any],
    seconds: float,
) -> None:
    """Turn a finished fit into the cell's lasting files; that it is finished is said last."""
    from attention_audit.models.checkpoints import save

    cell, private = place.cell, config["dataset"]["private"]
    best = read(cell.folder / BEST, "delete it and run again, to fit from the start")
    save(cell.write_file, CHECKPOINT, {"state_dict": best["state_dict"]})
    cell.write_json("vocabulary", prepared.vocabulary.to_dict())
    manifest = {
        **role,
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
    cell.note_fit()
    for name in (BEST, LAST):
        (cell.folder / name).unlink(missing_ok=True)


def epoch_weights(cell: Cell) -> list[Mapping[str, Any]]:
    """The model's weights after each epoch, of a fit that kept them all."""
    remedy = "delete the cell's folder: the same command makes it again"
    files = sorted(cell.folder.glob(f"{EPOCH}*.ckpt"))
    prefix = "model."
    return [
        {
            name.removeprefix(prefix): weights
            for name, weights in read(path, remedy)["state_dict"].items()
            if name.startswith(prefix)
        }
        for path in files
    ]


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


def check_vocabulary(cell: Cell, prepared: Prepared) -> None:
    """A model must meet the word ids that it was fitted on."""
    if cell.read_json("vocabulary") != prepared.vocabulary.to_dict():
        raise ValueError(
            f"{cell.folder} was fitted on another vocabulary than today's text preparation gives: "
            "run the cell with force=true"
        )


def load(cell: Cell, task: nn.Module) -> None:
    """Give a task, or what else holds a model as `model`, the cell's weights."""
    path = cell.folder / CHECKPOINT
    with _as_checkpoint(path):
        task.load_state_dict(read(path, REMEDY)["state_dict"])
    if not all(weights.isfinite().all() for weights in task.state_dict().values()):
        raise ValueError(f"{path} holds weights that are not finite: {REMEDY}")
    task.eval()


def embedding_width(cell: Cell) -> int:
    """The width of the word vectors in the cell's weights."""
    path = cell.folder / CHECKPOINT
    with _as_checkpoint(path):
        return int(read(path, REMEDY)["state_dict"]["model.embedding.weight"].shape[1])


@contextmanager
def _as_checkpoint(path: Path) -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a checkpoint of this cell's model: {REMEDY}") from error


def read(path: Path, remedy: str) -> dict[str, Any]:
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
