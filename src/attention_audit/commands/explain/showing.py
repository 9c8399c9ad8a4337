"""What was measured of a sentence, in the terminal: a row a word, then the sentence as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attention_audit.report.document import GUARD
from attention_audit.report.heatmap.wording import visible
from attention_audit.report.sentence import Measured, Word
from attention_audit.report.sentence.wording import marked, pvalue_of, written

WIDEST_WORD, NARROWEST_WORD = 24, 8
# A word is folded for the sake of a short bar, not of a longer one.
WIDEST_BAR, SHORT_BAR = 10, 2
# Cells of a number with its sign, between two columns, and at the table's edges.
NUMBER, GAP, EDGES = 6, 3, 2
EIGHTHS = ("", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589")


def show(measured: Measured, console: Console) -> None:
    """Print all numbers, those of words with bars beside them, as far as the console has room."""
    console.print(Text(visible(measured.cell)))
    if measured.origin:
        console.print(Text(visible(measured.origin)))
    if measured.query:
        console.print(Text(f"asked: {_sentence(measured.query)}"))
    console.print(_words(measured, console))
    for column in measured.columns:
        console.print(Text(f"{column.name:<14} {column.meaning}"))
    console.print(Text(f"{'bars':<14} all on one scale, from 0 to 1"))
    for note in measured.notes:
        console.print(Text(note))
    console.print(_outputs(measured))
    if measured.others:
        console.print(Text(f"and {measured.others:,} less probable"))
    console.print(_quantities(measured))
    console.print(Text(GUARD))


def _sentence(words: Iterable[Word]) -> str:
    return " ".join(map(marked, words))


def _words(measured: Measured, console: Console) -> Table:
    heads = [column.name.replace("leave-", "leave-\n") for column in measured.columns]
    word, bar = _widths(measured, heads, console.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    # Of no fixed width, it would be the first to give way to the others.
    table.add_column("word", overflow="fold", width=word)
    for head in heads:
        table.add_column(head, no_wrap=True, min_width=NUMBER)
    for place, one in enumerate(measured.words):
        cells = (_cell(float(of.values[place]), of.signed, bar) for of in measured.columns)
        table.add_row(Text(str(place), justify="right"), Text(marked(one)), *cells)
    return table


def _widths(measured: Measured, heads: Sequence[str], width: int) -> tuple[int, int]:
    """Cells of a word, and of a bar, 0 where there is no room for any."""
    longest = max(Text(marked(word)).cell_len for word in measured.words)
    room = width - EDGES - len(str(len(measured.words))) - GAP
    word = min(WIDEST_WORD, longest, max(NARROWEST_WORD, room - _width(heads, SHORT_BAR)))
    bars = range(WIDEST_BAR, 0, -1)
    bar = next((bar for bar in bars if _width(heads, bar) <= room - word), 0)
    return max(word, len("word")), bar


def _width(heads: Sequence[str], bar: int) -> int:
    """What the columns of these heads take with bars so long, gaps before them included."""
    number = NUMBER + bar + (bar > 0)
    return sum(GAP + max(number, *map(len, head.split("\n"))) for head in heads)


def _cell(value: float, signed: bool, width: int) -> Text:
    if math.isnan(value):
        return Text("\u2013")
    return Text(f"{written(value, signed):<{NUMBER}} {drawn(abs(value), width)}".rstrip())


def drawn(share: float, width: int) -> str:
    """A bar over a share of so many cells, to an eighth of a cell."""
    eighths = round(8 * width * min(1.0, share))
    return "\u2588" * (eighths // 8) + EIGHTHS[eighths % 8]


def _outputs(measured: Measured) -> Table:
    table = _table(["prediction"], ["attention", "adversary", "change"])
    for one in measured.outputs:
        change = written(one.after - one.before, signed=True)
        numbers = (written(one.before), written(one.after), change)
        table.add_row(*map(Text, (visible(one.name), *numbers)))
    return table


def _quantities(measured: Measured) -> Table:
    table = _table(["quantity"], ["value", "p"])
    table.add_column("", overflow="fold")
    for one in measured.quantities:
        numbers = written(one.value), pvalue_of(one.pvalue)
        table.add_row(*map(Text, (one.name, *numbers, one.meaning)))
    return table


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table
