"""A stored cell made again in another store, from its own settings."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from inspect import isclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from attention_audit.cell import locate
from attention_audit.commandline import CONF
from attention_audit.commands.status.freshness import changes, stored_identity
from attention_audit.configuration import check_stored
from attention_audit.store import Cell, canonical


def remake(
    cell: Cell, store: Path, trusted: Sequence[str] = (), threads: int | None = None
) -> Cell:
    """The same fit and analyses in another store; nothing is read of the old one but settings.

    Args:
        cell: a finished cell.
        store: where the new one goes.
        trusted: packages beside this one whose classes the stored settings may name.
        threads: None takes those that the cell was made with.

    Raises:
        ValueError, FileNotFoundError: settings that today's program refuses; another corpus, or
            other vectors, than the cell was made on.
    """
    config = _config(cell, store, threads)
    check_stored(config, trusted)
    if changed := changes(stored_identity(cell), locate(config).cell):
        raise ValueError(f"{cell.folder} cannot be made again: {'; '.join(changed)}")
    from attention_audit.audit import run

    made = cell
    for saved, analyses in _batches(cell, config).items():
        # The new cell's own table would say where it is stored, which is nobody's concern.
        with redirect_stdout(io.StringIO()):
            made = run({**config, "analysis": analyses, "save_tokens": saved})
    return made


def _config(cell: Cell, store: Path, threads: int | None) -> dict[str, Any]:
    """The cell's settings, in a place of its own and without a W&B run."""
    config = cell.config
    manifest = cell.read_json("manifest")
    cache = config.get("cache_dir")
    if not isinstance(cache, str) or not Path(cache).is_dir():  # made on another machine
        cache = OmegaConf.select(OmegaConf.load(CONF / "config.yaml"), "cache_dir")
    return {
        **config,
        "store": str(store),
        "cache_dir": cache,
        "threads": threads or manifest.get("threads", config.get("threads")),
        "logger": {"mode": "none"},
        "force": False,
    }


def _batches(cell: Cell, config: Mapping[str, Any]) -> dict[bool, dict[str, Any]]:
    """The stored analyses as configurations, apart those with and without numbers of words."""
    with_words = (cell.folder / "tokens.parquet").exists()
    batches: dict[bool, dict[str, Any]] = {with_words: {}}
    for number, analysis in enumerate(cell.analyses()):
        settings = dict(analysis.config)
        saved = settings.pop("tokens", True)
        if (target := _target(analysis.name, settings, config)) is not None:
            node = {"_target_": target, **settings}
            batches.setdefault(saved, {})[f"{analysis.name}_{number}"] = node
    return batches


def _target(name: str, settings: Mapping[str, Any], config: Mapping[str, Any]) -> str | None:
    """The class of a stored analysis: the cell's settings name it, or it is this program's."""
    for node in config["analysis"].values():
        rest = {key: value for key, value in node.items() if key != "_target_"}
        if canonical(rest, name) == canonical(settings, name) and _name(node["_target_"]) == name:
            return str(node["_target_"])
    return next((path for path in _ours() if _name(path) == name), None)


def _name(path: str) -> str:
    from hydra.utils import get_class

    return str(getattr(get_class(path), "name", ""))


def _ours() -> Iterator[str]:
    from attention_audit import callbacks

    for name, one in vars(callbacks).items():
        if isclass(one) and issubclass(one, callbacks.StoredAnalysis):
            yield f"{callbacks.__name__}.{name}"
