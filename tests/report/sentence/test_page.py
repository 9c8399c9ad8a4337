"""The page's markup holds nothing of the sentence but text, and its words claim nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from attention_audit.report.sentence import Output, Word, page

HOSTILE = "</bdi></style><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


class Elements(HTMLParser):
    """Collects a page's elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem is None:
            self.text += data

    def of(self, kind):
        return [found for _, found in self.found if kind in (found.get("class") or "").split()]


@pytest.mark.parametrize(
    "changes",
    [
        {"words": (Word(HOSTILE, True), Word("b", True), Word("c", True))},
        {"words": (Word(HOSTILE, False), Word("b", True), Word("c", True))},
        {"query": (Word(HOSTILE, False),)},
        {"cell": HOSTILE},
        {"outputs": (Output(HOSTILE, 0.5, 0.5),)},
    ],
)
def test_nothing_of_the_sentence_is_markup(measured, changes):
    plain, hostile = Elements(page(measured())), Elements(page(measured(**changes)))
    assert {name for name, _ in hostile.found} == {name for name, _ in plain.found}
    assert not any(name.startswith("on") for _, found in hostile.found for name in found)
    assert HOSTILE in hostile.text


def test_it_runs_nothing_and_fetches_nothing(measured):
    text = page(measured())
    elements = Elements(text)
    policy = next(found["content"] for _, found in elements.found if "content" in found)
    assert policy.startswith("default-src 'none'; script-src 'none'; style-src 'sha256-")
    assert not {"script", "link", "img", "iframe"} & {name for name, _ in elements.found}
    assert not any({"src", "href", "style"} & found.keys() for _, found in elements.found)
    assert "://" not in text


def test_levels_of_all_panels_are_on_one_scale(measured):
    levels = [
        int(re.search(r"level-(\d+)", found["class"])[1])
        for found in Elements(page(measured())).of("token")
        if "title" in found
    ]
    assert levels == [2, 14, 4, 5, 15, 0, 2, 6, 12, 15, 0, 5, 13, 14, 1]


def test_a_smaller_weight_is_dashed_and_an_undefined_number_shaded_as_nothing(measured):
    found = Elements(page(measured(leave_one_out=np.array([np.nan] * 3))))
    assert [one["title"] for one in found.of("less")] == ["floobydust: -0.700"]
    undefined = found.of("undefined")
    assert {one["title"] for one in undefined} == {
        "a: undefined",
        "floobydust: undefined",
        "film: undefined",
    }
    assert not any("level" in one["class"] for one in undefined)


@pytest.mark.parametrize(
    ("first", "direction"), [("film", "ltr"), ("הסרט", "rtl"), ("영화", "ltr"), ("123", "ltr")]
)
def test_a_sentence_runs_as_its_first_letter_does(measured, first, direction):
    words = (Word(".", True), Word(first, True), Word("ok", True))
    found = Elements(page(measured(words=words))).of("tokens")
    assert {one["dir"] for one in found} == {direction}


def test_an_unknown_word_is_marked_and_of_a_private_corpus_none_is(measured):
    text = page(measured())
    assert len(Elements(text).of("unknown")) == 6  # in five panels, and in the scale
    assert "<bdi>floobydust</bdi> [unk]" in text
    private = page(measured(words=tuple(Word(text, None) for text in "abc")))
    assert "unknown" not in private.partition("</style>")[2]
    assert "<bdi>b</bdi></th>" in private


def test_what_is_left_out_is_counted(measured):
    assert "and 1,234 less probable" in page(measured(others=1234))
    assert "less probable" not in page(measured())


def test_its_words_observe_and_claim_nothing(measured):
    said = Elements(page(measured(query=(Word("what", True),)))).text
    assert not re.search(r"because|important|explain|reason|why", said, re.IGNORECASE)
    assert "It does not show what the prediction rests on." in said
