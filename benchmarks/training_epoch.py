"""How much Lightning costs: an epoch of ours against a plain PyTorch loop, in one process.

    python benchmarks/training_epoch.py [overrides, such as dataset=sst encoder=cnn]

Both train the same module on the same batches in the same order. "train" is the training steps
alone; "epoch" adds what a cell does after each epoch: the dev score, and in ours the logging and
the two checkpoints. The ratio is of the best over alternating repetitions: what disturbs a run
only ever makes it slower.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import attention_audit.schema  # noqa: F401
from attention_audit import cell
from attention_audit.measures import probabilities
from attention_audit.trainer import make_trainer, quiet

ROOT = Path(__file__).resolve().parent.parent
REPETITIONS = 5


def main(overrides: list[str]) -> None:
    folder = tempfile.mkdtemp()
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = compose("config", [*overrides, f"store={folder}", "trainer.max_epochs=1"])
    config: dict[str, Any] = OmegaConf.to_container(composed, resolve=True)  # type: ignore
    torch.set_num_threads(config["threads"])
    place = cell.locate(config)
    place.cell.open(config)
    prepared = cell.prepare_corpus(config, place.source, place.corpus)

    def built() -> Any:
        torch.manual_seed(0)
        return cell.build(config, prepared)[:2]

    width = built()[0].model.embedding.embedding_dim

    ways = {
        "plain train": lambda: _plain(*built(), dev=False),
        "lightning train": lambda: _lightning(config, place.cell, *built(), whole=False),
        "plain epoch": lambda: _plain(*built(), dev=True),
        "lightning epoch": lambda: _lightning(config, place.cell, *built(), whole=True),
    }
    seconds = _alternate(ways)
    best = {name: min(values) for name, values in seconds.items()}
    result = {
        "cell": place.cell.name,
        "embedding": width,
        "threads": config["threads"],
        "seconds": seconds,
        "ratio_train": best["lightning train"] / best["plain train"],
        "ratio_epoch": best["lightning epoch"] / best["plain epoch"],
    }
    print(json.dumps(result, indent=1))
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    (results / "training_epoch.json").write_text(json.dumps(result, indent=1) + "\n")


def _alternate(ways: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Seconds of each way, one after another, so that a busy moment hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(REPETITIONS):
        for name, way in ways.items():
            seconds[name].append(way())
    return seconds


def _plain(task: Any, data: Any, dev: bool) -> float:
    optimiser = task.configure_optimizers()
    started = time.perf_counter()
    task.train()
    for batch in data.train_dataloader():
        optimiser.zero_grad()
        task.loss(task.model(batch).logits, batch.labels).backward()
        optimiser.step()
    if dev:
        task.eval()
        task.scores.reset()
        with torch.no_grad():
            for batch in data.val_dataloader():
                task.scores.update(probabilities(task.model(batch).logits), batch.labels)
        task.scores.compute()
    return time.perf_counter() - started


def _lightning(config: Any, stored: Any, task: Any, data: Any, whole: bool) -> float:
    started = time.perf_counter()
    if whole:
        cell.fit(config, stored, task, data, None)
        elapsed = time.perf_counter() - started
        for checkpoint in stored.folder.glob("*.ckpt"):
            checkpoint.unlink()
        return elapsed
    quick = {**config, "trainer": {**config["trainer"], "limit_val_batches": 0}}
    with quiet():
        make_trainer(quick, []).fit(task, datamodule=data)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1:] or ["dataset=sst"])
