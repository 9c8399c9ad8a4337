"""A page of heatmaps: one HTML file that asks nothing of the network.

The page carries its numbers packed, and draws the view that is asked for. Nothing of the input is
markup: it is escaped where it stands in the page, and set as text where the script puts it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from attention_audit.report import colours
from attention_audit.report.document import GUARD, document, harmless, resource
from attention_audit.report.heatmap.attention import MASKED, PADDING, Attention
from attention_audit.report.heatmap.checks import PALE, Check, Range
from attention_audit.report.heatmap.packing import pack_level
from attention_audit.report.heatmap.pieces import SUMMED, by_word
from attention_audit.report.heatmap.rows import FAULTS, ON_MASK, ON_PADDING, TOLERANCE
from attention_audit.report.heatmap.views import views
from attention_audit.report.heatmap.wording import LONG, counted, runs_leftwards, visible

LEFTWARDS = "Tokens stand in their order, the first left and at the top, however they are read."
UNIT = (
    "Positions count from 0. Entropies are in nats; ln n is that of a uniform row over the n keys "
    "where attention may go. Without an entropy: rows that are no distribution. Tables say to how "
    "many decimals the numbers are rounded."
)


def page(drawn: Sequence[tuple[Attention, list[Check]]], scale: Range = (0.0, 1.0)) -> str:
    """The HTML of one or more attentions side by side, on one colour scale.

    Args:
        drawn: each with its checks.
        scale: the values at the two ends of the colour scale.
    """
    panels = [_panel(attention, checks, len(drawn) > 1) for attention, checks in drawn]
    data = {
        "scale": scale,
        "tolerance": TOLERANCE,
        "decimals": _decimals_in_cells(scale),
        "faults": FAULTS,
        "strays": {MASKED: ON_MASK, PADDING: ON_PADDING},
        "long": LONG,
        "pale": PALE,
        "panels": [_data(attention) for attention, _ in drawn],
    }
    names = ", ".join(visible(attention.name) for attention, _ in drawn)
    return _document(panels, data, scale, names)


def _decimals_in_cells(scale: Range) -> int:
    """Two, or more on a scale so short that two would not tell values apart."""
    return max(2, 2 - math.floor(math.log10(scale[1] - scale[0])))


def _data(attention: Attention) -> dict[str, Any]:
    levels = [pack_level(attention, "pieces" if attention.words else "tokens", "")]
    if attention.words:
        note = f"Pieces as words: {attention.rule}; {SUMMED}."
        levels.append(pack_level(by_word(attention), "words", note))
    return {"name": visible(attention.name), "levels": levels}


def _panel(attention: Attention, checks: list[Check], named: bool) -> str:
    """What of a panel is the same in every view."""
    first = next(views(attention))[0]
    source = f'<span class="source">{escape(visible(attention.name))}</span>' if named else ""
    notes = _notes(attention)
    return f"""<section class="panel">
<h2>{source}<span class="title">{escape(first.title)}</span></h2>
{_alarm(checks)}
{"".join(f'<p class="note">{escape(note)}</p>' for note in notes)}
<div class="controls"></div>
<p class="note words"></p>
<p class="note pale"></p>
<figure>
<p class="note wide" hidden>The figure is wider than its place: it scrolls sideways.</p>
<div class="scroll drawing"></div>
<p class="readout" aria-live="polite"></p>
<figcaption></figcaption>
</figure>
<p><button type="button" class="save">Save this figure as SVG</button></p>
<details class="overview" hidden><summary>The heads of this layer, on the same scale</summary>
<p class="note">Grey: masked or padding. Yellow: missing. Violet and orange: off the scale.</p>
<div class="heads"></div></details>
<details class="table"><summary>The same numbers as a table</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Table of the numbers"></div></details>
<details><summary>All checks</summary>{_checks(checks)}</details>
</section>"""


def _notes(attention: Attention) -> list[str]:
    notes = []
    if attention.transposed:
        notes.append("Given as key x query; transposed here, so that rows are queries.")
    if attention.about.excluded_tokens:
        tokens = ", ".join(map(visible, attention.about.excluded_tokens))
        rule = attention.about.excluded_rule
        notes.append(f"Left out before: {tokens}; {visible(rule) if rule else 'rule not stated'}.")
    if runs_leftwards([*attention.query, *attention.key]):
        notes.append(LEFTWARDS)
    return notes


def _alarm(checks: list[Check]) -> str:
    failed = [check for check in checks if check.passed is False]
    if not failed:
        return ""
    items = "".join(f"<li>{escape(c.name)}: {escape(c.detail)}</li>" for c in failed)
    return (
        f'<div class="alarm"><p class="failed">{counted(len(failed), "check")} FAILED: read the '
        f"figure with that.</p><ul>{items}</ul></div>"
    )


def _checks(checks: list[Check]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(c.name)}</th>"
        f"<td{' class=failed' if c.passed is False else ''}>{c.verdict}</td>"
        f"<td>{escape(c.detail)}</td></tr>"
        for c in checks
    )
    head = "<tr><th scope=col>check</th><th scope=col>outcome</th><th scope=col>found</th></tr>"
    table = f'<table class="checks"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return f'<div class="scroll">{table}</div>'


def _document(panels: list[str], data: dict[str, Any], scale: Range, names: str) -> str:
    body = f"""<h1>Attention weights, one colour scale from {scale[0]:g} to {scale[1]:g}</h1>
<p class="note">{GUARD}</p>
<noscript><p class="alarm">This page's script draws the figure, and is switched off.</p></noscript>
<main class="panels">
{"".join(panels)}
</main>
<p class="note">{UNIT}</p>
<script type="application/json" id="data">{harmless(data)}</script>
"""
    style, script = (resource(__package__, f"page.{kind}") for kind in ("css", "js"))
    return document(f"Attention weights: {names}", body, style, colours.script() + script)
