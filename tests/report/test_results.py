"""What the store has of each grid cell, whatever is in its files."""

from __future__ import annotations

import pytest

from attention_audit.published import table1
from attention_audit.report.results import result, results


def test_a_finished_cell_has_its_rows_and_of_each_analysis_the_last(store, stored, rows):
    cell = stored()
    for resamples in (10, 20):
        found = cell.analysis("correlation", {"resamples": resamples}, 1)
        found.write({"summary": rows("tau_gradient", resamples / 100)})
    [one] = results(store)
    assert (one.state, one.key) == ("done", f"sst_lstm+additive_{cell.folder.name}")
    assert one.analyses["correlation"].config == {"resamples": 20}
    assert one.value("tau_gradient") == 0.2
    assert one.value("tau_gradient", statistic="sig_frac") == 0.5
    assert one.value("tau_loo") is None
    assert one.value("f1", "1") == 0.71


def test_cells_that_serve_others_are_none_of_the_grid(store, stored):
    cell = stored()
    cell.write_json("manifest", {**cell.read_json("manifest"), "role": "adversary"})
    assert results(store) == []


def test_so_are_those_that_failed_before_they_had_a_manifest(store, begun):
    cell = begun()
    cell.open({"auxiliary": {"role": "seed"}})
    cell.set_failed(ValueError("no"))
    assert results(store) == []


def test_a_failed_cell_says_why(begun):
    cell = begun()
    cell.set_failed(ValueError("data/sst: no such folder\nmore"))
    one = result(cell)
    assert (one.state, one.why) == ("failed", "ValueError: data/sst: no such folder")
    assert one.rows == ()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("status.json", "{"),
        ("metrics.json", '{"summary": 3}'),
        ("manifest.json", "[]"),
        ("manifest.json", '{"role": "grid"}'),
        ("verdict.json", "[1]"),
    ],
)
def test_a_damaged_cell_is_shown_as_such(stored, file, content):
    cell = stored()
    (cell.folder / file).write_text(content)
    one = result(cell)
    assert one.state == "unreadable"
    assert one.why
    assert one.is_private


def test_privacy_is_what_the_corpus_says_and_not_knowing_is_private(stored, begun):
    assert result(stored(private=True)).is_private
    assert not result(stored("imdb")).is_private
    assert result(begun("agnews")).is_private


def test_figures_of_another_corpus_are_not_compared(stored):
    assert result(stored()).unlike == ""
    assert "a substitute" in result(stored(differs="a substitute")).unlike
    [beside] = result(stored()).beside([table1("sst")])
    assert beside.difference == pytest.approx(0.71 - 0.81)


def test_the_test_score_is_that_of_the_task(stored):
    assert result(stored()).score_name == ("f1", "1")
    assert result(stored("snli", classes=("a", "b", "c"))).score_name == ("micro_f1", "overall")
    assert result(stored("mine", classes=("a", "b", "c"))).score_name == ("macro_f1", "overall")
    assert result(stored("cnn", classes=())).score_name == ("accuracy", "overall")


def test_a_score_has_its_name(stored, begun):
    assert result(stored()).score == "F1 0.710"
    assert result(stored("cnn", classes=())).score == "accuracy 0.800"
    assert result(begun("adr")).score == ""


def test_classes_have_their_corpus_names(stored):
    one = result(stored())
    assert [one.name_of(klass) for klass in ("0", "1", "2", "overall")] == [
        *("negative", "positive", "2", "")
    ]
