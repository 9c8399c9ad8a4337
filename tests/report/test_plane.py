"""The plane of output and attention: what is drawn is what is stored."""

from __future__ import annotations

from typing import Any

import pytest

from attention_audit.report.plane import KINDS, plane

SPREAD = {"tvd_lo": 0.1, "tvd_hi": 0.3, "jsd_lo": 0.4, "jsd_hi": 0.6}
SUMMARY: dict[str, Any] = {
    "points": [
        {"kind": "adversary", "which": "0", "own": False, "tvd": 0.1, "jsd": 0.2, **SPREAD},
        {"kind": "adversary", "which": "0.001", "own": False, "tvd": 0.2, "jsd": 0.5, **SPREAD},
        {"kind": "uniform", "which": "", "own": False, "tvd": 0.1, "jsd": 0.4, **SPREAD},
        {"kind": "seed", "which": "3", "own": False, "tvd": 0.1, "jsd": 0.1, **SPREAD},
        {"kind": "permutation", "which": "", "own": True, "tvd": 0.2, "jsd": 0.5, **SPREAD},
        {"kind": "search", "which": "", "own": True, "tvd": 0.01, "jsd": 0.5, **SPREAD},
    ],
    "frontier": [{"epsilon": 0.01, "jsd": 0.6}, {"epsilon": 0.1, "jsd": 0.65}],
    "caption": "the frontier does not bound them.",
}


def drawn() -> dict[str, Any]:
    return plane(SUMMARY, "sst, lstm").to_dict()


def values(layer: dict[str, Any]) -> list[dict[str, Any]]:
    return layer["data"]["values"]


def test_every_point_is_drawn_once_where_it_is_stored():
    [points] = [one for one in drawn()["layer"] if one["mark"].get("filled")]
    assert [(one["tvd"], one["jsd"]) for one in values(points)] == [
        (one["tvd"], one["jsd"]) for one in SUMMARY["points"]
    ]
    assert points["encoding"]["x"]["field"] == "tvd"
    assert points["encoding"]["y"]["field"] == "jsd"


def test_the_frontier_is_of_the_base_model_and_the_caption_says_what_it_does_not_bound():
    whole = drawn()
    [frontier] = [one for one in whole["layer"] if one["mark"].get("point")]
    assert [(one["epsilon"], one["jsd"]) for one in values(frontier)] == [(0.01, 0.6), (0.1, 0.65)]
    assert {one["name"] for one in values(frontier)} == {KINDS["frontier"][0]}
    assert whole["title"]["subtitle"] == ["the frontier does not bound them."]
    assert whole["title"]["text"] == "sst, lstm"


def test_adversaries_are_joined_in_the_order_of_lambda_and_named_by_it():
    joined, named = (
        [one for one in drawn()["layer"] if one["mark"]["type"] == kind and one.get("transform")]
        for kind in ("line", "text")
    )
    assert [one["transform"][0]["filter"] for one in (*joined, *named)] == [
        "datum.kind == 'adversary'"
    ] * 2
    assert joined[0]["encoding"]["order"]["field"] == "strength"
    assert [one["strength"] for one in values(joined[0])][:2] == [0, 0.001]
    assert named[0]["encoding"]["text"]["field"] == "which"


def test_the_scale_is_the_same_for_every_cell():
    scales = [
        one["encoding"]["y"].get("scale") for one in drawn()["layer"] if "y" in one["encoding"]
    ]
    assert {"domain": [0, 0.7]} in scales


def test_a_kind_that_nobody_knows_is_no_silent_point():
    with pytest.raises(KeyError):
        plane({**SUMMARY, "points": [{**SUMMARY["points"][0], "kind": "new"}]}, "")
