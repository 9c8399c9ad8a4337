"""A sweep under fire: workers are killed, writes fail, a file is damaged, a corpus disappears.

Not part of the quick suite: `make soak`. SOAK_SEED repeats one; the seed is printed.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from attention_audit.store import Store

pytestmark = pytest.mark.soak

ROOT = Path(__file__).resolve().parents[2]
CELLS = 24
ANALYSES = 3
MOST_ROUNDS = 60
MEAN_SECONDS = 6  # between two kills
GRID = (
    *("dataset.path=kept.csv,lost.csv", "encoder=lstm,average,cnn", "attention=additive,dot"),
    *("seed=0,1", "dataset=files", "trainer=smoke", "trainer.max_epochs=6", "logger.mode=none"),
    *("dataset.hidden=8", "dataset.embedding=6", "dataset.text.tokenizer=whitespace"),
)
RESULTS = ("metrics.json", "instances.parquet", "tokens.parquet", "summary.json")
FINISHED = ("checkpoint.ckpt", "vocabulary.json", "status.json", *RESULTS)


@pytest.fixture
def folder(tmp_path) -> Path:
    for number, name in enumerate(("kept", "lost")):
        rows = [f"it is a {('dull', 'fine')[n % 2]} film no {n * 7 + number}" for n in range(240)]
        lines = "".join(f"{row},{n % 2}\n" for n, row in enumerate(rows))
        (tmp_path / f"{name}.csv").write_text("text,label\n" + lines)
    return tmp_path


def start(folder: Path, *arguments: str, file_size: int = -1) -> subprocess.Popen:
    """A sweep whose files cannot grow beyond `file_size` bytes, if that is not -1."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, limits[1]))
    try:
        return subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), "-m", *GRID, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def workers(parent: int) -> list[int]:
    """Processes, among the descendants of one, that run cells."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if b"LokyProcess" not in (path / "cmdline").read_bytes():
                del parents[int(path.name)]
        except OSError:
            continue
    return [process for process, above in parents.items() if above == parent]


def finished(store: Path) -> dict[str, dict[str, int]]:
    """When each result was written, of each cell that is whole, with its fit and analyses."""
    return {
        str(cell.folder.relative_to(store)): {
            str(path.relative_to(cell.folder)): path.stat().st_mtime_ns
            for path in cell.folder.rglob("*")
            if path.name in ("checkpoint.ckpt", *RESULTS)
        }
        for cell in Store(store).cells()
        if not cell.damaged() and cell.status().state == "fitted"
        if len([analysis for analysis in cell.analyses() if analysis.done]) == ANALYSES
    }


def results(store: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in store.rglob("*")
        if path.name in RESULTS
    }


class Fire:
    """Disturbs rounds of a sweep, each in its own way, and counts what it did."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.did = Counter[str]()
        self.damaged: set[str] = set()

    def round(self) -> int | None:
        """One sweep, disturbed; its exit code."""
        number = self.did["rounds"]
        self.did["rounds"] += 1
        full = number % 4 == 1
        # From a few hundred bytes, where nothing can be written, to half a checkpoint.
        size = self.chance.choice([300, 3_000, 20_000]) if full else -1
        self.did["rounds with failing writes"] += full
        with self._corpus_lost(number % 4 == 2):
            process = start(self.folder, "hydra/launcher=joblib", "store=fire", file_size=size)
            self._kill(process)
        if number % 2 == 0:
            self._damage()
        return process.returncode

    def _kill(self, process: subprocess.Popen) -> None:
        """Kill a worker at random moments while cells are at work, or the whole sweep."""
        while process.poll() is None:
            time.sleep(0.1)
            if not any(cell.status().state == "running" for cell in self._store().cells()):
                continue
            time.sleep(self.chance.expovariate(1 / MEAN_SECONDS))
            if process.poll() is None and self.chance.random() < 0.1:
                self.did["sweeps killed"] += 1
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            elif found := workers(process.pid):
                self.did["workers killed"] += 1
                os.kill(self.chance.choice(found), signal.SIGKILL)

    def _store(self) -> Store:
        return Store(self.folder / "fire")

    @contextmanager
    def _corpus_lost(self, lost: bool) -> Iterator[None]:
        self.did["rounds without a corpus"] += lost
        path, away = self.folder / "lost.csv", self.folder / "away.csv"
        if lost:
            path.rename(away)
        yield
        if lost:
            away.rename(path)

    def _damage(self) -> None:
        """Change one byte of one finished file."""
        store = self.folder / "fire"
        if not (cells := sorted(finished(store))):
            return
        cell = self.chance.choice(cells)
        files = sorted(p for p in (store / cell).rglob("*") if p.name in FINISHED)
        path = self.chance.choice(files)
        content = bytearray(path.read_bytes())
        content[self.chance.randrange(len(content))] ^= 0xFF
        path.write_bytes(content)
        self.damaged.add(cell)
        self.did[f"damaged: {path.name}"] += 1


def test_a_sweep_under_fire_comes_to_the_numbers_of_an_undisturbed_one(folder):
    seed = int(os.environ.get("SOAK_SEED", random.SystemRandom().randrange(10_000)))
    print(f"\nSOAK_SEED={seed}")
    started = time.monotonic()
    assert start(folder, "store=calm").wait() == 0
    calm = time.monotonic() - started
    assert len(finished(folder / "calm")) == CELLS

    fire, recomputed, seen = Fire(folder, random.Random(seed)), set(), {}
    started = time.monotonic()
    done = False
    while not done and fire.did["rounds"] < MOST_ROUNDS:
        done = fire.round() == 0 and len(finished(folder / "fire")) == CELLS
        now = finished(folder / "fire")
        recomputed |= {cell for cell, before in seen.items() if now.get(cell) != before}
        seen |= now
        print(fire.did["rounds"], "rounds:", len(now), "cells finished", flush=True)
    process = start(folder, "hydra/launcher=joblib", "store=fire")
    assert process.wait() == 0
    figures = dict(fire.did) | {
        "cells": CELLS,
        "finished cells computed again": len(recomputed),
        "of them damaged": len(recomputed & fire.damaged),
        "seconds, undisturbed, one worker": round(calm),
        "seconds, disturbed, in all": round(time.monotonic() - started),
    }
    print(json.dumps(figures, indent=1))

    assert results(folder / "fire") == results(folder / "calm")
    summaries = [(folder / name / "summary.csv").read_text() for name in ("fire", "calm")]
    assert summaries[0] == summaries[1]
    assert recomputed <= fire.damaged
    assert not list(folder.rglob(".tmp-*"))
    kinds = ("workers killed", "rounds with failing writes", "rounds without a corpus")
    assert all(fire.did[kind] for kind in kinds)
    assert fire.damaged
