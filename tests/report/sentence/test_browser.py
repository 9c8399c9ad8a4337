"""The page as a browser shows it. `open_page` fails for anything on the console, or asked for."""

from __future__ import annotations

import numpy as np
import pytest

from attention_audit.report.sentence import Word, page

PANELS = ["attention", "gradient", "leave-one-out", "adversary", "difference"]
BACKGROUND = "one => getComputedStyle(one).backgroundColor"


@pytest.fixture
def shown(open_page, measured, tmp_path):
    """Opens the page of what was measured."""

    def make(width=1200, dark=False, **changes):
        path = tmp_path / "page.html"
        path.write_text(page(measured(**changes)), encoding="utf-8")
        return open_page(path, width=width, dark=dark)

    return make


def test_the_numbers_on_hover_are_those_of_the_table(shown, measured):
    opened = shown()
    assert opened.locator(".panel h2").all_text_contents() == PANELS
    hovered = [
        [one.get_attribute("title").rpartition(": ")[2] for one in panel.locator(".token").all()]
        for panel in opened.locator(".tokens").all()
    ]
    rows = opened.locator("section:last-child tbody tr").all()
    table = [row.locator("td").all_text_contents()[:5] for row in rows]
    assert hovered == [list(column) for column in zip(*table, strict=True)]
    assert hovered[0] == [f"{value:.3f}" for value in measured().attention]
    assert hovered[4] == ["+0.650", "-0.700", "+0.050"]
    raw = [row.locator("td").all_text_contents()[5:] for row in rows]
    assert raw == [["2", "0.01"], ["6", "0.03"], ["0", "0.06"]]


def test_a_word_of_markup_is_shown_as_text(shown):
    words = (Word("<script>alert(1)</script>", True), Word("<b>", False), Word("&lt;", True))
    opened = shown(words=words)
    assert opened.locator(".tokens").first.inner_text() == "<script>alert(1)</script> <b> &lt;"
    assert opened.locator("script, b").count() == 0


@pytest.mark.parametrize("dark", [False, True])
def test_more_is_farther_from_the_page_and_legible(shown, dark):
    opened = shown(dark=dark, attention=np.array([0.0, 0.3, 0.7]))
    tokens = opened.locator(".tokens").first.locator(".token")
    drawn = [numbers(tokens.nth(n).evaluate(BACKGROUND)) for n in range(3)]
    behind = numbers(opened.locator("body").evaluate(BACKGROUND))
    apart = [abs(sum(one) - sum(behind)) for one in drawn]
    assert apart == sorted(apart)
    assert len(set(apart)) == 3
    for n, back in enumerate(drawn):
        ink = numbers(tokens.nth(n).evaluate("one => getComputedStyle(one).color"))
        assert contrast(ink, back) >= 4.5


def numbers(colour):
    return [int(part) for part in colour.strip("rgba()").split(",")[:3]]


def contrast(one, other):
    """WCAG's contrast ratio of two colours."""

    def luminance(colour):
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (part / 255 for part in colour)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_on_a_phone_only_tables_scroll(shown):
    words = (Word("donaudampfschifffahrt" * 4, True), Word("b", False), Word("c", True))
    opened = shown(width=360, words=words)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    last = opened.locator(".scroll").last
    assert last.evaluate("one => one.scrollWidth > one.clientWidth")
    last.focus()
    assert last.evaluate("one => one === document.activeElement")


def test_words_that_run_leftwards_keep_their_order(shown):
    words = tuple(Word(text, True) for text in ("הסרט", "film", "טוב"))
    tokens = shown(words=words).locator(".tokens").first.locator(".token")
    left = [tokens.nth(n).bounding_box()["x"] for n in range(3)]
    assert left == sorted(left, reverse=True)
