"""The comparison dashboard in the user's own W&B project."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace

from attention_audit.dashboard import NAME, create, described

ABOUT = "create the dashboard that compares a W&B project's runs; each time a new one"
LOG_IN = (
    "found no W&B API key, so nothing was created; `wandb login`, or set WANDB_API_KEY, and say "
    "the same again"
)
# What W&B allows in the name of a user, team or project.
NAMES = re.compile(r"[^\s/\\#?%:](?:[^/\\#?%:]{0,126}[^\s/\\#?%:])?")
EXTRA = "the dashboard needs wandb-workspaces: pip install -e '.[dashboard]'"


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--entity", required=True, help="your user or team on W&B")
    parser.add_argument("--project", default="attention_audit", help="whose runs are compared")


def run(arguments: Namespace) -> int:
    """Create it and say where; without a key say what it would be, and return 1.

    Raises:
        ValueError: a name that is none, what W&B refuses, or a server that is out of reach.
    """
    _check(arguments)
    try:
        import wandb_workspaces  # noqa: F401
    except ImportError:
        raise ValueError(EXTRA) from None
    print(f"{NAME!r} in {arguments.entity}/{arguments.project}:")
    print("\n".join(f"  {line}" for line in described()))
    if (address := create(arguments.entity, arguments.project)) is None:
        print(LOG_IN)
        return 1
    print(f"created: {address}")
    return 0


def _check(arguments: Namespace) -> None:
    for option in ("entity", "project"):
        name = getattr(arguments, option)
        if not NAMES.fullmatch(name):
            raise ValueError(
                f"--{option}: found {name!r}, expected a name as W&B shows it, of at most 128 "
                r"characters and none of / \ # ? % :, as in --entity me --project attention_audit"
            )
