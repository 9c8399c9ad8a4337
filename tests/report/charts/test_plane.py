"""The plane of output and attention: what is drawn is what is stored."""

from __future__ import annotations

from typing import Any

import pytest

from attention_audit.report.charts.definition import Ends
from attention_audit.report.charts.plane import KINDS, caption, plane, points
from attention_audit.report.results import result

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


@pytest.fixture
def audited(stored):
    """A cell with a stored `model_adversary`."""
    cell = stored()
    cell.analysis("model_adversary", {}, 1).write({"summary": [], **SUMMARY})
    return result(cell)


def layers(rows):
    import altair as alt

    return plane(alt.Data(values=rows), Ends(0, 0.3)).to_dict()["layer"]


def test_every_point_is_drawn_once_where_it_is_stored(audited):
    rows = points(audited, None)
    found = [(one["tvd"], one["jsd"]) for one in rows if "kind" in one]
    assert found == [(one["tvd"], one["jsd"]) for one in SUMMARY["points"]]
    [drawn] = [one for one in layers(rows) if "mark" in one and one["mark"].get("filled")]
    assert drawn["transform"][0]["filter"] == "isValid(datum.kind)"
    assert drawn["encoding"]["x"]["field"] == "tvd"
    assert drawn["encoding"]["y"]["field"] == "jsd"


def test_the_frontier_is_of_the_base_model_and_the_caption_says_what_it_does_not_bound(audited):
    edge = [one for one in points(audited, None) if "epsilon" in one]
    assert [(one["epsilon"], one["jsd"]) for one in edge] == [(0.01, 0.6), (0.1, 0.65)]
    assert {one["name"] for one in edge} == {KINDS["frontier"][0]}
    assert caption(audited, []) == "the frontier does not bound them."


def test_adversaries_are_joined_in_the_order_of_lambda_and_named_by_it(audited):
    rows = points(audited, None)
    assert [one["strength"] for one in rows if one.get("kind") == "adversary"] == [0, 0.001]
    joined, named = (
        [
            one
            for one in layers(rows)
            if one.get("transform") == [{"filter": "datum.kind == 'adversary'"}]
            and one["mark"]["type"] == kind
        ]
        for kind in ("line", "text")
    )
    assert joined[0]["encoding"]["order"]["field"] == "strength"
    assert named[0]["encoding"]["text"]["field"] == "which"


def test_the_scale_is_the_same_for_every_cell(audited):
    encodings = [one["encoding"] for one in layers(points(audited, None)) if "encoding" in one]
    assert {"domain": [0, 0.7]} in [one["y"].get("scale") for one in encodings if "y" in one]


def test_a_kind_that_nobody_knows_is_no_silent_point(stored):
    cell = stored()
    strange = {**SUMMARY, "points": [{**SUMMARY["points"][0], "kind": "new"}]}
    cell.analysis("model_adversary", {}, 1).write({"summary": [], **strange})
    with pytest.raises(KeyError):
        points(result(cell), None)


def test_a_cell_without_adversaries_has_no_plane(stored):
    one = result(stored())
    assert (points(one, None), caption(one, [])) == ([], "")
