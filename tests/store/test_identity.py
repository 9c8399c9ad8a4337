"""Who a cell is: its names and its hash."""

from __future__ import annotations

import hashlib
import math
import os
import re
from pathlib import Path

import pytest

from attention_audit.store import FORMAT, SUMMARY_COLUMNS, Store, fingerprint
from attention_audit.store import cell as cell_module

IDENTITY = {"dataset": {"name": "sst", "fingerprint": "ab"}, "epochs": 8, "seed": 0}


def test_folder_is_named_as_designed(tmp_path, make):
    folder = make(tmp_path, seed=3).folder
    assert re.fullmatch(
        r"sst/lstm\+additive/3-[0-9a-f]{8}", folder.relative_to(tmp_path).as_posix()
    )
    assert not folder.exists()


def test_hash_ignores_key_order_and_tuple_or_list(tmp_path, make):
    one = make(tmp_path, identity={"a": (1, 2), "b": {"c": None, "d": 0.1}})
    two = make(tmp_path, identity={"b": {"d": 0.1, "c": None}, "a": [1, 2]})
    assert one.hash8 == two.hash8
    assert one == two


def test_hash_sees_every_value_and_the_format(tmp_path, monkeypatch, make):
    hashes = {
        make(tmp_path, identity=i).hash8 for i in ({"a": 1}, {"a": 2}, {"a": "1"}, {"a": None})
    }
    monkeypatch.setattr(cell_module, "FORMAT", FORMAT + 1)
    hashes.add(make(tmp_path, identity={"a": 1}).hash8)
    assert len(hashes) == 5


def test_hash_is_pinned(tmp_path, make):
    """Changing how identities are hashed orphans everybody's results: raise FORMAT knowingly."""
    text = r'{"format":3,"identity":{"a":[1,0.5,"\u00e9"]}}'
    expected = hashlib.sha256(text.encode()).hexdigest()[:8]
    assert make(tmp_path, identity={"a": [1, 0.5, "é"]}).hash8 == expected


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../../x", "a/b", "a\\b", "a b", "-a", ".a", "a+b", "a\n", "a\0", "x" * 65, 3],
)
@pytest.mark.parametrize("key", ["dataset", "encoder", "attention"])
def test_a_name_cannot_leave_the_store(tmp_path, key, name, make):
    with pytest.raises(ValueError, match=rf"^{key}=.*$") as caught:
        make(tmp_path, **{key: name})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["babi_1", "20news", "glove.6B", "größe", "数据"])
def test_usual_and_foreign_names_are_fine(tmp_path, name, make):
    cell = make(tmp_path, dataset=name)
    cell.open({})
    assert Store(tmp_path).cells() == [cell]


@pytest.mark.parametrize("seed", [-1, True, 1.0, "1", None])
def test_seed_is_a_natural_number(tmp_path, seed):
    with pytest.raises(ValueError, match=r"^seed="):
        Store(tmp_path).cell(
            dataset="sst", encoder="lstm", attention="dot", seed=seed, identity=IDENTITY
        )


@pytest.mark.parametrize("value", [Path("x"), {1}, object(), {1: 2}, b"x"])
def test_identity_of_unknown_types_is_refused_with_its_key(tmp_path, value, make):
    with pytest.raises(TypeError, match=r"identity\.text"):
        make(tmp_path, identity={"text": value})


def test_identity_refuses_nan(tmp_path, make):
    with pytest.raises(ValueError, match="identity holds NaN"):
        make(tmp_path, identity={"a": math.nan})


def test_names_are_the_first_columns_of_the_summary(tmp_path, make):
    cell = make(tmp_path, seed=3)
    assert cell.name == "sst/lstm+additive"
    assert cell.names == {
        **{"dataset": "sst", "encoder": "lstm", "attention": "additive", "seed": 3},
        "cell": cell.hash8,
        **dict.fromkeys(("source", "train_rows", "epochs", "vectors")),
    }
    assert set(cell.names) < set(SUMMARY_COLUMNS)
    cell.open({})
    cell.write_json("manifest", {"settings": {"source": "files", "epochs": 8}})
    assert (cell.names["source"], cell.names["epochs"]) == ("files", 8)


def test_a_renamed_file_is_the_same_corpus_and_a_broken_entry_does_no_harm(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    for path in (one, other):
        path.write_text("text,label\n")
        os.utime(path, (1, 1))
    cache = tmp_path / "cache"
    first = fingerprint({}, [one], cache)
    assert first == fingerprint({}, [other], cache)
    for entry in cache.iterdir():
        entry.write_text("[]")
    assert first == fingerprint({}, [one], cache)
