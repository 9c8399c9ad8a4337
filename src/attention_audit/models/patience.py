"""When a fit ends before its last epoch."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
from pydantic import PositiveInt
from pytorch_lightning.callbacks import EarlyStopping

from attention_audit.models.training import SELECTION


class Patience(EarlyStopping):
    """Ends a fit after so many epochs without one that is better on the dev split.

    Args:
        epochs: so many; those that may not be chosen anyway are not counted.
    """

    def __init__(self, epochs: PositiveInt) -> None:
        super().__init__(SELECTION, mode="max", patience=epochs)

    def on_train_start(self, trainer: pl.Trainer, pl_module: Any) -> None:
        # A fit that was killed after its end, before its model was kept.
        trainer.should_stop = self.wait_count >= self.patience

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        if trainer.callback_metrics[SELECTION].isfinite():
            super().on_train_epoch_end(trainer, pl_module)
