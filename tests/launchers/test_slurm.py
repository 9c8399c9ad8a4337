"""The SLURM launcher against a stand-in for its commands; and a job whose time is over."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

GRID = ("hydra/launcher=submitit_slurm", "encoder=average", "logger.mode=none")
LONG = ("seed=0", "trainer.max_epochs=60")
ASKED = (
    *("hydra.launcher.parameters.slurm_partition=gpu", "hydra.launcher.parameters.timeout_min=90"),
    *("hydra.launcher.parameters.gpus_per_node=1", "hydra.launcher.parameters.slurm_account=me"),
)


@pytest.fixture
def slurm(tmp_path, monkeypatch) -> Path:
    """SLURM's commands on the PATH; returns the folder of the jobs' scripts."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "jobs").mkdir()
    program = Path(__file__).with_name("slurm_standin.py")
    for name in ("sbatch", "srun", "sacct", "scontrol", "scancel"):
        command = tmp_path / "bin" / name
        command.write_text(f"#!{sys.executable}\n{program.read_text()}")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_STANDIN", str(tmp_path / "jobs"))
    return tmp_path / "jobs"


def test_a_job_for_each_cell_with_what_was_asked_for(slurm, sweep, tmp_path):
    result = sweep(tmp_path, *GRID, "seed=0,1", *ASKED)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(list(tmp_path.glob("multirun/planted/*/*/metrics.json"))) == 2
    script = (slurm / "1_0" / "script.sh").read_text().splitlines()
    for option in (
        *("partition=gpu", "time=90", "gpus-per-node=1", "account=me", "cpus-per-task=1"),
        *("mem=16GB", "array=0-1%2", "signal=USR2@120", "job-name=attention_audit"),
    ):
        assert f"#SBATCH --{option}" in script


def test_a_job_whose_time_is_over_is_queued_again_and_goes_on(
    slurm, start, sweep, results, tmp_path
):
    process = start(tmp_path, *GRID, *LONG)
    while not (found := [*tmp_path.glob("multirun/**/last.ckpt")]):
        time.sleep(0.02)
        assert process.poll() is None
    os.killpg(int((slurm / "1" / "pid").read_text()), signal.SIGUSR2)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, out + err
    log = (found[0].parent / "log.txt").read_text()
    assert "going on after epoch" in log
    whole = tmp_path / "whole"
    assert sweep(whole, "encoder=average", "logger.mode=none", *LONG).returncode == 0
    assert results(tmp_path / "multirun") == results(whole / "multirun")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("hydra/launcher=submitit_slurm", "srun"),
        ("hydra/launcher=joblib hydra.launcher.n_jobs=0", "n_jobs=0"),
        ("hydra/launcher=ray hydra.launcher.address=bad", "address=bad"),
    ],
)
def test_a_launcher_that_cannot_start_is_one_line(sweep, tmp_path, wrong, said):
    result = sweep(tmp_path, "encoder=average", "seed=0", *wrong.split())
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert line.startswith("error: hydra/launcher: ")
    assert said in line
