"""Launchers that run the cells of a sweep side by side: on all cores, on SLURM, on Ray.

Hydra's own plugins for these engines give up a whole sweep when one worker dies, and that for Ray
cannot be installed beside a current cloudpickle: these drive the engines through their own
interfaces, and say of each cell what became of it.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar, NoReturn

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from hydra_plugins.attention_audit._worker import Job, Outcome, Requeued, run_silently

POLL_SECONDS = 0.2


class ParallelLauncher(Launcher):
    """Runs each cell in a process that is not this one."""

    engine: ClassVar[str]

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        if missing := self.missing():
            _refuse(missing)
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config
        self.threads = int(config.threads)

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run the cells, telling of each as it ends; of unknown status is one that was lost."""
        folder, singletons = os.getcwd(), Singleton.get_state()
        shared = (self.hydra_context, self.config, self.task_function, singletons, folder)
        jobs = [Job(n, list(cell), *shared) for n, cell in enumerate(job_overrides)]
        found = {job.number: Outcome(job.number, JobStatus.UNKNOWN, "not started") for job in jobs}
        for outcome in self.outcomes(jobs):
            found[outcome.number] = outcome
            _tell(jobs[outcome.number], outcome)
        return [outcome.as_return() for outcome in found.values()]

    def missing(self) -> str:
        """What is not here that this launcher needs, and what to do; "" if nothing is."""
        if find_spec(self.engine) is None:
            extra = {"submitit": "slurm"}.get(self.engine, self.engine)
            return f"{self.engine} is not installed: pip install 'attention-audit[{extra}]'"
        return ""

    @abstractmethod
    def outcomes(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        """What became of the cells, in the order in which they end; those lost may be left out."""

    def workers(self, asked: int | None) -> int:
        """How many cells at once: as many as asked for; as the cores hold if None or -1."""
        cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        if asked in (None, -1):
            return max(1, cores // self.threads)
        if asked * self.threads > cores:
            print(
                f"{asked} cells at once with {self.threads} threads each: this machine has "
                f"{cores} cores, so all of them will be slow"
            )
        return asked


def _refuse(line: str) -> NoReturn:
    print(f"error: hydra/launcher: {line}", file=sys.stderr)
    raise SystemExit(2)


def _tell(job: Job, outcome: Outcome) -> None:
    ends = {JobStatus.COMPLETED: "done", JobStatus.FAILED: "failed", JobStatus.UNKNOWN: "lost"}
    said = f" ({outcome.said})" if outcome.said else ""
    print(f"{ends[outcome.status]}: {' '.join(job.overrides)}{said}", flush=True)


class JoblibLauncher(ParallelLauncher):
    """Cells side by side on this machine, in processes that each run one cell after another."""

    engine = "joblib"

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def missing(self) -> str:
        if self.n_jobs is not None and self.n_jobs != -1 and self.n_jobs < 1:
            return f"n_jobs={self.n_jobs}: expected at least 1, or null for what the cores hold"
        return super().missing()

    def outcomes(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool

        workers = min(self.workers(self.n_jobs), len(jobs))
        if len(jobs) == 1:  # it would be run in this process, which must outlive it
            workers = 2
        side_by_side = Parallel(
            n_jobs=workers,
            backend="loky",
            batch_size=1,
            pre_dispatch=workers,  # what is not started cannot be lost
            return_as="generator_unordered",
            max_nbytes=None,
        )
        try:
            yield from side_by_side(delayed(run_silently)(job) for job in jobs)
        except BrokenProcessPool as error:
            print(f"a worker died: {str(error).splitlines()[0]}", flush=True)


class SubmititLauncher(ParallelLauncher):
    """Cells as jobs of their own, of SLURM or (cluster=local) processes of this machine.

    A job that reaches its time limit, or is preempted, is queued again and goes on from its last
    epoch, so often as `max_num_timeout` says.
    """

    engine = "submitit"

    def __init__(
        self,
        cluster: str,
        folder: str,
        at_once: int | None = None,
        max_num_timeout: int = 10,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.cluster = cluster
        self.folder = folder
        self.at_once = at_once
        self.max_num_timeout = max_num_timeout
        self.parameters = dict(parameters or {})

    def missing(self) -> str:
        if self.cluster == "slurm" and shutil.which("srun") is None:
            return "found no srun here: start the sweep on a machine of the SLURM cluster"
        return super().missing()

    def outcomes(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        executor = self._executor()
        waiting, running = list(jobs), dict[Any, Job]()
        try:
            while waiting or running:
                if starting := waiting[: self._at_once() - len(running)]:
                    del waiting[: len(starting)]
                    with executor.batch():  # on SLURM: one array
                        running |= {executor.submit(Requeued(), job): job for job in starting}
                for submitted in [one for one in running if one.done()]:
                    yield self._outcome(submitted, running.pop(submitted))
                time.sleep(POLL_SECONDS)
        finally:
            for submitted in running:
                submitted.cancel()

    def _at_once(self) -> int:
        if self.cluster == "local":
            return self.workers(self.at_once)
        return self.at_once or sys.maxsize

    def _executor(self) -> Any:
        import submitit

        executor = submitit.AutoExecutor(
            self.folder,
            self.cluster,
            slurm_max_num_timeout=self.max_num_timeout,
            local_max_num_timeout=self.max_num_timeout,
        )
        given = {name: value for name, value in self.parameters.items() if value is not None}
        executor.update_parameters(**given)
        return executor

    def _outcome(self, submitted: Any, job: Job) -> Outcome:
        """Of a job that has ended: what it returned, or how it was lost."""
        # submitit waits for a result that a slow file system may show late; here none is late.
        lost = self.cluster == "local" and not submitted.paths.result_pickle.exists()
        if not lost and submitted.exception() is None:
            return submitted.result()
        said = f"job {submitted.job_id} ended as {submitted.state}; see {submitted.paths.stderr}"
        return Outcome(job.number, JobStatus.UNKNOWN, said)


class RayLauncher(ParallelLauncher):
    """Cells as tasks of a Ray cluster, or of a Ray of this machine that lives as long as the sweep.

    On a cluster, `store`, `cache_dir` and the corpora are folders that all of its machines share.
    """

    engine = "ray"

    def __init__(
        self, address: str | None = None, cpus: int | None = None, gpus: float = 0
    ) -> None:
        self.address = address
        self.cpus = cpus
        self.gpus = gpus

    def outcomes(self, jobs: Sequence[Job]) -> Iterator[Outcome]:
        import ray

        try:
            ray.init(
                address=self.address or "local",
                num_cpus=None if self.address else self.cpus,
                include_dashboard=None if self.address else False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ValueError, ConnectionError) as error:
            _refuse(f"address={self.address}: {str(error).splitlines()[0]}")
        # A cell that takes its process with it is for the sweeper to try again, alone.
        cell = ray.remote(Job.__call__).options(
            num_cpus=self.threads, num_gpus=self.gpus, max_retries=0
        )
        running = {cell.remote(job): job for job in jobs}
        try:
            while running:
                [ended], _ = ray.wait([*running], num_returns=1)
                yield _result(ended, running.pop(ended))
        finally:
            for task in running:
                ray.cancel(task, force=True)
            ray.shutdown()


def _result(task: Any, job: Job) -> Outcome:
    """Of a Ray task that has ended: what it returned, or how it was lost."""
    import ray

    try:
        outcome: Outcome = ray.get(task)
    except ray.exceptions.RayError as error:
        return Outcome(job.number, JobStatus.UNKNOWN, f"{type(error).__name__}: {error}")
    return outcome
