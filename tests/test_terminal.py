"""The table that ends a run."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from attention_audit.store import Store
from attention_audit.terminal import compare_cells, show


def row(quantity: str, value: float | None, klass="overall", statistic="mean", **more) -> dict:
    return {"quantity": quantity, "klass": klass, "statistic": statistic, "value": value, **more}


TAU = [
    row("tau_gradient", 0.5, lo=0.25, hi=0.75, n=90, n_undefined=10),
    row("tau_gradient", 0.125, statistic="std", n=90, n_undefined=10),
    row("tau_gradient", 0.875, statistic="sig_frac", lo=0.8, hi=0.9, n=90, n_undefined=10),
    row("tau_gradient", 0.4, klass="1", lo=0.3, hi=0.5, n=40, n_undefined=0),
    row("tau_gradient", None, klass="0", lo=None, hi=None, n=0, n_undefined=50),
]
CORPUS = {
    "source": "treebank files",
    "splits": {"train": {"kept": 6355}, "dev": {"kept": 821}, "test": {"kept": 1725}},
    "classes": ["negative", "positive"],
    "differs": "",
}
SEARCH = row("eps_max_jsd", 0.6, klass="1", lo=0.5, hi=0.69, n=100, n_undefined=0)


def shown(
    tmp_path: Path, rows, dataset="sst", encoder="lstm", epsilon=0.05, verdict=(), width=110
) -> str:
    cell = Store(tmp_path).cell(
        dataset=dataset, encoder=encoder, attention="additive", seed=3, identity={}
    )
    text = io.StringIO()
    show(cell, rows, CORPUS, epsilon, Console(file=text, width=width), verdict=verdict)
    printed, place = text.getvalue().rsplit("stored in ", 1)
    assert place == f"{cell.folder}\n"
    return printed


def line(text: str, start: str) -> list[str]:
    """The words of the table's row that starts so; the legend comes after the table."""
    return next(line for line in text.splitlines() if line.strip().startswith(start)).split()


def test_a_quantity_is_one_row(tmp_path):
    text = shown(tmp_path, TAU, dataset="mine")
    assert "mine  lstm + additive  seed 3" in text
    assert "treebank files: 6355 train, 821 dev, 1725 test" in text
    wanted = "tau_gradient 0.500 [0.250, 0.750] 0.125 0.875 90 (+10 undefined)"
    assert wanted in " ".join(text.split())


def test_classes_have_their_names_and_undefined_is_said(tmp_path):
    text = " ".join(shown(tmp_path, TAU, dataset="mine").split())
    assert "tau_gradient positive 0.400 [0.300, 0.500] 40" in text
    assert "tau_gradient negative undefined" in text
    assert "nan" not in text.lower()
    assert "None" not in text


def test_what_is_shown_is_explained_and_nothing_else(tmp_path):
    text = shown(tmp_path, TAU)
    assert "Kendall's tau between attention and gradient" in text
    assert "leave-one-out" not in text
    assert "JSD" not in text
    assert "JSD" in shown(tmp_path, [SEARCH])


def test_published_figures_stand_beside_ours(tmp_path):
    assert "published" in shown(tmp_path, TAU)
    assert "published" not in shown(tmp_path, TAU, dataset="mine")
    assert "published" not in shown(tmp_path, TAU, encoder="mine")


def test_the_frontier_is_one_line_in_the_order_of_epsilon(tmp_path):
    frontier = [
        row(f"frontier_{epsilon:g}", value, klass=klass, statistic=statistic, n=4, n_undefined=0)
        for epsilon, value in ((0.1, 0.65), (0.001, 0.5), (0.01, 0.6))
        for klass in ("overall", "0")
        for statistic in ("mean", "std")
    ]
    text = shown(tmp_path, [*TAU, *frontier])
    assert "largest JSD by epsilon  0.001: 0.500, 0.01: 0.600, 0.1: 0.650\n" in text
    assert "frontier" not in text
    assert "by epsilon" not in shown(tmp_path, TAU)


def test_the_search_and_the_maximum_stand_below_each_other(tmp_path):
    exact = row("eps_max_jsd_exact", 0.68, klass="1", lo=0.6, hi=0.69, n=100, n_undefined=0)
    gap = [row("search_gap", 0.08, klass=klass, n=9, n_undefined=0) for klass in ("overall", "1")]
    text = shown(tmp_path, [*gap, SEARCH, exact])
    lines = [line.split()[0] for line in text.splitlines() if " 0." in line]
    assert lines[:3] == ["eps_max_jsd", "eps_max_jsd_exact", "search_gap"]
    assert lines.count("search_gap") == 1  # not by class
    assert line(text, "eps_max_jsd_exact")[1:3] == ["positive", "0.680"]
    assert "proven" in text


def test_another_epsilon_is_not_alike(tmp_path):
    assert line(shown(tmp_path, [SEARCH], epsilon=0.01), "eps_max_jsd")[-2:] == ["not", "alike"]
    assert line(shown(tmp_path, [SEARCH]), "eps_max_jsd")[-1][0] in "+-"


@pytest.mark.parametrize(
    "rows", [[], [row("unheard_of", 1.0)], [row("accuracy", 0.5, statistic="value")]]
)
def test_it_fits_and_never_fails(tmp_path, rows):
    assert all(len(one) <= 110 for one in shown(tmp_path, rows).splitlines())


def test_a_narrow_console_has_fewer_columns_and_whole_numbers(tmp_path):
    cell = Store(tmp_path).cell(
        dataset="sst", encoder="lstm", attention="additive", seed=3, identity={}
    )
    text = io.StringIO()
    show(cell, TAU, CORPUS, 0.05, Console(file=text, width=60))
    assert "…" not in text.getvalue()
    assert "0.875" not in text.getvalue()
    assert line(text.getvalue(), "tau_gradient")[1] == "0.500"


def test_another_corpus_has_no_published_figures(tmp_path):
    part = {**CORPUS, "splits": {**CORPUS["splits"], "train": {"kept": 200}}}
    cell = Store(tmp_path).cell(
        dataset="sst", encoder="lstm", attention="additive", seed=3, identity={}
    )
    text = io.StringIO()
    show(cell, TAU, part, 0.05, Console(file=text, width=160))
    assert "difference" not in text.getvalue()
    assert "no published figures: their train split has 6355 rows, ours 200" in text.getvalue()


def test_cells_stand_side_by_side(tmp_path):
    cells = []
    for seed in (1, 2):
        cell = Store(tmp_path).cell(
            dataset="sst", encoder="lstm", attention="dot", seed=seed, identity={}
        )
        cell.open({})
        cell.write_json("metrics", {"summary": [row("accuracy", seed / 4, statistic="value")]})
        cells.append(cell)
    text = io.StringIO()
    compare_cells(cells, Console(file=text, width=160))
    assert line(text.getvalue(), "sst/lstm+dot 1-")[-1] == "0.250"
    assert line(text.getvalue(), "sst/lstm+dot 2-")[-1] == "0.500"


def test_a_verdict_is_a_line_for_each_finding_and_a_sentence_below(tmp_path):
    finding = {"condition": "it is needed", "value": -0.0031, "lo": -0.012, "hi": 0.0061}
    source = "Wiegreffe & Pinter 2019, Table 2, unverified: quoted from memory"
    verdict = [
        {**finding, "quantity": "one", "sentence": "A.", "published": -0.009, "source": source},
        {**finding, "quantity": "two", "sentence": "B" * 150, "published": None, "source": ""},
        {
            **{"condition": "it is the same", "quantity": "three", "sentence": "C [red]."},
            **{"value": None, "lo": None, "hi": None, "published": None, "source": ""},
        },
    ]
    text = shown(tmp_path, TAU, verdict=verdict, width=130)
    assert line(text, "1  ") == [
        "1",
        "it",
        "is",
        "needed",
        "one",
        "-0.003",
        "[-0.012,",
        "0.006]",
        "-0.009",
    ]
    assert line(text, "2  ") == ["2", "two", "-0.003", "[-0.012,", "0.006]"]
    assert line(text, "3  ") == ["3", "it", "is", "the", "same", "three", "undefined"]
    assert f" 2  {'B' * 150}\n" in text  # whole, whatever the width
    assert " 3  C [red].\n" in text
    assert text.count(source) == 1


def test_without_diagnostics_there_is_no_verdict(tmp_path):
    assert "what was tested" not in shown(tmp_path, TAU)
