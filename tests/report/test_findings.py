"""What a whole store says to the papers' questions."""

from __future__ import annotations

from attention_audit.report.findings import agreement, findings
from attention_audit.report.results import results


def test_the_ends_are_named_with_their_cells(store, stored, rows):
    for encoder, mean in (("lstm", 0.25), ("cnn", 0.5), ("average", 0.75)):
        cell = stored("sst", encoder)
        cell.analysis("correlation", {}, 1).write({"summary": rows("tau_gradient", mean)})
    [row] = findings(results(store)).rows
    assert [item.text for item in row] == [
        "Does attention rank words as gradients do?",
        "0.250 (sst, lstm + additive)",
        "0.750 (sst, average + additive)",
        "3",
        "tau(attention, gradient)",
    ]
    assert row[1].cell.startswith("sst_lstm+additive_0-")


def test_attention_that_agrees_less_is_counted_beyond_the_interval(store, stored, rows):
    for encoder, mean in (("lstm", 0.25), ("cnn", 0.1), ("average", -0.25)):
        cell = stored("sst", encoder)
        cell.analysis("correlation", {}, 1).write({"summary": rows("gap_gradient", mean)})
    assert agreement(results(store)).startswith(
        "In 1 of 3 cells attention agrees with the gradient less than leave-one-out does, in 1 more"
    )


def test_a_store_without_analyses_says_nothing(store, stored):
    stored()
    found = results(store)
    assert (findings(found).rows, agreement(found)) == ((), "")
