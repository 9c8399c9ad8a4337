"""The published tables, read from the CSV files beside this module."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

RESULT_FILES = "Jain & Wallace 2019, authors' result files"
PAPER = "Jain & Wallace 2019"
SECOND_PAPER = "Wiegreffe & Pinter 2019"
# Encoder and attention that its tables are of.
SECOND_PAPER_MODEL = ("lstm", "additive")
HISTOGRAM_NOTE = "recovered from a 40-bin histogram, +-0.01; search at eps 0.05"
SecondTable: TypeAlias = Literal["2_uniform", "3_guided_mlp"]
SEARCH_EPSILON = 0.05
QUESTION_ANSWERING = frozenset({"cnn", "babi_1", "babi_2", "babi_3"})


@dataclass(frozen=True)
class PublishedFigure:
    """One number that a paper or its authors' files give for a cell.

    `quantity`, `klass` and `statistic` are the names that our own summary rows use. `klass` is
    the predicted class for taus and `eps_max_jsd`, the true class for `f1` and `support`, or
    `overall`. `epsilon` is the TVD bound of an `eps_max_jsd`, None elsewhere. `setting` names
    the second paper's model variant (base, uniform, ...), `source` its table. `verified` is False
    for figures quoted from memory: show them as indicative only.
    """

    quantity: str
    klass: str
    statistic: str
    value: float
    source: str
    note: str = ""
    epsilon: float | None = None
    setting: str = ""
    verified: bool = True


@dataclass(frozen=True)
class CorpusStatistics:
    """A corpus' size as published: sizes by class (one number where not split), mean words."""

    dataset: str
    source: str
    train_size: tuple[int, ...]
    test_size: tuple[int, ...]
    vocabulary: int
    mean_length: float


def published(dataset: str, encoder: str, attention: str) -> list[PublishedFigure]:
    """All figures of the authors' result files for one cell; [] where they have none.

    Values that their files leave blank (an undefined tau) are left out. `eps_max_jsd` has the
    statistic `mean`, is only good to +-0.01 and comes from the search at eps 0.05: compare it
    with a search at the same eps (DESIGN section 4).
    """
    cell = (dataset, encoder, attention)
    return [
        _grid_figure(row)
        for row in _rows("published_grid.csv")
        if (row["dataset"], row["encoder"], row["attention"]) == cell and row["value"]
    ]


def table2(dataset: str, encoder: str, attention: str = "additive") -> list[PublishedFigure]:
    """Table 2 of Jain & Wallace 2019 for one cell: mean, std and sig_frac of the taus by class.

    The table has `lstm` and `average` with additive attention, two decimals; [] for others.
    """
    if attention != "additive":
        return []
    return [
        PublishedFigure(quantity, row["klass"], statistic, float(row[column]), f"{PAPER}, Table 2")
        for row in _rows("paper_table2.csv")
        if row["dataset"] == dataset
        for quantity in ("tau_gradient", "tau_loo")
        for statistic in ("mean", "std", "sig_frac")
        if row.get(column := f"{quantity}_{encoder}_{statistic}")
    ]


def table1(dataset: str) -> PublishedFigure | None:
    """The LSTM's test score in Table 1 of Jain & Wallace 2019 (F1 of class 1, or accuracy)."""
    for row in _rows("paper_table1.csv"):
        if row["dataset"] == dataset and row["lstm_test"]:
            klass = "1" if row["metric"] == "f1" else "overall"
            score = float(row["lstm_test"])
            return PublishedFigure(row["metric"], klass, "value", score, f"{PAPER}, Table 1")
    return None


def paper_corpora() -> tuple[str, ...]:
    """The corpora of Jain & Wallace 2019, in the order of their Table 1."""
    return tuple(row["dataset"] for row in _rows("paper_table1.csv"))


def wiegreffe_pinter(
    dataset: str, table: SecondTable | None = None, setting: str | None = None
) -> list[PublishedFigure]:
    """The F1 scores of Tables 2 and 3 of Wiegreffe & Pinter 2019; [] where they have none.

    Table 2 (`2_uniform`) has the LSTM, with learned attention (`base`) and with `uniform` weights.
    Table 3 (`3_guided_mlp`) has the context-free model with four sorts of weights: `uniform`,
    learned by itself (`trained_mlp`), the LSTM's (`base_lstm`) and those of its `adversary`. A
    `table` and a `setting` name one figure: without the table, `uniform` would be two.

    Every figure has `verified=False`: they are quoted from memory and only indicative. Raises
    ValueError for a table or a setting that the paper does not have.
    """
    return [
        PublishedFigure(
            quantity=row["quantity"],
            klass="1",
            statistic="value",
            value=float(row["value"]),
            source=f"{SECOND_PAPER}, Table {row['table'].partition('_')[0]}",
            note="unverified: quoted from memory",
            setting=row["setting"],
            verified=False,
        )
        for row in _chosen(
            _chosen(_rows("wiegreffe_pinter.csv"), "table", table), "setting", setting
        )
        if row["dataset"] == dataset and row["value"]
    ]


def corpus_statistics(dataset: str) -> list[CorpusStatistics]:
    """The corpus' sizes as Table 1 prints them and as the authors' program counted them."""
    sources = {
        "paper_table1.csv": f"{PAPER}, Table 1",
        "program_datastats.csv": f"{PAPER}, authors' program",
    }
    return [
        _statistics(row, source)
        for name, source in sources.items()
        for row in _rows(name)
        if row["dataset"] == dataset
    ]


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files("attention_audit.published").joinpath(name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _chosen(
    rows: Sequence[dict[str, str]], column: str, value: str | None
) -> Sequence[dict[str, str]]:
    """The rows that have `value` in `column`; all for None."""
    there = sorted({row[column] for row in rows})
    if value is not None and value not in there:
        raise ValueError(f"{SECOND_PAPER}: found no {column} {value!r}; expected one of {there}")
    return [row for row in rows if value in (None, row[column])]


def _grid_figure(row: dict[str, str]) -> PublishedFigure:
    from_histogram = row["statistic"] == "mean_from_histogram"
    klass = row["klass"]
    if from_histogram and row["dataset"] in QUESTION_ANSWERING:
        klass = "overall"  # their one histogram of a QA corpus is filed under class 0
    return PublishedFigure(
        quantity=row["quantity"],
        klass=klass,
        statistic="mean" if from_histogram else row["statistic"],
        value=float(row["value"]),
        source=RESULT_FILES,
        note=HISTOGRAM_NOTE if from_histogram else "",
        epsilon=SEARCH_EPSILON if from_histogram else None,
    )


def _statistics(row: dict[str, str], source: str) -> CorpusStatistics:
    return CorpusStatistics(
        dataset=row["dataset"],
        source=source,
        train_size=_sizes(row["train_size"]),
        test_size=_sizes(row["test_size"]),
        vocabulary=int(row["vocabulary"]),
        mean_length=float(row["mean_length"]),
    )


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split("/"))
