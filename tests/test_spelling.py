"""A name that does not exist gets the nearest that does."""

from __future__ import annotations

from attention_audit.spelling import unknown


def test_an_unknown_name_gets_the_nearest_and_all_choices():
    assert unknown("a=lstn", "lstn", ["lstm", "cnn"]) == (
        "a=lstn: unknown (did you mean 'lstm'?); expected one of cnn, lstm"
    )
    assert unknown("a=zz", "zz", ["lstm", "cnn"]) == "a=zz: unknown; expected one of cnn, lstm"
