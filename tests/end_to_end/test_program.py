"""run.py as a user runs it: a process of its own, from a folder of its own."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
GROUPS = sorted(p.name for p in (ROOT / "conf").iterdir() if p.is_dir())
# Says at its end which of the slow packages the program has imported.
WATCHED = """
import atexit, runpy, sys
slow = ("torch", "pytorch_lightning", "wandb", "spacy", "datasets")
atexit.register(lambda: print("imported:", *[name for name in slow if name in sys.modules]))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    hidden = ("WANDB_", "HF_", "COLUMNS")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    return subprocess.run(
        [sys.executable, "-c", WATCHED, str(ROOT / "run.py"), *arguments],
        cwd=folder,
        env=environment | {"HOME": str(folder / "home")} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
    )


def imported(result: subprocess.CompletedProcess[str]) -> list[str]:
    [line] = [line for line in result.stdout.splitlines() if line.startswith("imported:")]
    return line.split()[1:]


def test_help_is_quick_and_fits_a_screen(tmp_path):
    before = os.times()
    result = run(tmp_path, "--help")
    after = os.times()
    # The processor's time: a machine that is busy with other tests says nothing of this program.
    assert sum(after[2:4]) - sum(before[2:4]) < 3
    assert result.returncode == 0
    assert imported(result) == []
    lines = result.stdout.splitlines()[:-1]
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 100
    named = {line.split()[0] for line in lines if line.strip()}
    assert set(GROUPS) - {"hydra", "recipe"} <= named
    assert {"recipe", "$APP_CONFIG_GROUPS"} & set(result.stdout.split()) == set()
    for group in set(GROUPS) - {"hydra", "recipe"}:
        for option in (ROOT / "conf" / group).glob("*.yaml"):
            assert option.stem in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("typo", ["encoder=lstn", "trainer.max_epochs=two", "+limits.tran=3"])
def test_a_typo_is_answered_without_importing_anything_slow(tmp_path, typo):
    result = run(tmp_path, typo)
    assert result.returncode == 2
    assert imported(result) == []
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


class Sweep(NamedTuple):
    """A sweep of four cells, of which the first two fail, and the folder that it left."""

    folder: Path
    result: subprocess.CompletedProcess[str]

    def cells(self) -> dict[tuple[str, str], Path]:
        """Folders by encoder and state."""
        found = {}
        for path in (self.folder / "out").glob("*/*/*/status.json"):
            encoder = path.parent.parent.name.partition("+")[0]
            found[encoder, json.loads(path.read_text())["state"]] = path.parent
        return found


TINY = ("trainer=smoke", "trainer.max_epochs=1", "dataset.text.tokenizer=whitespace", "threads=1")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory) -> Sweep:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "home").mkdir()
    rows = [f"it is a {('dull', 'fine')[n % 2]} film no {n},{n % 2}\n" for n in range(40)]
    (folder / "good.csv").write_text("text,label\n" + "".join(rows))
    (folder / "bad.csv").write_text("text,label\n" + "".join(row[:-2] + "1\n" for row in rows))
    grid = ("dataset.path=bad.csv,good.csv", "encoder=lstm,average")
    return Sweep(folder, run(folder, "-m", "dataset=files", "store=out", *grid, *TINY))


def test_a_sweep_goes_on_past_failures_and_says_so(sweep):
    assert sweep.result.returncode == 1
    assert "sweep of 4 cells: 0 done before, 4 to run" in sweep.result.stdout
    assert sweep.result.stdout.count("stored in out/files/") == 2
    assert "2 of 4 cells failed" in sweep.result.stderr
    assert sweep.result.stderr.count("must hold two or more classes") == 2
    for noise in ("Traceback", "Warning", "wandb:"):
        assert noise not in sweep.result.stderr + sweep.result.stdout
    states = set(sweep.cells())
    assert states == {(e, s) for e in ("lstm", "average") for s in ("failed", "fitted")}


def test_relative_paths_mean_the_callers_folder(sweep):
    left = {path.name for path in sweep.folder.iterdir()}
    assert left == {"good.csv", "bad.csv", "out", "home"}
    assert {path.name for path in (sweep.folder / "out").iterdir()} >= {"files", "summary.csv"}


def rows_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "summary.csv").read_text().splitlines()))


def test_the_summary_has_one_block_for_each_finished_cell(sweep):
    rows = rows_of(sweep.folder / "out")
    blocks = [row["cell"] for n, row in enumerate(rows) if rows[n - 1]["cell"] != row["cell"]]
    assert len(blocks) == len(set(blocks)) == 2
    names = [(r["cell"], r["quantity"], r["klass"], r["statistic"]) for r in rows]
    assert len(set(names)) == len(names)
    assert {row["encoder"] for row in rows} == {"lstm", "average"}


def test_each_cell_is_an_offline_run_of_its_own(sweep, wandb_records):
    runs = {}
    for (encoder, state), folder in sweep.cells().items():
        [path] = (folder / "wandb").rglob("*.wandb")
        records = wandb_records(path)
        [run] = [record.run for record in records if record.HasField("run")]
        config = {item.key: json.loads(item.value_json) for item in run.config.update}
        assert config["encoder"]["name"] == encoder
        assert config["dataset"]["path"] == ("good.csv" if state == "fitted" else "bad.csv")
        assert list(run.tags) == ["files", encoder, "additive"]
        [code] = [record.exit.exit_code for record in records if record.HasField("exit")]
        assert code == (state == "failed")
        runs[run.run_id] = run.run_group
        if state == "fitted":
            check_numbers(folder, records)
    assert len(runs) == 4
    assert len(set(runs.values())) == 1
    assert (sweep.folder / "out" / "sweeps" / runs.popitem()[1]).is_dir()


def check_numbers(folder: Path, records: list) -> None:
    """The run's summary says what the store says."""
    found = {
        item.key or "/".join(item.nested_key): json.loads(item.value_json)
        for record in records
        for item in record.summary.update
    }
    stored = {
        f"{row['quantity']}/{row['klass']}/{row['statistic']}": float(row["value"])
        for row in rows_of(folder.parents[2])
        if row["cell"] == folder.name.partition("-")[2] and row["value"]
    }
    assert len(stored) > 20
    assert {name: found[name] for name in stored} == stored


def test_a_cell_alone_has_the_numbers_of_the_third_job_and_leaves_no_trace(sweep):
    fitted = sweep.cells()["lstm", "fitted"]
    alone = ("dataset=files", "dataset.path=good.csv", "store=home/alone", "logger=none", *TINY)
    result = run(sweep.folder, *alone)
    assert (result.returncode, result.stderr) == (0, "")
    assert "wandb" not in imported(result)
    assert "spacy" not in imported(result)
    [folder] = (sweep.folder / "home" / "alone").glob("files/*/*")
    assert folder.name == fitted.name
    assert not list(folder.rglob("*wandb*"))
    third = [row for row in rows_of(sweep.folder / "out") if row["encoder"] == "lstm"]
    assert rows_of(sweep.folder / "home" / "alone") == third


def test_two_devices_fit_one_cell_together_and_one_analyses_it(tmp_path):
    cell = ("dataset=planted", "trainer.devices=2", "logger.mode=offline", "store=out", *TINY)
    result = run(tmp_path, *cell, "limits.train=200", "analysis=correlation")
    assert result.returncode == 0, result.stderr
    assert "MEMBER: 2/2" in result.stderr
    [folder] = (tmp_path / "out").glob("planted/*/*")
    assert json.loads((folder / "status.json").read_text())["state"] == "fitted"
    assert [path.name for path in (folder / "analyses").iterdir()]
    assert not [*tmp_path.glob(".temp*"), *folder.glob("last*")]
    again = run(tmp_path, *cell, "limits.train=200", "analysis=correlation")
    assert again.returncode == 0
    assert "MEMBER" not in again.stderr


def test_a_repository_of_the_hub_is_fetched_once_and_then_needs_no_network(tmp_path, hub):
    rows = [json.dumps({"review": f"a fine film no {n}", "stars": n % 2}) for n in range(60)]
    hub.repositories["some/reviews"] = {"train.jsonl": "\n".join(rows).encode()}
    columns = ("dataset.text_column=review", "dataset.label_column=stars")
    cell = ("dataset=hub", "dataset.path=some/reviews", "dataset.name=reviews", *columns)
    cell = (*cell, "encoder=average", "analysis=none", "logger=none", *TINY)
    variables = {"HF_ENDPOINT": hub.endpoint, "HF_HUB_DISABLE_XET": "1"}
    result = run(tmp_path, *cell, **variables)
    assert result.returncode == 0, result.stderr
    commit = hub.commit("some/reviews")
    assert f"hub some/reviews@{commit}" in result.stdout
    [manifest] = tmp_path.glob("multirun/reviews/*/*/manifest.json")
    assert json.loads(manifest.read_text())["corpus"]["source"] == f"hub some/reviews@{commit}"
    asked = len(hub.requests)
    again = run(tmp_path, *cell, "seed=1", **variables, HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    assert len(hub.requests) == asked


def test_a_hub_out_of_reach_is_one_line_within_seconds(tmp_path):
    started = time.perf_counter()
    cell = ("dataset=hub", "dataset.path=some/reviews", "logger=none")
    result = run(tmp_path, *cell, HF_ENDPOINT="http://127.0.0.1:9")
    assert time.perf_counter() - started < 20  # the client alone retries for longer
    assert imported(result) == []
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert "http://127.0.0.1:9 does not answer" in line
