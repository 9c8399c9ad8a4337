"""`python -m attention_audit COMMAND`: a module of `attention_audit.commands` for each command."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from attention_audit import commands
from attention_audit.commandline import clear_errors


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that is named; returns its exit code."""
    parser = ArgumentParser(prog="python -m attention_audit")
    choices = parser.add_subparsers(metavar="command", required=True)
    for found in iter_modules(commands.__path__):
        module = import_module(f"{commands.__name__}.{found.name}")
        command = choices.add_parser(found.name, help=module.ABOUT, description=module.ABOUT)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    arguments = parser.parse_args(argv)
    with clear_errors():
        code: int = arguments.run(arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
