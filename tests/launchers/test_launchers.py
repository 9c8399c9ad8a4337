"""One grid under every launcher: the same numbers, and the same failures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

GRID = ("encoder=lstm,killer,raiser,average", "seed=0")
LAUNCHERS = ("joblib", "submitit_local", "ray")


class Swept(NamedTuple):
    store: Path
    result: subprocess.CompletedProcess


@pytest.fixture(scope="module")
def alone(sweep, tmp_path_factory) -> Path:
    """The store of the grid's good cells, run one after another, in another order."""
    folder = tmp_path_factory.mktemp("alone")
    assert sweep(folder, "encoder=average,lstm", "seed=0").returncode == 0
    return folder / "multirun"


@pytest.fixture(scope="module", params=LAUNCHERS)
def swept(request, sweep, tmp_path_factory) -> Swept:
    folder = tmp_path_factory.mktemp(request.param)
    return Swept(folder / "multirun", sweep(folder, f"hydra/launcher={request.param}", *GRID))


def cells(store: Path) -> dict[str, Path]:
    """Folders by encoder."""
    found = store.glob("planted/*/*/status.json")
    return {path.parents[1].name.partition("+")[0]: path.parent for path in found}


def test_the_good_cells_have_the_numbers_of_a_sweep_one_after_another(swept, alone, results):
    expected = results(alone)
    assert len(expected) == 2 * 11
    assert results(swept.store) == expected
    assert (swept.store / "summary.csv").read_text() == (alone / "summary.csv").read_text()


def test_the_bad_cells_are_shown_at_the_end(swept):
    result = swept.result
    assert result.returncode == 1
    assert "sweep of 4 cells: 0 done before, 4 to run" in result.stdout
    assert "2 of 4 cells failed" in result.stderr
    [raised] = [line for line in result.stderr.splitlines() if "encoder=raiser" in line]
    assert "RuntimeError: this cell is broken" in raised
    assert any("encoder=killer" in line for line in result.stderr.splitlines())
    assert "Traceback" not in result.stderr


def test_the_bad_cells_are_marked_in_the_store_and_on_wandb(swept, wandb_records):
    found = cells(swept.store)
    assert set(found) == {"lstm", "killer", "raiser", "average"}
    for encoder, folder in found.items():
        status = json.loads((folder / "status.json").read_text())
        bad = encoder in ("killer", "raiser")
        assert status["state"] == ("failed" if bad else "fitted")
        assert (folder / "traceback.txt").exists() == bad
        *_, last = sorted((folder / "wandb").rglob("*.wandb"))
        [code] = [one.exit.exit_code for one in wandb_records(last) if one.HasField("exit")]
        assert code == bad
    assert not list(swept.store.rglob(".tmp-*"))
