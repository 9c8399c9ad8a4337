"""One cell of a sweep in a process that a launcher has started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any, NamedTuple

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, JobStatus, run_job, setup_globals
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

from attention_audit.signals import end_on_sigterm
from hydra_plugins.attention_audit._rounds import reason


class Outcome(NamedTuple):
    """What became of the cell of this number: `said` is why it failed, or how it was lost."""

    number: int
    status: JobStatus
    said: str = ""

    def as_return(self) -> JobReturn:
        """As Hydra's launchers return it."""
        return JobReturn(status=self.status, _return_value=self.said)


@dataclass(frozen=True)
class Job:
    """All that a fresh process needs to run one cell."""

    number: int
    overrides: Sequence[str]
    hydra_context: HydraContext
    config: DictConfig
    task_function: TaskFunction
    singletons: Any
    folder: str

    def __call__(self) -> Outcome:
        """Run the cell in this process, which has nothing else to do."""
        setup_globals()
        Singleton.set_state(self.singletons)
        os.chdir(self.folder)
        result = run_job(
            hydra_context=self.hydra_context,
            task_function=self.task_function,
            config=self._composed(),
            job_dir_key="hydra.sweep.dir",
            job_subdir_key="hydra.sweep.subdir",
        )
        if result.status is JobStatus.FAILED:
            return Outcome(self.number, JobStatus.FAILED, reason(result))
        return Outcome(self.number, JobStatus.COMPLETED)

    def _composed(self) -> DictConfig:
        config = self.hydra_context.config_loader.load_sweep_config(
            self.config, list(self.overrides)
        )
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = self.number
        return config


def run_silently(job: Job) -> Outcome:
    """Run a cell whose lines would get mixed with other cells'; its log.txt has them.

    A signal that ends it is told to the launcher, which is in another process and lives on.
    """
    end_on_sigterm()
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        try:
            return job()
        except (SystemExit, KeyboardInterrupt) as end:
            said = f"{type(end).__name__}: {end}".removesuffix(": ")
            return Outcome(job.number, JobStatus.FAILED, said)


class Requeued:
    """A cell as submitit takes it: its job may be ended at any time, and goes on in the next."""

    def __call__(self, job: Job) -> Outcome:
        return job()

    def checkpoint(self, job: Job) -> Any:
        """What submitit queues when the job's time is over; all that was done is in the store."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, job)
