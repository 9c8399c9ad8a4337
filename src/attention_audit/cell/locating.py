"""Which cell of the store a configuration names: all that determines its weights, hashed; light."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.utils import instantiate

from attention_audit.corpora import Source, choose
from attention_audit.store import Cell, Store, fingerprint
from attention_audit.trainer import device_count

# Arguments of the Trainer that leave the weights as they are, but for the last bits.
WEIGHTLESS = {"_target_", "accelerator", "deterministic", "profiler"}


@dataclass(frozen=True)
class Place:
    """A cell of the store, with the corpus source that it is made from."""

    cell: Cell
    source: Source
    corpus: str


def locate(config: Mapping[str, Any], source: Source | None = None) -> Place:
    """The cell that a resolved configuration names: all that determines its weights, hashed.

    Neither paths nor anything that leaves the weights as they are (store, logger, analyses,
    threads) counts; the content of the corpus and of the vectors does. Light: no torch.

    Args:
        config: resolved.
        source: of the corpus, where it has been found already.

    Raises:
        FileNotFoundError: no source of the corpus, or no vectors file.
        ValueError: a name that cannot be a folder.
    """
    source = source or find_source(config)
    corpus = corpus_fingerprint(config, source)
    return Place(place_of(config, corpus), source, corpus)


def place_of(config: Mapping[str, Any], corpus: str) -> Cell:
    """The cell of a resolved configuration on a corpus of this fingerprint; raises as `locate`."""
    cache = Path(config["cache_dir"])
    vectors = instantiate(config["vectors"])
    if absent := vectors.missing():
        raise FileNotFoundError(absent)
    identity = _identity(config) | {
        "corpus": corpus,
        "vectors": fingerprint(vectors.identity(), vectors.files(), cache),
    }
    return Store(Path(config["store"])).cell(
        dataset=config["dataset"]["name"],
        encoder=config["encoder"]["name"],
        attention=config["attention"]["name"],
        seed=config["seed"],
        identity=identity,
    )


def find_source(config: Mapping[str, Any], use: Callable[[Source], bool] | None = None) -> Source:
    """The first source of a resolved configuration's corpus that is there.

    Args:
        config: resolved.
        use: which sources are looked at; None is all of them.

    Raises:
        FileNotFoundError: no source is there.
    """
    sources = instantiate(config["dataset"]["sources"], _convert_="all")
    return choose([source for source in sources if use is None or use(source)])


def corpus_fingerprint(config: Mapping[str, Any], source: Source) -> str:
    """What names the content that a source gives."""
    return fingerprint(source.identity(), source.files(), Path(config["cache_dir"]))


def _identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """What determines the weights, corpus and vectors aside; an allow-list but for the trainer.

    Any Trainer argument can be added on the command line, and most change the weights.
    """
    dataset = {key: config["dataset"].get(key) for key in ("name", "task", "text", "batch_size")}
    whole = ("encoder", "attention", "training", "limits", "seed")
    auxiliary = {"auxiliary": config["auxiliary"]} if config.get("auxiliary") else {}
    return {
        "dataset": dataset,
        "trainer": {k: v for k, v in config["trainer"].items() if k not in WEIGHTLESS}
        | {"devices": device_count(config)},
        **{key: config[key] for key in whole},
        **auxiliary,
    }
