"""W&B: one run for each cell with its own config and numbers, offline and without a key."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attention_audit.store import Cell, Store
from attention_audit.tracking import publish, tracked

OFFLINE = {"logger": {"mode": "offline", "project": "tests", "entity": None}}
NONE = {"logger": {"mode": "none", "project": "tests", "entity": None}}


def finished(root: Path, seed: int) -> Cell:
    names = {"dataset": "planted", "encoder": "lstm", "attention": "dot"}
    cell = Store(root).cell(**names, seed=seed, identity={"seed": seed})
    cell.open({"seed": seed})
    rows = [
        {"quantity": "accuracy", "klass": "overall", "statistic": "value", "value": 0.5 + seed / 8},
        {"quantity": "roc_auc", "klass": "overall", "statistic": "value", "value": None},
    ]
    cell.write_json("metrics", {"summary": rows})
    values = np.array([0.1, 0.2, np.nan, 0.4])
    cell.analysis("correlation", {}, 1).write(
        {"summary": [{"quantity": "tau", "klass": "0", "statistic": "mean", "value": 0.25}]},
        {"id": np.arange(4), "tau": values, "gap": np.full(4, np.nan)},
    )
    return cell


def summary(records: list[Any]) -> dict[str, Any]:
    return {
        item.key or "/".join(item.nested_key): json.loads(item.value_json)
        for record in records
        for item in record.summary.update
    }


def tables(cell: Cell, read: Callable[[Path], list[Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table of a cell's run."""
    [path] = (cell.folder / "wandb").rglob("*.wandb")
    found = {}
    for name, value in summary(read(path)).items():
        if isinstance(value, dict) and value.get("_type") == "table-file":
            table = json.loads((path.parent / "files" / value["path"]).read_text())
            found[name] = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    return found


def test_two_cells_in_one_process_are_two_runs(tmp_path, wandb_records, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = [finished(tmp_path / "store", seed) for seed in (0, 1)]
    for cell in cells:
        with tracked({**OFFLINE, "seed": cell.seed}, cell, "monday") as logger:
            publish(logger, cell, {"correlation": ["tau", "gap"]})
    ids = set()
    for cell in cells:
        [path] = (cell.folder / "wandb").rglob("*.wandb")
        records = wandb_records(path)
        [run] = [record.run for record in records if record.HasField("run")]
        config = {item.key: json.loads(item.value_json) for item in run.config.update}
        assert (config["seed"], config["cell"]) == (cell.seed, cell.hash8)
        assert run.run_id == f"planted-lstm-dot-{cell.seed}-{cell.hash8}"
        assert (run.run_group, run.project) == ("monday", "tests")
        assert list(run.tags) == ["planted", "lstm", "dot"]
        found = summary(records)
        assert found["accuracy/overall/value"] == 0.5 + cell.seed / 8
        assert found["tau/0/mean"] == 0.25
        assert "roc_auc/overall/value" not in found
        assert sum(found["tau/histogram"]["values"]) == 3
        assert "gap/histogram" not in found
        [end] = [record.exit.exit_code for record in records if record.HasField("exit")]
        assert end == 0
        ids.add(run.run_id)
    assert len(ids) == 2
    assert not (tmp_path / "wandb").exists()


def test_a_failed_cell_is_a_failed_run(tmp_path, wandb_records):
    cell = finished(tmp_path, 0)
    with pytest.raises(ZeroDivisionError), tracked({**OFFLINE}, cell, None):
        raise ZeroDivisionError
    [path] = (cell.folder / "wandb").rglob("*.wandb")
    assert [r.exit.exit_code for r in wandb_records(path) if r.HasField("exit")] == [1]


def test_without_a_logger_nothing_is_left(tmp_path, monkeypatch):
    cell = finished(tmp_path, 0)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setitem(sys.modules, "wandb", None)  # importing it would fail
    with tracked(NONE, cell, "monday") as logger:
        assert logger is None
        publish(logger, cell, {"correlation": ["tau"]})
    assert sorted(tmp_path.rglob("*")) == before


def test_publishing_twice_says_the_same(tmp_path):
    """So that offline runs of one cell agree in whatever order they are synchronised."""
    cell, said = finished(tmp_path, 1), []
    for _ in range(2):
        run = SimpleNamespace(summary={})
        publish(SimpleNamespace(experiment=run), cell, {})
        said.append(run.summary)
    assert said[0] == said[1] == {"accuracy/overall/value": 0.625, "tau/0/mean": 0.25}


def test_online_without_a_key_is_refused_at_once(tmp_path, monkeypatch):
    import wandb

    monkeypatch.setattr(wandb, "login", lambda **_: False)
    cell = finished(tmp_path, 0)
    online = {"logger": OFFLINE["logger"] | {"mode": "online"}}
    with (
        pytest.raises(ValueError, match=r"^logger\.mode=online: found no W&B API key"),
        tracked(online, cell, None),
    ):
        pass
    assert not (cell.folder / "wandb").exists()


def test_the_verdict_is_a_table_of_the_run(tmp_path, wandb_records, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell = finished(tmp_path / "store", 0)
    lines = [
        {"condition": "needed", "value": 0.5, "published": None, "sentence": "It was measured."},
        {"condition": "stable", "value": None, "published": 0.25, "sentence": "<b>so was this</b>"},
    ]
    with tracked(OFFLINE, cell, None) as logger:
        publish(logger, cell, {}, lines)
    assert tables(cell, wandb_records)["verdict"] == lines


@pytest.mark.parametrize("asked", [True, False])
def test_an_example_has_its_texts(asked, tmp_path, wandb_records, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell = finished(tmp_path / "store", 0)
    words = {"id": [4, 2], "token": [["<b>", "."], ["a"]]}
    queries = {"query": [["why", "?"], []]} if asked else {}
    cell.write_table("tokens", words | queries)
    about = {name: [1, 0] for name in ("label", "prediction", "length")}
    about |= {"max_attention": [0.75, 1.0], "entropy": [0.5, 0.0]}
    cell.write_table(
        "instances", {"id": [2, 4], "probability": [[0.25, 0.75], [0.875, 0.125]], **about}
    )
    with tracked(OFFLINE, cell, None) as logger:
        publish(logger, cell, {}, examples=True)
    shown = tables(cell, wandb_records)["examples"]
    assert [row["text"] for row in shown] == ["a", "<b> ."]
    assert [row.get("query") for row in shown] == (["", "why ?"] if asked else [None, None])
    assert [row["probability"] for row in shown] == [0.75, 0.875]
