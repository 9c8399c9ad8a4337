"""Whether tokens stand in the order of the text that they are of."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from attention_audit.report.heatmap import bytelevel
from attention_audit.report.heatmap.pieces import bare, is_special


class Order(NamedTuple):
    """How far tokens follow a text.

    `found` counts those that do; `first_lost` is the position of the first that does not come
    after the one before it, or None; `between` is what of the text no token holds.
    """

    found: int
    first_lost: int | None
    between: str


def follow(tokens: Sequence[str], text: str) -> Order:
    """Look for each token in the text after the one before it.

    Upper and lower case and accents do not matter, as tokenisers drop them. A model's own tokens,
    such as [CLS], are in no text and are passed over. Tokens that may be byte-level are followed as
    such first: their Ċ is a line break, and may be a letter.
    """
    known = [None if is_special(token) else bare(token) for token in tokens]
    if all(bytelevel.may_be(token) for token in known if token is not None):
        order = _follow(known, bytelevel.encoded(text))
        if order.first_lost is None:
            return order._replace(
                between=_spaced(bytelevel.decoded(order.between) or order.between)
            )
    plain = [None if token is None else _plain(token) for token in known]
    order = _follow(plain, _plain(text))
    return order._replace(between=_spaced(order.between))


def _follow(tokens: Sequence[str | None], text: str) -> Order:
    """Seek the tokens letter by letter; None is passed over."""
    place, found, between = 0, 0, ""
    for position, token in enumerate(tokens):
        if token is None:
            continue
        start = text.find(token, place)
        if start < 0:
            return Order(found, position, between)
        between += text[place:start]
        place = start + len(token)
        found += 1
    return Order(found, None, between + text[place:])


def _spaced(text: str) -> str:
    """The text without more spaces than stand between its words."""
    return " ".join(text.split())


def _plain(text: str) -> str:
    """The text without spaces around it, case or accents."""
    apart = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
