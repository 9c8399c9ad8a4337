"""Makes one clear line of what a user got wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn, TypeVar

from hydra import compose
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from hydra.version import setbase
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from attention_audit.configuration import check_schema
from attention_audit.privacy import refuse_secrets, without_secrets
from attention_audit.signals import STATUS
from attention_audit.spelling import unknown
from hydra_plugins.attention_audit.searchpath import VARIABLE, own_folders

T = TypeVar("T")

# Of the checkout that this package is installed from.
CONF = Path(__file__).resolve().parents[2] / "conf"

# Groups that other choices bring with them.
INTERNAL = {"hydra", "recipe"}


def options(group: str) -> str:
    """The choices of a configuration group, in the lines of `--help` after its 38th column."""
    return _listed(GlobalHydra.instance().config_loader(), group)


@cache  # every composition asks for the help's text
def _listed(loader: ConfigLoader, group: str) -> str:
    margin = " " * 38
    choices = ", ".join(loader.get_group_options(group))
    return fill(choices, width=96, initial_indent=margin, subsequent_indent=margin)[38:]


OmegaConf.register_new_resolver("options", options, replace=True)


def with_plan(argv: Sequence[str]) -> list[str]:
    """The arguments with `--plan` in Hydra's terms: a sweep that says only what it would do."""
    if "--plan" not in argv:
        return list(argv)
    given = [word for word in argv if word != "--plan"]
    # Among the overrides, which argparse wants side by side.
    place = next((n for n, word in enumerate(given) if _is_override(word)), len(given))
    return ["-m", *given[:place], "hydra.sweeper.plan=true", *given[place:]]


def _is_override(word: str) -> bool:
    return "=" in word and not word.startswith("-")


def refuse_typos(argv: Sequence[str], config_dir: Path) -> None:
    """Compose the configuration as Hydra will; exit with status 2 and one line if it cannot be.

    Each value of each sweep is tried once, so that a typo in the last cell of a grid is refused
    before the first is run. Help and other information pass through.
    """
    arguments = get_args_parser().parse_args(list(argv))
    if arguments.help or arguments.hydra_help or arguments.info or arguments.shell_completion:
        return
    overrides: list[str] = arguments.overrides
    with _hydra(config_dir, arguments.config_dir):
        sweep = partial(_alternatives, overrides, arguments.multirun)
        for tried in _clearly(overrides, lambda: [*sweep()]):
            _clearly(tried, partial(_try, tried))


def configurations(choices: Sequence[str], overrides: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The resolved configuration of each choice (all options where it ends in `=*`).

    Exits with status 2 and one line if one cannot be composed.

    Args:
        choices: such as `dataset=sst`, or `dataset=*`.
        overrides: what else is set in each of them.
    """
    with _hydra(CONF):
        for choice in choices:
            group, _, option = choice.partition("=")
            every = GlobalHydra.instance().config_loader().get_group_options(group)
            for name in every if option == "*" else [option]:
                tried = [f"{group}={name}", *overrides]
                yield _clearly(tried, partial(_resolved, tried))


def _resolved(overrides: list[str]) -> dict[str, Any]:
    _try(overrides)
    config: Any = OmegaConf.to_container(_compose(overrides), resolve=True)
    return config


def _clearly(overrides: list[str], work: Callable[[], T]) -> T:
    """What `work` gives; what is wrong with the overrides ends the program with one line."""
    try:
        return work()
    except OverrideParseException as error:
        _exit(f"{error.override}: cannot be read: {error.args[0].splitlines()[0]}")
    except HydraException as error:
        _exit(_explain(error, overrides))
    except YAMLError as error:
        _exit(f"a configuration file cannot be read: {' '.join(str(error).split())}")
    except ValueError as error:
        _exit(str(error))


@contextmanager
def _hydra(config_dir: Path, users: str | None = None) -> Iterator[None]:
    """Hydra ready to compose, with the user's own folder (`--config-dir`) if there is one."""
    _check_own("--config-dir", [users] if users else [], config_dir)
    _check_own(VARIABLE, own_folders(), config_dir)
    setbase("1.3")
    search = create_config_search_path(str(config_dir))
    if users:
        where = SearchPathQuery(provider="schema")
        search.prepend("command-line", Path(users).resolve().as_uri(), where)
    Hydra.create_main_hydra2("run", search)
    try:
        yield
    finally:
        GlobalHydra.instance().clear()


def _check_own(origin: str, folders: Sequence[str | Path], config_dir: Path) -> None:
    """A folder of the user's must be there, and may add to the program's files, not hide behind."""
    for folder in map(Path, folders):
        if not folder.is_dir():
            _exit(f"{origin} {folder}: no such folder")
        for ours in config_dir.rglob("*.yaml"):
            if (hidden := folder / ours.relative_to(config_dir)).exists():
                _exit(f"{hidden}: the program has a file of this name, which would win; rename it")


def _try(overrides: list[str]) -> None:
    """Compose one cell; what `+` added must be read by something, for Hydra takes any name."""
    config = _compose(overrides)
    plain: Any = OmegaConf.to_container(config)
    check_schema(plain)
    refuse_secrets(plain)
    # A corpus may name values for its own sources to read, which only its file can use.
    others = [one for one in overrides if not re.match(r"\+\+?dataset\.", one)]
    if others != overrides:
        known = [str(name) for name in _compose(others).dataset]
        for name in config.dataset:
            if name not in known:
                raise ValueError(unknown(f"dataset.{name}", str(name), known))


def _alternatives(overrides: Sequence[str], multirun: bool) -> Iterator[list[str]]:
    """The first cell of the sweep, then for each swept key every other value of it."""
    loader = GlobalHydra.instance().config_loader()
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(overrides))
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


def _compose(overrides: list[str]) -> DictConfig:
    return compose("config", overrides=overrides)


def _explain(error: HydraException, overrides: list[str]) -> str:
    text = str(error)
    if missing := re.search(r"Could not (?:find|load) '(.+)/([^/']+)'", text):
        group, option = missing.groups()
        if found := GlobalHydra.instance().config_loader().get_group_options(group):
            return unknown(f"{group}={option}", option, found)
    if key := re.search(r"Could not override '([^']+)'", text):
        kept = [one for one in overrides if one.lstrip("+~").partition("=")[0] != key[1]]
        return _unknown_key(key[1], kept)
    removed = [one for one in overrides if one.startswith("~")]
    if removed and "Error resolving interpolation" in text:
        return f"{removed[0]}: no cell can do without it; choose another option instead"
    cause = error.__cause__
    reason = str(cause) if isinstance(cause, OmegaConfBaseException) else text
    return _one_line(reason)


def _one_line(text: str) -> str:
    """A message, OmegaConf's with the key first and without its types."""
    where = re.search(r"full_key: (\S+)", text)
    line = " ".join(part.strip() for part in text.splitlines() if "_type=" not in part)
    line = re.sub(r"\s*full_key: \S+", "", line)
    return f"{where[1]}: {line}" if where else line


def _unknown_key(key: str, kept: list[str]) -> str:
    """The key's nearest existing parent knows which names would have been right."""
    if key.startswith("hydra."):
        return f"{key}: unknown to Hydra; python run.py --cfg hydra shows its settings"
    parent, _, name = key.rpartition(".")
    node = _compose(kept)
    known = OmegaConf.select(node, parent) if parent else node
    if not isinstance(known, DictConfig):
        return _unknown_key(parent, kept)
    choices = {str(choice) for choice in known if not str(choice).startswith("_")}
    if not parent:
        choices |= set(GlobalHydra.instance().config_loader().list_groups("")) - INTERNAL
    return unknown(key, name, choices)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Bad input ends the program with one line; every other exception is shown as it is."""
    try:
        yield
    except (ValueError, OSError) as error:
        _exit(_one_line(str(error)))


@contextmanager
def resumable() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the program with their usual status, and one line."""
    try:
        yield
    except KeyboardInterrupt:
        _say_resumable()
        raise SystemExit(130) from None
    except SystemExit as end:
        if end.code == STATUS:
            _say_resumable()
        raise


def _say_resumable() -> None:
    print("interrupted: the same command goes on from here", file=sys.stderr)


def _exit(line: str) -> NoReturn:
    print(f"error: {without_secrets(line)}", file=sys.stderr)
    raise SystemExit(2)
