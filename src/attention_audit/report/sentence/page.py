"""A page of one sentence: its words shaded by each number, then all numbers in tables.

It needs no script. Nothing of the sentence, its cell or its classes is markup: all is escaped.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from attention_audit.report.colours import RAMPS, colour_of, ink_on
from attention_audit.report.document import GUARD, document, resource
from attention_audit.report.heatmap.wording import visible
from attention_audit.report.sentence.measured import Column, Measured, Word
from attention_audit.report.sentence.wording import UNKNOWN, pvalue_of, written

LEVELS = 20


def page(measured: Measured) -> str:
    """The HTML of what was measured of one sentence."""
    asked = " ".join(map(_word, measured.query))
    query = f'<p class="asked">Asked of it: {asked}</p>' if asked else ""
    origin = f'<p class="note">{_isolated(measured.origin)}</p>' if measured.origin else ""
    panels = "".join(_panel(column, measured.words) for column in measured.columns)
    body = f"""<h1>Attention over one sentence, and what was measured of it</h1>
<p class="note">{escape(visible(measured.cell))}. {GUARD}</p>
{origin}{query}
{"".join(f'<p class="note">{escape(note)}</p>' for note in measured.notes)}
<div class="scale" aria-hidden="true">One scale for all: {_scale(measured)}</div>
<main>
<div class="panels">{panels}</div>
{_outputs(measured)}
{_quantities(measured)}
{_numbers(measured)}
</main>
"""
    style = resource(__package__, "page.css") + _levels()
    return document("Attention over one sentence", body, style)


def _levels() -> str:
    """A class for each level of the scale, on light and on dark."""
    light, dark = (
        "".join(_level(level, RAMPS[name]) for level in range(LEVELS + 1))
        for name in ("light", "dark")
    )
    return f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _level(level: int, ramp: Sequence[tuple[int, int, int]]) -> str:
    colour = colour_of(level / LEVELS, tuple(ramp))
    red, green, blue = colour
    return f".level-{level} {{ background: rgb({red},{green},{blue}); color: {ink_on(colour)}; }}\n"


def _scale(measured: Measured) -> str:
    levels = "".join(
        f'<span class="token level-{level}">{level / LEVELS:g}</span>'
        for level in range(0, LEVELS + 1, LEVELS // 4)
    )
    lacking = any(word.known is False for word in measured.words)
    return levels + ('<span class="token unknown">not in the vocabulary</span>' * lacking)


def _panel(column: Column, words: Sequence[Word]) -> str:
    tokens = " ".join(
        _token(column, word, float(value)) for word, value in zip(words, column.values, strict=True)
    )
    label = f"The sentence shaded by {column.name}; the numbers are in the last table."
    sign = " Dashed: less than in the model's own." if column.signed else ""
    return f"""<section class="panel"><h2>{escape(column.name)}</h2>
<p class="note">{escape(column.meaning)}.{sign}</p>
<div class="tokens" role="img" aria-label="{escape(label)}" dir="{_direction(words)}">{tokens}</div>
</section>
"""


def _token(column: Column, word: Word, value: float) -> str:
    shown = written(value, column.signed)
    kinds = ["token", "unknown"] if word.known is False else ["token"]
    if math.isnan(value):
        kinds.append("undefined")
    else:
        kinds.append(f"level-{round(LEVELS * min(1.0, abs(value)))}")
    if shown.startswith("-"):
        kinds.append("less")
    told = escape(f"{visible(word.text)}: {shown}")
    return f'<bdi class="{" ".join(kinds)}" title="{told}">{escape(visible(word.text))}</bdi>'


def _direction(words: Iterable[Word]) -> str:
    """That of the first letter which has one."""
    kinds = (unicodedata.bidirectional(char) for word in words for char in word.text)
    first = next((kind for kind in kinds if kind in ("L", "R", "AL")), "L")
    return "ltr" if first == "L" else "rtl"


def _isolated(text: str) -> str:
    """A word or name, as it is seen, whose letters do not reorder what stands beside it."""
    return f"<bdi>{escape(visible(text))}</bdi>"


def _word(word: Word) -> str:
    return _isolated(word.text) + (f" {UNKNOWN}" if word.known is False else "")


def _outputs(measured: Measured) -> str:
    rows = [
        (
            _isolated(one.name),
            [written(one.before), written(one.after), written(one.after - one.before, signed=True)],
        )
        for one in measured.outputs
    ]
    more = f'<p class="note">and {measured.others:,} less probable</p>' if measured.others else ""
    table = _table("output", ["attention", "adversary", "change"], rows)
    return _section("Prediction, as probabilities with each attention", table + more)


def _quantities(measured: Measured) -> str:
    rows = [
        (
            f'{escape(one.name)} <span class="meaning">{escape(one.meaning)}</span>',
            [written(one.value), pvalue_of(one.pvalue)],
        )
        for one in measured.quantities
    ]
    return _section("The sentence as a whole", _table("quantity", ["value", "p"], rows))


def _numbers(measured: Measured) -> str:
    columns = measured.columns
    raw = {"gradient": measured.gradient, "leave-one-out": measured.leave_one_out}
    names = [*(column.name for column in columns), *(f"raw {name}" for name in raw)]
    rows = [
        (
            f"{place} {_word(word)}",
            [
                *(written(float(column.values[place]), column.signed) for column in columns),
                *(f"{float(values[place]):.3g}" for values in raw.values()),
            ],
        )
        for place, word in enumerate(measured.words)
    ]
    return _section("Each word, by its position", _table("word", names, rows))


def _section(title: str, content: str) -> str:
    name = escape(title)
    return f"""<section><h2>{name}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="{name}">{content}</div></section>
"""


def _table(first: str, names: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A table of numbers, each row after its name, which is HTML already."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in (first, *names))
    lines = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(map(_cell, numbers))}</tr>\n'
        for name, numbers in rows
    )
    return f'<table class="numbers"><thead><tr>{heads}</tr></thead><tbody>\n{lines}</tbody></table>'


def _cell(number: str) -> str:
    return f"<td>{escape(number)}</td>"
