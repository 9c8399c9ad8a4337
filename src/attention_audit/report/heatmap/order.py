"""Whether tokens stand in the order of the text that they are of."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

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
    such as [CLS], are in no text and are passed over.
    """
    plain = _plain(text)
    place, found, between = 0, 0, ""
    for position, token in enumerate(tokens):
        if is_special(token):
            continue
        sought = _plain(bare(token))
        start = plain.find(sought, place)
        if start < 0:
            return Order(found, position, between)
        between += plain[place:start]
        place = start + len(sought)
        found += 1
    return Order(found, None, " ".join((between + plain[place:]).split()))


def _plain(text: str) -> str:
    """The text without spaces around it, case or accents."""
    apart = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
