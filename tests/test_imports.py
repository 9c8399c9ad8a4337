"""Who may import whom inside the package, and what stays light."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import attention_audit

PACKAGE = "attention_audit"
ROOT = Path(attention_audit.__file__).parent
ENGINE = {
    "batch",
    "corpora",
    "text",
    "models",
    "measures",
    "importance",
    "counterfactual",
    "diagnostics",
    "callbacks",
    "store",
    "cell",
    "published",
}
ALLOWED: dict[str, set[str]] = {
    "__init__": set(),
    "batch": set(),
    "measures": set(),
    "corpora": set(),
    "store": set(),
    "published": set(),
    # What models say, and are given.
    "predictions": {"batch"},
    # Probabilities are measured and trained on by one function.
    "models": {"batch", "measures", "predictions"},
    "text": {"batch"},
    "importance": {"batch", "measures"},
    "counterfactual": {"batch", "measures"},
    "diagnostics": {"batch", "measures", "predictions"},
    "signals": set(),
    "trainer": {"signals"},
    "privacy": set(),
    "spelling": set(),
    "cell": {"corpora", "text", "models", "predictions", "store", "trainer", "privacy"},
    "callbacks": {
        *("batch", "importance", "counterfactual", "diagnostics", "measures", "predictions"),
        "store",
    },
    "auxiliaries": {
        "callbacks",
        "cell",
        "diagnostics",
        "predictions",
        "privacy",
        "store",
        "trainer",
    },
    "verdict": {"published", "store"},
    "schema": set(),
    # Checks settings against the signatures of what will receive them.
    "configuration": {"models", "text", "schema", "trainer", "spelling"},
    # Refuses secrets, and shows none.
    "commandline": {"configuration", "privacy", "signals", "spelling"},
    "tracking": {"store"},
    "dashboard": {"tracking"},
    "terminal": {"published", "store"},
    "audit": {
        *ENGINE,
        *("auxiliaries", "configuration", "tracking", "terminal", "privacy", "report", "verdict"),
    },
    "explain": {
        *("batch", "callbacks", "cell", "configuration", "measures", "report", "store"),
    },
    "grid": {"audit", "cell", "configuration", "corpora", "privacy", "store"},
    "plan": {"grid", "store"},
    "report": {"store", "measures", "published", "spelling"},
    "commands": {
        *ENGINE,
        *("audit", "commandline", "configuration", "dashboard", "explain", "report", "schema"),
        *("terminal", "tracking"),
    },
    "__main__": {"commands", "commandline"},
}
HEAVY = {
    *("torch", "pytorch_lightning", "wandb", "spacy", "datasets", "pandas", "captum"),
    *("gensim", "sklearn"),
}


def modules(root: Path) -> dict[str, Path]:
    """Every module below `root` by its dotted name; a package stands for its `__init__`."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join([PACKAGE, *parts]).removesuffix(".__init__")] = path
    return found


def imports(module: str, path: Path, known: set[str]) -> Iterator[str]:
    """Our own modules that `path` imports, anywhere in the file, relative imports resolved."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, path, node)
            names = [deepest(base, alias.name, known) for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == PACKAGE)


def absolute(module: str, path: Path, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *filter(None, [node.module])])


def deepest(base: str, name: str, known: set[str]) -> str:
    """`from base import name` imports the module base.name where there is one, else base."""
    submodule = f"{base}.{name}"
    return submodule if submodule in known or base == PACKAGE else base


def room(module: str) -> str:
    """The part of the package that a module belongs to."""
    return [*module.split("."), "__init__"][1]


def violations(root: Path) -> list[str]:
    known = modules(root)
    return [
        f"{module} imports {imported}"
        for module, path in known.items()
        for imported in imports(module, path, set(known))
        if room(imported) not in ALLOWED.get(room(module), set()) | {room(module), "__init__"}
    ]


def graph(root: Path) -> dict[str, set[str]]:
    known = modules(root)
    return {m: set(imports(m, path, set(known))) - {m} for m, path in known.items()}


OURS = modules(ROOT)


@pytest.mark.parametrize("module", OURS)
def test_a_module_imports_only_what_its_room_may(module):
    assert room(module) in ALLOWED, f"{room(module)} has no place in the design: add it to ALLOWED"
    allowed = ALLOWED[room(module)] | {room(module), "__init__"}
    imported = set(imports(module, OURS[module], set(OURS)))
    assert {name for name in imported if room(name) not in allowed} == set()


def test_no_circle():
    graphlib.TopologicalSorter(graph(ROOT)).prepare()


def test_the_permissions_themselves_have_no_circle():
    graphlib.TopologicalSorter(ALLOWED).prepare()


@pytest.fixture
def planted(tmp_path):
    def plant(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return plant


@pytest.mark.parametrize(
    "line",
    [
        "import attention_audit.store",
        "from attention_audit import store",
        "from attention_audit.store import Cell",
        "from ..store import Cell",
        "from .. import store",
        "def f():\n    from attention_audit.store import Cell",
    ],
)
def test_a_forbidden_import_is_seen(planted, line):
    root = planted(
        {"__init__.py": "", "store.py": "", "measures/__init__.py": "", "measures/a.py": line}
    )
    [found] = violations(root)
    assert found.startswith("attention_audit.measures.a imports attention_audit.store")


@pytest.mark.parametrize(
    "line",
    [
        "from . import b",
        "from .b import x",
        "from attention_audit.measures import b",
        "import math",
    ],
)
def test_a_room_may_import_itself_and_others(planted, line):
    root = planted(
        {"__init__.py": "", "measures/__init__.py": "", "measures/b.py": "", "measures/a.py": line}
    )
    assert violations(root) == []


def test_a_circle_is_seen(planted):
    files = {
        "measures/__init__.py": "",
        "measures/a.py": "from . import b",
        "measures/b.py": "from .a import x",
    }
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(graph(planted(files))).prepare()


def test_a_room_that_the_design_lacks_may_import_nothing(planted):
    root = planted(
        {"__init__.py": "", "batch.py": "", "misc.py": "from attention_audit.batch import PAD"}
    )
    assert violations(root) == ["attention_audit.misc imports attention_audit.batch"]


@pytest.mark.parametrize(
    "module", ["", ".corpora", ".store", ".published", ".report.heatmap", ".report.site"]
)
def test_importing_it_loads_nothing_heavy(module):
    name = PACKAGE + module
    code = f"import sys, {name}; print(*sorted(set(sys.modules) & {HEAVY!r}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_the_store_is_light():
    code = (
        "import sys, attention_audit.store; print('pyarrow' in sys.modules, 'numpy' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False False\n"
