"""What is checked before attention is drawn, as data: what passed, what failed and where."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float

from attention_audit.report.heatmap.attention import MASKED, PADDING, Attention
from attention_audit.report.heatmap.order import Order, follow
from attention_audit.report.heatmap.rows import (
    MISSING,
    NEGATIVE,
    ON_MASK,
    ON_PADDING,
    SUM,
    TOLERANCE,
    Rows,
    examine,
    has_weight,
)
from attention_audit.report.heatmap.wording import counted, listed, place, quoted, visible

Range = tuple[float, float]
Spot = tuple[int, ...]

PALE = 0.25
"""The part of the colour scale in which values are hard to tell apart."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked; `passed` is None where the input does not allow it."""

    name: str
    passed: bool | None
    detail: str

    @property
    def verdict(self) -> str:
        """The outcome in a word or two."""
        return {True: "passed", False: "FAILED", None: "not checked"}[self.passed]


def check_scale(name: str, scale: Range) -> None:
    """Refuse what can be no colour scale.

    Raises:
        ValueError: names what was given it by `name`.
    """
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"{name}: found {low:g} {high:g}, expected a low and a higher number")


def check(attention: Attention, scale: Range = (0.0, 1.0)) -> list[Check]:
    """Check the attention; every check is always in the list.

    Args:
        attention: as the input gives it.
        scale: the values at the two ends of the colour scale.
    """
    rows = examine(attention.weights, attention.states, attention.about.normalised)
    return [
        _shape(attention),
        _order(attention),
        _sums(attention, rows),
        _negative(attention, rows),
        _missing(attention, rows),
        _mask(attention, rows),
        _padding(attention, rows),
        _excluded(attention),
        _scale(attention, scale),
    ]


def _shape(attention: Attention) -> Check:
    layers, heads, queries, keys = attention.weights.shape
    stack = f"{counted(layers, 'layer')} x {counted(heads, 'head')}, " if layers * heads > 1 else ""
    pair = f"{counted(queries, 'query token')} (rows) x {counted(keys, 'key token')} (columns)"
    given = "given as key x query and transposed" if attention.transposed else "as given"
    return Check("shape and axes", True, f"{stack}{pair}, {given}")


def _order(attention: Attention) -> Check:
    name = "order of tokens"
    if not attention.texts:
        return Check(name, None, "the input has no text")
    sides = {"query": attention.query, "key": attention.key}
    orders = {side: follow(sides[side], text) for side, text in attention.texts.items()}
    details = [_followed(side, sides[side], order) for side, order in orders.items()]
    passed = all(order.first_lost is None for order in orders.values())
    return Check(name, passed, "; ".join(details))


def _followed(side: str, tokens: tuple[str, ...], order: Order) -> str:
    if order.first_lost is not None:
        lost = place(order.first_lost, tokens[order.first_lost])
        return f"{side}: {lost} does not come in the text after the tokens before it"
    own = len(tokens) - order.found
    others = f", {own} of the model's own" if own else ""
    rest = f"; no token has {quoted(order.between[:60])} of the text" if order.between else ""
    return f"{side}: {counted(order.found, 'token')} in the order of the text{others}{rest}"


def _sums(attention: Attention, rows: Rows) -> Check:
    name = "row sums"
    if not attention.about.normalised:
        return Check(name, None, "the input says that its weights are not normalised")
    missing = rows.faults & MISSING != 0
    sums = rows.sums[~np.isnan(rows.sums)]
    if not sums.size:
        return Check(name, None, "no row has all its values")
    spread = f"from {sums.min():.4f} to {sums.max():.4f}"
    if missing.any():
        spread += f"; {counted(int(missing.sum()), 'row')} with a value missing not judged"
    wrong = rows.faults & SUM != 0
    if not wrong.any():
        return Check(name, True, f"1 within {TOLERANCE:g}: {spread}")
    hint = ""
    if _columns_sum(attention):
        hint = "; the columns sum to 1: if the array is key x query, say axes: key_query"
    where = _where(attention, wrong, lambda spot: f" ({rows.sums[spot]:.4f})")
    return Check(name, False, f"not 1 within {TOLERANCE:g} in {where}; {spread}{hint}")


def _columns_sum(attention: Attention) -> bool:
    weights = np.where(np.isfinite(attention.open_weights), attention.open_weights, 0.0)
    return bool((np.abs(weights.sum(-2) - 1) <= TOLERANCE).all())


def _negative(attention: Attention, rows: Rows) -> Check:
    name = "negative values"
    if not attention.about.normalised:
        return Check(name, None, "the input says that its weights are not normalised")
    wrong = rows.faults & NEGATIVE != 0
    if not wrong.any():
        return Check(name, True, "none")
    finite = np.where(np.isfinite(attention.open_weights), attention.open_weights, np.inf)
    number = int((finite < 0).sum())
    said = partial(_value, attention, finite)
    return Check(name, False, f"{counted(number, 'value')} in {_where(attention, wrong, said)}")


def _value(
    attention: Attention,
    weights: Float[np.ndarray, "layers heads query key"],
    spot: Spot,
) -> str:
    """The least value of a row and its key."""
    column = int(np.argmin(weights[spot]))
    return f" ({weights[spot][column]:.4g} at key {place(column, attention.key[column])})"


def _missing(attention: Attention, rows: Rows) -> Check:
    name = "missing values"
    wrong = rows.faults & MISSING != 0
    if not wrong.any():
        return Check(name, True, "none where attention may go")
    gone = ~np.isfinite(attention.open_weights)

    def said(spot: Spot) -> str:
        column = int(np.argmax(gone[spot]))
        return f" (at key {place(column, attention.key[column])})"

    number = counted(int(gone.sum()), "value")
    return Check(name, False, f"{number} missing or infinite in {_where(attention, wrong, said)}")


def _mask(attention: Attention, rows: Rows) -> Check:
    name = "mask"
    if not attention.masked:
        return Check(name, None, f"the input has none{_unsaid_mask(attention)}")
    closed = ~attention.open.any(-1) & (attention.states == MASKED).any(-1)
    if closed.any():
        queries = np.flatnonzero(closed).tolist()
        names = listed(place(query, attention.query[query]) for query in queries)
        nowhere = f"attention may go nowhere in {counted(len(queries), 'row')}: {names}"
        return Check(name, False, f"{nowhere}; a mask is true where attention may go")
    wrong = rows.faults & ON_MASK != 0
    cells = attention.states == MASKED
    if not wrong.any():
        return Check(name, True, f"no weight in the {counted(int(cells.sum()), 'masked cell')}")
    found = f"{_largest(attention, cells)}, in {_where(attention, wrong)}"
    return Check(name, False, f"{found}{_misread(attention, cells)}")


def _misread(attention: Attention, cells: Bool[np.ndarray, "query key"]) -> str:
    """What would explain weight on masked cells."""
    weighty = has_weight(attention.weights).any(axis=(0, 1))
    if cells.shape == cells.T.shape and not (weighty.T & cells).any():
        return "; turned round it keeps to the mask: if it is key x query, say axes: key_query"
    if not (weighty & attention.open).any():
        return "; there is none elsewhere: a mask is true where attention may go"
    return ""


def _unsaid_mask(attention: Attention) -> str:
    """What is seen where a causal mask may not have been said."""
    count, keys = attention.states.shape
    if count != keys or count == 1:
        return ""
    above = np.triu(np.ones((count, keys), dtype=bool), 1)
    below = above.T
    weights = has_weight(attention.open_weights)
    if weights[..., above].any() or not weights[..., below].any():
        return ""
    return "; above the diagonal all are 0, drawn as 0: if none may go there, say mask: causal"


def _padding(attention: Attention, rows: Rows) -> Check:
    name = "padding"
    cells = attention.states == PADDING
    if not cells.any():
        named = attention.padding
        missing = f"no token is {quoted(named)}, which the input names as padding"
        return Check(name, None, missing if named else "the input names no padding")
    if cells.all():
        return Check(name, False, "all tokens of a side are padding, and no cell is left")
    wrong = rows.faults & ON_PADDING != 0
    if not wrong.any():
        padded = counted(int(cells.all(axis=0).sum()), "padded key token")
        return Check(name, True, f"no weight on {padded}")
    kept = cells & ~cells.all(-1, keepdims=True)
    return Check(name, False, f"{_largest(attention, kept)}, in {_where(attention, wrong)}")


def _largest(attention: Attention, cells: Bool[np.ndarray, "query key"]) -> str:
    """The largest weight, by its size, in cells that should have none."""
    found = attention.weights[has_weight(attention.weights) & cells]
    largest = found[np.abs(found).argmax()]
    return f"{counted(len(found), 'cell')} with weight, the largest {largest:.4g}"


def _excluded(attention: Attention) -> Check:
    name = "excluded tokens"
    tokens, rule = attention.about.excluded_tokens, attention.about.excluded_rule
    if not tokens:
        return Check(name, None, "the input names no excluded tokens")
    shown = listed(map(quoted, tokens))
    for side, drawn in (("query", attention.query), ("key", attention.key)):
        for position, token in enumerate(drawn):
            if token in tokens:
                return Check(name, False, f"{side} {place(position, token)} is said to be excluded")
    if not rule:
        return Check(name, False, f"{shown}; by what rule is not stated: say excluded_rule")
    return Check(name, True, f"{shown}: {visible(rule)}")


def _scale(attention: Attention, scale: Range) -> Check:
    low, high = scale
    name = "colour scale"
    weights = attention.open_weights
    # Beyond rounding: a weight of 1.0000001 is a 1.
    outside = (weights < low - TOLERANCE) | (weights > high + TOLERANCE)
    outside &= attention.open & np.isfinite(weights)
    if attention.about.normalised:
        outside &= weights >= 0  # a check of its own says so
    if not outside.any():
        pale = _pale(attention, scale)
        return Check(name, True, f"every value is from {low:g} to {high:g}{pale}")
    found = weights[outside]
    number = counted(int(outside.sum()), "value")
    spread = f"{number}, from {found.min():.4g} to {found.max():.4g}"
    where = _where(attention, np.logical_or.reduce(outside, axis=-1))
    beyond = f"{spread}, not from {low:g} to {high:g}"
    return Check(name, False, f"{beyond}, in {where}; --range sets another scale")


def _pale(attention: Attention, scale: Range) -> str:
    """What is said of values that all lie at the low end of the scale."""
    known = attention.weights[..., attention.open]
    largest = known.max(initial=-np.inf, where=np.isfinite(known))
    share = (largest - scale[0]) / (scale[1] - scale[0])
    if not 0 < share < PALE:
        return ""
    return f", the largest {largest:.2g}; --range sets a shorter scale, to tell them apart"


def _where(
    attention: Attention,
    wrong: Bool[np.ndarray, "layers heads query"],
    said: Callable[[Spot], str] | None = None,
) -> str:
    """The rows that fail: how many, and the first."""
    spots: list[Spot] = [tuple(map(int, spot)) for spot in np.argwhere(wrong)[:10]]
    names = [_row(attention, *spot) + (said(spot) if said else "") for spot in spots]
    count = int(wrong.sum())
    rest = f" and {count - len(spots):,} more" if count > len(spots) else ""
    return f"{counted(count, 'row')}: {', '.join(names)}{rest}"


def _row(attention: Attention, layer: int, head: int, query: int) -> str:
    layers, heads = attention.weights.shape[:2]
    parts = [f"layer {visible(attention.layers[layer])}"] if layers > 1 else []
    parts += [f"head {visible(attention.heads[head])}"] if heads > 1 else []
    return " ".join([*parts, place(query, attention.query[query])])
