"""A sweep that is ended by a signal ends within seconds, and goes on where it was."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

GRID = ("encoder=lstm", "seed=0,1", "trainer.max_epochs=40", "logger.mode=none")
ENDLESS = ("encoder=average", "seed=0,1", "analysis=adversarial", "budget.steps=10000000")


@pytest.fixture(scope="module")
def undisturbed(sweep, results, tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert sweep(folder, *GRID).returncode == 0
    return results(folder / "multirun")


def until(condition: Callable[[], object], seconds: float = 100) -> None:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "waited in vain"
        time.sleep(0.02)


def in_group(group: int) -> list[str]:
    """Command lines of the processes that live in a process group."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group_of = (path / "stat").read_text().rpartition(")")[2].split()[:3]
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(group_of) == group and state != "Z":
            found.append(command)
    return found


def statuses(store: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in store.rglob("status.json")]


def check_whole(store: Path) -> None:
    """Nothing half-written is left, under any name."""
    assert not list(store.rglob(".tmp-*"))
    check_readable(store)


def check_readable(store: Path) -> None:
    """Nothing is torn; what a worker that was killed had begun, the next at the cell removes."""
    for path in store.rglob("*.json"):
        json.loads(path.read_text())


@pytest.fixture
def ended(start, tmp_path) -> Callable[[str, int], int]:
    """Starts a sweep, ends it by a signal in its first fit; returns its exit code."""

    def ended(launcher: str, number: int) -> int:
        process = start(tmp_path, f"hydra/launcher={launcher}", *GRID)
        until(lambda: [*tmp_path.glob("multirun/**/last.ckpt")])
        told = time.monotonic()
        process.send_signal(number)
        process.communicate(timeout=60)
        assert time.monotonic() - told < 20
        until(lambda: not in_group(process.pid), 20)
        assert "fitted" not in {status["state"] for status in statuses(tmp_path / "multirun")}
        return process.returncode

    return ended


@pytest.mark.parametrize("launcher", ["submitit_local", "ray"])
def test_sigterm_ends_the_workers_too(ended, tmp_path, launcher):
    assert ended(launcher, signal.SIGTERM) != 0
    check_readable(tmp_path / "multirun")


@pytest.mark.parametrize(
    ("launcher", "number", "code"),
    [("joblib", signal.SIGTERM, 143), ("basic", signal.SIGKILL, -signal.SIGKILL)],
)
def test_the_next_sweep_goes_on_to_the_numbers_of_an_undisturbed_one(
    ended, sweep, results, undisturbed, tmp_path, launcher, number, code
):
    assert ended(launcher, number) == code
    again = sweep(tmp_path, *GRID)
    assert "going on after epoch" in again.stdout
    assert results(tmp_path / "multirun") == undisturbed
    check_whole(tmp_path / "multirun")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_an_analysis_ends_the_sweep(start, tmp_path, number, code):
    process = start(tmp_path, *ENDLESS)
    until(lambda: [*tmp_path.glob("multirun/**/instances.parquet")])
    told = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - told < 15
    assert process.returncode == code
    assert err == "interrupted: the same command goes on from here\n"
    [status] = statuses(tmp_path / "multirun")
    assert (status["state"], bool(status["fitted"])) == ("failed", True)
    check_whole(tmp_path / "multirun")


def test_a_full_disk_is_told_in_a_line_and_leaves_nothing_torn(start, sweep, results, tmp_path):
    """Files beyond a size cannot be written, as on a disk with that much room left."""
    import resource

    whole = tmp_path / "whole"
    assert sweep(whole, "encoder=average", "seed=0").returncode == 0
    [checkpoint] = whole.glob("multirun/planted/*/*/checkpoint.ckpt")
    room = checkpoint.stat().st_size // 2
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        process = start(tmp_path, "encoder=average", "seed=0")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 1
    assert "OSError: [Errno 27] File too large: " in err
    assert "Traceback" not in err
    check_whole(tmp_path / "multirun")
    assert [status["state"] for status in statuses(tmp_path / "multirun")] == ["failed"]
    assert sweep(tmp_path, "encoder=average", "seed=0").returncode == 0
    assert results(tmp_path / "multirun") == results(whole / "multirun")
