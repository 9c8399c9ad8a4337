"""The page as a browser draws it. `open_page` fails for anything on the console, or asked for."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention_audit.report.heatmap import check, page

CELLS = ".numbers tbody td:not(:nth-last-child(-n+4))"
CAUSAL = np.tril(np.ones((6, 6), dtype=bool))
SIX = ["The", "student", "laughed", "at", "the", "joke"]


@pytest.fixture
def shown(open_page, attention, tmp_path):
    """Opens the page of one input, drawn."""

    def make(width=1200, dark=False, **changes):
        found = attention(**changes)
        path = tmp_path / "page.html"
        path.write_text(page([(found, check(found))]), encoding="utf-8")
        opened = open_page(path, width=width, dark=dark)
        opened.wait_for_selector(".drawing svg")
        return opened

    return make


def texts(opened, selector):
    return opened.locator(selector).all_text_contents()


def show(opened, label, option):
    """Choose an option, and wait for the drawing of it."""
    before = opened.locator(".drawing svg").element_handle()
    opened.get_by_label(label, exact=True).select_option(label=option)
    before.wait_for_element_state("hidden")


def drawn_values(opened, keys):
    """The numbers in the cells of a small figure, row by row."""
    found = texts(opened, '.drawing svg text[font-size="11"]')
    return [found[n : n + keys] for n in range(0, len(found), keys)]


def test_the_numbers_drawn_and_those_of_the_table_are_the_inputs(shown, attention):
    opened = shown()
    weights = attention().weights[0, 0]
    assert drawn_values(opened, 4) == [[f"{value:.2f}" for value in row] for row in weights]
    assert texts(opened, CELLS) == [f"{value:.4f}" for value in weights.ravel()]
    assert texts(opened, ".numbers thead th")[1:5] == [
        f"{n} \u2068{token}\u2069" for n, token in enumerate(attention().key)
    ]
    sums, entropy, uniform = (
        texts(opened, f".numbers tbody td:nth-last-child({n})") for n in (4, 3, 2)
    )
    assert sums == ["1.0000"] * 4
    assert entropy[3] == uniform[3] == f"{np.log(4):.4f}"


def test_axes_and_scale_are_labelled(shown):
    said = texts(shown(), ".drawing svg text")
    assert {"query (rows)", "key (columns)", "weight", "0", "0.5", "1"} <= set(said)
    assert {"sum", "entropy", "ln n"} <= set(said)


def colours(opened):
    return {
        path.get_attribute("fill")
        for path in opened.locator(".drawing svg > path").element_handles()
    }


def test_masked_and_padded_cells_are_hatched_apart_from_0(shown, softmax):
    real = np.array([True] * 5 + [False])
    weights = softmax(6, 6, mask=CAUSAL & real)
    weights[1, :2] = [1.0, 0.0]
    opened = shown(tokens=SIX, weights=weights, mask="causal", padding="joke")
    assert {"url(#masked-0)", "url(#padding-0)", "rgb(247,251,255)"} <= colours(opened)
    legend = texts(opened, ".drawing svg text")
    assert "masked: attention may not go there" in legend
    assert "padding" in legend
    cells = texts(opened, CELLS)
    assert cells[:6] == ["1.0000", "masked", "masked", "masked", "masked", "padding"]
    assert cells[6:8] == ["1.0000", "0.0000"]


def test_a_legend_names_only_what_is_drawn(shown):
    legend = " ".join(texts(shown(), ".drawing svg text"))
    assert not re.search("masked|padding|missing|below|above", legend)


def test_faults_are_drawn(shown):
    weights = [[None, 1, 0, 0], [1.2, -0.2, 0, 0], [0.2] * 4, [0.25] * 4]
    opened = shown(weights=weights)
    legend = texts(opened, ".drawing svg text")
    assert {"missing or infinite", "below 0", "above 1"} <= set(legend)
    assert {"var(--missing)", "var(--below)", "var(--above)"} <= colours(opened)
    assert texts(opened, ".numbers .bad") == [
        "has a value missing or infinite",
        "has a negative value",
        "does not sum to 1",
        "",
    ]
    assert "does not sum to 1" in legend
    assert texts(opened, CELLS)[:6] == [
        "missing",
        "1.0000",
        "0.0000",
        "0.0000",
        "1.2000",
        "-0.2000",
    ]


def test_weight_where_none_should_be_is_drawn(shown, softmax):
    opened = shown(weights=softmax(4, 4), mask="causal")
    assert "has a weight and should not" in texts(opened, ".drawing svg text")
    assert texts(opened, CELLS)[1].startswith("masked, yet 0.")
    assert opened.locator(".drawing svg > path[stroke='var(--bad)']").count() == 1


def test_a_padded_querys_own_row_is_no_fault(shown, softmax):
    real = np.array([True, True, True, False])
    opened = shown(weights=softmax(4, 4, mask=real), padding=".")
    assert "has a weight and should not" not in texts(opened, ".drawing svg text")
    assert texts(opened, CELLS)[-4:] == ["padding"] * 4
    assert texts(opened, ".numbers .bad") == [""] * 4


def boxes(opened, selector):
    return opened.evaluate(
        """(selector) => [...document.querySelectorAll(selector)].map((one) => {
          const { left, right, top, bottom } = one.getBoundingClientRect();
          return [left, right, top, bottom];
        })""",
        selector,
    )


@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("size", [1.0, 1e12])
def test_no_text_of_the_figure_lies_on_another(shown, softmax, rows, size):
    sides = {"query_tokens": list("abcd"[:rows]), "key_tokens": list("abcd"), "tokens": None}
    opened = shown(weights=size * softmax(rows, 4), normalised=size == 1, **sides)
    found = boxes(opened, ".drawing svg text")
    for n, (left, right, top, bottom) in enumerate(found):
        assert left >= 0
        assert top >= 0
        for other in found[:n]:
            apart = left >= other[1] or right <= other[0] or top >= other[3] or bottom <= other[2]
            assert apart, (n, texts(opened, ".drawing svg text"))


def test_numbers_of_any_size_are_drawn_and_no_digit_is_made_up(shown):
    small = shown(weights=[[1e-300] * 4] * 4, normalised=False)
    assert texts(small, CELLS)[0] == f"{0:.100f}"
    large = shown(weights=[[2.5329e12, -1e5, 0, 3]] * 4, normalised=False)
    assert drawn_values(large, 4)[0] == ["2.533e+12", "0", "0", "0"]


def test_the_toggle_shows_the_mean_and_each_head_on_one_scale(shown, softmax):
    weights = softmax(2, 3, 4, 4)
    opened = shown(weights=weights, model="bert")
    assert drawn_values(opened, 4)[0] == [f"{value:.2f}" for value in weights[0].mean(0)[0]]
    show(opened, "Show", "head 2")
    assert drawn_values(opened, 4)[0] == [f"{value:.2f}" for value in weights[0, 2, 0]]
    assert "layer 0, head 2, aggregation none, one head" in opened.inner_text(".title")
    show(opened, "Layer", "1")
    assert drawn_values(opened, 4)[3] == [f"{value:.2f}" for value in weights[1, 2, 3]]
    assert "layer 1, head 2" in opened.inner_text(".title")
    assert texts(opened, CELLS)[0] == f"{weights[1, 2, 0, 0]:.4f}"
    show(opened, "Show", "mean of 3 heads")
    assert "layer 1, head all 3, aggregation mean" in opened.inner_text(".title")
    assert f"{weights[1].mean(0).max():.2f}" in opened.inner_text("figcaption")


def test_the_heads_beside_each_other_can_be_chosen(shown, softmax):
    opened = shown(weights=softmax(1, 3, 4, 4))
    opened.click(".overview summary")
    opened.locator(".heads button", has_text="head 1").click()
    opened.locator(".title", has_text="head 1").wait_for()
    assert opened.get_by_label("Show", exact=True).input_value() == "2"
    assert opened.locator(".heads canvas").count() == 4


def test_a_view_whose_colours_are_all_pale_says_so(shown):
    weights = [[[[0.2] * 4] * 4, [[1, 0, 0, 0]] * 4, *[[[0] * 4] * 4] * 8]]
    opened = shown(weights=weights)
    said = "The largest weight drawn is 0.12: on a scale from 0 to 1 all look alike."
    assert opened.inner_text(".pale") == said
    show(opened, "Show", "head 1")
    assert not opened.is_visible(".pale")


def test_pieces_and_words(shown, softmax):
    tokens = ["un", "##do", "it", "."]
    opened = shown(tokens=tokens, weights=softmax(4, 4), words="##")
    assert not opened.is_visible(".words")
    show(opened, "Tokens as", "words")
    assert "starts with '##' continues a word" in opened.inner_text(".words")
    assert len(texts(opened, CELLS)) == 9
    assert texts(opened, ".numbers tbody td:nth-last-child(4)") == ["1.0000"] * 3
    show(opened, "Tokens as", "pieces")
    assert len(texts(opened, CELLS)) == 16


def test_the_keyboard_reads_cell_by_cell(shown):
    opened = shown(mask="causal")
    opened.focus(".drawing svg")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        opened.keyboard.press(key)
    said = opened.inner_text(".readout")
    assert "query 2 \u2068laughed\u2069, key 1 \u2068student\u2069: 0.6100" in said
    opened.keyboard.press("ArrowUp")
    opened.keyboard.press("ArrowUp")
    assert ", key 1 \u2068student\u2069: masked, yet 0.1000" in opened.inner_text(".readout")
    for _ in range(9):
        opened.keyboard.press("ArrowLeft")
    assert "query 0 \u2068the\u2069, key 0 " in opened.inner_text(".readout")


def test_the_pointer_reads_the_cell_under_it(shown):
    opened = shown()
    opened.locator('.drawing svg text[font-size="11"]', has_text="0.61").hover()
    assert "query 2 \u2068laughed\u2069, key 1 \u2068student\u2069: 0.6100" in opened.inner_text(
        ".readout"
    )


LONG = {"tokens": [f"w{n}" for n in range(200)]}


def test_a_wide_figure_scrolls_sideways_says_so_and_the_page_does_not(shown, softmax):
    opened = shown(weights=softmax(200, 200), **LONG)
    assert opened.is_visible(".wide")
    width = "document.documentElement.scrollWidth <= innerWidth"
    assert opened.evaluate(width)
    assert drawn_values(opened, 200) == []
    assert opened.locator(".numbers").count() == 0
    opened.click(".table summary")
    opened.locator(".numbers tbody tr").first.wait_for()
    assert len(texts(opened, ".numbers tbody tr")) == 200
    assert opened.evaluate(width)


@pytest.mark.parametrize("width", [320, 1200])
def test_no_page_is_wider_than_the_screen(shown, width):
    tokens = [
        "Donaudampfschifffahrtsgesellschaftskapitaensmuetze" * 3,
        "학생이",
        "התלמיד",
        "a\u202eb",
    ]
    opened = shown(width=width, tokens=tokens, weights=[[0.98, 0, 0, 0]] * 4, model="m" * 200)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.is_visible(".wide") == (width == 320)


def test_long_tokens_are_cut_on_the_axis_and_whole_in_the_table(shown):
    token = "antidisestablishmentarianism" * 3
    opened = shown(tokens=[token, "b", "c", "d"])
    labels = [text for text in texts(opened, ".drawing svg text") if text.startswith("0 ")]
    assert len(labels) == 2
    assert all(text.endswith("…\u2069") and len(text) < 40 for text in labels)
    assert token in texts(opened, ".numbers thead th")[1]


def test_a_right_to_left_token_stays_right_of_its_position(shown):
    opened = shown(tokens=["התלמיד", "צחק", "מאוד", "."])
    where = opened.evaluate(
        """() => {
          const label = [...document.querySelectorAll(".drawing svg text")]
            .find((one) => one.textContent.includes("התלמיד"));
          return [label.getStartPositionOfChar(0).x, label.getExtentOfChar(3).x];
        }"""
    )
    assert where[0] < where[1]


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_can_be_read_on_every_colour(shown, dark):
    opened = shown(dark=dark)
    inks = opened.evaluate(
        """() => Array.from({ length: 256 }, (_, step) => {
          const colour = colourOf(step);
          const swatch = document.createElement("span");
          document.body.append(swatch);
          swatch.style.color = inkOn(colour);
          return [`rgb(${colour})`, getComputedStyle(swatch).color];
        })"""
    )
    for pair in inks:
        dim, bright = sorted(map(luminance, pair))
        assert (bright + 0.05) / (dim + 0.05) >= 4.5


def test_dark_pages_start_at_the_dark_end(shown):
    light, dark = (
        shown(dark=dark).evaluate("colourOf(0).concat(colourOf(255))") for dark in (False, True)
    )
    assert sum(light[:3]) > sum(light[3:])
    assert sum(dark[:3]) < sum(dark[3:])


def test_the_saved_figure_says_all_that_the_page_does(shown, tmp_path, open_page):
    opened = shown(weights=[[0.98, 0, 0, 0]] * 4, model="bert & <co>", mask="causal")
    with opened.expect_download() as download:
        opened.click(".save")
    path = tmp_path / "saved.svg"
    download.value.save_as(path)
    assert download.value.suggested_filename == "attention.svg"
    assert "var(--" not in path.read_text(encoding="utf-8")
    saved = open_page(path)
    said = " ".join(saved.locator("text").all_text_contents())
    for part in ("model bert & <co>", "FAILED", "key (columns)", "masked: attention", "0.98"):
        assert part in said
    assert "Grey" not in said


def test_two_texts_are_side_by_side_on_one_scale(open_page, attention, softmax, tmp_path):
    drawn = [attention(), attention(weights=softmax(4, 4))]
    path = tmp_path / "two.html"
    path.write_text(page([(one, check(one)) for one in drawn]), encoding="utf-8")
    opened = open_page(path, width=1400)
    opened.locator(".drawing svg").nth(1).wait_for()
    left, right = (opened.locator(".panel").nth(n).bounding_box() for n in (0, 1))
    assert left["x"] + left["width"] <= right["x"]
    assert left["y"] == right["y"]


HOSTILE = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"


def test_what_tokens_hold_is_never_run(shown):
    opened = shown(tokens=[HOSTILE, "'\"`", "&amp;", "\u2028"], model=HOSTILE, text=HOSTILE)
    assert HOSTILE in texts(opened, ".numbers thead th")[1]
    assert HOSTILE in opened.inner_text(".title")
    assert opened.locator("img").count() == 0
