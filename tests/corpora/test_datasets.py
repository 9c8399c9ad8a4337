"""Every dataset's YAML: its sources accept what it gives them, and say what would serve."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from attention_audit.corpora import Source, choose
from attention_audit.corpora.babi import BabiFiles
from attention_audit.corpora.files import Files
from attention_audit.corpora.folders import LabelledFolders
from attention_audit.corpora.hub import Hub
from attention_audit.corpora.simulator import Simulator
from attention_audit.corpora.treebank import Treebank

CONF = Path(__file__).parents[2] / "conf" / "dataset"
NAMES = sorted(path.stem for path in CONF.glob("*.yaml"))


def dataset(name: str, data_dir: Path, overrides: dict[str, Any] | None = None) -> Any:
    node = OmegaConf.merge(OmegaConf.load(CONF / f"{name}.yaml"), overrides or {})
    return OmegaConf.create({"data_dir": str(data_dir), "dataset": node}).dataset


def sources(name: str, data_dir: Path, overrides: dict[str, Any] | None = None) -> list[Source]:
    return [instantiate(s, _convert_="all") for s in dataset(name, data_dir, overrides).sources]


@pytest.mark.parametrize("name", NAMES)
def test_sources_accept_their_parameters(name: str, tmp_path: Path) -> None:
    node = dataset(name, tmp_path)
    assert node.name == name
    assert [source.identity()["version"] for source in sources(name, tmp_path)]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, Hub) for name in ("sst", "imdb", "20news", "agnews", "ade", "snli")),
        *((name, Simulator) for name in NAMES if name.startswith("babi")),
    ],
)
def test_without_files_the_last_resort_is_taken(
    name: str, kind: type, tmp_path: Path, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    assert isinstance(choose(sources(name, tmp_path)), kind)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("adr", "only its authors give it out: dataset=ade is a public substitute"),
        ("cnn", "train.txt"),
        ("diabetes", "NOTEEVENTS.csv"),
        ("anemia", "DIAGNOSES_ICD.csv"),
        ("files", "dataset.path=FILE or FOLDER"),
        ("hub", "dataset.path=OWNER/NAME"),
    ],
)
def test_what_is_nowhere_says_what_would_serve(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(said)):
        choose(sources(name, tmp_path))


def test_a_file_takes_all_its_options_from_the_top(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("body;kind;fold\na;x;train\nb;y;train\nc;x;dev\n")
    options = {"text_column": "body", "label_column": "kind", "split_column": "fold"}
    options |= {"delimiter": ";", "path": str(file), "name": "own", "classes": ["y", "x"]}
    corpus = choose(sources("files", tmp_path, options)).load()
    assert corpus.classes == ("y", "x")
    assert corpus.splits["dev"]["text"][:] == ["c"]


@pytest.mark.parametrize(("name", "kind"), [("files", Files), ("hub", Hub)])
def test_every_option_of_the_users_own_is_one_at_the_top(name: str, kind: type) -> None:
    [source] = OmegaConf.load(CONF / f"{name}.yaml").sources
    ours = {"self", "cleaning", "differs", "missing_hint", "instead"}
    assert set(source) - {"_target_"} == set(inspect.signature(kind).parameters) - ours


SNLI = (
    *("gold_label", "sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse"),
    *("sentence2_parse", "sentence1", "sentence2", "captionID", "pairID", "label1", "label2"),
)


@pytest.mark.parametrize("place", ["snli", "snli/snli_1.0"])
def test_the_snli_table_serves_where_its_lines_are_not(tmp_path: Path, place: str) -> None:
    rows = [
        ("entailment", 'A 5" disc.', '"It is round.'),
        ("neutral", "A man, outside.", "He is tall."),
        ("contradiction", "A man.", "A dog."),
        ("-", "A man.", "A thing."),
    ]
    (tmp_path / place).mkdir(parents=True)
    for split in ("train", "dev", "test"):
        lines = [
            "\t".join((label, "( A )", "( B )", "(ROOT)", "(ROOT)", premise, hypothesis))
            + f"\t{n}.jpg\t{n}.jpg#0r1\t{label}\t"
            for n, (label, premise, hypothesis) in enumerate(rows)
        ]
        text = "\n".join(["\t".join(SNLI), *lines]) + "\n"
        (tmp_path / place / f"snli_1.0_{split}.txt").write_text(text)
    corpus = choose(sources("snli", tmp_path)).load()
    assert corpus.dropped["test"] == {"unlabelled": 1}
    test = corpus.splits["test"]
    assert list(zip(test["text"], test["query"], test["label"], strict=True)) == [
        ('A 5" disc.', '"It is round.', 2),
        ("A man, outside.", "He is tall.", 0),
        ("A man.", "A dog.", 1),
    ]


def test_real_files_win(data: Path) -> None:
    assert isinstance(choose(sources("sst", data)), Treebank)
    assert isinstance(choose(sources("imdb", data)), LabelledFolders)
    assert isinstance(choose(sources("babi_1", data)), BabiFiles)
    assert isinstance(choose(sources("babi_1", data, {"folder": None})), Simulator)


def test_the_sst_table_serves_where_the_trees_are_not(data: Path, tmp_path: Path) -> None:
    (tmp_path / "sst").mkdir()
    (tmp_path / "sst" / "sst_dataset.csv").symlink_to(data / "sst" / "sst_dataset.csv")
    source = choose(sources("sst", tmp_path))
    assert isinstance(source, Files)
    corpus = source.load()
    assert corpus.classes == ("negative", "positive")
    assert {split: len(rows) for split, rows in corpus.splits.items()} == {
        "train": 6920,
        "dev": 872,
        "test": 1821,
    }


def test_agnews_has_as_many_of_both_as_published(data: Path) -> None:
    corpus = choose(sources("agnews", data, {"train": "train_first2000.csv"})).load()
    assert corpus.splits["test"]["label"][:].count(0) == 1900
    assert len(corpus.splits["test"]) == 3800
    assert corpus.dropped["test"] == {"other class": 3800}
    assert corpus.splits["test"]["text"][0].startswith("Unions")


def test_snli_has_as_many_of_each_as_published(data: Path) -> None:
    corpus = choose(sources("snli", data)).load()
    assert corpus.classes == ("neutral", "contradiction", "entailment")
    labels = corpus.splits["test"]["label"][:]
    assert [labels.count(number) for number in range(3)] == [3219, 3237, 3368]
