"""Makes one clear line of what a user got wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from attention_audit.configuration import unknown


def refuse_typos(argv: Sequence[str], config_dir: Path) -> None:
    """Compose the configuration as Hydra will; exit with status 2 and one line if it cannot be.

    Each value of each sweep is tried once, so that a typo in the last cell of a grid is refused
    before the first is run. Help and other information pass through.
    """
    arguments = get_args_parser().parse_args(list(argv))
    if arguments.help or arguments.hydra_help or arguments.info or arguments.cfg:
        return
    if arguments.shell_completion:
        return
    extra = Path(arguments.config_dir).resolve() if arguments.config_dir else None
    with initialize_config_dir(str(config_dir), version_base="1.3"):
        try:
            for overrides in _alternatives(arguments.overrides, arguments.multirun):
                _compose(overrides, extra)
        except OverrideParseException as error:
            _exit(f"{error.override}: cannot be read: {error.args[0].splitlines()[0]}")
        except HydraException as error:
            _exit(_explain(error, overrides, extra))


def _alternatives(overrides: Sequence[str], multirun: bool) -> Iterator[list[str]]:
    """The first cell of the sweep, then for each swept key every other value of it."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    choices = [
        [f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()]
        if multirun and one.is_discrete_sweep()
        else [str(one.input_line)]
        for one in parsed
    ]
    first = [values[0] for values in choices]
    yield first
    for position, values in enumerate(choices):
        for value in values[1:]:
            yield [*first[:position], value, *first[position + 1 :]]


def _compose(overrides: list[str], extra: Path | None) -> DictConfig:
    searched = [f"hydra.searchpath=[{extra.as_uri()}]"] if extra else []
    return compose("config", overrides=[*overrides, *searched])


def _explain(error: HydraException, overrides: list[str], extra: Path | None) -> str:
    text = str(error)
    if missing := re.search(r"Could not (?:find|load) '(.+)/([^/']+)'", text):
        group, option = missing.groups()
        options = GlobalHydra.instance().config_loader().get_group_options(group)
        return unknown(f"{group}={option}", option, options)
    if key := re.search(r"Could not override '([^']+)'", text):
        kept = [one for one in overrides if one.lstrip("+~").partition("=")[0] != key[1]]
        return _unknown_key(key[1], kept, extra)
    cause = error.__cause__
    reason = str(cause) if isinstance(cause, OmegaConfBaseException) else text
    where = re.search(r"full_key: (\S+)", reason)
    line = " ".join(part.strip() for part in reason.splitlines() if "_type" not in part)
    line = re.sub(r"\s*full_key: \S+", "", line)
    return f"{where[1]}: {line}" if where else line


def _unknown_key(key: str, kept: list[str], extra: Path | None) -> str:
    """The key's nearest existing parent knows which names would have been right."""
    parent, _, name = key.rpartition(".")
    node = _compose(kept, extra)
    known = OmegaConf.select(node, parent) if parent else node
    if not isinstance(known, DictConfig):
        return _unknown_key(parent, kept, extra)
    choices = {str(choice) for choice in known if not str(choice).startswith("_")}
    if not parent:
        choices |= set(GlobalHydra.instance().config_loader().list_groups("")) - {"hydra"}
    return unknown(key, name, choices)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Bad input ends the program with one line; every other exception is shown as it is."""
    try:
        yield
    except (ValueError, OSError) as error:
        _exit(" ".join(str(error).split()))


def _exit(line: str) -> NoReturn:
    print(f"error: {line}", file=sys.stderr)
    raise SystemExit(2)
