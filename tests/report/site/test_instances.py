"""The page of instances: what it says is what the store has and what the model would predict."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_audit.measures import jsd, tvd
from attention_audit.models.decoders import Classification
from attention_audit.report.results import result, results
from attention_audit.report.site import write_site
from attention_audit.report.site.instances import sample, samples

HOSTILE = "<script>alert('word')</script>"
TEXTS = [["a", "fine", HOSTILE], ["so", "dull", "a", "film"], ["=1+1", "no\u202e"]]
ROW_HEADS = "#table tbody th"


def model(outputs):
    """Hidden states of each text, and a decoder with a bias that matters."""
    generator = torch.Generator().manual_seed(0)
    hidden = [torch.randn(len(text), 8, generator=generator) for text in TEXTS]
    decoder = Classification(8, outputs)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return hidden, decoder


def predicted(decoder, hidden, attention):
    """The model's probabilities with an attention."""
    with torch.no_grad():
        logits = attention.float() @ hidden @ decoder.weight.T + decoder.output.bias
        logits = decoder.readout(logits).double()
    return logits.softmax(-1) if len(logits) > 1 else torch.stack([-logits, logits]).sigmoid()[:, 0]


@pytest.fixture
def read(audited):
    """A cell with three texts, their attention and the model that read them."""

    def make(*names, classes=("negative", "positive"), linear=True, queries=None, **about):
        cell = audited(*names, classes=classes, **about)
        hidden, decoder = model(1 if len(classes) == 2 else len(classes))
        attention = [torch.linspace(1, 2, len(t)) for t in TEXTS]
        attention = [row / row.sum() for row in attention]
        probability = [predicted(decoder, h, a) for h, a in zip(hidden, attention, strict=True)]
        ids = [7, 3, 5]
        cell.write_table(
            "instances",
            {
                "id": ids,
                "label": [0, 1, 1],
                "prediction": [int(p.argmax()) for p in probability],
                "probability": [p.tolist() for p in probability],
                "length": [len(text) for text in TEXTS],
                "max_attention": [float(a.max()) for a in attention],
                "entropy": [1.0, 0.5, float("nan")],
            },
        )
        logits = [(h @ decoder.weight.T).tolist() for h in hidden]
        cell.write_table(
            "tokens",
            {"id": ids, "token": TEXTS, "attention": [a.numpy() for a in attention]}
            | ({"token_logit": logits} if linear else {})
            | ({"query": queries} if queries else {}),
        )
        # In another order, as analyses may be.
        first = [[0.0] * (len(text) - 1) + [1.0] for text in TEXTS]
        turned = {"id": ids[::-1], "exact_attention": first[::-1]}
        found = result(cell).analyses["adversarial"]
        numbers = {"id": ids[::-1], "eps_max_jsd": [0.1, 0.2, 0.3], "predicted": [0, 0, 0]}
        numbers |= {"max_attention": [0.5] * 3, "adversary_tvd": [0.03, 0.02, 0.01]}
        numbers |= {"adversary_prediction": [0, 1, 1], "adversary_probability": [0.4, 0.6, 0.8]}
        found.write(found.read_summary(), numbers, turned)
        return cell

    return make


def test_numbers_of_analyses_are_joined_by_instance(read):
    found = sample(result(read()), 200)
    assert found["numbers"]["id"] == [7, 3, 5]
    assert found["numbers"]["eps_max_jsd"] == [0.3, 0.2, 0.1]
    assert found["numbers"]["entropy"] == [1.0, 0.5, None]
    name = "adversarial attention, the exact maximum"
    assert found["weights"][name] == [[0, 0, 1], [0, 0, 0, 1], [0, 1]]
    assert found["total"] == 3


def test_what_cannot_be_seen_in_a_word_is_escaped(read):
    assert sample(result(read()), 200)["words"][2] == ["=1+1", "no\\u202e"]


def test_no_more_instances_than_asked_for(read):
    assert sample(result(read()), 2)["numbers"]["id"] == [7, 5]


@pytest.mark.parametrize("classes", [("negative", "positive"), ("a", "b", "c")])
def test_the_bias_is_recovered_so_that_every_prediction_is_the_models(read, classes):
    found = sample(result(read(classes=classes)), 200)
    _, decoder = model(len(found["bias"]))
    bias = np.array(found["bias"])
    true = decoder.output.bias.detach().numpy()
    # Softmax knows differences only.
    ours, theirs = (bias, true) if len(bias) == 1 else (bias - bias[0], true - true[0])
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_the_bias_is_that_of_a_prediction_that_is_not_saturated(read):
    cell = read()
    instances, tokens = (cell.read_table(name).to_pydict() for name in ("instances", "tokens"))
    instances["probability"][0] = [0.0, 1.0]
    tokens["token_logit"][0] = [[1000.0]] * 3
    cell.write_table("instances", instances)
    cell.write_table("tokens", tokens)
    _, decoder = model(1)
    bias = sample(result(cell), 200)["bias"]
    assert bias == pytest.approx(decoder.output.bias.tolist(), abs=1e-6)


def test_words_that_do_not_give_the_stored_predictions_are_not_offered(read):
    cell = read()
    tokens = cell.read_table("tokens").to_pydict()
    tokens["token_logit"][0][0][0] += 1.0
    cell.write_table("tokens", tokens)
    assert sample(result(cell), 200)["logits"] is None


def test_nothing_of_a_private_corpus_is_there(read, store):
    read(private=True)
    [(_, found)] = samples(results(store), 200)
    assert found == {"absent": "a private corpus: none of its texts is shown"}


def test_none_where_none_are_asked_for(read, store):
    read()
    [(_, found)] = samples(results(store), 0)
    assert found == {"absent": "none were asked for"}


def test_a_cell_without_words_says_so(audited, store):
    audited()
    [(_, found)] = samples(results(store), 200)
    assert "absent" in found


QUERIES = [["where", "is", "it"], ["who", HOSTILE], ["why"]]


def test_what_is_asked_of_a_text_is_shown_with_it(shown):
    opened = shown(instance=3, linear=False, queries=QUERIES)
    assert texts(opened, "#instance .asked") == [f"The hypothesis: who {HOSTILE}"]
    assert "hypothesis" in texts(opened, "#table thead th")
    assert sorted(texts(opened, "#table tbody tr td:nth-child(3)")) == [
        *("where is it", f"who {HOSTILE}", "why")
    ]
    opened.get_by_label("With the word").fill("why")
    assert texts(opened, ROW_HEADS) == ["5"]


def test_what_is_asked_for_an_answer_is_a_question(read):
    one = result(read(queries=QUERIES))
    assert sample(one, 200)["asks"] == "hypothesis"
    corpus = {**one.corpus, "classes": [], "answers": ["here", "there"]}
    answering = replace(one, manifest={**one.manifest, "corpus": corpus})
    assert sample(answering, 200)["asks"] == "question"
    assert sample(answering, 200)["queries"][2] == ["why"]


def test_what_the_adversary_does_to_a_prediction_that_no_page_can_compute(shown):
    opened = shown(instance=7, linear=False)
    was = opened.evaluate("nameOf(data.numbers.prediction[0])")
    line = opened.locator("#instance > p").first.inner_text()
    kept = "" if was == "positive" else f"{was} "
    assert f"positive ({kept}0.8000); output change 0.0100 (TVD), attention moved by" in line


def test_the_adversary_of_an_older_store_is_shown_without_what_it_does(read):
    cell = read(linear=False)
    found = result(cell).analyses["adversarial"]
    columns = found.read_instances().to_pydict()
    kept = {name: v for name, v in columns.items() if not name.startswith("adversary_")}
    found.write(found.read_summary(), kept, found.read_tokens().to_pydict())
    assert sample(result(cell), 200)["after"] is None


@pytest.fixture
def shown(read, store, open_page, tmp_path):
    """Opens the page of one cell, with a text if one is named."""

    def make(width=1200, dark=False, instance="", **about):
        cell = read(**about)
        folder = tmp_path / "report"
        write_site(results(store), folder)
        fragment = f"#{result(cell).key}" + (f"/{instance}" if instance else "")
        opened = open_page(folder / "instances.html", width, dark, folder, fragment)
        opened.wait_for_selector("#table table")
        if instance:
            opened.wait_for_selector("#instance h2")
        return opened

    return make


def texts(opened, selector):
    return opened.locator(selector).all_text_contents()


def test_the_table_is_sorted_and_filtered(shown):
    opened = shown()
    assert texts(opened, ROW_HEADS) == ["3", "5", "7"]
    opened.get_by_role("button", name="largest JSD, search").click()
    assert texts(opened, ROW_HEADS) == ["5", "3", "7"]
    opened.get_by_role("button", name="largest JSD, search").click()
    assert texts(opened, ROW_HEADS) == ["7", "3", "5"]
    assert opened.locator("[aria-sort=descending]").inner_text() == "largest JSD, search (nats)"
    for _ in range(2):  # what is undefined stays last
        opened.get_by_role("button", name="entropy").click()
        assert texts(opened, ROW_HEADS)[-1] == "5"
    opened.get_by_label("With the word").fill("A")
    assert sorted(texts(opened, ROW_HEADS)) == ["3", "7"]
    opened.get_by_label("Show").select_option("wrong")
    wrong = opened.evaluate(
        "data.numbers.id.filter((_, n) => data.numbers.label[n] !== data.numbers.prediction[n])"
    )
    assert {int(one) for one in texts(opened, ROW_HEADS)} <= set(wrong)


def test_a_click_shows_the_text_and_its_address_brings_it_back(shown):
    opened = shown()
    opened.locator("#table tbody tr", has_text="a fine").click()
    opened.locator("#instance h2", has_text="Instance 7").wait_for()
    assert opened.evaluate("location.hash").endswith("/7")
    words = opened.locator("#instance .words").first.locator("bdi")
    assert words.all_text_contents() == ["a", "fine", HOSTILE]


def test_every_weight_is_there_for_eyes_ears_and_machines(shown, tmp_path):
    opened = shown(instance=3)
    attention = opened.locator("#instance .words").first
    assert attention.locator(".unseen").all_text_contents() == [
        f" {value:.3f} " for value in np.linspace(1, 2, 4) / 6
    ]
    assert texts(opened, "#instance h3")[:3] == [
        "attentioncolour: 0 to 1",
        "adversarial attention, the exact maximumcolour: 0 to 1",
        "adversarial attention, the exact maximum, minus attentioncolour: -1 (orange) to 1 (blue)",
    ]
    for kind in ("SVG", "PNG", "LaTeX", "CSV"):
        with opened.expect_download() as download:
            opened.locator("#instance").get_by_role("button", name=f"as {kind}").click()
        download.value.save_as(tmp_path / kind)
    assert (tmp_path / "PNG").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "LaTeX").read_text().count(r"\colorbox") == 12
    rows = [*csv.DictReader((tmp_path / "CSV").read_text().splitlines())]
    assert [row["word"] for row in rows] == TEXTS[1]
    assert [float(row["attention"]) for row in rows] == pytest.approx(np.linspace(1, 2, 4) / 6)


def test_saved_files_hold_no_markup_and_no_formula(shown, open_page, tmp_path):
    opened = shown(instance=7)
    with opened.expect_download() as download:
        opened.locator("#instance").get_by_role("button", name="as SVG").click()
    path = tmp_path / "saved.svg"
    download.value.save_as(path)
    saved = open_page(path)
    assert HOSTILE in saved.locator("text").all_text_contents()
    again = shown(instance=5)
    with again.expect_download() as download:
        again.locator("#instance").get_by_role("button", name="as CSV").click()
    download.value.save_as(tmp_path / "saved.csv")
    assert '"\'=1+1"' in (tmp_path / "saved.csv").read_text()


def said(opened, key):
    return opened.locator(f".trial [data-key={key}]").inner_text()


def probabilities(opened, key="now"):
    return [float(one) for one in re.findall(r"\d\.\d{4}", said(opened, key))]


@pytest.mark.parametrize("classes", [("negative", "positive"), ("a", "b", "c")])
def test_the_prediction_with_the_readers_weights_is_the_models(shown, classes):
    opened = shown(instance=3, classes=classes)
    hidden, decoder = model(1 if len(classes) == 2 else 3)
    own = torch.linspace(1, 2, 4, dtype=torch.float64) / 6
    before = predicted(decoder, hidden[1], own)
    dragged = torch.cat(
        [own[:1] * 0.4 / (1 - own[1]), torch.tensor([0.6]), own[2:] * 0.4 / (1 - own[1])]
    )
    uniform, only = torch.full((4,), 0.25, dtype=torch.float64), torch.eye(4)[2].double()
    trials = {
        "uniform": (lambda: opened.get_by_role("button", name="uniform").click(), uniform),
        "one word": (lambda: opened.get_by_label("all weight on a", exact=True).click(), only),
        "own": (lambda: opened.get_by_role("button", name="the model's attention").click(), own),
        "dragged": (lambda: opened.locator(".slider input").nth(1).fill("0.6"), dragged),
    }
    assert probabilities(opened) == pytest.approx(before.tolist(), abs=6e-5)
    for act, weights in trials.values():
        act()
        after = predicted(decoder, hidden[1], weights)
        assert probabilities(opened) == pytest.approx(after.tolist(), abs=6e-5)
        assert probabilities(opened, "before") == pytest.approx(before.tolist(), abs=6e-5)
        assert float(said(opened, "tvd")) == pytest.approx(float(tvd(before, after)), abs=6e-5)
        assert float(said(opened, "jsd")) == pytest.approx(float(jsd(own, weights)), abs=6e-5)
        unchanged = float(tvd(before, after)) <= 0.01
        assert said(opened, "epsilon").startswith("yes" if unchanged else "no")


def test_the_best_adversary_and_permutations_can_be_started_from(shown):
    opened = shown(instance=3)
    opened.get_by_role(
        "button", name="adversarial attention, the exact maximum", exact=True
    ).click()
    assert texts(opened, ".slider .weight") == ["0.000", "0.000", "0.000", "1.000"]
    opened.get_by_role("button", name="permuted", exact=True).click()
    assert sorted(texts(opened, ".slider .weight")) == ["0.167", "0.222", "0.278", "0.333"]


def test_a_model_that_is_not_linear_cannot_be_tried(shown):
    opened = shown(instance=3, linear=False)
    assert opened.get_by_text("Only a linear decoder's prediction").is_visible()
    assert opened.locator(".slider").count() == 0


def test_a_private_corpus_has_no_texts(read, store, open_page, tmp_path):
    cell = read(private=True)
    folder = tmp_path / "report"
    write_site(results(store), folder)
    opened = open_page(folder / "instances.html", folder=folder)
    opened.get_by_text("a private corpus: none of its texts is shown").wait_for()
    whole = "".join(path.read_text() for path in folder.rglob("*.*") if path.name != "vega.js")
    for secret in ("dull", "film", json.dumps(HOSTILE)[1:-1]):
        assert secret not in whole
    assert cell.folder.name in whole


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1200, True)])
def test_no_page_is_wider_than_the_screen(shown, width, dark):
    opened = shown(width, dark, instance=7)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_all_of_it_goes_with_the_keyboard_alone(shown):
    opened = shown()
    link = opened.get_by_role("link", name="5", exact=True)
    link.focus()
    opened.keyboard.press("Enter")
    opened.locator("#instance:focus").wait_for()
    assert link.get_attribute("aria-current") == "true"
    slider = opened.get_by_role("slider").first
    slider.focus()
    before = float(slider.get_attribute("aria-valuetext"))
    opened.keyboard.press("ArrowRight")
    after = float(slider.get_attribute("aria-valuetext"))
    assert before < after < before + 0.2
    assert float(said(opened, "jsd")) > 0
    opened.get_by_role("button", name="Back to the table").focus()
    opened.keyboard.press("Enter")
    opened.locator("#instance").wait_for(state="hidden")
    assert link.evaluate("one => one === document.activeElement")
    assert opened.locator("#table [aria-current]").count() == 0


def test_the_band_says_what_its_marks_are(shown):
    opened = shown(instance=3)
    assert texts(opened, "#instance .key") == [
        "within epsilon of the model's",
        "with the model's attention",
        "with your weights",
    ]
