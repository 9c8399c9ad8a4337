"""Lightning's Trainer as a cell runs it: quietly, and ended by a signal as other programs are."""

from __future__ import annotations

import logging
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.signals import STATUS, sigterm_as_it_is

if TYPE_CHECKING:
    import pytorch_lightning as pl

# Lightning's strategies whose processes are children of this one. Others start the program again,
# and that would wait for the cell that this process holds.
TOGETHER = ("ddp_spawn", "ddp_fork")


def make_trainer(
    config: Mapping[str, Any],
    callbacks: Sequence[pl.Callback],
    logger: pl.loggers.Logger | None = None,
    checkpoints: pl.plugins.CheckpointIO | None = None,
) -> pl.Trainer:
    """The Lightning Trainer of the configuration; its progress bar is for terminals only.

    Several devices share a fit only (the trainer that is given `checkpoints`), each in a process
    of its own, whose batches count separately; what is analysed after it is analysed on one.
    """
    settings = dict(config["trainer"])
    if device_count(config) > 1 and checkpoints is None:
        settings |= {"devices": 1, "strategy": "auto"}
    elif device_count(config) > 1:
        settings |= {"use_distributed_sampler": False}  # batches are shared out by our sampler
        if settings["strategy"] == "auto":
            settings["strategy"] = TOGETHER[0]
    with quiet():
        trainer: pl.Trainer = instantiate(
            settings,
            callbacks=[*callbacks, *_ended_as_before(settings["devices"])],
            logger=logger or False,
            enable_checkpointing=checkpoints is not None,
            plugins=[checkpoints] if checkpoints else None,
            enable_progress_bar=sys.stderr.isatty(),
            enable_model_summary=False,
            num_sanity_val_steps=0,
            # Analyses take gradients, which inference mode would forbid for good.
            inference_mode=False,
            log_every_n_steps=1,
        )
    return trainer


def _ended_as_before(devices: Any) -> list[pl.Callback]:
    """Lightning's handler of SIGTERM, once it is in place, undone; processes of several keep it."""
    from pytorch_lightning.callbacks import LambdaCallback

    if _count(devices) > 1:
        return []
    put_back = sigterm_as_it_is()
    return [LambdaCallback(on_train_start=put_back, on_test_start=put_back)]


def device_count(config: Mapping[str, Any]) -> int:
    """How many devices fit a model together."""
    return _count(config["trainer"]["devices"])


def _count(devices: Any) -> int:
    return len(devices) if isinstance(devices, (list, tuple)) else int(devices)


@contextmanager
def guarded() -> Iterator[None]:
    """Run Lightning quietly, and let Ctrl-C be an exception like others.

    Lightning would end the process itself, and ignore every later Ctrl-C. After SIGTERM the exit
    status is 143.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        with quiet():
            yield
    except SystemExit as stop:
        if isinstance(stop.__context__, KeyboardInterrupt):
            signal.signal(signal.SIGINT, handler)
            raise stop.__context__ from None
        if stop.code is None:  # Lightning's way of ending on SIGTERM, which says "success"
            raise SystemExit(STATUS) from stop
        raise


@contextmanager
def quiet() -> Iterator[None]:
    """Without Lightning's notices, and without warnings that ask for nothing here."""
    expected = (
        ".*does not have many workers.*",  # our batches are made faster without
        ".*exists and is not empty.*",  # the cell's folder holds its configuration
        ".*LeafSpec.*is deprecated.*",  # Lightning's own use of torch
    )
    import pytorch_lightning  # noqa: F401  (importing it sets the level)

    logger = logging.getLogger("pytorch_lightning")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            for message in expected:
                warnings.filterwarnings("ignore", message=message)
            yield
    finally:
        logger.setLevel(level)
