"""Checkpoints of a fit that may be killed at any moment, and go on in another folder."""

from __future__ import annotations

import io
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

Write = Callable[[str, Callable[[BinaryIO], object]], object]
"""(name, fill): write a file of that name whole, or raise OSError and leave the old one."""


def save(write: Write, name: str, content: Any) -> None:
    """Save as `torch.save` does, by `write`. Raises OSError as it does, on a full disk say."""
    # Written straight to a file, torch would turn the file's OSError into a RuntimeError.
    saved = io.BytesIO()
    torch.save(content, saved)
    write(name, lambda file: file.write(saved.getbuffer()))


class WholeCheckpoints(TorchCheckpointIO):
    """Lightning's checkpoints, written by `write`.

    Lightning itself writes to the system's temporary folder and moves the file, which copies it
    if that is another file system: a process killed meanwhile leaves half a checkpoint.
    """

    def __init__(self, write: Write) -> None:
        super().__init__()
        self.write = write

    def save_checkpoint(
        self,
        checkpoint: dict[str, Any],
        path: str | PathLike[str],
        storage_options: Any = None,
    ) -> None:
        name = Path(path).name
        if name.startswith("."):  # a process of several handing its weights to their parent
            super().save_checkpoint(checkpoint, Path(path))
        else:
            save(self.write, name, checkpoint)


class EpochCheckpoint(ModelCheckpoint):
    """Keeps one epoch in the file `<folder>/<name>`: the best by `monitor`, or without it the last.

    A resumed fit remembers the best score even where the folder has been moved meanwhile.
    """

    def __init__(self, folder: Path, name: str, monitor: str | None = None) -> None:
        super().__init__(
            dirpath=folder,
            filename=name.removesuffix(".ckpt"),
            monitor=monitor,
            mode="max",
            save_weights_only=monitor is not None,
            enable_version_counter=False,
        )

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict | {"dirpath": self.dirpath})


class EveryEpoch(ModelCheckpoint):
    """Keeps the weights of each epoch, in `<folder>/<prefix><epoch>.ckpt`, counted from 0."""

    def __init__(self, folder: Path, prefix: str) -> None:
        super().__init__(
            dirpath=folder,
            filename=prefix + "{epoch:04d}",
            auto_insert_metric_name=False,
            save_top_k=-1,
            save_weights_only=True,
            enable_version_counter=False,
        )
