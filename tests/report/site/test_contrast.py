"""Text is read on every ground that it stands on, on light and on dark (WCAG AA: 4.5)."""

from __future__ import annotations

import re

import pytest

from attention_audit.report.document import look, resource

SCHEMES = ("light", "dark")
GROUNDS = (
    "--page",
    "--bad-page",
    "--same",
    *(f"--{e}-{n}" for e in ("low", "high") for n in "123"),
)


def colours(scheme):
    """The custom properties of a colour scheme: each sheet has a light and a dark block."""
    found = {}
    for sheet in (look(), resource("attention_audit.report.site", "report.css")):
        block = re.findall(r":root {(.*?)}", sheet, re.DOTALL)[SCHEMES.index(scheme)]
        found |= dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", block))
    return found


def luminance(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_ink_is_read_on_every_ground(scheme, ground):
    known = colours(scheme)
    assert contrast(known["--ink"], known[ground]) >= 4.5


@pytest.mark.parametrize("ink", ["--soft", "--bad"])
@pytest.mark.parametrize("ground", ["--page", "--bad-page"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_notes_and_failures_are_read_where_they_stand(scheme, ground, ink):
    known = colours(scheme)
    assert contrast(known[ink], known[ground]) >= 4.5
