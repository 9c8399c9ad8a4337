"""What is written to a cell comes back, or is refused."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_audit.store import Store


def test_json_round_trip_with_unicode_numpy_and_undefined(cell):
    value = {
        "größe": "naïve 数据 😀",
        "array": np.array([1.5, np.nan]),
        "count": np.int64(3),
        "flag": np.bool_(True),
        "nested": [{"x": (1, None)}],
        "infinite": math.inf,
        "bad file name": "caf\udce9",
    }
    cell.write_json("metrics.json", value)
    assert cell.read_json("metrics") == {
        **value,
        "array": [1.5, None],
        "count": 3,
        "flag": True,
        "nested": [{"x": [1, None]}],
        "infinite": None,
    }
    assert "数据" in (cell.folder / "metrics.json").read_text(encoding="utf-8")


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), PLAIN, max_size=4))
def test_any_plain_value_comes_back(make, value):
    with tempfile.TemporaryDirectory() as folder:
        cell = make(Path(folder), identity=value or {"a": 1})
        cell.open(value)
        cell.write_json("value", value)
        assert cell.read_json("value") == value
        assert Store(Path(folder)).cells()[0].identity == cell.identity


@pytest.mark.parametrize("value", [{"a": {1}}, {"a": Path("x")}, {2: 3}, [object()]])
def test_json_of_unknown_types_is_refused_and_keeps_the_old(cell, value):
    cell.write_json("metrics", {"old": 1})
    with pytest.raises(TypeError, match=r"^metrics\.json"):
        cell.write_json("metrics", value)
    assert cell.read_json("metrics") == {"old": 1}


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden"])
def test_file_names_stay_in_the_cell(cell, name):
    with pytest.raises(ValueError, match=r"^file="):
        cell.write_json(name, {})
    with pytest.raises(ValueError, match=r"^file="):
        cell.write_table(name, {})


def test_broken_and_missing_json_are_named(cell):
    (cell.folder / "metrics.json").write_text('{"a": ')
    with pytest.raises(ValueError, match=r"metrics\.json is not valid JSON"):
        cell.read_json("metrics")
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        cell.read_json("manifest")


def test_table_round_trip(cell):
    columns = {
        "id": np.arange(3),
        "tau": np.array([0.5, np.nan, -1.0]),
        "label": [1, None, 0],
        "token": [["größe", "b"], [], ["c"]],
        "attention": [np.array([0.25, 0.75]), np.zeros(0), np.ones(1)],
        "probability": np.full((3, 2), 0.5),
        "cube": np.zeros((3, 1, 2)),
    }
    cell.write_table("tokens", columns)
    table = cell.read_table("tokens.parquet")
    assert table.column_names == list(columns)
    assert table["token"].to_pylist() == columns["token"]
    assert table["label"].to_pylist() == columns["label"]
    assert table["attention"].to_pylist() == [[0.25, 0.75], [], [1.0]]
    assert table["probability"].to_pylist() == [[0.5, 0.5]] * 3
    assert math.isnan(table["tau"].to_pylist()[1])
    assert str(table["tau"].type) == "double"


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"a": [1, 2], "b": [1]}, "columns differ in length"),
        ({"a": "text"}, "column a is a str"),
        ({"a": {1: 2}}, "column a is a dict"),
        ({"a": [1, "x"]}, "column a cannot be stored"),
        ({"a": [object()]}, "column a cannot be stored"),
    ],
)
def test_table_of_a_wrong_shape_is_refused(cell, columns, error, names_in):
    with pytest.raises((ValueError, TypeError), match=error) as caught:
        cell.write_table("tokens", columns)
    assert "\n" not in str(caught.value)
    assert "tokens.parquet" not in names_in(cell.folder)


def test_table_reads_alike_where_a_folder_looks_like_a_partition(tmp_path, make):
    cell = make(tmp_path / "year=2020")
    cell.open({})
    cell.write_table("instances", {"id": [1]})
    assert cell.read_table("instances").column_names == ["id"]


def test_a_file_of_any_content_is_whole_or_the_old_one(cell, names_in):
    cell.write_file("checkpoint.ckpt", lambda file: file.write(b"old"))

    def fails(file: BinaryIO) -> None:
        file.write(b"half")
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        cell.write_file("checkpoint.ckpt", fails)
    assert (cell.folder / "checkpoint.ckpt").read_bytes() == b"old"
    assert names_in(cell.folder) == {"config.yaml", "identity.json", "checkpoint.ckpt"}
    with pytest.raises(ValueError, match=r"^file="):
        cell.write_file("../checkpoint.ckpt", fails)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"garbage" * 9, None])
def test_a_broken_table_is_named(cell, content):
    cell.write_table("tokens", {"id": list(range(99))})
    path = cell.folder / "tokens.parquet"
    path.write_bytes(path.read_bytes()[:-20] if content is None else content)
    with pytest.raises(ValueError, match=r"tokens\.parquet is not valid Parquet") as caught:
        cell.read_table("tokens")
    assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"gone\.parquet"):
        cell.read_table("gone")
