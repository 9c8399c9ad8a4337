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

WIDEST_WORD = 24
WIDEST_BAR = 10
# Of a column beside its bar: the number, a blank before the bar, and what parts it from the next.
ROOM = 9
EIGHTHS = ("", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589")


def show(measured: Measured, console: Console) -> None:
    """Print all numbers; bars are as long as the number is large, the whole bar standing for 1."""
    console.print(Text(visible(measured.cell)))
    if measured.query:
        console.print(Text(f"asked: {_sentence(measured.query)}"))
    console.print(_words(measured, console))
    for column in measured.columns:
        console.print(Text(f"{column.name:<14} {column.meaning}"))
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
    columns = measured.columns
    longest = max(Text(marked(word)).cell_len for word in measured.words)
    beside = min(WIDEST_WORD, longest) + len(str(len(measured.words))) + 4
    bar = max(0, min(WIDEST_BAR, (console.width - beside) // len(columns) - ROOM))
    table = _table(["", "word"], [])
    table.columns[1].max_width = WIDEST_WORD
    for column in columns:
        table.add_column(column.name, no_wrap=True)
    for place, word in enumerate(measured.words):
        cells = (_cell(float(one.values[place]), one.signed, bar) for one in columns)
        table.add_row(Text(str(place), justify="right"), Text(marked(word)), *cells)
    return table


def _cell(value: float, signed: bool, width: int) -> Text:
    if math.isnan(value):
        return Text("\u2013")
    return Text(f"{written(value, signed)} {drawn(abs(value), width)}")


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
