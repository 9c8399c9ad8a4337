"""Cells of the same corpus, encoder and attention: of several seeds, or under other settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attention_audit.report.results import Result

# How the settings that a manifest has are told.
_SPELT = {
    "epochs": "{} epochs",
    "vectors": "{}",
    "train_rows": "{} train rows",
    "source": "{}",
}


def by_models(found: Iterable[Result]) -> dict[tuple[str, str, str], list[Result]]:
    """Cells by dataset, encoder and attention, of each the foremost first.

    Finished ones come before others, then lower seeds, then those written later.
    """
    grouped: dict[tuple[str, str, str], list[Result]] = {}
    for one in found:
        grouped.setdefault((one.cell.dataset, *one.pair), []).append(one)
    return {models: sorted(cells, key=_precedence) for models, cells in grouped.items()}


def foremost(found: Iterable[Result]) -> dict[tuple[str, str, str], Result]:
    """Of the cells of the same models the one that a table has room for."""
    return {models: cells[0] for models, cells in by_models(found).items()}


def shown(found: Iterable[Result]) -> list[Result]:
    """Every finished cell, and of models without one the cell that says why."""
    return [
        one
        for cells in by_models(found).values()
        for number, one in enumerate(cells)
        if one.state == "done" or not number
    ]


def told_apart(siblings: Sequence[Result]) -> list[str]:
    """What tells each of the cells of the same models from the others; "" of a single one."""
    if len(siblings) < 2:
        return [""] * len(siblings)
    settings = [_settings(one) for one in siblings]
    unlike = [name for name in _SPELT if len({str(each.get(name)) for each in settings}) > 1]
    said = [
        ", ".join(
            [
                f"seed {one.cell.seed}",
                *(_SPELT[name].format(each[name]) for name in unlike if name in each),
            ]
        )
        for one, each in zip(siblings, settings, strict=True)
    ]
    known = Counter(said)
    return [
        f"{text} ({one.cell.hash8})" if known[text] > 1 else text
        for one, text in zip(siblings, said, strict=True)
    ]


def partner(one: Result, others: Sequence[Result]) -> Result | None:
    """Of finished cells the one that is most like it: in seed, then in settings."""

    def unlikeness(other: Result) -> tuple[bool, bool]:
        return other.cell.seed != one.cell.seed, _settings(other) != _settings(one)

    return min((other for other in others if other.state == "done"), key=unlikeness, default=None)


def _settings(one: Result) -> dict[str, Any]:
    return dict(one.manifest.get("settings", {}))


def _precedence(one: Result) -> tuple[bool, int, int]:
    written = max((each.written for each in one.analyses.values()), default=0)
    return one.state != "done", one.cell.seed, -written
