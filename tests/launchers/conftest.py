"""Sweeps as a user starts them, in a folder with two encoders of the user's own that end badly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENCODERS = """
import os, signal
from attention_audit.models.encoders import Average

class Killer(Average):
    def __init__(self, embedding: int, hidden: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

class Raiser(Average):
    def __init__(self, embedding: int, hidden: int) -> None:
        raise RuntimeError("this cell is broken")
"""
TINY = (
    *("dataset=planted", "trainer=smoke", "dataset.hidden=8", "dataset.embedding=6"),
    *("limits={train: 96, dev: 40, test: 16}", "logger.mode=offline"),
)


@pytest.fixture(scope="session")
def own(tmp_path_factory) -> Path:
    """A folder with `encoder=killer`, whose process dies, and `encoder=raiser`, which raises."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "endings.py").write_text(ENCODERS)
    (folder / "conf" / "encoder").mkdir(parents=True)
    for name in ("killer", "raiser"):
        (folder / "conf" / "encoder" / f"{name}.yaml").write_text(
            f"_target_: endings.{name.title()}\nname: {name}\nhidden: 8\n"
        )
    return folder


@pytest.fixture(scope="session")
def started() -> list[subprocess.Popen]:
    """The sweeps that were started."""
    return []


@pytest.fixture(autouse=True)
def none_goes_on(started) -> Iterator[None]:
    """A sweep that outlives its test, which has failed then, is killed."""
    yield
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    started.clear()


def _hear() -> None:
    """Python is deaf to SIGINT where its parent is, as a job in the background of a script is."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def start(own, started) -> Callable[..., subprocess.Popen]:
    """Starts a sweep of tiny cells in a folder, in a process group of its own."""

    def start(folder: Path, *arguments: str) -> subprocess.Popen:
        (folder / "home").mkdir(parents=True, exist_ok=True)
        places = {"HOME": str(folder / "home"), "ATTENTION_AUDIT_CONF": str(own / "conf")}
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), "-m", *TINY, *arguments],
            cwd=folder,
            env=os.environ | places | {"PYTHONPATH": str(own)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_hear,
        )
        started.append(process)
        return process

    return start


@pytest.fixture(scope="session")
def sweep(start) -> Callable[..., subprocess.CompletedProcess]:
    """Runs a sweep of tiny cells to its end."""

    def sweep(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
        process = start(folder, *arguments)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return sweep


@pytest.fixture(scope="session")
def results() -> Callable[[Path], dict[str, bytes]]:
    """Every number that a store holds of finished cells, as the bytes that hold it."""

    def results(store: Path) -> dict[str, bytes]:
        kept = ("metrics.json", "instances.parquet", "tokens.parquet", "summary.json")
        found = (path for path in store.rglob("*") if path.name in kept)
        return {str(path.relative_to(store)): path.read_bytes() for path in found}

    return results
