"""The first page: the papers' tables with ours, every cell, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from attention_audit.report.findings import agreement, findings
from attention_audit.report.grid import QUANTITIES, grid
from attention_audit.report.results import Result
from attention_audit.report.siblings import by_models, told_apart
from attention_audit.report.site.frame import page
from attention_audit.report.site.markup import STEPS, table
from attention_audit.report.tables import papers_tables

RUNNING = (
    "Running: at work when this report was written, or ended without a word; "
    "python -m attention_audit status tells which."
)
LEGEND = (
    *((f"lower-{n}", f"ours lower by more than {STEPS[n - 1]:g}") for n in (3, 2, 1)),
    ("alike", f"within {STEPS[0]:g}"),
    *((f"higher-{n}", f"ours higher by more than {STEPS[n - 1]:g}") for n in (1, 2, 3)),
)


def overview(found: Sequence[Result]) -> str:
    """The HTML of `index.html`."""
    body = "\n".join(
        (
            *(_greeting(found), _failures(found), _findings(found), _grids(found)),
            *(_papers(found), _every(found), _DETAILS),
        )
    )
    return page("index.html", ("load.js", "tables.js", "overview.js"), body)


_DETAILS = """<section id="cell" hidden tabindex="-1"></section>"""


def _greeting(found: Sequence[Result]) -> str:
    states = Counter(one.state for one in found)
    counted = ", ".join(f"{count} {state}" for state, count in states.items()) or "none yet"
    at_work = f'<p class="note">{RUNNING}</p>' if states["running"] else ""
    return f"""<p>Cells of this store: {counted}. A cell is a model, an encoder with an attention,
fitted to a corpus and put on trial; choose one to see all its numbers and its verdict.</p>
{at_work}"""


def _findings(found: Sequence[Result]) -> str:
    shown = findings(found)
    if not shown.rows:
        return ""
    return f"""<section id="findings"><h2>In short</h2>
<p>{escape(agreement(found))}</p>{table(shown)}</section>"""


def _grids(found: Sequence[Result]) -> str:
    names = {row["quantity"] for one in found for row in one.rows} | {"score"}
    shown = [name for name in QUANTITIES if name in names]
    options = "".join(f'<option value="{n}">{escape(QUANTITIES[n])}</option>' for n in shown)
    tables = "".join(
        f'<div class="grid" id="grid-{name}"{" hidden" if number else ""}>'
        f"{table(grid(found, name))}</div>"
        for number, name in enumerate(shown)
    )
    swatches = "".join(f'<li class="{name}">{escape(said)}</li>' for name, said in LEGEND)
    return f"""<section><h2>Every cell</h2>
<p class="note">Published: Jain &amp; Wallace 2019, Tables 1 and 2, and the authors' result files
beside single cells. Differences, small beside a number, are ours - published, coloured by size.</p>
<ul class="legend" aria-label="Colours">{swatches}</ul>
<p><label>Quantity <select id="quantity">{options}</select></label></p>
{tables}</section>"""


def _failures(found: Sequence[Result]) -> str:
    failed = [one for one in found if one.state in ("failed", "unreadable")]
    if not failed:
        return ""
    items = "".join(
        f'<li><a href="#{escape(one.key)}">{escape(_named(one))}</a>: {one.state}: '
        f"{escape(one.why or 'no reason is stored')}</li>"
        for one in failed
    )
    return f'<section class="alarm"><h2>What failed</h2><ul>{items}</ul></section>'


def _papers(found: Sequence[Result]) -> str:
    tables = "".join(f"<section>{table(one)}</section>" for one in papers_tables(found))
    return f"<section><h2>The papers' tables, with ours</h2>{tables}</section>"


def _every(found: Sequence[Result]) -> str:
    """All cells of models that have several: tables have room for one of them."""
    several = [cells for cells in by_models(found).values() if len(cells) > 1]
    if not several:
        return ""
    items = "".join(
        f'<li><a href="#{escape(one.key)}">{escape(_named(one))}</a>: {escape(apart)}, '
        f"{one.state}</li>"
        for cells in several
        for one, apart in zip(cells, told_apart(cells), strict=True)
    )
    return f"""<section><h2>Several cells of the same models</h2>
<p class="note">They differ in seed or settings. Tables show the first of each; in the plots it is
chosen.</p><ul>{items}</ul></section>"""


def _named(one: Result) -> str:
    return f"{one.cell.dataset}, {one.cell.encoder} + {one.cell.attention}, {one.cell.folder.name}"
