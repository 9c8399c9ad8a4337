"""What submitit needs of SLURM, on one machine: called as sbatch, srun, sacct, scontrol, scancel.

A job's folder below $SLURM_STANDIN holds the script it was submitted with and its process's id.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

STATE = Path(os.environ.get("SLURM_STANDIN", ""))


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def process_of(job: str) -> int:
    return int((STATE / job / "pid").read_text())


def begin(job: str) -> None:
    """Start a job's script, away from whoever asks for it."""
    main, _, task = job.partition("_")
    about = {"SLURM_JOB_ID": job}
    if task:
        about |= {"SLURM_ARRAY_JOB_ID": main, "SLURM_ARRAY_TASK_ID": task}
    counts = {"SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1", "SLURM_NODEID": "0"}
    ranks = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_NODELIST": "here"}
    process = subprocess.Popen(
        ["bash", str(STATE / job / "script.sh")],
        env=os.environ | about | counts | ranks | {"SLURM_JOB_NAME": "attention_audit"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    (STATE / job / "pid").write_text(str(process.pid))


def sbatch(script: str) -> None:
    text = Path(script).read_text()
    number = 1 + len({path.name.partition("_")[0] for path in STATE.iterdir()})
    array = re.search(r"#SBATCH --array=0-(\d+)", text)
    tasks = [f"_{task}" for task in range(int(array[1]) + 1)] if array else [""]
    for job in (f"{number}{task}" for task in tasks):
        (STATE / job).mkdir()
        (STATE / job / "script.sh").write_text(text)
        begin(job)
    print(f"Submitted batch job {number}")


def srun(*words: str) -> None:
    """Run the command after the options, its output where they say, %j being the job."""
    job = os.environ["SLURM_JOB_ID"]
    main, _, task = job.partition("_")
    named = {"%A": main, "%a": task or "0", "%j": job, "%t": "0"}
    options, command = {}, list(words)
    while command[0].startswith("--"):
        option = command.pop(0)
        if option in ("--output", "--error"):
            path = command.pop(0)
            for mark, value in named.items():
                path = path.replace(mark, value)
            options[option] = path
    with open(options["--output"], "a") as out, open(options["--error"], "a") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        os.execvp(command[0], command)


def sacct(*_: str) -> None:
    print("JobID|State|NodeList")
    for path in sorted(STATE.iterdir()):
        waits = (path / "requeued").exists()
        state = "PENDING" if waits else "RUNNING" if alive(process_of(path.name)) else "FAILED"
        print(f"{path.name}|{state}|here")


def scontrol(action: str, job: str) -> None:
    """Requeue: start again once the process that asks for it has ended."""
    assert action == "requeue"
    (STATE / job / "requeued").touch()
    if os.fork():
        return
    os.setsid()
    while alive(process_of(job)):
        time.sleep(0.05)
    begin(job)
    (STATE / job / "requeued").unlink()


def scancel(job: str, *signals: str) -> None:
    number = getattr(signal, signals[-1]) if signals else signal.SIGKILL
    os.killpg(process_of(job), number)


if __name__ == "__main__":
    globals()[Path(sys.argv[0]).name](*sys.argv[1:])
