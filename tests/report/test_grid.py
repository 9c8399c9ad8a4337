"""One quantity of every cell."""

from __future__ import annotations

from attention_audit.report.grid import grid
from attention_audit.report.results import results


def test_the_grid_has_every_corpus_and_each_state(store, stored, begun):
    stored()
    stored("mine", "gru", "dot")
    begun("imdb", "cnn", "dot").set_failed(ValueError("no such folder"))
    begun("sst", "average", "dot")
    table = grid(results(store), "score")
    columns = [title for title, _ in table.groups]
    assert columns[1:] == [
        *("lstm + additive", "cnn + additive", "average + additive"),
        *("lstm + dot", "cnn + dot", "average + dot", "gru + dot"),
    ]
    states = {
        (row[0].text, columns[n]): (item.text, item.note)
        for row in table.rows
        for n, item in enumerate(row)
        if n and item.text != "missing"
    }
    assert states == {
        ("sst", "lstm + additive"): ("0.710", "published 0.783"),
        ("sst", "average + dot"): ("running", ""),
        ("imdb", "cnn + dot"): ("failed", "ValueError: no such folder"),
        ("mine", "gru + dot"): ("0.710", ""),
    }


def test_the_grid_says_when_there_are_more_cells_of_the_same_models(store, stored):
    stored("mine", seed=1)
    other = stored("mine", seed=2)
    metrics = other.read_json("metrics")
    [f1] = [one for one in metrics["summary"] if one["quantity"] == "f1"]
    f1["value"] = 0.5
    other.write_json("metrics", metrics)
    [row] = [one for one in grid(results(store), "score").rows if one[0].text == "mine"]
    assert row[1].note == "seed 1; 2 cells of these models, listed below: 0.500 to 0.710"
