"""The page's markup holds nothing of the input but text, and asks for nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import pytest

from attention_audit.report.heatmap import check, page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


class Elements(HTMLParser):
    """Collects a page's elements, attributes and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts.append(data)

    @property
    def names(self):
        return {name for name, _ in self.found}


@pytest.fixture
def paged(attention):
    """The page of an input."""

    def make(**changes):
        found = attention(**changes)
        return page([(found, check(found))])

    return make


def carried(text: str) -> dict:
    """The data that a page carries."""
    return json.loads(Elements(text).scripts[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": [HOSTILE, "b", "c", "d"]},
        {"tokens": [HOSTILE, "b", "c", "d"], "weights": [[0.2] * 4] * 4},
        {"model": HOSTILE},
        {"version": HOSTILE},
        {"layer": HOSTILE},
        {"head": HOSTILE},
        {"aggregation": HOSTILE},
        {"excluded_tokens": [HOSTILE], "excluded_rule": HOSTILE},
        {"text": HOSTILE},
    ],
)
def test_nothing_of_the_input_is_markup(paged, changes):
    plain, hostile = Elements(paged()), Elements(paged(**changes))
    assert hostile.names <= plain.names | {"p", "div", "ul", "li"}
    assert len(hostile.scripts) == len(plain.scripts) == 2
    assert not {"<", ">", "&"} & set(hostile.scripts[0])
    assert not any(name.startswith("on") for _, found in hostile.found for name in found)


def test_only_the_pages_own_script_may_run_and_nothing_is_fetched(paged):
    text = paged()
    elements = Elements(text)
    policy = next(found["content"] for name, found in elements.found if "content" in found)
    assert policy is not None
    digest = base64.b64encode(hashlib.sha256(elements.scripts[1].encode()).digest()).decode()
    assert policy.startswith(
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'sha256-"
    )
    assert not {"link", "img", "iframe", "object", "base"} & elements.names
    assert not any({"src", "href", "style"} & found.keys() for _, found in elements.found)
    assert set(re.findall(r"\w+://[\w./]+", text)) == {"http://www.w3.org/2000/svg"}


def test_failed_checks_are_on_the_figure(paged):
    sound, failing = paged(), paged(weights=[[0.5, 0.5, 0, 0], *[[0.2] * 4] * 3])
    assert 'class="alarm"><p' not in sound.partition("<main")[2]
    assert "1 check FAILED" in failing
    assert "row sums: not 1 within 0.001 in 3 rows" in html.unescape(failing)


def test_what_was_turned_or_left_out_is_said(paged, softmax):
    text = paged(weights=softmax(4, 4).T, axes="key_query", excluded_tokens=["[CLS]"])
    assert "Given as key x query; transposed here, so that rows are queries." in text
    assert "Left out before: [CLS]; rule not stated." in text
    assert "however they are read" not in text
    assert "however they are read" in paged(tokens=["התלמיד", "צחק", "מאוד", "."])


def test_several_inputs_share_one_scale(attention, softmax):
    drawn = [attention(), attention(weights=softmax(4, 4) / 100)]
    text = page([(one, check(one)) for one in drawn], (0.0, 0.5))
    data = carried(text)
    assert data["scale"] == [0.0, 0.5]
    assert len(data["panels"]) == 2
    assert not any("scale" in panel for panel in data["panels"])
    assert "one colour scale from 0 to 0.5" in text


@pytest.mark.parametrize(
    ("scale", "decimals"), [((0.0, 1.0), 2), ((-3.0, 3.0), 2), ((0.0, 0.05), 4)]
)
def test_a_short_scale_has_more_decimals(attention, scale, decimals):
    found = attention()
    assert carried(page([(found, check(found))], scale))["decimals"] == decimals


def test_pieces_and_words_are_both_carried_with_their_rule(paged):
    text = paged(tokens=["un", "##do", "it", "."], words="##")
    [panel] = carried(text)["panels"]
    assert [level["label"] for level in panel["levels"]] == ["pieces", "words"]
    assert panel["levels"][1]["key"] == ["undo", "it", "."]
    assert (
        "starts with '##' continues a word; a word's columns are summed"
        in panel["levels"][1]["note"]
    )
