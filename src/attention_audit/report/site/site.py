"""Writes the report's folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attention_audit.report import colours
from attention_audit.report.document import harmless, look, resource
from attention_audit.report.results import Result
from attention_audit.report.site.details import details
from attention_audit.report.site.instances import instances_page, samples
from attention_audit.report.site.overview import overview
from attention_audit.report.site.plots import drawings, listing, plots, specifications
from attention_audit.store.atomic import write_text

# Says that a folder is a report, which may be written over.
MARK = "report.css"
INSTANCES = 200
SCRIPTS = (
    *("load.js", "tables.js", "saving.js", "overview.js", "plots.js"),
    *("trial.js", "drawing.js", "instances.js"),
)


def write_site(found: Sequence[Result], out: Path, most: int = INSTANCES) -> None:
    """Write the report of some cells into a folder, over an older one.

    Args:
        found: cells.
        out: the folder.
        most: instances of a cell whose words are shown, at most.

    Raises:
        ValueError: the folder holds something that is no report, or cannot be written to.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: found a file; expected a folder for the report")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise ValueError(
            f"--out {out}: found a folder that holds no report; expected a new or empty one"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_text(out / MARK, look() + resource(__package__, "report.css"))
    except OSError as error:
        raise ValueError(
            f"--out {out}: found no folder to write to ({error.strerror}); expected one of yours"
        ) from error
    write_text(out / "colours.js", colours.script())
    for script in SCRIPTS:
        write_text(out / script, resource(__package__, script))
    write_text(out / "vega.js", _vega())
    _write_data(out / "data", (("cells", listing(found)), ("charts", specifications())))
    _write_data(out / "cells", ((one.key, details(one)) for one in found))
    _write_data(out / "plots", drawings(found))
    _write_data(out / "instances", samples(found, most))
    write_text(out / "index.html", overview(found))
    write_text(out / "instances.html", instances_page())
    write_text(out / "plots.html", plots())


@cache  # seconds
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, of the version that Altair writes for."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version))


def _write_data(folder: Path, data: Iterable[tuple[str, Any]]) -> None:
    """A script file for each key, and none beside them."""
    folder.mkdir(exist_ok=True)
    written = set()
    for key, value in data:
        path = folder / f"{key}.js"
        name = json.dumps(f"{folder.name}/{key}")
        write_text(path, f"receive({name}, {harmless(value)});\n")
        written.add(path)
    for left_over in set(folder.glob("*.js")) - written:
        left_over.unlink()
