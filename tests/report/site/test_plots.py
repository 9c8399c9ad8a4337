"""The page of plots in a browser. `open_page` fails for anything on the console, or asked for."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import expect

from attention_audit.report.results import results
from attention_audit.report.site import write_site

DRAWN = "#plots[data-state=drawn]"
HOSTILE = "<script>alert('class')</script>"


@pytest.fixture
def shown(store, audited, begun, open_page, tmp_path):
    """Opens the page of a corpus with plots of two cells and a failed one, and of another."""

    def make(width=1200, dark=False, fragment=""):
        audited(classes=("negative", HOSTILE))
        audited("sst", "average", "dot", classes=("negative", HOSTILE))
        begun("sst", "lstm", "dot").set_failed(ValueError(HOSTILE))
        audited("imdb")
        folder = tmp_path / "report"
        write_site(results(store), folder)
        opened = open_page(folder / "plots.html", width, dark, folder, fragment)
        opened.wait_for_selector(DRAWN)
        return opened

    return make


def texts(opened, selector):
    return opened.locator(selector).all_text_contents()


def choose(opened, label, option):
    opened.locator(".controls").get_by_label(label).select_option(option)
    opened.wait_for_selector(DRAWN)


def test_a_matrix_of_plots_with_test_scores_of_the_corpus_chosen(shown):
    opened = shown(fragment="#sst/permutation")
    assert texts(opened, ".panel figcaption") == [
        "lstm + additive F1 0.710",
        "average + additive",
        "lstm + dot",
        "average + dot F1 0.710",
    ]
    assert opened.locator(".panel svg").count() == 2
    assert texts(opened, ".panel .missing") == ["missing", f"failed: ValueError: {HOSTILE}"]


def test_corpus_and_analysis_are_chosen_and_are_the_pages_address(shown):
    opened = shown(fragment="#sst/permutation")
    choose(opened, "Corpus", "imdb")
    assert opened.locator(".panel svg").count() == 1
    choose(opened, "Analysis", "adversarial")
    assert opened.locator(".panel svg").count() == 3
    assert opened.evaluate("location.hash") == "#imdb/adversarial"
    opened.evaluate("location.hash = '#sst/permutation'")
    expect(opened.locator(".panel svg")).to_have_count(2)
    assert opened.get_by_label("Corpus").input_value() == "sst"


def test_of_several_cells_of_the_same_models_the_reader_chooses(shown, audited):
    audited(seed=1)
    other = audited(seed=2)
    audited("sst", "average", "dot", seed=2)
    opened = shown(fragment="#sst/permutation")
    assert texts(opened, "#siblings label") == [
        "lstm + additive seed 0seed 1seed 2",
        "average + dot seed 0seed 2",
    ]
    opened.locator("#siblings select").first.focus()
    choose(opened, "lstm + additive", "seed 2")
    assert opened.evaluate("document.activeElement === siblings.querySelector('select')")
    place = opened.evaluate("location.hash")
    assert place.startswith("#sst/permutation/sst_lstm%2Badditive_2-")
    link = opened.locator(".panel a").first.get_attribute("href")
    assert link == f"index.html#{other.path_in_store.replace('/', '_')}"
    choose(opened, "average + dot", "seed 2")
    choose(opened, "Corpus", "imdb")
    assert texts(opened, "#siblings label") == []
    assert opened.evaluate("location.hash") == "#imdb/permutation"
    opened.evaluate(f"location.hash = '{place}'")
    expect(opened.locator("#dataset")).to_have_value("sst")
    assert (
        opened.locator("#siblings")
        .get_by_label("lstm + additive")
        .input_value()
        .startswith("sst_lstm+additive_2-")
    )


def test_a_cells_panel_leads_to_its_own_plots(shown, audited, open_page, tmp_path):
    cell = audited(seed=1)
    shown()
    key = cell.path_in_store.replace("/", "_")
    folder = tmp_path / "report"
    opened = open_page(folder / "index.html", folder=folder, fragment=f"#{key}")
    opened.locator("#cell a", has_text="plots").click()
    opened.wait_for_selector(DRAWN)
    assert opened.locator("#siblings").get_by_label("lstm + additive").input_value() == key


def test_an_analysis_that_no_cell_has_is_said(shown):
    opened = shown(fragment="#imdb/second%20paper")
    assert opened.locator(".panel").count() == 0
    assert "No plot of lstm + additive: not measured." in texts(opened, "#plots .note")


def test_a_class_name_is_text_in_the_plot(shown):
    opened = shown(fragment="#sst/permutation")
    drawn = " ".join(texts(opened, ".panel svg text"))
    assert "<script>" in drawn
    assert opened.locator(".panel svg script").count() == 0


def test_axes_are_shared(shown):
    opened = shown(fragment="#sst/correlation")
    axes = opened.evaluate(
        """() => [...document.querySelectorAll(".matrix")].slice(0, 1).flatMap((matrix) =>
          [...matrix.querySelectorAll("svg")].map((svg) =>
            [...svg.querySelectorAll(".role-axis-label text")].map((one) => one.textContent)))"""
    )
    assert len(axes) == 2
    assert axes[0] == axes[1]
    assert "1.0" in axes[0]


def test_what_is_drawn_can_be_saved(shown, tmp_path):
    opened = shown(fragment="#imdb/adversarial")
    panel = opened.locator(".panel").last
    for kind in ("SVG", "PNG", "CSV"):
        with opened.expect_download() as download:
            panel.get_by_role("button", name=kind).click()
        assert download.value.suggested_filename.endswith(f"_frontier.{kind.lower()}")
        download.value.save_as(tmp_path / kind)
    assert "<svg" in (tmp_path / "SVG").read_text()
    assert (tmp_path / "PNG").read_bytes().startswith(b"\x89PNG")
    rows = [*csv.DictReader((tmp_path / "CSV").read_text().splitlines())]
    assert [(float(row["epsilon"]), float(row["jsd"])) for row in rows] == [(0.01, 0.5), (0.1, 0.5)]


def test_the_tooltip_has_the_numbers(shown):
    opened = shown(fragment="#imdb/adversarial")
    opened.locator(".panel").last.locator(".mark-symbol path").first.hover()
    opened.locator("#vg-tooltip-element.visible", has_text="0.500").wait_for()


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1200, True)])
def test_no_page_is_wider_than_the_screen(shown, width, dark):
    opened = shown(width, dark, "#sst/adversarial")
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_report_of_nothing_says_so(open_page, tmp_path):
    write_site([], tmp_path / "report")
    opened = open_page(tmp_path / "report" / "plots.html", folder=tmp_path / "report")
    opened.get_by_text("No cell is done yet").wait_for()


def test_a_damaged_analysis_is_said_and_the_others_are_drawn(shown, audited, store, tmp_path):
    cell = audited("adr")
    (results(store)[0].analyses["permutation"].folder / "instances.parquet").write_text("no")
    opened = shown(fragment="#adr/permutation")
    said = texts(opened, "#plots .note")
    assert any("instances.parquet is not valid Parquet" in one for one in said)
    choose(opened, "Analysis", "adversarial")
    assert opened.locator(".panel svg").count() == 3
    assert cell.dataset == "adr"


def test_a_plot_is_one_picture_with_a_name_and_its_numbers_are_a_table(shown):
    opened = shown(fragment="#imdb/adversarial")
    name = "The frontier: the more the output may change, the farther attention can go: imdb, lstm"
    panel = opened.locator(".panel").last
    assert panel.get_by_role("img", name=name).count() == 1
    panel.locator("summary").focus()
    opened.keyboard.press("Enter")
    panel.get_by_role("table").wait_for()
    assert [one.text_content() for one in panel.locator("thead th").all()][:2] == ["epsilon", "jsd"]
    assert [one.text_content() for one in panel.locator("tbody tr").first.locator("th, td").all()][
        :2
    ] == ["0.01", "0.5"]


def test_what_was_drawn_is_announced_in_one_line(shown):
    opened = shown(fragment="#imdb/permutation")
    assert opened.get_by_role("status").text_content() == "imdb, permutation: 1 plot."
    choose(opened, "Analysis", "adversarial")
    assert opened.get_by_role("status").text_content() == "imdb, adversarial: 3 plots."
