"""The papers' grids: each cell is accepted, with the values that its paper or program has."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from attention_audit.cell import locate
from attention_audit.configuration import check

CONF = Path(__file__).resolve().parents[1] / "conf"


class Corpus(NamedTuple):
    """What the papers say of a corpus; `bounds` are strict, x drops the split's own extreme."""

    epochs: int
    batch: int
    hidden: int
    embedding: int
    min_df: int
    bounds: tuple[int | str | None, int | str | None]
    epsilon: float
    vectors: str


FAST, GLOVE, TRAINED, RANDOM = "wiki.simple.vec", "glove.840B.300d.txt", "word2vec", "none"

PAPER = {
    "sst": Corpus(8, 32, 128, 300, 1, (5, "x"), 0.01, FAST),
    "imdb": Corpus(8, 32, 128, 300, 10, (6, 400), 0.01, FAST),
    "adr": Corpus(8, 32, 128, 300, 2, (5, 100), 0.01, FAST),
    "20news": Corpus(8, 32, 128, 300, 2, (6, 500), 0.01, FAST),
    "agnews": Corpus(8, 32, 128, 300, 5, (None, "x"), 0.01, GLOVE),
    "diabetes": Corpus(8, 32, 128, 300, 5, (6, 4000), 0.01, TRAINED),
    "anemia": Corpus(8, 32, 128, 300, 5, (None, 4000), 0.01, TRAINED),
    "cnn": Corpus(25, 90, 128, 300, 8, (None, None), 0.05, FAST),
    "babi_1": Corpus(100, 50, 30, 50, 1, (None, None), 0.05, RANDOM),
    "babi_2": Corpus(100, 50, 30, 50, 1, (None, None), 0.05, RANDOM),
    "babi_3": Corpus(100, 50, 30, 50, 1, (None, None), 0.05, RANDOM),
    "snli": Corpus(25, 128, 128, 300, 3, (None, None), 0.01, GLOVE),
}
PROGRAM = PAPER | {
    "agnews": PAPER["agnews"]._replace(bounds=("x", "x"), vectors=FAST),
    "anemia": PAPER["anemia"]._replace(bounds=("x", 4000)),
    **{name: PAPER[name]._replace(hidden=32) for name in ("babi_1", "babi_2", "babi_3")},
}
PROGRAM = {name: corpus._replace(epsilon=0.05) for name, corpus in PROGRAM.items()}
SECOND = ("diabetes", "anemia", "imdb", "sst", "agnews", "20news")
QA = ("cnn", "babi_1", "babi_2", "babi_3")
GRIDS = {
    "jain_wallace": (PAPER, ("lstm", "average", "cnn"), ("additive", "dot")),
    "jain_wallace_code": (PROGRAM, ("lstm", "average", "cnn"), ("additive", "dot")),
    "wiegreffe_pinter": (
        {name: PROGRAM[name]._replace(epsilon=0.01) for name in SECOND},
        ("lstm",),
        ("additive", "uniform"),
    ),
}
PAIRS = [
    (experiment, dataset, encoder)
    for experiment, (corpora, encoders, _) in GRIDS.items()
    for dataset, encoder in product(corpora, encoders)
]


@pytest.mark.parametrize("experiment", GRIDS)
def test_the_grid_is_the_whole_one(experiment):
    text = (CONF / "experiment" / f"{experiment}.yaml").read_text()
    swept = {
        key: value.split(",")
        for key, value in yaml.safe_load(text)["hydra"]["sweeper"]["params"].items()
    }
    corpora, encoders, attentions = GRIDS[experiment]
    assert swept == {
        "dataset": list(corpora),
        "encoder": list(encoders),
        "attention": list(attentions),
    }
    cells = len(list(product(*swept.values())))
    assert cells == {"wiegreffe_pinter": 12}.get(experiment, 72)


def bounds(text: dict[str, Any]) -> tuple[int | str | None, int | str | None]:
    """As in `Corpus`."""
    extremes = [("longer_than", "drop_shortest"), ("shorter_than", "drop_longest")]
    low, high = (
        text[bound] if text[bound] is not None else "x" if text.get(dropped) else None
        for bound, dropped in extremes
    )
    return low, high


def vectors(config: dict[str, Any], data: Path) -> str:
    """As in `Corpus`."""
    found = config["vectors"]
    kind = found["_target_"].rpartition(".")[2]
    if kind == "WordVectors":
        assert Path(found["path"]).parent == data / "vectors"
        assert found["dimension"] == 300
        return Path(found["path"]).name
    return {"Word2Vec": TRAINED, "RandomVectors": RANDOM}[kind]


@pytest.mark.parametrize(("experiment", "dataset", "encoder"), PAIRS)
def test_every_cell_has_its_papers_values(composed, tmp_path, experiment, dataset, encoder):
    corpora, _, attentions = GRIDS[experiment]
    config = composed(f"experiment={experiment}", f"dataset={dataset}", f"encoder={encoder}")
    for attention in attentions:
        node = yaml.safe_load((CONF / "attention" / f"{attention}.yaml").read_text())
        check(config | {"attention": node})
    settings, training = config["dataset"], config["training"]
    assert corpora[dataset] == Corpus(
        epochs=config["trainer"]["max_epochs"],
        batch=settings["batch_size"],
        hidden=settings["hidden"],
        embedding=300 if "path" in config["vectors"] else config["vectors"]["dimension"],
        min_df=settings["text"]["min_df"],
        bounds=bounds(settings["text"]),
        epsilon=config["analysis"]["adversarial"]["epsilon"],
        vectors=vectors(config, tmp_path / "data"),
    )
    program, asked = experiment != "jain_wallace", settings["task"] != "classification"
    assert training == {
        "learning_rate": 1e-3,
        "amsgrad": program,
        "weight_decay": 0.0 if program and asked else 1e-5,
        "decay_attention": not program,
        "class_weights": "balanced",
        "reduction": "sum" if program and not asked else "mean",
        "first_epoch": int(program),
    }
    known = "corpus" if program and dataset != "cnn" else "train"
    assert settings["text"]["vocabulary"] == known
    if "path" in config["vectors"]:
        assert config["vectors"]["missing"] == ("zeros" if program else "normal")
    assert encoded(config) == expected(encoder, settings["hidden"], program)
    objective = "program" if experiment == "jain_wallace_code" else "paper"
    search = config["analysis"]["adversarial"]
    assert (search["objective"], search["adversaries"], search["steps"]) == (objective, 5, 500)
    assert config["analysis"]["permutation"]["permutations"] == 100


def encoded(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config["encoder"].items() if key[0] != "_"}


def expected(encoder: str, hidden: int, program: bool) -> dict[str, Any]:
    """The program's hidden size is one for all encoders; a CNN shares it among four kernels."""
    if encoder == "lstm":
        return {"name": "lstm", "hidden": hidden}
    if encoder == "cnn":
        filters = hidden // 4 if program else 64
        return {"name": "cnn", "filters": filters, "kernels": [1, 3, 5, 7]}
    if program:
        return {"name": "average", "hidden": hidden, "activation": "tanh"}
    return {"name": "average", "hidden": 256, "activation": "relu"}


def test_the_command_line_has_the_last_word(composed):
    chosen = ("experiment=jain_wallace_code", "dataset=imdb")
    random = composed(*chosen, "vectors=none")
    assert random["vectors"]["_target_"].endswith("RandomVectors")
    own = composed(*chosen, "vectors=glove", "vectors.path=mine.txt")["vectors"]
    assert (own["path"], own["missing"], own["dimension"]) == ("mine.txt", "zeros", None)
    assert composed(*chosen, "vectors.path=mine.vec")["vectors"]["path"] == "mine.vec"
    assert composed(*chosen, "dataset.epochs=2")["trainer"]["max_epochs"] == 2
    assert composed(*chosen, "trainer=smoke")["trainer"]["max_epochs"] == 2


@pytest.mark.parametrize("experiment", GRIDS)
def test_a_corpus_that_the_paper_lacks_has_random_vectors(composed, experiment):
    config = composed(f"experiment={experiment}", "dataset=planted")
    assert config["vectors"] == composed("dataset=planted")["vectors"]
    assert composed("vectors=paper")["vectors"] == composed()["vectors"]


@pytest.mark.parametrize(
    ("dataset", "address"),
    [
        ("sst", "https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.simple.vec"),
        ("agnews", "https://nlp.stanford.edu/data/glove.840B.300d.zip"),
    ],
)
def test_vectors_that_are_not_here_are_told_in_one_line(composed, corpora, dataset, address):
    config = composed("experiment=jain_wallace", "dataset=sst", "encoder=average")
    config["vectors"] = composed("experiment=jain_wallace", f"dataset={dataset}")["vectors"]
    with pytest.raises(FileNotFoundError, match=r"^[^\n]+$") as caught:
        locate(config)
    assert "vectors.path=" in str(caught.value)
    assert address in str(caught.value)
    assert str(caught.value).endswith("or say vectors=none")


def test_an_own_corpus_takes_a_papers_settings(composed):
    config = composed("experiment=jain_wallace_code", "dataset=files", "dataset.path=x.csv")
    check(config)
    assert config["dataset"]["text"]["vocabulary"] == "corpus"
