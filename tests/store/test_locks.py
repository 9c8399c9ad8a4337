"""Two processes, or threads, at the same cell."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

IDENTITY = {"dataset": {"name": "sst", "fingerprint": "ab"}, "epochs": 8, "seed": 0}


HOLD = """
import sys, time, json
from pathlib import Path
from attention_audit.store import Store
cell = Store(Path(sys.argv[1])).cell(
    dataset="sst", encoder="lstm", attention="additive", seed=0, identity=json.loads(sys.argv[2]))
with cell.lock():
    cell.open({})
    cell.set_running()
    print("held", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def hold(root: Path, seconds: float) -> subprocess.Popen:
    command = [sys.executable, "-c", HOLD, str(root), json.dumps(IDENTITY), str(seconds)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_second_process_waits_and_says_for_what(tmp_path, caplog, make):
    caplog.set_level("INFO")
    with hold(tmp_path, 1.0):
        cell = make(tmp_path)
        assert not cell.interrupted()
        with cell.lock():
            assert cell.interrupted() is False
    assert f"waiting for sst/lstm+additive/0-{cell.hash8}" in caplog.text


def test_the_lock_of_a_killed_process_is_free_and_its_cell_recognised(tmp_path, make):
    with hold(tmp_path, 60) as holder:
        holder.kill()
    cell = make(tmp_path)
    assert cell.status().state == "running"
    assert not cell.is_fitted
    assert cell.interrupted()
    with cell.lock():
        cell.set_running()
        assert not cell.interrupted()


def test_a_thread_may_take_its_own_lock_again_another_waits(cell, make):
    order = []

    def other():
        with make(cell.root).lock():
            order.append("other")

    with cell.lock(), make(cell.root).lock():
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.3)
        order.append("first")
    thread.join(10)
    assert order == ["first", "other"]


def test_locks_stay_out_of_the_cell_folder(cell, names_in):
    with cell.lock():
        assert names_in(cell.folder) == {"config.yaml", "identity.json"}
