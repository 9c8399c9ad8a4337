"""One quantity of every cell: corpora in rows, models in columns."""

from __future__ import annotations

from collections.abc import Sequence

from attention_audit.published import paper_corpora, published
from attention_audit.report.results import Result
from attention_audit.report.siblings import by_models
from attention_audit.report.tables import Item, Table, absent, number

PAIRS = tuple((e, a) for a in ("additive", "dot") for e in ("lstm", "cnn", "average"))
# What a grid of all cells can show, and how it is said.
QUANTITIES = {
    "score": "test score: F1 of two classes, of more macro-F1 (SNLI micro-F1), of answers accuracy",
    "tau_gradient": "tau(attention, gradient), mean",
    "tau_loo": "tau(attention, leave-one-out), mean",
    "tau_gradient_loo": "tau(gradient, leave-one-out), mean",
    "delta_y_med": "median output change when attention is permuted (TVD), mean",
    "eps_max_jsd": "largest JSD within epsilon, by search (nats), mean",
    "eps_max_jsd_exact": "largest JSD within epsilon, exact (nats), mean",
    "eps_max_jsd_found": "largest JSD within epsilon, best found (nats), mean",
}


def grid(found: Sequence[Result], quantity: str) -> Table:
    """One quantity of every cell: a row a corpus, a column for each encoder and attention."""
    grouped = by_models(found)
    pairs = tuple(dict.fromkeys([*PAIRS, *(one.pair for one in found)]))
    own = {one.cell.dataset for one in found}
    known = dict.fromkeys([*paper_corpora(), *(one.cell.dataset for one in found)])
    # What a store has comes first: it would be lost among what it lacks.
    datasets = sorted(known, key=lambda dataset: dataset not in own)
    rows = [
        (Item(dataset), *(_entry(grouped.get((dataset, *pair), []), quantity) for pair in pairs))
        for dataset in datasets
    ]
    return Table(
        name=quantity,
        title=QUANTITIES[quantity],
        groups=(("corpus", ("",)), *((f"{e} + {a}", ("",)) for e, a in pairs)),
        rows=tuple(rows),
    )


def _entry(cells: Sequence[Result], quantity: str) -> Item:
    one = cells[0] if cells else None
    if one is None or one.state != "done":
        return absent(one)
    name, klass = one.score_name if quantity == "score" else (quantity, "overall")
    row = one.row(name, klass)
    if row is None:
        return Item("\u2013", cell=one.key, note="not measured")
    figures = [] if one.unlike else published(one.cell.dataset, *one.pair)
    beside = [c for c in one.beside(figures) if (c.quantity, c.klass) == (name, klass)]
    alike = next((c for c in beside if c.statistic == row["statistic"]), None)
    others = _among(cells, name, klass)
    if alike is None or alike.difference is None:
        return Item(number(row["value"]), cell=one.key, note=others)
    said = f"published {alike.figure.value:.3f}"
    return Item(
        number(row["value"]),
        alike.difference,
        cell=one.key,
        note="; ".join(filter(None, (said, others))),
    )


def _among(cells: Sequence[Result], name: str, klass: str) -> str:
    """Where the cell that is shown stands among others of the same models; "" of a single one."""
    values = [value for one in cells if (value := one.value(name, klass)) is not None]
    if len(values) < 2:
        return ""
    span = f"{number(min(values))} to {number(max(values))}"
    return f"seed {cells[0].cell.seed}; {len(values)} cells of these models, listed below: {span}"
