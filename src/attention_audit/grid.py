"""The cells of a sweep: which are done, which are to be run, and which cannot be run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attention_audit.audit import is_whole
from attention_audit.cell import Place, find_source, locate
from attention_audit.configuration import check
from attention_audit.corpora import Source
from attention_audit.privacy import refuse_secrets


@dataclass(frozen=True, eq=False)
class GridCell:
    """One cell of a sweep.

    `place` is None where the cell cannot be run here, `absent` says why: its corpus or its vectors
    are not here.
    """

    overrides: tuple[str, ...]
    config: Mapping[str, Any]
    place: Place | None
    absent: str = ""

    @property
    def name(self) -> str:
        """The overrides that make it this cell."""
        return " ".join(self.overrides)

    def is_done(self) -> bool:
        """Whether there is nothing to run; never true of a cell that is forced."""
        return not self.config["force"] and self.is_whole()

    def is_whole(self) -> bool:
        """Whether all of it is in the store; its fit alone is not all.

        Not of a cell whose files cannot be read: it is run, and fails alone.
        """
        try:
            return self.place is not None and is_whole(self.config, self.place)
        except (ValueError, OSError):
            return False

    def is_fitted(self) -> bool:
        """Whether its model is in the store."""
        try:
            return self.place is not None and self.place.cell.status().state == "fitted"
        except (ValueError, OSError):
            return False


def survey(cells: Iterable[tuple[Sequence[str], Mapping[str, Any]]]) -> list[GridCell]:
    """What is known of each cell, from its overrides and its resolved configuration.

    Raises:
        ValueError: a configuration that cannot be run, whatever is there.
    """
    looked_for: dict[str, Source | FileNotFoundError] = {}
    return [_cell(tuple(overrides), config, looked_for) for overrides, config in cells]


def _cell(
    overrides: tuple[str, ...],
    config: Mapping[str, Any],
    looked_for: dict[str, Source | FileNotFoundError],
) -> GridCell:
    refuse_secrets(config)
    check(config)
    try:
        return GridCell(overrides, config, locate(config, _source(config, looked_for)))
    except FileNotFoundError as error:
        return GridCell(overrides, config, None, " ".join(str(error).split()))


def _source(config: Mapping[str, Any], looked_for: dict[str, Source | FileNotFoundError]) -> Source:
    """The corpus's source; looked for once a corpus, because a hub out of reach takes seconds."""
    corpus = repr(config["dataset"]["sources"])
    if corpus not in looked_for:
        try:
            looked_for[corpus] = find_source(config)
        except FileNotFoundError as error:
            looked_for[corpus] = error
    found = looked_for[corpus]
    if isinstance(found, FileNotFoundError):
        raise found
    return found
