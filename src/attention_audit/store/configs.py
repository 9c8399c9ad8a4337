"""A cell's `config.yaml`, read as what it may be: the work of somebody else, or damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def read_config(path: Path) -> dict[str, Any]:
    """Plain values, as `Cell.open` wrote them; nothing in the file is executed.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not YAML; a tag, an alias (which a few lines can multiply beyond all memory) or
            an interpolation, none of which is ever stored; not a mapping.
    """
    import yaml

    # The same loader, in C where PyYAML was built with it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = path.read_text(encoding="utf-8")
        events = yaml.parse(text, loader) if "*" in text else ()
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise ValueError("an alias, which is never stored")
        if "${" in text:
            raise ValueError("an interpolation, which is never stored")
        config = yaml.load(text, loader)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read: {reason}") from None
    if not isinstance(config, dict):
        raise ValueError(f"{path} cannot be read: it holds no settings")
    return config
