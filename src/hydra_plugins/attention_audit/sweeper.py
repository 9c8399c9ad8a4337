"""A sweeper that skips the cells that are done and goes on past those that fail."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn
from omegaconf import DictConfig, OmegaConf, open_dict

if TYPE_CHECKING:
    from attention_audit.grid import GridCell

ConfigStore.instance().store(
    group="hydra/sweeper",
    name="resume",
    # A dataclass cannot be made here: Hydra executes plugins outside sys.modules.
    node={
        "_target_": "hydra_plugins.attention_audit.sweeper.ResumeSweeper",
        "params": None,
        "plan": False,
    },
    provider="attention_audit",
)


class ResumeSweeper(BasicSweeper):
    """Hydra's grid sweep with four differences.

    Every cell's configuration is checked before the first is run; cells whose results are in the
    store are not run; neither a cell that fails, nor one that takes its process with it, nor a
    corpus that is not here ends the sweep, which closes with a table of the failures and a
    non-zero exit; and it can be told to say only what it would do.
    """

    def __init__(self, params: dict[str, str] | None = None, plan: bool = False) -> None:
        super().__init__(max_batch_size=None, params=params)
        self.plan = plan

    def sweep(self, arguments: list[str]) -> list[Sequence[JobReturn]]:
        from attention_audit.commandline import clear_errors
        from attention_audit.grid import survey
        from attention_audit.terminal import compare_cells, stdout

        with clear_errors():
            cells = survey((job, self._compose(job)) for job in self._jobs(arguments))
            pending = [cell for cell in cells if cell.place and not cell.is_done()]
        if self.plan:
            from attention_audit.plan import show_plan

            show_plan(cells, pending, stdout())
            return []
        absent = {cell: cell.absent for cell in cells if not cell.place}
        self._record(arguments)
        _announce(cells, pending, absent)
        failures = absent | (self._work_off(pending) if pending else {})
        fitted = [cell.place.cell for cell in cells if cell.place and cell.is_fitted()]
        compare_cells(fitted, stdout())
        if failures:
            _show(failures, len(cells))
            raise SystemExit(1)
        return []

    def _jobs(self, arguments: list[str]) -> list[list[str]]:
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        overrides = parser.parse_overrides([*self._parse_config(), *arguments])
        return [job for batch in self.split_arguments(overrides, None) for job in batch]

    def _record(self, arguments: list[str]) -> None:
        """What was asked, for people; which cells are done is for the store to say."""
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save({"overrides": self._parse_config() + arguments}, folder / "multirun.yaml")

    def _work_off(self, pending: list[GridCell]) -> dict[GridCell, str]:
        from hydra_plugins.attention_audit._rounds import Rounds

        sweep = Path(self.config.hydra.sweep.dir).name
        return Rounds(self._launch, sweep).run(pending)

    def _launch(self, cells: Sequence[GridCell]) -> Sequence[JobReturn]:
        return self.launcher.launch([list(cell.overrides) for cell in cells], initial_job_idx=0)

    def _compose(self, job: list[str]) -> dict[str, Any]:
        config: DictConfig = self.hydra_context.config_loader.load_sweep_config(self.config, job)
        with open_dict(config):
            del config["hydra"]
        plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
        return plain


def _announce(
    cells: Sequence[GridCell], pending: Sequence[GridCell], absent: Mapping[GridCell, str]
) -> None:
    size = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    done = len(cells) - len(pending) - len(absent)
    cannot = f", {len(absent)} not to be run here" if absent else ""
    print(f"sweep of {size}: {done} done before, {len(pending)} to run{cannot}", flush=True)
    for reason in dict.fromkeys(absent.values()):
        print(f"not here: {reason}", flush=True)


def _show(failures: Mapping[GridCell, str], cells: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("cell", "reason", title=f"{len(failures)} of {cells} cells failed")
    for cell, reason in failures.items():
        table.add_row(Text(cell.name), Text(reason))
    if any(cell.place for cell in failures):
        table.caption = "the whole tracebacks are in the cells' folders, traceback.txt"
    # A pipe has no width of its own: one line a cell there.
    Console(stderr=True, width=None if sys.stderr.isatty() else 10_000).print(table)
