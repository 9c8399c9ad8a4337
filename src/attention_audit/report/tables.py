"""The papers' tables with our numbers: what a page, LaTeX and Markdown show of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attention_audit.published import (
    PublishedFigure,
    corpus_statistics,
    paper_corpora,
    table1,
    table2,
)
from attention_audit.report.results import SCORES, UNREADABLE, Result
from attention_audit.report.siblings import foremost


@dataclass(frozen=True)
class Item:
    """One entry of a table.

    Attributes:
        text: what stands there.
        difference: where it is one to a published value: ours - published.
        state: of a cell, where the entry stands for one that has no number.
        cell: the key of the cell that it is a number of.
        note: what a reader may want to know of it.
    """

    text: str = ""
    difference: float | None = None
    state: str = ""
    cell: str = ""
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table: groups of columns (title and the columns' titles), and rows of as many entries.

    `heads` is how many columns at the left name the row; `notes` stand below.
    """

    name: str
    title: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[tuple[Item, ...], ...]
    notes: tuple[str, ...] = ()
    heads: int = 1


def number(value: float | None, decimals: int = 3) -> str:
    """A number, `undefined` without one."""
    return "undefined" if value is None else f"{value:.{decimals}f}"


def papers_tables(found: Sequence[Result]) -> list[Table]:
    """Tables 1 and 2 of Jain & Wallace 2019."""
    chosen = foremost(found)
    return [_table1(chosen), _table2(chosen)]


Chosen = Mapping[tuple[str, str, str], Result]


def _table1(chosen: Chosen) -> Table:
    rows = []
    for dataset in paper_corpora():
        one = chosen.get((dataset, "lstm", "additive"))
        statistics = corpus_statistics(dataset)[0]
        sizes = (
            (_kept(one, "train"), _sizes(statistics.train_size)),
            (_kept(one, "test"), _sizes(statistics.test_size)),
            (_vocabulary(one), f"{statistics.vocabulary:,}"),
            (_mean_length(one), f"{statistics.mean_length:.0f}"),
        )
        figure = table1(dataset)
        said = SCORES[figure.quantity] if figure else ""
        items = [Item(dataset), *(Item(text) for pair in sizes for text in pair), Item(said)]
        rows.append((*items, *_compared(one, figure)))
    both = ("ours", "published")
    return Table(
        name="table1",
        title="Jain & Wallace 2019, Table 1: corpora, and the LSTM's score (additive attention)",
        groups=(
            ("corpus", ("",)),
            ("train rows by class", both),
            ("test rows by class", both),
            ("vocabulary", both),
            ("words, mean", both),
            ("test score", ("score", *both, "difference")),
        ),
        rows=tuple(rows),
        notes=(
            "Published train rows hold what we set aside as dev split. Ours of the words is a mean "
            "over the test rows.",
            *_unlike(chosen),
        ),
    )


def _table2(chosen: Chosen) -> Table:
    columns = (("lstm", "tau_gradient"), ("average", "tau_gradient"), ("lstm", "tau_loo"))
    spelt = {"tau_gradient": "gradient", "tau_loo": "leave-one-out"}
    rows = []
    for dataset in paper_corpora():
        klasses = list(dict.fromkeys(figure.klass for figure in table2(dataset, "lstm")))
        for klass in klasses:
            items = [Item(dataset), Item(_class_name(chosen, dataset, klass))]
            for encoder, quantity in columns:
                one = chosen.get((dataset, encoder, "additive"))
                items += _tau(one, quantity, klass, table2(dataset, encoder))
            rows.append(tuple(items))
    both = ("ours", "published", "difference")
    groups = [
        group
        for encoder, quantity in columns
        for group in (
            (f"{spelt[quantity]}, {encoder}: mean \u00b1 std", both),
            ("significant", both),
        )
    ]
    return Table(
        name="table2",
        title="Jain & Wallace 2019, Table 2: tau of attention with gradient and leave-one-out",
        groups=(("corpus", ("",)), ("predicted", ("",)), *groups),
        rows=tuple(rows),
        notes=(
            "Means over the test instances of a predicted class; significant: the share of them "
            "with p \u2264 0.05. All with additive attention.",
            *_unlike(chosen),
        ),
        heads=2,
    )


def _tau(
    one: Result | None, quantity: str, klass: str, figures: Iterable[PublishedFigure]
) -> list[Item]:
    named = {f.statistic: f for f in figures if (f.quantity, f.klass) == (quantity, klass)}
    mean, std, share = (named.get(name) for name in ("mean", "std", "sig_frac"))
    ours, theirs, difference = _compared(one, mean)
    if std is not None:
        theirs = Item(f"{theirs.text} \u00b1 {std.value:.2f}")
    if one is not None and (spread := one.value(quantity, klass, "std")) is not None:
        ours = Item(f"{ours.text} \u00b1 {spread:.2f}", cell=ours.cell, note=ours.note)
    return [ours, theirs, difference, *_compared(one, share)]


def _compared(one: Result | None, figure: PublishedFigure | None) -> list[Item]:
    """Ours, the published value and the difference."""
    theirs = Item(f"{figure.value:.2f}" if figure is not None else "\u2013")
    if one is None or one.state != "done":
        return [absent(one), theirs, Item()]
    if figure is None:
        return [Item(), theirs, Item()]
    [*found] = one.beside([figure])
    if not found:
        return [Item("not measured", state="missing", cell=one.key), theirs, Item()]
    ours = Item(number(found[0].ours), cell=one.key)
    return [ours, theirs, difference_to(one, found[0].difference)]


def difference_to(one: Result, difference: float | None) -> Item:
    """Ours - published; says so where the two are not alike."""
    if one.unlike or difference is None:
        return Item("not alike", note=one.unlike or "ours is undefined, or of another epsilon")
    return Item(f"{difference:+.3f}", difference=difference)


def absent(one: Result | None) -> Item:
    """A cell without numbers."""
    if one is None:
        return Item("missing", state="missing")
    return Item(one.state, state=one.state, cell=one.key, note=one.why)


def _kept(one: Result | None, split: str) -> str:
    if one is None or not one.corpus:
        return ""
    rows = one.corpus["splits"][split]
    return _sizes(tuple(rows["classes"].values()) or (rows["kept"],))


def _sizes(sizes: Sequence[int]) -> str:
    return " / ".join(f"{size:,}" for size in sizes)


def _vocabulary(one: Result | None) -> str:
    return f"{one.corpus['vocabulary']:,}" if one is not None and one.corpus else ""


def _mean_length(one: Result | None) -> str:
    """Words of a test row; "" too where the file that says so cannot be read."""
    if one is None or one.state != "done":
        return ""
    try:
        lengths = one.cell.read_table("instances")["length"].to_numpy()
    except UNREADABLE:  # said where the cell is drawn
        return ""
    return f"{lengths.mean():.0f}" if len(lengths) else ""


def _class_name(chosen: Chosen, dataset: str, klass: str) -> str:
    cells = (one for (name, *_), one in chosen.items() if name == dataset and one.corpus)
    one = next(cells, None)
    return klass if one is None else (one.name_of(klass) or klass)


def _unlike(chosen: Chosen) -> Iterator[str]:
    reasons = {one.cell.dataset: one.unlike for one in chosen.values() if one.unlike}
    for dataset in paper_corpora():
        if dataset in reasons:
            yield f"{dataset}: {reasons[dataset]}"
