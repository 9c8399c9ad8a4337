"""What a figure shows at a time: one head, or the mean of a layer's heads, with title and caption.

A caption only observes. What a weight means is not in it, nor why it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from attention_audit.report.heatmap.attention import NOT_STATED, OPEN, Attention
from attention_audit.report.heatmap.rows import Rows, examine, uniform_entropies
from attention_audit.report.heatmap.wording import counted, number, place, visible


class Maximum(NamedTuple):
    """A row's largest value as drawn, the first key that has it, and how many others have it."""

    key: int
    value: float
    ties: int


@dataclass(frozen=True)
class View:
    """One matrix of an attention; `head` is None for the mean of a layer's heads."""

    attention: Attention
    layer: int
    head: int | None

    @cached_property
    def weights(self) -> Float[np.ndarray, "query key"]:
        """The numbers that are drawn."""
        if self.head is None:
            return self.attention.mean(self.layer)
        return self.attention.weights[self.layer, self.head]

    @cached_property
    def rows(self) -> Rows:
        """What is true of each row drawn."""
        return examine(self.weights, self.attention.states, self.attention.about.normalised)

    @property
    def title(self) -> str:
        """Whose weights, from where in the model, made how: whatever is not stated says so."""
        about = self.attention.about
        head = f"all {len(self.attention.heads)}" if self.head is None else self._head
        parts = {
            "model": about.model,
            "version": about.version,
            "layer": self.attention.layers[self.layer],
            "head": head,
            "aggregation": self._aggregation,
        }
        stated = [
            f"{name} {NOT_STATED if value is None else visible(str(value))}"
            for name, value in parts.items()
        ]
        kind = about.kind or f"raw or with residual {NOT_STATED}"
        return ", ".join([*stated, kind])

    @property
    def _head(self) -> str:
        assert self.head is not None
        return self.attention.heads[self.head]

    @property
    def _aggregation(self) -> str | None:
        given = self.attention.about.aggregation
        if self.head is None:
            return "mean over heads" if given is None else f"mean over heads, each given as {given}"
        return given if given is not None or len(self.attention.heads) == 1 else "none, one head"

    def maxima(self, decimals: int) -> list[Maximum | None]:
        """The largest value of each row as drawn, rounded to so many decimals.

        None for a row that has no value where attention may go.
        """
        usable = self.attention.open & np.isfinite(self.weights)
        drawn = np.round(np.where(usable, self.weights, -np.inf), decimals)
        best = drawn.argmax(axis=-1)
        return [
            Maximum(int(key), float(row[key]), int((row == row[key]).sum()) - 1)
            if np.isfinite(row[key])
            else None
            for row, key in zip(drawn, best, strict=True)
        ]

    def caption(self, decimals: int) -> str:
        """What is seen: the largest weight and the span of the rows' entropies."""
        known = {n: found for n, found in enumerate(self.maxima(decimals)) if found}
        if not known:
            return "No cell has a value."
        query = max(known, key=lambda n: known[n].value)
        key, value, ties = known[query]
        more = f" and as much to {counted(ties, 'other position')}" if ties else ""
        rows = sum(found.value == value for found in known.values()) - 1
        alike = f"; {counted(rows, 'other row')} as large a maximum" if rows else ""
        alike = alike.replace("row as", "row has as").replace("rows as", "rows have as")
        largest = (
            f"{place(query, self.attention.query[query])} gives {number(value, 2)} to "
            f"{place(key, self.attention.key[key])}{more}, the largest weight drawn{alike}."
        )
        return f"{largest[0].upper()}{largest[1:]} {self._entropies()}"

    def _entropies(self) -> str:
        attention = self.attention
        entropies = self.rows.entropies
        known = np.isfinite(entropies)
        if not known.any():
            return "No row has an entropy: none is a distribution."
        found, uniform = entropies[known], uniform_entropies(attention.open)[known]
        undefined = int((~known & (attention.states == OPEN).any(-1)).sum())
        noun = "row has none, being" if undefined == 1 else "rows have none, being"
        without = f"; {undefined:,} {noun} no distribution" if undefined else ""
        return f"Row entropy: {_span(found)} nats; ln n of those rows: {_span(uniform)}{without}."


def _span(values: Float[np.ndarray, " rows"]) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


def views(attention: Attention) -> Iterator[tuple[View, ...]]:
    """For each layer what can be shown of it: the mean first, where it has several heads."""
    heads = range(len(attention.heads))
    for layer in range(len(attention.layers)):
        shown: list[int | None] = [None, *heads] if len(heads) > 1 else [*heads]
        yield tuple(View(attention, layer, head) for head in shown)
