"""Whether a finished cell is what today's program, corpora and vectors would make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra.errors import HydraException
from omegaconf import OmegaConf

from attention_audit.cell import corpus_fingerprint, find_source, place_of
from attention_audit.commandline import CONF
from attention_audit.commands.status.versions import versions
from attention_audit.configuration import check_corpus, check_schema, check_targets
from attention_audit.corpora import Source
from attention_audit.corpora.hub import Hub
from attention_audit.schema import Config
from attention_audit.store import FORMAT, Analysis, Cell, canonical, differing_keys

# What each cell must have beside its status.
FILES = ("metrics.json", "instances.parquet", "checkpoint.ckpt")
CHANGED = {
    "identity.corpus": "its corpus, or the place that it comes from, has changed since",
    "identity.vectors": "its word vectors have changed since",
}
# Sections that cells of before them do without.
ADDED = {"auxiliary", "diagnostics"}
REFUSED = "today's program refuses its settings"
AGAIN = "the same command makes a new cell beside it"


class Freshness:
    """Compares finished cells with today; a corpus is looked at once, without network."""

    def __init__(self) -> None:
        self._cache_dir = OmegaConf.select(OmegaConf.load(CONF / "config.yaml"), "cache_dir")
        self._versions = versions()
        self._corpora: dict[str, str | None] = {}
        self._checked: dict[str, str] = {}

    def __call__(self, cell: Cell) -> tuple[str, str]:
        """Why a cell is stale ("" if it is not), and what else is to be known of it.

        Raises:
            ValueError, OSError: a file of the cell that is damaged or missing.
        """
        stored = stored_identity(cell)
        if stored["format"] != FORMAT:
            return f"made under format {stored['format']}, today's is {FORMAT}: {AGAIN}", ""
        if absent := [name for name in FILES if not (cell.folder / name).exists()]:
            grid = "run the cell with force=true"
            remedy = grid if cell.is_grid else "made again when an analysis needs it"
            return f"without {', '.join(absent)}: {remedy}", ""
        cell.read_json("metrics")
        config = {**cell.config, "store": str(cell.root), "cache_dir": self._cache_dir}
        if refusal := self._refusal(config):
            return f"{REFUSED}: {refusal}", ""
        changed, note = self._changed(config, stored)
        return changed or self._outdated(cell), note

    def _refusal(self, config: Mapping[str, Any]) -> str:
        """What today's schema and the corpus's reader do not take; asked once of each corpus."""
        try:
            check_schema(config)
            known = [key for key in Config.__dataclass_fields__ if key not in ADDED]
            if absent := [key for key in known if key not in config]:
                return f"{absent[0]}: missing"
            key = canonical([config["dataset"], config["limits"]], "dataset")
            if key not in self._checked:
                self._checked[key] = _corpus_refusal(config)
            return self._checked[key]
        except (ValueError, TypeError, AttributeError) as error:
            return str(error)

    def _changed(self, config: Mapping[str, Any], stored: Any) -> tuple[str, str]:
        try:
            check_targets({key: config[key] for key in ("dataset", "vectors")})
        except ValueError as error:
            return "", f"its corpus and vectors were not looked at: {error}"
        try:
            corpus = self._corpus(config)
        except (ValueError, OSError) as error:
            return "", f"its corpus cannot be looked at: {error}"
        except (HydraException, TypeError, AttributeError) as error:
            return f"{REFUSED}: {error}", ""
        if corpus is None:
            return "", "corpus not here"
        try:
            today = place_of(config, corpus)
        except FileNotFoundError:
            return "", "word vectors not here"
        except (HydraException, ValueError, KeyError, TypeError, AttributeError) as error:
            return f"{REFUSED}: {error}", ""
        known = changes(stored, today)
        return (f"{' and '.join(known)}: {AGAIN}" if known else ""), ""

    def _corpus(self, config: Mapping[str, Any]) -> str | None:
        """The fingerprint of a configuration's corpus; None if it is not here."""
        key = canonical(config["dataset"]["sources"], "sources")
        if key not in self._corpora:
            try:
                source = find_source(config, _is_here)
                self._corpora[key] = corpus_fingerprint(config, source)
            except FileNotFoundError:
                self._corpora[key] = None
        return self._corpora[key]

    def _outdated(self, cell: Cell) -> str:
        """Analyses that an older version of their code made, and that none of today's replaces."""
        made = [stored_analysis(analysis) for analysis in cell.analyses()]
        current = {
            (name, settings) for name, settings, version in made if self._is_current(name, version)
        }
        old = {
            f"{name} by version {version} of its code, today's is {self._versions[name]}"
            for name, settings, version in made
            if not self._is_current(name, version) and (name, settings) not in current
        }
        return f"{'; '.join(sorted(old))}: made again by the same command" if old else ""

    def _is_current(self, name: str, version: Any) -> bool:
        """Versions of analyses that are not this program's own are not known here."""
        return self._versions.get(name, version) == version


def stored_identity(cell: Cell) -> dict[str, Any]:
    """What `identity.json` holds, if it is this folder's."""
    stored = cell.read_json("identity")
    if not isinstance(stored, dict) or set(stored) != {"format", "identity"}:
        raise ValueError("identity.json is none: move the folder away and run the cell again")
    if cell.is_misnamed():
        raise ValueError(
            "identity.json is not that of the folder's hash: move the folder away and run the "
            "cell again"
        )
    return stored


def changes(stored: Any, today: Cell) -> list[str]:
    """What parts the content of an `identity.json` from the cell of its settings today."""
    keys = list(differing_keys(stored, {"format": FORMAT, "identity": today.identity}))
    known = [CHANGED[key] for key in keys if key in CHANGED]
    if others := [key.removeprefix("identity.") for key in keys if key not in CHANGED]:
        known.append(f"today's cell of its settings differs in {', '.join(others)}")
    return known


def _corpus_refusal(config: Mapping[str, Any]) -> str:
    try:
        check_targets({"dataset": config["dataset"]})
    except ValueError:  # not ours to check: its class is not imported
        return ""
    try:
        check_corpus(config)
    except ValueError as error:
        return str(error)
    return ""


def _is_here(source: Source) -> bool:
    return not isinstance(source, Hub) or source.settled()


def stored_analysis(analysis: Analysis) -> tuple[str, str, Any]:
    """Name, settings and version of a stored analysis; ValueError for one that is damaged."""
    identity = analysis.identity
    if (
        not isinstance(identity, dict)
        or not {"name", "config", "version"} <= set(identity)
        or not isinstance(identity["config"], dict)
    ):
        raise ValueError(
            f"analyses/{analysis.folder.name}/identity.json is none: delete that folder"
        )
    return str(identity["name"]), canonical(identity["config"], "config"), identity["version"]
