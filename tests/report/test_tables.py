"""The papers' tables with our numbers beside the published ones."""

from __future__ import annotations

from attention_audit.published import paper_corpora, published
from attention_audit.report.results import results
from attention_audit.report.tables import papers_tables


def row_of(table, *heads):
    [row] = [row for row in table.rows if tuple(item.text for item in row[: len(heads)]) == heads]
    return row


def test_table_1_has_every_corpus_and_ours_where_there_is_one(store, stored):
    stored()
    [table, _] = papers_tables(results(store))
    assert [row[0].text for row in table.rows] == list(paper_corpora())
    texts = [item.text for item in row_of(table, "sst")]
    assert texts == [
        *("sst", "3,000 / 3,000", "3,034 / 3,321", "800 / 800", "863 / 862", "16,000", "16,175"),
        *("", "19", "F1", "0.710", "0.81", "-0.100"),
    ]
    assert [item.text for item in row_of(table, "imdb")][-3:] == ["missing", "0.88", ""]


def test_table_1_has_the_mean_length_of_the_test_rows(store, audited):
    cell = audited()
    [table, _] = papers_tables(results(store))
    assert row_of(table, "sst")[7].text == "11"  # of 4, 6, ... 18
    (cell.folder / "instances.parquet").write_text("no")
    [table, _] = papers_tables(results(store))
    assert row_of(table, "sst")[7].text == ""


def test_table_2_has_means_and_shares_by_predicted_class(store, stored, rows):
    cell = stored()
    summary = [*rows("tau_gradient", 0.5, "1"), *rows("tau_loo", 0.25, "1")]
    cell.analysis("correlation", {}, 1).write({"summary": summary})
    _, table = papers_tables(results(store))
    texts = [item.text for item in row_of(table, "sst", "positive")]
    assert texts[2:8] == ["0.500 ± 0.25", "0.36 ± 0.21", "+0.140", "0.500", "0.49", "+0.010"]
    assert texts[8:14] == ["missing", "0.60 ± 0.21", "", "missing", "0.83", ""]
    assert texts[14:] == ["0.250 ± 0.25", "0.32 ± 0.19", "-0.070", "0.500", "0.40", "+0.100"]
    assert row_of(table, "sst", "negative")[2].text == "not measured"


def test_another_corpus_has_no_difference_and_the_table_says_why(store, stored):
    stored(differs="a substitute")
    [table, _] = papers_tables(results(store))
    assert row_of(table, "sst")[-1].text == "not alike"
    assert row_of(table, "sst")[-1].difference is None
    assert "sst: no published figures: a substitute" in table.notes


def test_a_quantity_measured_at_another_epsilon_has_no_difference(store, stored, rows):
    for name, epsilon in (("sst", 0.01), ("adr", 0.05)):
        found = stored(name).analysis("adversarial", {"epsilon": epsilon}, 1)
        found.write({"summary": rows("eps_max_jsd", 0.5, "1")})
    by_name = {one.cell.dataset: one for one in results(store)}
    differences = {
        name: compared.difference
        for name, one in by_name.items()
        for compared in one.beside(published(name, "lstm", "additive"))
        if compared.quantity == "eps_max_jsd"
    }
    assert differences["sst"] is None
    assert differences["adr"] is not None
