"""The versions of the analyses' code, read from the source: importing it would import torch."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

HOME = "attention_audit.callbacks"


def versions() -> dict[str, int]:
    """By an analysis's name the version of its code, a class's own or the one it inherits."""
    classes = {node.name: node for node in _classes()}
    named = {name: _constant(node, "name") for name, node in classes.items()}
    return {
        str(stored): _version(classes[name], classes)
        for name, stored in named.items()
        if stored is not None
    }


def _classes() -> list[ast.ClassDef]:
    spec = find_spec(HOME.rpartition(".")[0])
    folders = spec.submodule_search_locations if spec is not None else None
    package = Path(*folders or ()) / HOME.rpartition(".")[2]
    files = sorted(package.glob("*.py"))
    nodes = [node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body]
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _version(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> int:
    own = _constant(node, "version")
    if isinstance(own, int):
        return own
    bases = [
        classes[base.id] for base in node.bases if isinstance(base, ast.Name) if base.id in classes
    ]
    return _version(bases[0], classes)


def _constant(node: ast.ClassDef, name: str) -> object:
    """The constant that a class's body gives a name; None without one."""
    for line in node.body:
        if isinstance(line, ast.Assign):
            targets, value = line.targets, line.value
        elif isinstance(line, ast.AnnAssign) and line.value is not None:
            targets, value = [line.target], line.value
        else:
            continue
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            return value.value if isinstance(value, ast.Constant) else None
    return None
