"""What a plot is: which rows it takes of a cell, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from attention_audit.report.results import Result

DrawnRows: TypeAlias = list[dict[str, Any]]


class Ends(NamedTuple):
    """The ends of an axis: numbers, or expressions that will name them."""

    low: Any
    top: Any


WIDTH, HEIGHT = 270, 180
# Okabe and Ito's colours, which colour-blind readers tell apart.
PALETTE = ("#0072b2", "#d55e00", "#009e73")


def nothing(_: Result, __: DrawnRows) -> str:
    """No note."""
    return ""


@dataclass(frozen=True)
class Chart:
    """One kind of plot.

    Attributes:
        name: in addresses and the names of files.
        title: what it shows.
        about: how to read it.
        rows: what is drawn of a cell, and of the lstm with the same attention and corpus; none
            where the store has nothing of it.
        draw: a chart, from its data (Altair's) and the ends of the axis that is shared.
        shared: the columns whose least and largest values, over all cells beside each other, are
            these ends.
        note: what is to be said of one cell's plot, from its rows: of how many instances it is.
        encoder: the only one that it is of, if there is one.
    """

    name: str
    title: str
    about: str
    rows: Callable[[Result, Result | None], DrawnRows]
    draw: Callable[[Any, Ends], Any]
    shared: tuple[str, ...] = ()
    note: Callable[[Result, DrawnRows], str] = nothing
    encoder: str = ""


def ends_of(chart: Chart, drawn: list[DrawnRows]) -> Ends:
    """The ends of the axis that plots beside each other share; 0 and 1 for one that is not."""
    values = [row.get(name) for rows in drawn for row in rows for name in chart.shared]
    known = [value for value in values if value is not None]
    return Ends(min(known), max(known)) if known else Ends(0.0, 1.0)
