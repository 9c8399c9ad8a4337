"""A stored cell's model without its corpus: what it needs to read a text from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hydra.utils import instantiate

from attention_audit.cell.fitting import make_model
from attention_audit.cell.keeping import embedding_width, load
from attention_audit.corpora.corpus import Cleans
from attention_audit.privacy import discreet
from attention_audit.store import Cell

if TYPE_CHECKING:
    from attention_audit.models import AttentionModel
    from attention_audit.text import Vocabulary

# What the model is made from.
FILES = {"checkpoint.ckpt", "config.yaml", "manifest.json", "vocabulary.json"}


@dataclass(frozen=True)
class Restored:
    """A fitted model in evaluation mode, with what turns texts into its batches.

    Attributes:
        model: on the CPU.
        vocabulary: the words that it knows.
        outputs: the names of its classes, or answers, in order.
        read: a raw text, or question, to its tokens, as those of the corpus were made.
        word: a raw answer to the token that stands for it.
    """

    model: AttentionModel
    vocabulary: Vocabulary
    outputs: tuple[str, ...]
    read: Callable[[str], list[str]]
    word: Callable[[str], str]


def refuse_frozen(config: Mapping[str, Any], cell: Cell) -> None:
    """Refuse, by a ValueError, a model whose attention was given for instances of its corpus."""
    auxiliary = config.get("auxiliary")
    if not isinstance(auxiliary, Mapping):
        return
    if "given" in auxiliary and auxiliary.get("objective") is None:
        raise ValueError(
            f"{cell.folder}: its attention is frozen to weights of its corpus's own instances, and "
            "it has none for another text; name a cell that learns its attention"
        )


def restore(config: Mapping[str, Any], cell: Cell) -> Restored:
    """The fitted model of a finished cell, made from the cell's folder alone.

    Args:
        config: the cell's, checked.
        cell: the finished cell.

    Raises:
        ValueError: a file that is damaged or not of this model; a model that answers in words of a
            private corpus.
        FileNotFoundError: a file is missing.
    """
    if damaged := sorted(FILES.intersection(cell.damaged())):
        raise ValueError(f"{cell.folder / damaged[0]} is damaged: run the cell again")
    with discreet(config["dataset"]["private"]):
        vocabulary, outputs = _vocabulary(cell), _outputs(config, cell)
        return Restored(
            _model(config, cell, len(vocabulary), len(outputs)),
            vocabulary,
            outputs,
            *_reading(config["dataset"]),
        )


def _model(config: Mapping[str, Any], cell: Cell, words: int, outputs: int) -> AttentionModel:
    import torch

    # The checkpoint has all weights, so that the initial ones may be any.
    model = make_model(config, torch.zeros(words, embedding_width(cell)), outputs)
    load(cell, torch.nn.ModuleDict({"model": model}))
    return model


def _vocabulary(cell: Cell) -> Vocabulary:
    from attention_audit.text import Vocabulary

    stored = cell.read_json("vocabulary")
    words = stored.get("words") if isinstance(stored, dict) else None
    _check_names(f"{cell.folder / 'vocabulary.json'}: words", words)
    return Vocabulary.from_dict(stored)


def _outputs(config: Mapping[str, Any], cell: Cell) -> tuple[str, ...]:
    asked = config["dataset"]["task"] == "qa"
    if asked and config["dataset"]["private"]:
        raise ValueError(
            f"{cell.folder}: its corpus is private, and its answers are words of it, which are not "
            "shown; name a cell of another corpus"
        )
    corpus = cell.read_json("manifest").get("corpus")
    key = "answers" if asked else "classes"
    names = corpus.get(key) if isinstance(corpus, dict) else None
    _check_names(f"{cell.folder / 'manifest.json'}: corpus.{key}", names)
    return tuple(names or ())


def _check_names(where: str, names: Any) -> None:
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise ValueError(f"{where}: expected a list of words: run the cell with force=true")


def _reading(
    dataset: Mapping[str, Any],
) -> tuple[Callable[[str], list[str]], Callable[[str], str]]:
    """From raw text to tokens, and from a raw answer to its token."""
    from attention_audit.text import Preparation
    from attention_audit.text.tokenisers import normaliser, reader

    preparation = Preparation(**dataset["text"])
    normalise = normaliser(preparation.lowercase, preparation.digits)
    tokens = reader(preparation.tokenizer, normalise)
    # All sources of a corpus give texts of one form: the first one's way is that of any.
    source = next(iter(instantiate(dataset["sources"], _convert_="all")), None)
    clean = source.cleaned if isinstance(source, Cleans) else str
    return lambda text: tokens(clean(text)), lambda answer: normalise(answer.strip())
