"""A stored model without its corpus is the fitted one, or the file that is wrong is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from attention_audit.cell import Place, fit_or_load, locate, refuse_frozen, restore
from attention_audit.store import Cell


@pytest.fixture
def fitted(planted):
    """A tiny fitted cell, its configuration and what fitting gave."""

    def make(*overrides):
        config = planted("trainer.max_epochs=1", *overrides)
        place: Place = locate(config)
        place.cell.open(config)
        return config, place.cell, fit_or_load(config, place)

    return make


@pytest.mark.parametrize("encoder", ["lstm", "average"])
def test_it_says_what_the_fitted_one_says(fitted, tmp_path, encoder):
    config, cell, whole = fitted(f"encoder={encoder}")
    shutil.rmtree(tmp_path / "cache")
    restored = restore(config, cell)
    assert restored.outputs == ("negative", "positive")
    assert restored.vocabulary == whole.prepared.vocabulary
    batch = whole.data.documents("test").batch([0, 1, 2])
    with torch.no_grad():
        ours, theirs = restored.model(batch), whole.task.model(batch)
    assert torch.equal(ours.logits, theirs.logits)
    assert torch.equal(ours.attention, theirs.attention)
    assert not restored.model.training
    row = whole.prepared.splits["test"][0]
    assert restored.read(f" {' '.join(row['tokens']).upper()}\n") == row["tokens"]


def edit(cell: Cell, name: str, change) -> None:
    """Change a JSON file as somebody who seals it anew would."""
    content = cell.read_json(name)
    change(content)
    cell.write_json(name, content)
    cell.seal()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("vocabulary", lambda c: c.pop("words"), "vocabulary.json: words: expected a list"),
        ("vocabulary", lambda c: c["words"].append(7), "vocabulary.json: words: expected a list"),
        ("vocabulary", lambda c: c["words"].append(c["words"][9]), "more than once"),
        ("vocabulary", lambda c: c["words"].append("zzz"), "is not a checkpoint of this cell's"),
        ("manifest", lambda c: c.update(corpus=[]), "manifest.json: corpus.classes: expected a l"),
        ("manifest", lambda c: c["corpus"].update(classes=[]), "corpus.classes: expected a list"),
        ("manifest", lambda c: c["corpus"]["classes"].append("more"), "is not a checkpoint of"),
    ],
)
def test_a_file_that_is_not_the_models_is_named(fitted, name, change, said):
    config, cell, _ = fitted("encoder=average")
    edit(cell, name, change)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        restore(config, cell)
    assert said in str(error.value)


@pytest.mark.parametrize("name", ["vocabulary.json", "manifest.json", "checkpoint.ckpt"])
def test_a_damaged_file_is_named(fitted, name):
    config, cell, _ = fitted("encoder=average")
    (cell.folder / name).write_bytes(b"{}")
    with pytest.raises(ValueError, match=rf"{name} is damaged: run the cell again$"):
        restore(config, cell)


@pytest.mark.parametrize(
    "weights",
    [
        {"model.embedding.weight": torch.zeros(3)},
        {"model.embedding.weight": 7},
        {"another": torch.zeros(3, 3)},
        [],
    ],
)
def test_weights_of_something_else_are_refused(fitted, weights):
    config, cell, _ = fitted("encoder=average")
    torch.save({"state_dict": weights}, cell.folder / "checkpoint.ckpt")
    cell.seal()
    with pytest.raises(ValueError, match=r"checkpoint.ckpt is not a checkpoint of this cell's"):
        restore(config, cell)


def test_a_checkpoint_that_would_run_something_is_not_run(fitted, tmp_path):
    config, cell, _ = fitted("encoder=average")
    fuse = tmp_path / "fuse"

    class Bomb:
        def __reduce__(self):
            return Path.touch, (fuse,)

    torch.save({"state_dict": Bomb()}, cell.folder / "checkpoint.ckpt")
    cell.seal()
    with pytest.raises(ValueError, match="is not a whole checkpoint"):
        restore(config, cell)
    assert not fuse.exists()


def test_a_checkpoint_that_was_removed_is_missed(fitted):
    config, cell, _ = fitted("encoder=average")
    (cell.folder / "checkpoint.ckpt").unlink()
    with pytest.raises(FileNotFoundError, match=r"checkpoint.ckpt is missing: run the cell"):
        restore(config, cell)


def test_of_a_private_corpus_no_word_is_quoted(fitted):
    config, cell, _ = fitted("encoder=average")
    word = cell.read_json("vocabulary")["words"][9]
    edit(cell, "vocabulary", lambda c: c["words"].append(word))
    with pytest.raises(ValueError, match=word):
        restore(config, cell)
    config["dataset"]["private"] = True
    with pytest.raises(ValueError, match="more than once") as error:
        restore(config, cell)
    assert word not in str(error.value)


def test_answers_in_words_of_a_private_corpus_are_refused(fitted):
    config, cell, _ = fitted("encoder=average")
    config["dataset"] |= {"private": True, "task": "qa"}
    with pytest.raises(ValueError, match=r"its corpus is private, and its answers are words of it"):
        restore(config, cell)


@pytest.mark.parametrize(
    ("auxiliary", "refused"),
    [
        (None, False),
        ({"objective": {"_target_": "x"}, "given": {}}, False),
        ({"given": {"importance": "gradient"}}, True),
        ({"given": {}, "objective": None}, True),
        ({"every_epoch": True}, False),
        ("given", False),
    ],
)
def test_frozen_attention_has_no_weights_for_another_text(tmp_path, auxiliary, refused):
    cell = Cell(tmp_path, "sst", "mlp", "frozen", 0, "0" * 8)
    config = json.loads(json.dumps({"auxiliary": auxiliary}))
    if not refused:
        refuse_frozen(config, cell)
        return
    with pytest.raises(ValueError, match="its attention is frozen to weights of its corpus's own"):
        refuse_frozen(config, cell)
