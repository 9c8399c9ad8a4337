"""The store: who a cell is, what survives a kill, a full disk and a second process."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit import store as store_module
from attention_audit.store import SUMMARY_COLUMNS, Cell, Status, Store, fingerprint

IDENTITY = {"dataset": {"name": "sst", "fingerprint": "ab"}, "epochs": 8, "seed": 0}
ROW = {"quantity": "tau_gradient", "klass": "overall", "statistic": "mean", "value": 0.35}


def make(root: Path, seed: int = 0, identity=None, **names) -> Cell:
    names = {"dataset": "sst", "encoder": "lstm", "attention": "additive", **names}
    return Store(root).cell(**names, seed=seed, identity=identity or {**IDENTITY, "seed": seed})


@pytest.fixture
def cell(tmp_path) -> Cell:
    cell = make(tmp_path / "multirun")
    cell.open({"seed": 0})
    return cell


def run_python(code: str, *arguments, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# ---------------------------------------------------------------------------- identity


def test_folder_is_named_as_designed(tmp_path):
    folder = make(tmp_path, seed=3).folder
    assert re.fullmatch(
        r"sst/lstm\+additive/3-[0-9a-f]{8}", folder.relative_to(tmp_path).as_posix()
    )
    assert not folder.exists()


def test_hash_ignores_key_order_and_tuple_or_list(tmp_path):
    one = make(tmp_path, identity={"a": (1, 2), "b": {"c": None, "d": 0.1}})
    two = make(tmp_path, identity={"b": {"d": 0.1, "c": None}, "a": [1, 2]})
    assert one.hash8 == two.hash8
    assert one == two


def test_hash_sees_every_value_and_the_format(tmp_path, monkeypatch):
    hashes = {
        make(tmp_path, identity=i).hash8 for i in ({"a": 1}, {"a": 2}, {"a": "1"}, {"a": None})
    }
    monkeypatch.setattr(store_module, "FORMAT", store_module.FORMAT + 1)
    hashes.add(make(tmp_path, identity={"a": 1}).hash8)
    assert len(hashes) == 5


def test_hash_is_pinned(tmp_path):
    """Changing how identities are hashed orphans everybody's results: raise FORMAT knowingly."""
    text = r'{"format":1,"identity":{"a":[1,0.5,"\u00e9"]}}'
    expected = hashlib.sha256(text.encode()).hexdigest()[:8]
    assert make(tmp_path, identity={"a": [1, 0.5, "é"]}).hash8 == expected


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../../x", "a/b", "a\\b", "a b", "-a", ".a", "a+b", "a\n", "a\0", "x" * 65, 3],
)
@pytest.mark.parametrize("key", ["dataset", "encoder", "attention"])
def test_a_name_cannot_leave_the_store(tmp_path, key, name):
    with pytest.raises(ValueError, match=rf"^{key}=.*$") as caught:
        make(tmp_path, **{key: name})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["babi_1", "20news", "glove.6B", "größe", "数据"])
def test_usual_and_foreign_names_are_fine(tmp_path, name):
    cell = make(tmp_path, dataset=name)
    cell.open({})
    assert Store(tmp_path).cells() == [cell]


@pytest.mark.parametrize("seed", [-1, True, 1.0, "1", None])
def test_seed_is_a_natural_number(tmp_path, seed):
    with pytest.raises(ValueError, match=r"^seed="):
        Store(tmp_path).cell(
            dataset="sst", encoder="lstm", attention="dot", seed=seed, identity=IDENTITY
        )


@pytest.mark.parametrize("value", [Path("x"), {1}, object(), {1: 2}, b"x"])
def test_identity_of_unknown_types_is_refused_with_its_key(tmp_path, value):
    with pytest.raises(TypeError, match=r"identity\.text"):
        make(tmp_path, identity={"text": value})


def test_identity_refuses_nan(tmp_path):
    with pytest.raises(ValueError, match="identity holds NaN"):
        make(tmp_path, identity={"a": math.nan})


# ------------------------------------------------------------------------- fingerprint


def corpus(folder: Path, texts=("one", "two")) -> list[Path]:
    folder.mkdir(parents=True)
    paths = [folder / f"{i}.txt" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
        os.utime(path, (1e9, 1e9))
    return paths


def test_fingerprint_ignores_order_and_place(tmp_path):
    here, there = corpus(tmp_path / "a"), corpus(tmp_path / "b" / "c")
    prints = [fingerprint({"v": 1}, p, tmp_path / "k") for p in (here, here[::-1], there, 2 * here)]
    assert len(set(prints)) == 1
    assert re.fullmatch("[0-9a-f]{64}", prints[0])


def test_fingerprint_sees_content_names_and_identity(tmp_path):
    first = corpus(tmp_path / "a")
    renamed = corpus(tmp_path / "c")
    renamed[1] = renamed[1].rename(renamed[1].with_name("other.txt"))
    cases = [
        ({"v": 1}, first),
        ({"v": 2}, first),
        ({"v": 1}, first[:1]),
        ({"v": 1}, corpus(tmp_path / "b", ("one", "too"))),
        ({"v": 1}, renamed),
        ({"v": 1}, []),
    ]
    assert len({fingerprint(i, p, tmp_path / "k") for i, p in cases}) == len(cases)


def test_fingerprint_reads_unchanged_files_once(tmp_path, monkeypatch):
    paths = corpus(tmp_path / "a", [str(i) for i in range(500)])
    first = fingerprint({}, paths, tmp_path / "k")
    monkeypatch.setattr(store_module, "_hash_file", lambda path: pytest.fail(f"read {path} again"))
    assert fingerprint({}, paths, tmp_path / "k") == first
    [entry] = (tmp_path / "k").iterdir()
    assert entry.stat().st_size < 500


def test_fingerprint_notices_a_change_and_a_touch(tmp_path):
    paths = corpus(tmp_path / "a")
    first = fingerprint({}, paths, tmp_path / "k")
    os.utime(paths[0], (2e9 - 1e9 + 5, 1e9 + 5))
    assert fingerprint({}, paths, tmp_path / "k") == first
    paths[0].write_text("uno")
    assert fingerprint({}, paths, tmp_path / "k") != first
    assert len(names_in(tmp_path / "k")) == 1


def test_fingerprint_does_not_trust_a_file_that_is_just_being_written(tmp_path):
    path = corpus(tmp_path / "a", ["one"])[0]
    os.utime(path)
    now = path.stat().st_mtime_ns
    first = fingerprint({}, [path], tmp_path / "k")
    path.write_text("two")
    os.utime(path, ns=(now, now))  # same size, same clock tick
    assert fingerprint({}, [path], tmp_path / "k") != first


def test_fingerprint_of_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.txt is missing") as caught:
        fingerprint({}, [*corpus(tmp_path / "a"), tmp_path / "gone.txt"], tmp_path / "k")
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------- opening and status


def test_open_writes_config_and_identity(tmp_path):
    cell = make(tmp_path)
    config = {"name": "größe", "rate": 1e-3, "limit": float("inf"), "layers": [1, {"a": None}]}
    cell.open(config)
    assert yaml.safe_load((cell.folder / "config.yaml").read_text(encoding="utf-8")) == config
    assert cell.read_json("identity")["identity"] == IDENTITY
    cell.open(config)


def test_open_refuses_another_identity_under_the_same_hash(cell):
    stored = cell.read_json("identity")
    stored["identity"]["dataset"]["name"] = "imdb"
    del stored["identity"]["epochs"]
    cell.write_json("identity", stored)
    with pytest.raises(ValueError, match=r"identity\.dataset\.name, identity\.epochs:") as caught:
        cell.open({})
    assert "\n" not in str(caught.value)


def test_status_of_a_cell_through_its_life(cell):
    assert cell.status() == Status("missing")
    assert not cell.is_fitted
    cell.set_running()
    assert cell.status().state == "running"
    assert cell.status().pid == os.getpid()
    cell.set_failed(RuntimeError("loss is NaN\nsecond line"))
    failed = cell.status()
    assert (failed.state, failed.reason) == ("failed", "RuntimeError: loss is NaN")
    assert "second line" in (cell.folder / "traceback.txt").read_text()
    cell.set_running()
    assert not (cell.folder / "traceback.txt").exists()
    assert cell.status().reason is None
    cell.set_fitted()
    done = cell.status()
    assert done.state == "fitted"
    assert done.started <= done.finished
    assert cell.is_fitted


def test_traceback_holds_the_frames(cell):
    try:
        raise KeyError("x")
    except KeyError as error:
        cell.set_failed(error)
    assert "test_traceback_holds_the_frames" in (cell.folder / "traceback.txt").read_text()


def test_a_finished_fit_stays_finished_when_an_analysis_fails(cell):
    cell.set_running()
    cell.set_fitted()
    fitted = cell.status().fitted
    cell.set_running()
    assert cell.is_fitted
    cell.set_failed(ValueError("analysis"))
    assert cell.is_fitted
    cell.set_running()
    cell.set_fitted()
    assert cell.status().fitted == fitted


# ----------------------------------------------------------------------- reading, writing


def test_json_round_trip_with_unicode_numpy_and_undefined(cell):
    value = {
        "größe": "naïve 数据 😀",
        "array": np.array([1.5, np.nan]),
        "count": np.int64(3),
        "flag": np.bool_(True),
        "nested": [{"x": (1, None)}],
        "infinite": math.inf,
        "bad file name": "caf\udce9",
    }
    cell.write_json("metrics.json", value)
    assert cell.read_json("metrics") == {
        **value,
        "array": [1.5, None],
        "count": 3,
        "flag": True,
        "nested": [{"x": [1, None]}],
        "infinite": None,
    }
    assert "数据" in (cell.folder / "metrics.json").read_text(encoding="utf-8")


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), PLAIN, max_size=4))
def test_any_plain_value_comes_back(value):
    with tempfile.TemporaryDirectory() as folder:
        cell = make(Path(folder), identity=value or {"a": 1})
        cell.open(value)
        cell.write_json("value", value)
        assert cell.read_json("value") == value
        assert Store(Path(folder)).cells()[0].identity == cell.identity


@pytest.mark.parametrize("value", [{"a": {1}}, {"a": Path("x")}, {2: 3}, [object()]])
def test_json_of_unknown_types_is_refused_and_keeps_the_old(cell, value):
    cell.write_json("metrics", {"old": 1})
    with pytest.raises(TypeError, match=r"^metrics\.json"):
        cell.write_json("metrics", value)
    assert cell.read_json("metrics") == {"old": 1}


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden"])
def test_file_names_stay_in_the_cell(cell, name):
    with pytest.raises(ValueError, match=r"^file="):
        cell.write_json(name, {})
    with pytest.raises(ValueError, match=r"^file="):
        cell.write_table(name, {})


def test_broken_and_missing_json_are_named(cell):
    (cell.folder / "metrics.json").write_text('{"a": ')
    with pytest.raises(ValueError, match=r"metrics\.json is not valid JSON"):
        cell.read_json("metrics")
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        cell.read_json("manifest")


def test_table_round_trip(cell):
    columns = {
        "id": np.arange(3),
        "tau": np.array([0.5, np.nan, -1.0]),
        "label": [1, None, 0],
        "token": [["größe", "b"], [], ["c"]],
        "attention": [np.array([0.25, 0.75]), np.zeros(0), np.ones(1)],
        "probability": np.full((3, 2), 0.5),
        "cube": np.zeros((3, 1, 2)),
    }
    cell.write_table("tokens", columns)
    table = cell.read_table("tokens.parquet")
    assert table.column_names == list(columns)
    assert table["token"].to_pylist() == columns["token"]
    assert table["label"].to_pylist() == columns["label"]
    assert table["attention"].to_pylist() == [[0.25, 0.75], [], [1.0]]
    assert table["probability"].to_pylist() == [[0.5, 0.5]] * 3
    assert math.isnan(table["tau"].to_pylist()[1])
    assert str(table["tau"].type) == "double"


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"a": [1, 2], "b": [1]}, "columns differ in length"),
        ({"a": "text"}, "column a is a str"),
        ({"a": {1: 2}}, "column a is a dict"),
        ({"a": [1, "x"]}, "column a cannot be stored"),
        ({"a": [object()]}, "column a cannot be stored"),
    ],
)
def test_table_of_a_wrong_shape_is_refused(cell, columns, error):
    with pytest.raises((ValueError, TypeError), match=error) as caught:
        cell.write_table("tokens", columns)
    assert "\n" not in str(caught.value)
    assert "tokens.parquet" not in names_in(cell.folder)


def test_table_reads_alike_where_a_folder_looks_like_a_partition(tmp_path):
    cell = make(tmp_path / "year=2020")
    cell.open({})
    cell.write_table("instances", {"id": [1]})
    assert cell.read_table("instances").column_names == ["id"]


# -------------------------------------------------------------------------------- cells


def test_cells_are_sorted_and_foreign_things_are_passed(tmp_path):
    cells = [make(tmp_path, seed=s, encoder=e) for e in ("lstm", "cnn") for s in (10, 2)]
    for cell in cells:
        cell.open({})
    (tmp_path / "README.md").write_text("hello")
    (tmp_path / "sst" / "lstm+additive" / "notes").mkdir()
    (tmp_path / "sst" / "lstm+additive" / "1-abcdefgh").mkdir()
    (tmp_path / "sst" / "lstm+additive" / "0-01234567").mkdir()  # killed before identity.json
    (tmp_path / "sst" / "lstm+additive" / "7-x").write_text("a file")
    shutil.copytree(cells[0].folder, tmp_path / "sst" / "lstm+additive" / "copy of 0-0")
    found = Store(tmp_path).cells()
    assert [(c.encoder, c.seed) for c in found] == [
        ("cnn", 2),
        ("cnn", 10),
        ("lstm", 2),
        ("lstm", 10),
    ]
    assert set(found) == set(cells)
    assert found[0].identity == {**IDENTITY, "seed": 2}


def test_no_store_no_cells(tmp_path):
    assert Store(tmp_path / "nothing").cells() == []
    assert not (tmp_path / "nothing").exists()


def test_role_comes_from_the_manifest(cell):
    assert cell.role == "grid"
    cell.write_json("manifest", {"role": "seeds"})
    assert cell.role == "seeds"


# ----------------------------------------------------------------------------- analyses


def test_analysis_is_done_when_written_and_reads_back(cell):
    analysis = cell.analysis("correlation", {"resamples": 10}, version=1)
    assert not analysis.done
    analysis.write({"summary": [ROW]}, instances={"id": [1], "tau": [0.5]}, tokens={"id": [[1]]})
    assert analysis.done
    assert analysis.read_summary() == {"summary": [ROW]}
    assert analysis.read_instances()["tau"].to_pylist() == [0.5]
    assert analysis.read_tokens()["id"].to_pylist() == [[1]]
    [found] = cell.analyses()
    assert found == analysis
    assert found.config == {"resamples": 10}
    assert names_in(cell.folder / "analyses") == {analysis.folder.name}


def test_analysis_hash_covers_config_version_name_and_cell(tmp_path):
    cell, other = make(tmp_path), make(tmp_path, seed=1)
    analyses = [
        cell.analysis("a", {"k": 5}, 1),
        cell.analysis("a", {"k": 6}, 1),
        cell.analysis("a", {"k": 5}, 2),
        cell.analysis("b", {"k": 5}, 1),
        other.analysis("a", {"k": 5}, 1),
    ]
    assert len({a.hash8 for a in analyses}) == len(analyses)
    with pytest.raises(ValueError, match=r"^analysis="):
        cell.analysis("../a", {}, 1)


def test_analysis_replaces_an_older_one_whole(cell):
    analysis = cell.analysis("permutation", {}, 1)
    analysis.write({"summary": []}, instances={"id": [1]}, tokens={"id": [1]})
    analysis.write({"summary": [ROW]}, instances={"id": [2]})
    assert analysis.read_instances()["id"].to_pylist() == [2]
    with pytest.raises(FileNotFoundError, match=r"tokens\.parquet"):
        analysis.read_tokens()
    [found] = cell.analyses()
    found.write({"summary": []})
    assert cell.analyses()[0].config == {}


def test_a_failing_analysis_write_keeps_the_older_one(cell):
    analysis = cell.analysis("permutation", {}, 1)
    analysis.write({"summary": [ROW]})
    with pytest.raises(TypeError, match="column id"):
        analysis.write({"summary": []}, instances={"id": "text"})
    assert analysis.read_summary() == {"summary": [ROW]}
    assert names_in(cell.folder / "analyses") == {analysis.folder.name}


def test_discard_leaves_identity_config_log_and_foreign_files(cell):
    cell.set_running()
    cell.set_fitted()
    cell.write_json("metrics", {})
    cell.write_table("tokens", {"id": [1]})
    cell.analysis("permutation", {}, 1).write({})
    for name in ("checkpoint.ckpt", "last.ckpt", "log.txt", "notes.md"):
        (cell.folder / name).write_text("x")
    cell.discard()
    assert names_in(cell.folder) == {
        "identity.json",
        "config.yaml",
        "log.txt",
        "notes.md",
        "analyses",
    }
    assert cell.analyses() == []
    assert cell.status().state == "missing"
    cell.discard()


# ------------------------------------------------------------------------------ summary


def read_summary(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_summary_collects_grid_cells_only(tmp_path):
    grid, auxiliary = make(tmp_path, seed=0), make(tmp_path, seed=1)
    for cell in (grid, auxiliary):
        cell.open({})
        cell.write_json("metrics", {"summary": [{**ROW, "quantity": "accuracy", "extra": "x"}]})
    auxiliary.write_json("manifest", {"role": "seeds", "base": grid.hash8})
    undefined = {**ROW, "value": math.nan, "n": 0, "n_undefined": 7}
    grid.analysis("correlation", {}, 1).write({"summary": [undefined]})
    rows = read_summary(Store(tmp_path).write_summary())
    assert list(rows[0]) == list(SUMMARY_COLUMNS)
    assert [(r["quantity"], r["value"], r["n_undefined"]) for r in rows] == [
        ("accuracy", "0.35", ""),
        ("tau_gradient", "", "7"),
    ]
    assert {(r["dataset"], r["seed"], r["cell"]) for r in rows} == {("sst", "0", grid.hash8)}


def test_summary_of_one_analysis_under_two_configs_is_the_last_written(cell):
    old, new = (cell.analysis("adversarial", {"eps": eps}, 1) for eps in (0.01, 0.05))
    new.write({"summary": [{**ROW, "value": 2.0}]})
    old.write({"summary": [{**ROW, "value": 1.0}]})
    os.utime(old.folder / "summary.json", (1e9, 1e9))
    [row] = read_summary(cell.store.write_summary())
    assert row["value"] == "2.0"


def test_summary_of_an_empty_store_has_its_header(tmp_path):
    path = Store(tmp_path / "new").write_summary()
    assert path.read_text() == ",".join(SUMMARY_COLUMNS) + "\n"


@pytest.mark.parametrize("summary", [{"a": 1}, [1], [{"klass": "0"}]])
def test_summary_names_the_file_that_is_wrong(cell, summary):
    cell.write_json("metrics", {"summary": summary})
    with pytest.raises(ValueError, match=r"metrics\.json: "):
        cell.store.write_summary()


def test_summary_is_removed_of_its_own_left_overs_only(tmp_path):
    (tmp_path / ".tmp-summary.csv-1").write_text("half")
    (tmp_path / ".tmp-mine").mkdir()
    Store(tmp_path).write_summary()
    assert names_in(tmp_path) == {".tmp-mine", ".locks", "summary.csv"}


# -------------------------------------------------------------------- two at the same time

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


def test_a_second_process_waits_and_says_for_what(tmp_path, caplog):
    caplog.set_level("INFO")
    with hold(tmp_path, 1.0):
        cell = make(tmp_path)
        assert not cell.interrupted()
        with cell.lock():
            assert cell.interrupted() is False
    assert f"waiting for sst/lstm+additive/0-{cell.hash8}" in caplog.text


def test_the_lock_of_a_killed_process_is_free_and_its_cell_recognised(tmp_path):
    with hold(tmp_path, 60) as holder:
        holder.kill()
    cell = make(tmp_path)
    assert cell.status().state == "running"
    assert not cell.is_fitted
    assert cell.interrupted()
    with cell.lock():
        cell.set_running()
        assert not cell.interrupted()


def test_a_thread_may_take_its_own_lock_again_another_waits(cell):
    order = []

    def other():
        with make(cell.store.root).lock():
            order.append("other")

    with cell.lock(), make(cell.store.root).lock():
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.3)
        order.append("first")
    thread.join(10)
    assert order == ["first", "other"]


def test_locks_stay_out_of_the_cell_folder(cell):
    with cell.lock():
        assert names_in(cell.folder) == {"config.yaml", "identity.json"}


# ------------------------------------------------------------------ killed, full, read-only

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
    "summary": "cell.store.write_summary()\n",
}


def prepared(root: Path) -> Cell:
    cell = make(root)
    cell.open({})
    cell.set_running()
    (cell.folder / "checkpoint.ckpt").write_text("weights")
    cell.set_fitted()
    cell.write_json("metrics", {"summary": [{"quantity": "old"}]})
    cell.analysis("permutation", {}, 1).write({"summary": []}, instances={"id": [1]})
    return cell


def check_whole(cell: Cell) -> None:
    """Whatever exists is complete, and nothing of an old fit outlives it."""
    for path in cell.folder.glob("*.json"):
        json.loads(path.read_text())
    for analysis in cell.analyses():
        rows = analysis.read_summary()["summary"]
        assert analysis.read_instances()["id"].to_pylist() == ([2, 2] if rows else [1])
    assert cell.is_fitted or not cell.analyses()
    assert (cell.folder / "checkpoint.ckpt").exists() or not cell.is_fitted
    cell.store.write_summary()
    with cell.lock():
        cell.open({})
    assert not [name for name in names_in(cell.folder) if name.startswith(".tmp-")]
    assert not list((cell.folder / "analyses").glob(".tmp-*"))


posix_only = pytest.mark.skipif(os.name == "nt", reason="needs signals and resource limits")


@posix_only
@pytest.mark.parametrize("write", WRITES)
def test_killed_between_any_two_writes(tmp_path, write):
    base = prepared(tmp_path / "base").store.root
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
def test_a_full_disk_is_one_clear_line_and_the_old_stays(tmp_path):
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
              cell.store.write_summary, cell.lock().__enter__,
              lambda: cell.analysis("permutation", {}, 1).write({})):
    try:
        write()
    except PermissionError as error:
        print(error)
"""


@posix_only
def test_a_read_only_store_reads_and_refuses_in_one_line():
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


def test_open_clears_what_a_killed_process_left(cell):
    (cell.folder / ".tmp-metrics.json-1").write_text("{")
    (cell.folder / "analyses" / ".tmp-permutation-1").mkdir(parents=True)
    cell.open({})
    assert names_in(cell.folder) == {"config.yaml", "identity.json", "analyses"}
    assert names_in(cell.folder / "analyses") == set()
