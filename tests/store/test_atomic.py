"""What survives a kill, a full disk and a read-only folder."""

from __future__ import annotations

import json
import os
import signal
import stat
import tempfile
from pathlib import Path

import pytest

from attention_audit.store import Cell, Store

ROW = {"quantity": "tau_gradient", "klass": "overall", "statistic": "mean", "value": 0.35}


KILLED = """
import itertools, os, shutil, signal, sys
from pathlib import Path
import pyarrow.parquet, yaml
from attention_audit import store

def kill_before(function, countdown):
    def call(*arguments, **options):
        if next(countdown) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return call

def child(root, steps):
    cell = store.Store(root).cells()[0]
    countdown = itertools.count(steps, -1)
    for name in ("replace", "fsync", "rename", "unlink", "mkdir", "rmdir"):
        setattr(os, name, kill_before(getattr(os, name), countdown))
    exec(sys.argv[2])

base = Path(sys.argv[1])
for steps in range(100):
    root = shutil.copytree(base, base.parent / f"killed-{steps}")
    if (pid := os.fork()) == 0:
        child(root, steps)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(code)
    if code != -signal.SIGKILL:
        break
"""


WRITES = {
    "analysis": """
analysis = cell.analysis("permutation", {}, 1)
analysis.write({"summary": [{"quantity": "new"}]}, instances={"id": [2, 2]})
""",
    "json": 'cell.write_json("metrics", {"summary": [{"quantity": "new"}]})\n',
    "discard": "cell.discard()\n",
    "status": "cell.set_running(); cell.set_failed(ValueError('x')); cell.set_fitted()\n",
    "summary": "store.Store(cell.root).write_summary()\n",
}


@pytest.fixture(scope="session")
def prepared(make):
    def prepared(root: Path) -> Cell:
        cell = make(root)
        cell.open({})
        cell.set_running()
        (cell.folder / "checkpoint.ckpt").write_text("weights")
        cell.set_fitted()
        cell.write_json("metrics", {"summary": [{"quantity": "old"}]})
        cell.analysis("permutation", {}, 1).write({"summary": []}, instances={"id": [1]})
        return cell

    return prepared


@pytest.fixture(scope="session")
def check_whole(names_in):
    def check_whole(cell: Cell) -> None:
        """Whatever exists is complete, and nothing of an old fit outlives it."""
        for path in cell.folder.glob("*.json"):
            json.loads(path.read_text())
        for analysis in cell.analyses():
            rows = analysis.read_summary()["summary"]
            assert analysis.read_instances()["id"].to_pylist() == ([2, 2] if rows else [1])
        assert cell.is_fitted or not cell.analyses()
        assert (cell.folder / "checkpoint.ckpt").exists() or not cell.is_fitted
        Store(cell.root).write_summary()
        with cell.lock():
            cell.open({})
        assert not [name for name in names_in(cell.folder) if name.startswith(".tmp-")]
        assert not list((cell.folder / "analyses").glob(".tmp-*"))

    return check_whole


posix_only = pytest.mark.skipif(os.name == "nt", reason="needs signals and resource limits")


@posix_only
@pytest.mark.parametrize("write", WRITES)
def test_killed_between_any_two_writes(tmp_path, write, make, run_python, prepared, check_whole):
    base = prepared(tmp_path / "base").root
    result = run_python(KILLED, base, WRITES[write])
    codes = [int(line) for line in result.stdout.split()]
    assert codes[-1] == 0, result.stderr
    assert set(codes[:-1]) == {-signal.SIGKILL}
    for steps in range(len(codes)):
        check_whole(make(tmp_path / f"killed-{steps}"))


FULL_DISK = """
import resource, sys
from pathlib import Path
from attention_audit import store
import pyarrow.parquet
cell = store.Store(Path(sys.argv[1])).cells()[0]
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
for write in (
    lambda: cell.write_json("metrics", {"summary": ["x" * 5000]}),
    lambda: cell.write_table("instances", {"id": [str(i) for i in range(5000)]}),
    lambda: cell.analysis("permutation", {}, 1).write(
        {"summary": [ROW]}, instances={"id": [str(i) for i in range(5000)]}),
):
    try:
        write()
    except OSError as error:
        print(error)
"""


@posix_only
def test_a_full_disk_is_one_clear_line_and_the_old_stays(tmp_path, run_python, prepared):
    cell = prepared(tmp_path)
    cell.write_table("instances", {"id": [7]})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = run_python(FULL_DISK.replace("ROW", repr(ROW)), tmp_path)
    lines = result.stdout.splitlines()
    assert len(lines) == 3, result.stderr
    for line, name in zip(lines, ("metrics.json", "instances.parquet", "parquet"), strict=True):
        assert "File too large" in line
        assert name in line
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


READ_ONLY = """
import os, sys
from pathlib import Path
from attention_audit import store
import filelock, yaml, pyarrow.parquet
if os.geteuid() == 0:
    os.seteuid(65534)
root = Path(sys.argv[1])
cell = store.Store(root).cells()[0]
assert cell.is_fitted and cell.analyses()[0].read_instances()["id"].to_pylist() == [1]
for write in (lambda: cell.write_json("metrics", {}), lambda: cell.open({}),
              store.Store(root).write_summary, cell.lock().__enter__,
              lambda: cell.analysis("permutation", {}, 1).write({})):
    try:
        write()
    except PermissionError as error:
        print(error)
"""


@posix_only
def test_a_read_only_store_reads_and_refuses_in_one_line(run_python, prepared):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        cell = prepared(root)
        for path in [root, *root.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        result = run_python(READ_ONLY, root)
        lines = result.stdout.splitlines()
        assert len(lines) == 5, result.stderr
        assert all(str(root) in line for line in lines)
        for path in [root, *root.rglob("*")]:
            path.chmod(stat.S_IRWXU)
        assert cell.read_json("metrics")["summary"] == [{"quantity": "old"}]


def test_open_clears_what_a_killed_process_left(cell, names_in):
    (cell.folder / ".tmp-metrics.json-1").write_text("{")
    (cell.folder / "analyses" / ".tmp-permutation-1").mkdir(parents=True)
    cell.open({})
    assert names_in(cell.folder) == {"config.yaml", "identity.json", "analyses"}
    assert names_in(cell.folder / "analyses") == set()
