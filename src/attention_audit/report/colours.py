"""The colour scale of all pages, from little to much, on light and on dark."""

from __future__ import annotations

import json

from attention_audit.report.document import resource

Colour = tuple[int, int, int]

RAMPS: dict[str, tuple[Colour, ...]] = {
    "light": ((247, 251, 255), (198, 219, 239), (107, 174, 214), (33, 113, 181), (8, 48, 107)),
    "dark": ((22, 32, 44), (24, 66, 110), (38, 110, 170), (110, 175, 225), (228, 243, 255)),
}
"""Colours (red, green, blue) of equally spaced values of the scale, and between them linear."""


def colour_of(share: float, ramp: tuple[Colour, ...]) -> Colour:
    """The colour of a place on the scale, 0 to 1."""
    place = share * (len(ramp) - 1)
    start = min(len(ramp) - 2, int(place))
    red, green, blue = (
        round(low + (place - start) * (high - low))
        for low, high in zip(ramp[start], ramp[start + 1], strict=True)
    )
    return red, green, blue


def ink_on(colour: Colour) -> str:
    """Black or white, whichever has the higher contrast (WCAG's relative luminance)."""
    red, green, blue = (
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in colour
    )
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


def script() -> str:
    """The same for a page's own script, which stands after it: `RAMPS`, `between`, `inkOn`."""
    ramps = f"const RAMPS = {json.dumps(RAMPS)};"
    return f'"use strict";\n{ramps}\n{resource(__package__, "colours.js")}'
