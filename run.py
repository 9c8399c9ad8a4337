"""Run one cell of the grid, or with -m a sweep of cells; `python run.py --help` shows how."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

import attention_audit.schema  # noqa: F401  (registers the configuration's types)
from attention_audit.commandline import CONF, clear_errors, refuse_typos, resumable, with_plan
from attention_audit.signals import end_on_sigterm

# Read when torch loads its threads: waiting ones must not spin when another process is busy.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config: DictConfig) -> None:
    from attention_audit.audit import run

    settings = HydraConfig.get()
    sweep = Path(settings.sweep.dir).name if settings.mode is RunMode.MULTIRUN else None
    # In a sweep the exception goes to the sweeper, which runs the next cell.
    with nullcontext() if sweep else clear_errors():
        run(OmegaConf.to_container(config, resolve=True), sweep=sweep)


if __name__ == "__main__":
    end_on_sigterm()
    sys.argv[1:] = with_plan(sys.argv[1:])
    refuse_typos(sys.argv[1:], CONF)
    with resumable():
        main()
