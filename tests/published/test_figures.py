"""The published figures: complete, parsed, and the values that the papers print."""

from __future__ import annotations

import csv
import itertools
import re
from importlib.resources import files

import pytest

from attention_audit.published import corpus_statistics, published, table1, table2, wiegreffe_pinter

CORPORA = ["sst", "imdb", "adr", "20news", "agnews", "diabetes", "anemia", "snli"]
CORPORA += ["cnn", "babi_1", "babi_2", "babi_3"]
CELLS = list(itertools.product(CORPORA, ("lstm", "cnn", "average"), ("additive", "dot")))
FILES = {
    "paper_table1.csv": 12,
    "paper_table2.csv": 21,
    "program_datastats.csv": 12,
    "published_grid.csv": 2038,
    "wiegreffe_pinter.csv": 28,
}


def value(figures, quantity, klass, statistic):
    [figure] = [
        f for f in figures if (f.quantity, f.klass, f.statistic) == (quantity, klass, statistic)
    ]
    return figure.value


@pytest.mark.parametrize(("name", "expected"), FILES.items())
def test_every_file_parses_whole(name, expected):
    text = files("attention_audit.published").joinpath(name).read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines(), strict=True))
    assert len(rows) == expected
    assert all(None not in row and None not in row.values() for row in rows)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_each_of_the_72_cells_has_figures_under_unique_names(cell):
    figures = published(*cell)
    names = [(f.quantity, f.klass, f.statistic) for f in figures]
    assert len(names) == len(set(names))
    assert {f.quantity for f in figures} >= {"accuracy", "tau_gradient", "tau_loo", "eps_max_jsd"}
    assert all(f.verified and f.source.startswith("Jain & Wallace 2019") for f in figures)


def test_the_cells_cover_the_whole_file():
    assert sum(len(published(*cell)) for cell in CELLS) == FILES["published_grid.csv"]


def test_spot_values():
    sst = published("sst", "lstm", "additive")
    assert value(sst, "tau_gradient", "overall", "mean") == 0.3512
    assert value(sst, "f1", "1", "value") == 0.7835
    assert value(sst, "eps_max_jsd", "1", "mean") == 0.4927
    assert value(table2("imdb", "average"), "tau_gradient", "1", "mean") == 0.68
    assert value(table2("snli", "lstm"), "tau_loo", "2", "sig_frac") == 0.40


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_gaps_are_differences_of_the_taus_beside_them(cell):
    figures = {(f.quantity, f.klass, f.statistic): f.value for f in published(*cell)}
    for gap, tau in (("gap_loo", "tau_loo"), ("gap_gradient", "tau_gradient")):
        if (gap, "overall", "mean") in figures:
            expected = (
                figures["tau_gradient_loo", "overall", "mean"] - figures[tau, "overall", "mean"]
            )
            assert figures[gap, "overall", "mean"] == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("encoder", ["lstm", "average"])
@pytest.mark.parametrize("dataset", CORPORA)
def test_table_2_is_the_rounded_result_files(dataset, encoder):
    grid = {
        (f.quantity, f.klass, f.statistic): f.value for f in published(dataset, encoder, "additive")
    }
    printed = table2(dataset, encoder)
    assert printed
    for figure in printed:
        name = (figure.quantity, figure.klass, figure.statistic)
        assert figure.value == pytest.approx(grid[name], abs=0.0151)


def test_histogram_values_say_so_and_name_their_epsilon():
    for cell in CELLS:
        for figure in published(*cell):
            assert (figure.epsilon == 0.05) == (figure.quantity == "eps_max_jsd")
            assert ("histogram" in figure.note) == (figure.quantity == "eps_max_jsd")


def test_question_answering_is_overall_only():
    for dataset in ("cnn", "babi_1", "babi_2", "babi_3"):
        assert {f.klass for f in published(dataset, "lstm", "dot")} == {"overall"}


@pytest.mark.parametrize("cell", [("planted", "lstm", "additive"), ("sst", "lstm", "sparsemax")])
def test_unpublished_cells_have_no_figures(cell):
    assert published(*cell) == []
    assert table2(*cell) == []


def test_unpublished_corpora_have_nothing():
    assert table1("files") is None
    assert wiegreffe_pinter("files") == []
    assert corpus_statistics("files") == []


def test_table_1_scores():
    sst, qa, nli = table1("sst"), table1("babi_2"), table1("snli")
    assert sst is not None
    assert (sst.quantity, sst.klass, sst.value) == ("f1", "1", 0.81)
    assert qa is not None
    assert (qa.quantity, qa.klass, qa.value) == ("accuracy", "overall", 0.65)
    assert nli is not None
    assert (nli.quantity, nli.klass) == ("micro_f1", "overall")


def test_second_paper_is_marked_unverified():
    figures = wiegreffe_pinter("sst")
    assert len(figures) == 6
    assert not any(figure.verified for figure in figures)
    assert all("unverified" in figure.note for figure in figures)
    assert {f.setting for f in figures} == {
        "base",
        "uniform",
        "trained_mlp",
        "base_lstm",
        "adversary",
    }


SETTINGS = {
    "2_uniform": ["base", "uniform"],
    "3_guided_mlp": ["uniform", "trained_mlp", "base_lstm", "adversary"],
}


@pytest.mark.parametrize(
    ("table", "setting"), [(table, name) for table, names in SETTINGS.items() for name in names]
)
def test_a_table_and_a_setting_name_one_figure(table, setting):
    [figure] = wiegreffe_pinter("sst", table, setting)
    assert figure in wiegreffe_pinter("sst")
    assert figure.setting == setting
    assert figure.source == f"Wiegreffe & Pinter 2019, Table {table[0]}"


def test_uniform_is_another_model_in_each_table():
    assert [f.value for f in wiegreffe_pinter("sst", setting="uniform")] == [0.822, 0.812]
    assert [f.value for f in wiegreffe_pinter("sst", "2_uniform", "uniform")] == [0.822]
    assert [f.value for f in wiegreffe_pinter("sst", "3_guided_mlp", "uniform")] == [0.812]


def test_a_table_has_its_settings_and_a_corpus_may_lack_it():
    for table, settings in SETTINGS.items():
        assert [f.setting for f in wiegreffe_pinter("imdb", table)] == settings
    assert len(wiegreffe_pinter("20news", "2_uniform")) == 2
    assert wiegreffe_pinter("20news", "3_guided_mlp") == []


@pytest.mark.parametrize(
    ("table", "setting", "said"),
    [
        ("2", None, "no table '2'; expected one of ['2_uniform', '3_guided_mlp']"),
        ("2_uniform", "adversary", "no setting 'adversary'; expected one of ['base', 'uniform']"),
    ],
)
def test_a_name_that_the_paper_lacks_is_not_mistaken_for_a_gap(table, setting, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        wiegreffe_pinter("sst", table, setting)


def test_corpus_statistics_of_paper_and_program():
    paper, program = corpus_statistics("imdb")
    assert paper.train_size == (12500, 12500)
    assert program.train_size == (10854, 10643)
    assert program.mean_length == 179.7
    assert all(len(corpus_statistics(dataset)) == 2 for dataset in CORPORA)
