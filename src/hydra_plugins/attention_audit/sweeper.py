"""A sweeper that skips the cells that are done and goes on past those that fail."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig, OmegaConf, open_dict

ConfigStore.instance().store(
    group="hydra/sweeper",
    name="resume",
    # A dataclass cannot be made here: Hydra executes plugins outside sys.modules.
    node={"_target_": "hydra_plugins.attention_audit.sweeper.ResumeSweeper", "params": None},
    provider="attention_audit",
)


class ResumeSweeper(BasicSweeper):
    """Hydra's grid sweep with three differences.

    Every cell's configuration is checked before the first is run; cells whose results are in the
    store are not run; a cell that fails does not end the sweep, which closes with a table of the
    failures and a non-zero exit.
    """

    def __init__(self, params: dict[str, str] | None = None) -> None:
        super().__init__(max_batch_size=None, params=params)

    def sweep(self, arguments: list[str]) -> list[Sequence[JobReturn]]:
        from attention_audit.audit import is_done
        from attention_audit.cell import locate
        from attention_audit.commandline import clear_errors
        from attention_audit.terminal import compare_cells, stdout

        jobs = self._jobs(arguments)
        configs = [self._compose(job) for job in jobs]
        with clear_errors():
            pending = [job for job, one in zip(jobs, configs, strict=True) if not is_done(one)]
            cells = [locate(one).cell for one in configs]
        self._record(arguments)
        done = len(jobs) - len(pending)
        size = "1 cell" if len(jobs) == 1 else f"{len(jobs)} cells"
        print(f"sweep of {size}: {done} done before, {len(pending)} to run")
        returns = list(self.launcher.launch(pending, initial_job_idx=0)) if pending else []
        failures = {
            " ".join(job): result._return_value
            for job, result in zip(pending, returns, strict=True)
            if result.status is not JobStatus.COMPLETED
        }
        compare_cells([one for one in cells if one.status().state == "fitted"], stdout())
        if failures:
            _show(failures, len(jobs))
            raise SystemExit(1)
        return [returns]

    def _jobs(self, arguments: list[str]) -> list[list[str]]:
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        overrides = parser.parse_overrides([*self._parse_config(), *arguments])
        return [job for batch in self.split_arguments(overrides, None) for job in batch]

    def _record(self, arguments: list[str]) -> None:
        """What was asked, for people; which cells are done is for the store to say."""
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save({"overrides": self._parse_config() + arguments}, folder / "multirun.yaml")

    def _compose(self, job: list[str]) -> dict[str, Any]:
        config: DictConfig = self.hydra_context.config_loader.load_sweep_config(self.config, job)
        with open_dict(config):
            del config["hydra"]
        plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
        return plain


def _show(failures: dict[str, BaseException], cells: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("cell", "reason", title=f"{len(failures)} of {cells} cells failed")
    for job, error in failures.items():
        table.add_row(Text(job), Text(f"{type(error).__name__}: {error}"))
    table.caption = "the whole tracebacks are in the cells' folders, traceback.txt"
    # A pipe has no width of its own: one line a cell there.
    Console(stderr=True, width=None if sys.stderr.isatty() else 10_000).print(table)
