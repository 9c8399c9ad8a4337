"""The first page in a browser. `open_page` fails for anything on the console, or asked for."""

from __future__ import annotations

import pytest

from attention_audit.report.results import results
from attention_audit.report.site import write_site

HOSTILE = "<script>alert('reason')</script>"


@pytest.fixture
def shown(store, stored, begun, rows, open_page, tmp_path):
    """Opens the page of two finished cells and a failed one."""

    def make(width=1200, dark=False, fragment=""):
        cell = stored(classes=("negative", "<i>good</i>"))
        summary = [*rows("tau_gradient", 0.5), *rows("tau_gradient", 0.5, "1")]
        cell.analysis("correlation", {}, 1).write({"summary": summary})
        stored("mine", "cnn", "dot")
        begun("imdb").set_failed(ValueError(HOSTILE))
        folder = tmp_path / "report"
        write_site(results(store), folder)
        return open_page(folder / "index.html", width, dark, folder, fragment)

    return make


def texts(opened, selector):
    return opened.locator(selector).all_text_contents()


def test_one_quantity_of_every_cell_is_shown_as_chosen(shown):
    opened = shown()
    assert opened.locator(".grid:visible").count() == 1
    assert opened.get_by_role("link", name="0.710").first.is_visible()
    opened.get_by_label("Quantity").select_option("tau_gradient")
    assert opened.locator(".grid:visible").get_attribute("id") == "grid-tau_gradient"
    assert "0.500 +0.149" in texts(opened, ".grid:visible td")


def test_a_cell_opens_from_the_grid_and_from_its_address(shown):
    opened = shown()
    opened.locator(".grid:visible").get_by_role("link", name="0.710").first.click()
    opened.locator("#cell h2", has_text="sst, lstm + additive").wait_for()
    assert "tau_gradient" in texts(opened, "#cell tbody th")
    assert "0.351" in texts(opened, "#cell td")
    assert "<i>good</i>" in texts(opened, "#cell td")
    fragment = opened.evaluate("location.hash")
    opened.get_by_role("button", name="Close").click()
    opened.locator("#cell").wait_for(state="hidden")
    again = shown(fragment=fragment)
    again.locator("#cell h2", has_text="sst, lstm + additive").wait_for()


def test_a_cell_leads_to_its_plots_and_instances(shown):
    opened = shown()
    opened.locator(".grid:visible").get_by_role("link", name="0.710").first.click()
    opened.get_by_role("link", name="instances", exact=True).click()
    opened.wait_for_url("**/instances.html#sst_*")
    opened.go_back()
    opened.get_by_role("link", name="plots", exact=True).click()
    opened.wait_for_url("**/plots.html#sst/*")


def test_a_file_that_is_missing_is_said(shown, browser, tmp_path):
    shown()
    folder = tmp_path / "report"
    (folder / "data" / "cells.js").unlink()
    context = browser.new_context(offline=True)
    opened = context.new_page()
    opened.goto((folder / "plots.html").as_uri())
    opened.get_by_text("data/cells.js is missing: keep the report's folder whole").wait_for()
    context.close()


def test_a_failed_cell_says_why_as_text(shown):
    opened = shown()
    assert HOSTILE in opened.locator(".alarm").inner_text()
    opened.locator(".alarm").get_by_role("link").click()
    opened.locator("#cell .alarm", has_text=HOSTILE).wait_for()


def test_an_address_of_no_cell_is_said(shown):
    opened = shown()
    opened.evaluate("location.hash = '#' + encodeURIComponent('../../../x')")
    opened.locator("#cell .alarm", has_text="No cell ../../../x in this report").wait_for()


def test_an_address_that_nobody_can_read_shows_no_cell(shown):
    assert not shown(fragment="#%").locator("#cell").is_visible()


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1200, True)])
def test_no_page_is_wider_than_the_screen(shown, width, dark):
    opened = shown(width, dark)
    opened.locator(".grid:visible a").first.click()
    opened.locator("#cell h2").wait_for()
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_answers_in_short_come_first_and_lead_to_their_cells(shown):
    opened = shown()
    assert opened.locator("main h2").nth(1).text_content() == "In short"
    assert texts(opened, "#findings td")[:3] == [
        "0.500 (sst, lstm + additive)",
        "0.500 (sst, lstm + additive)",
        "1",
    ]
    opened.locator("#findings a").first.click()
    opened.locator("#cell h2", has_text="sst, lstm + additive").wait_for()


def test_a_reader_with_a_keyboard_goes_on_where_the_cell_was_opened(shown):
    opened = shown()
    link = opened.locator("#findings a").first
    link.focus()
    opened.keyboard.press("Enter")
    opened.locator("#cell:focus").wait_for()
    close = opened.get_by_role("button", name="Close")
    close.focus()
    opened.keyboard.press("Enter")
    assert link.evaluate("one => one === document.activeElement")


def test_heads_of_tables_say_what_they_are_of(shown):
    opened = shown()
    scopes = opened.evaluate("[...document.querySelectorAll('th')].map((one) => one.scope)")
    assert set(scopes) == {"col", "colgroup", "row"}
    spans = opened.evaluate(
        "[...document.querySelectorAll('[scope=colgroup]')].map((t) => t.colSpan)"
    )
    assert min(spans) > 1


def test_numbers_are_grouped_by_what_measured_them(shown):
    opened = shown()
    opened.locator("#findings a").first.click()
    opened.locator("#cell details").nth(1).wait_for()
    assert texts(opened, "#cell summary") == ["test scores", "correlation"]
    assert "Kendall's tau between attention and gradient" in texts(opened, "#cell td.text")
