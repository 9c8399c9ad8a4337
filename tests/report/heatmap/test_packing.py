"""What a page carries can be unpacked to what was given, rounded."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from attention_audit.report.heatmap.packing import MISSING, decimals_of, pack_level


def unpacked(packed: str, kind: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype=kind)


def values(view: dict[str, str], queries: int, keys: int) -> np.ndarray:
    whole = zlib.decompress(base64.b64decode(view["numbers"]))
    return np.frombuffer(whole, "<i2", queries * keys, 8 * queries).reshape(queries, keys)


def test_numbers_come_back(attention, softmax):
    weights = softmax(2, 3, 4, 4)
    level = pack_level(attention(weights=weights), "tokens", "")
    assert [len(layer) for layer in level["views"]] == [4, 4]
    assert level["shown"] == ["mean of 3 heads", "head 0", "head 1", "head 2"]
    for layer in range(2):
        mean, *heads = level["views"][layer]
        np.testing.assert_allclose(values(mean, 4, 4) / 1e4, weights[layer].mean(0), atol=5.1e-5)
        for head, view in enumerate(heads):
            np.testing.assert_allclose(values(view, 4, 4) / 1e4, weights[layer, head], atol=5.1e-5)


def test_rows_numbers_and_faults_come_back(attention):
    level = pack_level(attention(weights=[[0.5, 0.5, 0, 0], *[[0.2] * 4] * 3]), "tokens", "")
    whole = zlib.decompress(base64.b64decode(level["views"][0][0]["numbers"]))
    assert np.frombuffer(whole, "<f4", 4) == pytest.approx([1, 0.8, 0.8, 0.8])
    assert np.frombuffer(whole, "<f4", 4, 16) == pytest.approx(
        [np.log(2), np.nan, np.nan, np.nan], nan_ok=True
    )
    assert np.frombuffer(whole, np.uint8, 4, 32 + 32).tolist() == [0, 1, 1, 1]
    assert unpacked(level["uniform"], "<f4") == pytest.approx([np.log(4)] * 4)


def test_states_and_missing_values_come_back(attention):
    weights = [[None, 0, 0, 0], *[[0.25] * 4] * 3]
    level = pack_level(attention(weights=weights, mask="causal", padding="."), "tokens", "")
    states = unpacked(level["states"], "u1").reshape(4, 4)
    assert states.tolist() == [[0, 1, 1, 2], [0, 0, 1, 2], [0, 0, 0, 2], [2, 2, 2, 2]]
    assert values(level["views"][0][0], 4, 4)[0, 0] == MISSING


@pytest.mark.parametrize("largest", [1e-12, 0.003, 1.0, 3.2, 3.3, 47.0, 1e6, 1e300])
@pytest.mark.parametrize("normalised", [True, False])
def test_every_size_of_value_fits_with_four_digits(attention, largest, normalised):
    weights = [[largest, -largest, 0, 0]] * 4
    found = attention(weights=weights, normalised=normalised)
    decimals = decimals_of(found)
    level = pack_level(found, "tokens", "")
    packed = values(level["views"][0][0], 4, 4)[0].astype(float)
    if normalised and largest <= 3.2:
        assert decimals == 4
        np.testing.assert_allclose(packed / 1e4, weights[0], atol=5.1e-5)
    else:
        np.testing.assert_allclose(packed * 10.0**-decimals, weights[0], rtol=2e-4)
        assert 1_000 <= abs(packed).max() <= 32_000


def test_no_more_decimals_than_a_browser_writes(attention):
    assert decimals_of(attention(weights=[[1e-300] * 4] * 4, normalised=False)) == 100


def test_tokens_are_packed_as_they_are_shown(attention):
    level = pack_level(attention(tokens=["a\u202eb", "", " x", "\ud800"]), "tokens", "")
    assert level["key"] == ["a\\u202eb", "(empty)", "\u2423x", "\\ud800"]
