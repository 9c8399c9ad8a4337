"""Checks a composed configuration against what its parts accept, before any work is done.

The constructor's signature is the schema of everything behind a `_target_`: names, required
parameters, types and ranges. Each fault is a `ValueError` of one line that names the key, what was
found, what was expected and the nearest right name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Annotated, Any, Literal, get_type_hints

from annotated_types import Len
from hydra._internal.utils import _locate
from pydantic import Field, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from attention_audit.schema import Config, Trainer
from attention_audit.spelling import unknown
from attention_audit.trainer import TOGETHER, device_count

Probability = Annotated[float, Field(ge=0, le=1)]

# Keys whose values no constructor receives as they are: of the corpus, and of everything else.
CORPUS = {
    "dataset.name": str,
    "dataset.task": Literal["classification", "qa", "nli"],
    "dataset.private": bool,
    "limits.train": PositiveInt | None,
    "limits.dev": PositiveInt | None,
    "limits.test": PositiveInt | None,
}
ROOT = {
    "seed": Annotated[int, Field(ge=0, lt=2**32)],
    "threads": PositiveInt,
    "save_tokens": bool | None,
    "logger.mode": Literal["offline", "online", "none"],
    "trainer.max_epochs": PositiveInt,
    "trainer.devices": PositiveInt | Annotated[list[NonNegativeInt], Len(1)],
    "encoder.name": str,
    "attention.name": str,
    "dataset.epochs": PositiveInt,
    "dataset.batch_size": PositiveInt,
    "dataset.embedding": PositiveInt,
    "dataset.epsilon": Probability,
}

# Parameters of a model's parts that the program fills in itself.
SUPPLIED = {"encoder": {"embedding"}, "attention": {"hidden", "query"}}

# Arguments of the Trainer that a cell sets itself, or that would put files elsewhere.
TRAINER_OURS = {
    *("callbacks", "logger", "plugins", "enable_checkpointing", "enable_progress_bar"),
    *("enable_model_summary", "num_sanity_val_steps", "inference_mode", "log_every_n_steps"),
    *("default_root_dir", "barebones", "fast_dev_run"),
}

# Whose classes a stored configuration may name, by the place.
ROOMS = {
    "dataset.sources": "attention_audit.corpora",
    "vectors": "attention_audit.text",
    "encoder": "attention_audit.models",
    "attention": "attention_audit.models",
    "analysis": "attention_audit.callbacks",
    "trainer": "pytorch_lightning.Trainer",
    "diagnostics.mlp": "attention_audit.models",
    "diagnostics.uniform": "attention_audit.models",
}

# What Hydra and the store read beside a constructor's own parameters.
RESERVED = {"_target_", "_partial_", "_convert_", "_recursive_", "name"}


def check(config: Mapping[str, Any]) -> None:
    """Refuse a resolved configuration that cannot be run.

    Raises:
        ValueError: an unknown key, a missing one, or a value of the wrong type or range.
    """
    check_corpus(config)
    for key, kind in ROOT.items():
        _validate(key, kind, _value(config, key))
    from attention_audit.models.training import Training

    check_call("training", config["training"], Training)
    for part, filled_in in SUPPLIED.items():
        check_call(part, config[part], supplied=filled_in)
    check_call("vectors", config["vectors"])
    trainer = config["trainer"]
    check_names("trainer", trainer, _target("trainer", trainer), supplied=TRAINER_OURS)
    if device_count(config) > 1 and trainer["strategy"] not in ("auto", *TOGETHER):
        raise ValueError(
            f"trainer.strategy={trainer['strategy']}: would start the program again for each of "
            f"the {device_count(config)} devices; expected auto or one of {', '.join(TOGETHER)}"
        )
    for name, analysis in config["analysis"].items():
        check_call(f"analysis.{name}", analysis)
        for part, filled_in in SUPPLIED.items():
            if isinstance(node := analysis.get(part), Mapping):
                check_call(f"analysis.{name}.{part}", node, supplied=filled_in)
    if config.get("auxiliary"):
        raise ValueError(
            f"auxiliary: found {config['auxiliary']!r}, expected null: analyses set it, for the "
            "models that they fit beside the cell's own"
        )


def check_stored(config: Mapping[str, Any], trusted: Sequence[str] = ()) -> None:
    """Refuse a configuration read back from a store that cannot be run, or names what it may not.

    Args:
        config: resolved, and perhaps somebody else's.
        trusted: packages beside this one whose classes it may name.

    Raises:
        ValueError: as `check` and `check_targets`.
    """
    check_schema(config)
    check_targets(config, trusted)
    check(config)


def check_corpus(config: Mapping[str, Any]) -> None:
    """Refuse a resolved configuration whose corpus cannot be read; light, unlike `check`."""
    check_schema(config)
    for key, kind in CORPUS.items():
        _validate(key, kind, _value(config, key))
    from attention_audit.text import Preparation

    for number, source in enumerate(config["dataset"]["sources"]):
        check_call(f"dataset.sources[{number}]", source)
    check_call("dataset.text", config["dataset"]["text"], Preparation)


def check_schema(config: Any, schema: Any = Config, key: str = "") -> None:
    """Refuse a name that the schema does not have; those of a Trainer are Lightning's."""
    kinds = get_type_hints(schema)
    for name, value in config.items():
        if name not in kinds:
            raise ValueError(unknown(f"{key}{name}", name, kinds))
        if is_dataclass(kinds[name]) and kinds[name] is not Trainer:
            check_schema(value, kinds[name], f"{key}{name}.")


def check_call(
    key: str,
    node: Mapping[str, Any],
    target: Callable[..., Any] | None = None,
    supplied: Iterable[str] = (),
) -> None:
    """Check the arguments in `node` against the constructor that will receive them.

    Args:
        key: the node's place in the configuration.
        node: arguments by name, with `_target_` unless `target` is given.
        target: the constructor.
        supplied: parameters that the program fills in itself.
    """
    target = target or _target(key, node)
    check_names(key, node, target, supplied)
    hints = get_type_hints(
        target.__init__ if inspect.isclass(target) else target, include_extras=True
    )
    for name, value in node.items():
        if value == "???":
            raise ValueError(f"{key}.{name}: not set; expected {key}.{name}=...")
        if name in hints:
            _validate(f"{key}.{name}", hints[name], value)
    for name, parameter in inspect.signature(target).parameters.items():
        required = parameter.default is parameter.empty and parameter.kind not in _VARIADIC
        if required and name not in node and name not in set(supplied):
            raise ValueError(f"{key}.{name}: missing; {target.__name__} needs it")


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def check_targets(config: Mapping[str, Any], trusted: Sequence[str] = ()) -> None:
    """Refuse a stored configuration that names anything to call but what its place is for.

    A user's own configuration is code, and may name any callable. One that is read back from a
    store may be somebody else's: only classes of this package that belong where they are named
    are taken, and those of the packages that the user trusts. Calls nothing; imports what is named.

    Raises:
        ValueError: another `_target_`, or one where none belongs.
    """
    for key, node in _targets(config):
        room = ROOMS.get(re.sub(r"\[\d+\]$|^analysis\.[^.]*\.|(?<=^analysis)\.[^.]*$", "", key))
        if room is None:
            raise ValueError(f"{key}._target_: found {node['_target_']!r}, expected none there")
        _check_target(key, node, room, trusted)


def _targets(value: Any, key: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every node that Hydra would make something of, by its place."""
    if isinstance(value, Mapping):
        if "_target_" in value or "_args_" in value:
            yield key, {"_target_": None, **value}
        for name, inner in value.items():
            yield from _targets(inner, f"{key}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _targets(inner, f"{key}[{number}]")


def _check_target(
    key: str, node: Mapping[str, Any], room: str, trusted: Sequence[str] = ()
) -> None:
    path = node["_target_"]
    homes = [room, *trusted]
    # By name first: importing a module runs it.
    if path == room or (isinstance(path, str) and _within(path, homes)):
        found = _target(key, node)
        # A module's own imports are its attributes, too: `some.module.os.system` is a path.
        if inspect.isclass(found) and (path == room or _within(found.__module__, homes)):
            return
    raise ValueError(
        f"{key}._target_: found {path!r}, expected a class of {' or '.join(homes)}; a stored "
        "configuration may name no other"
    )


def _within(path: str, homes: Iterable[str]) -> bool:
    return any(f"{path}.".startswith(f"{home}.") for home in homes)


def check_names(
    key: str, node: Mapping[str, Any], target: Callable[..., Any], supplied: Iterable[str] = ()
) -> None:
    """Refuse an argument that the configuration cannot give, naming those that it can."""
    known = set(inspect.signature(target).parameters) - set(supplied)
    for name in node:
        if name not in known and name not in RESERVED:
            raise ValueError(unknown(f"{key}.{name}", name, known))


def _target(key: str, node: Mapping[str, Any]) -> Callable[..., Any]:
    path = node.get("_target_")
    if not isinstance(path, str):
        raise ValueError(f"{key}._target_: found {path!r}, expected the path of a class")
    try:
        return _locate(path)
    except (ImportError, ValueError) as error:
        reason = str(error).splitlines()[-1]
        raise ValueError(f"{key}._target_: cannot import {path!r}: {reason}") from error


def _value(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        if part not in value:
            raise ValueError(f"{key}: missing in the configuration")
        value = value[part]
    return value


def _validate(key: str, kind: Any, value: Any) -> None:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        reasons = "; ".join(dict.fromkeys(fault["msg"] for fault in error.errors()))
        raise ValueError(f"{key}: found {value!r}: {reasons}") from None
