"""The scale's ends and middles are its ramp's, and ink is legible on all of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.report.colours import RAMPS, colour_of, ink_on


@pytest.mark.parametrize("name", RAMPS)
def test_a_ramps_colours_stand_at_equal_distances(name):
    ramp = RAMPS[name]
    assert [colour_of(n / 4, ramp) for n in range(5)] == list(ramp)
    low, high = ramp[:2]
    middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    assert colour_of(0.125, ramp) == pytest.approx(middle, abs=0.5)


@pytest.mark.parametrize("name", RAMPS)
@given(share=st.floats(0, 1))
def test_ink_has_the_higher_contrast(name, share):
    colour = colour_of(share, RAMPS[name])
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (part / 255 for part in colour)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    black, white = (luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05)
    chosen, other = (black, white) if ink_on(colour) == "#000000" else (white, black)
    assert chosen >= 0.98 * other
