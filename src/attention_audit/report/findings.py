"""What the whole store says to each of the papers' questions, as the span of its cells."""

from __future__ import annotations

from collections.abc import Sequence

from attention_audit.report.grid import QUANTITIES
from attention_audit.report.heatmap.wording import counted
from attention_audit.report.results import Result
from attention_audit.report.tables import Item, Table, number

# The questions, each with the quantity that answers it.
QUESTIONS = {
    "tau_gradient": "Does attention rank words as gradients do?",
    "tau_loo": "Does it rank them as leave-one-out does?",
    "tau_gradient_loo": "How far do these two agree with each other?",
    "delta_y_med": "Does the output change when attention is shuffled?",
    "eps_max_jsd_exact": "How far can attention go with the same output, exactly?",
    "eps_max_jsd_found": "How far can it go with the same output, as far as was found?",
}
_COLUMNS = ("question", "lowest", "highest", "cells", "what was measured")
RANGES = (
    "tau: 1 where two rankings are alike, 0 where neither tells of the other, -1 where they are "
    "reversed. TVD: 0 to 1. JSD: 0 to 0.693 nats."
)


def findings(found: Sequence[Result]) -> Table:
    """A row a question: the cells with the least and the largest mean, and how many there are."""
    return Table(
        name="findings",
        title="Means of single cells, the lowest and the highest",
        groups=tuple((title, ("",)) for title in _COLUMNS),
        rows=tuple(row for name in QUESTIONS if (row := _row(found, name))),
        notes=(RANGES,),
    )


def agreement(found: Sequence[Result]) -> str:
    """In how many cells attention agrees less with the gradient than leave-one-out does."""
    rows = [row for one in found if (row := one.row("gap_gradient")) and row.get("lo") is not None]
    if not rows:
        return ""
    above = sum(row["lo"] > 0 for row in rows)
    below = sum(row["hi"] < 0 for row in rows)
    return (
        f"In {above} of {counted(len(rows), 'cell')} attention agrees with "
        f"the gradient less than leave-one-out does, in {below} more (the 95 % interval of the "
        "difference, instance by instance, leaves 0 out)."
    )


def _row(found: Sequence[Result], name: str) -> tuple[Item, ...]:
    known = [(value, one) for one in found if (value := one.value(name)) is not None]
    if not known:
        return ()
    low, high = (choice(known, key=lambda each: each[0]) for choice in (min, max))
    said = QUANTITIES[name].removesuffix(", mean")
    return Item(QUESTIONS[name]), _end(*low), _end(*high), Item(str(len(known))), Item(said)


def _end(value: float, one: Result) -> Item:
    model = f"{one.cell.dataset}, {one.cell.encoder} + {one.cell.attention}"
    return Item(f"{number(value)} ({model})", cell=one.key)
