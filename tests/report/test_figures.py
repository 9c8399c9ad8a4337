"""Files of the papers' figures and tables."""

from __future__ import annotations

import pytest

from attention_audit.report.figures import write_figures
from attention_audit.report.results import results


def test_a_figure_holds_all_cells_of_a_corpus_with_their_scores(store, audited, tmp_path):
    audited()
    audited("sst", "average")
    written = {path.name: path for path in write_figures(results(store), tmp_path / "out")}
    assert {"table1.tex", "table1.md", "table2.tex", "table2.md"} <= written.keys()
    assert {"sst_tau_gradient.svg", "sst_tau_gradient.pdf"} <= written.keys()
    assert not any("plane" in name or "guided" in name for name in written)
    assert written["sst_frontier.pdf"].read_bytes().startswith(b"%PDF")
    drawn = written["sst_tau_gradient.svg"].read_text()
    for said in ("sst: lstm + additive, F1 0.710", "sst: average + additive, F1 0.710", "tau"):
        assert said in drawn
    assert "lstm + additive" not in written["sst_average_minus_lstm.svg"].read_text()
    assert "epsilon 0.01" in written["sst_eps_max_jsd.svg"].read_text()


def test_a_cell_that_is_not_done_has_no_figure(store, begun, tmp_path):
    begun()
    assert {path.suffix for path in write_figures(results(store), tmp_path)} == {".tex", ".md"}


def test_a_damaged_cell_is_named_after_the_others_are_drawn(store, audited, tmp_path):
    audited()
    audited("sst", "average")
    [average, lstm] = results(store)
    (average.analyses["permutation"].folder / "instances.parquet").write_text("no")
    files = write_figures(results(store), tmp_path / "out")
    written = []
    with pytest.raises(ValueError, match=rf"{average.cell.hash8}: .*instances.parquet is not"):
        written.extend(path for path in files)
    assert tmp_path / "out" / "sst_permutation.svg" in written
    drawn = (tmp_path / "out" / "sst_permutation.svg").read_text()
    assert "sst: lstm + additive" in drawn
    assert "sst: average + additive" not in drawn
    assert "average + additive" in (tmp_path / "out" / "sst_eps_max_jsd.svg").read_text()
    assert lstm.pair == ("lstm", "additive")


def test_a_cell_that_cannot_be_read_is_named_too(store, audited, tmp_path):
    audited()
    audited("sst", "average").write_json("metrics", {"summary": 7})
    files = write_figures(results(store), tmp_path / "out")
    written = []
    with pytest.raises(ValueError, match=r"average\+additive/.*: metrics.json"):
        written.extend(path for path in files)
    assert tmp_path / "out" / "sst_permutation.svg" in written
