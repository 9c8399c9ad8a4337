"""A cell made again has the same numbers, and whatever is not the same is found and named."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attention_audit import audit
from attention_audit.commands.rerun.comparing import compare, compare_rows, compare_tables
from attention_audit.commands.rerun.finding import find
from attention_audit.store import Cell

AVERAGE = ("encoder=average", "trainer.max_epochs=1")


@pytest.fixture
def rerun(command, store):
    return lambda cell, *more: command("rerun", str(cell), "--store", str(store), *more)


@pytest.fixture
def real(planted):
    """Fits and analyses a tiny cell."""
    return lambda *overrides: audit.run(planted(*AVERAGE, *overrides))


def snapshot(folder: Path) -> dict[Path, tuple[int, bytes]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_the_same_numbers_whatever_was_run_last_nothing_changed(real, rerun, store, tmp_path):
    real("analysis=[correlation,permutation]")
    real("analysis=permutation", "save_tokens=false", "analysis.permutation.permutations=3")
    cell = real("analysis=none", "threads=1", "budget.resamples=10")
    assert len(cell.analyses()) == 3
    before = snapshot(store)
    said = rerun(cell.hash8, "--keep", str(tmp_path / "kept"))
    assert (said.code, said.out.splitlines()[-1][:14]) == (0, "bit-identical:")
    assert snapshot(store) == before
    for part in ("metrics.json", "instances.parquet", "tokens.parquet"):
        assert said.row(part, "").endswith("bit-identical")
    for analysis in cell.analyses():
        assert said.row(f"{analysis.folder.name}/summary.json", "").endswith("bit-identical")
        kept = tmp_path / "kept" / cell.folder.relative_to(store) / "analyses"
        assert (kept / analysis.folder.name / "summary.json").is_file()
    assert not list((tmp_path / "kept").rglob("wandb"))


def test_a_number_that_is_not_the_same_is_found(real, rerun):
    cell = real("analysis=permutation")
    metrics = cell.read_json("metrics")
    metrics["summary"][0]["value"] += 0.25
    cell.write_json("metrics", metrics)
    edited = cell.read_json("manifest")
    edited["versions"]["torch"] = "1.0"
    del edited["machine"]
    cell.write_json("manifest", edited)
    said = rerun(cell.folder)
    quantity = metrics["summary"][0]["quantity"]
    assert said.code == 1
    assert said.row("metrics.json", quantity).endswith(" 0.25")
    assert f"largest difference 0.25, in metrics.json {quantity}: over the" in said.out
    assert "torch: then 1.0, now 2" in said.out
    assert "machine: then not noted, now" in said.out
    assert rerun(cell.folder, "--tolerance", "0.25").code == 0
    assert rerun(cell.folder, "--tolerance", "0.2").code == 1


def test_the_threads_are_those_of_the_fit(real, rerun):
    cell = real("analysis=none")
    config = cell.config
    config["threads"] = 2
    (cell.folder / "config.yaml").write_text(yaml.safe_dump(config))
    said = rerun(cell.folder)
    assert said.code == 0
    assert "threads" not in said.out
    assert "threads: then 1, now 2" in rerun(cell.folder, "--threads", "2").out


def test_the_manifest_says_what_the_last_bits_depend_on(real):
    machine = real("analysis=none").read_json("manifest")["machine"]
    assert set(machine) == {"system", "machine", "cpu", "gpu", "torch_threads", "deterministic"}
    assert machine["torch_threads"] == 1
    assert machine["deterministic"] is False


def test_an_analysis_without_a_known_class_is_not_passed_over(real, rerun):
    cell = real("analysis=none")
    cell.analysis("somebody_elses", {"a": 1}, 1).write({"summary": []})
    said = rerun(cell.folder)
    assert said.code == 1
    assert "not made again: no class known" in said.row("somebody_elses-")


def test_another_version_of_an_analysis_is_told(real, rerun):
    cell = real("analysis=permutation")
    [made] = cell.analyses()
    cell.analysis("permutation", made.config, 0).write({"summary": made.read_summary()["summary"]})
    shutil.rmtree(made.folder)
    said = rerun(cell.folder)
    assert said.code == 1
    assert (
        said.row(
            "permutation-",
        ).count("version 0, now 1")
        or "version 0, now 1" in said.out
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["dataset"]["sources"][0].update(seed=5), "its corpus, or the place"),
        (lambda c: c["vectors"].update(dimension=7), "its word vectors have changed"),
        (lambda c: c.update(seed=5), "differs in seed"),
        (lambda c: c.update(sed=5), "sed: unknown (did you mean 'seed'?)"),
        (lambda c: c["training"].update(learning_rate=-1), "training.learning_rate: found -1"),
        (lambda c: c["dataset"]["sources"][0].update(_target_="os.system"), "found 'os.system'"),
    ],
)
def test_what_cannot_be_made_again_is_refused(finished, rerun, change, said):
    cell = finished(*AVERAGE)
    config = cell.config
    change(config)
    (cell.folder / "config.yaml").write_text(yaml.safe_dump(config))
    refused = rerun(cell.folder)
    assert refused.code == 2
    assert refused.err.splitlines()[-1].startswith("error: ")
    assert said in refused.err
    assert refused.out == ""


def test_which_cell_is_meant(finished, begun, store, monkeypatch):
    one, other = finished(*AVERAGE), finished(*AVERAGE, "seed=1")
    for named in (str(one.folder), one.hash8, f"average+additive/0-{one.hash8[:4]}"):
        assert find(named, store) == one
    monkeypatch.chdir(other.folder.parent)
    assert find(other.folder.name, Path("nowhere")).folder == other.folder
    with pytest.raises(ValueError, match=r"^planted: could be planted/average\+additive/0-"):
        find("planted", store)
    with pytest.raises(FileNotFoundError, match=r"^xyz: no such cell in "):
        find("xyz", store)
    with pytest.raises(FileNotFoundError, match="no such cell"):
        find(str(store), store)
    left = begun("encoder=cnn")
    with pytest.raises(ValueError, match="is running; expected a finished cell"):
        find(left.hash8, store)


def test_a_place_that_is_taken_is_not_written_to(finished, rerun, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine").touch()
    said = rerun(finished(*AVERAGE).hash8, "--keep", str(tmp_path / "kept"))
    assert said.code == 2
    assert "is there already; expected a new or an empty folder" in said.err


def test_classes_of_a_package_that_is_trusted_are_used(real, rerun, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from attention_audit.models.encoders import Average\nclass Mine(Average):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    cell = real("analysis=none", "encoder._target_=mine.Mine", "encoder.name=mine")
    said = rerun(cell.folder)
    assert said.code == 2
    assert (
        "encoder._target_: found 'mine.Mine', expected a class of attention_audit.models"
        in said.err
    )
    assert rerun(cell.folder, "--trust", "mine").code == 0


def rows(*values: float | None) -> list[dict[str, object]]:
    return [
        {"quantity": "f1", "klass": str(n), "statistic": "value", "value": value}
        for n, value in enumerate(values)
    ]


def test_rows_are_matched_by_their_names():
    [found] = compare_rows("m", rows(0.5, None, 0.25), rows(0.5, None, 0.25)[::-1])
    assert (found.column, found.count, found.largest) == ("f1", 15, 0)
    [found] = compare_rows("m", rows(0.5, 1.0), rows(0.5, 0.75))
    assert found.largest == 0.25
    [found] = compare_rows("m", rows(0.5, None), rows(0.5, 0.75))
    assert (found.largest, found.reason) == (math.inf, "1 defined in one only")
    [found] = compare_rows("m", rows(0.5), rows(0.5, 0.75))
    assert (found.largest, found.reason) == (math.inf, "other rows")


NUMBER = st.floats(width=32) | st.just(math.nan)
LISTS = st.lists(st.lists(NUMBER, max_size=3), min_size=1, max_size=4)


@given(LISTS, st.data())
def test_the_largest_difference_of_lists_is_that_of_a_loop(values, data):
    other = [[data.draw(st.sampled_from([x, x + 1, math.nan])) for x in row] for row in values]
    order = data.draw(st.permutations(range(len(values))))
    stored = pa.table({"id": range(len(values)), "a": pa.array(values, pa.list_(pa.float64()))})
    made = pa.table(
        {
            "id": pa.array(order, pa.int64()),
            "a": pa.array([other[n] for n in order], pa.list_(pa.float64())),
        }
    )
    [_, found] = compare_tables("t", stored, made)
    pairs = [
        (x, y)
        for one, two in zip(values, other, strict=True)
        for x, y in zip(one, two, strict=True)
    ]
    if any(math.isnan(x) != math.isnan(y) for x, y in pairs):
        assert found.largest == math.inf
        assert found.reason.endswith("defined in one only")
    else:
        apart = [0.0 if x == y or math.isnan(x) else abs(x - y) for x, y in pairs]
        assert found.largest == max(apart, default=0.0)
    assert found.count == len(pairs)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"id": [0, 1], "a": [["x"], []]}, "lists of other lengths"),
        ({"id": [0, 1], "a": [["x"], ["z"]]}, "other words"),
        ({"id": [0, 1], "a": [[1], [2]]}, "string, now int64"),
        ({"id": [0, 1], "b": [["x"], ["y"]]}, "other columns or another number of rows"),
        ({"id": [0], "a": [["x"]]}, "other columns or another number of rows"),
    ],
)
def test_what_is_not_alike_is_never_the_same(made, reason):
    stored = pa.table({"id": [0, 1], "a": [["x"], ["y"]]})
    found = [one for one in compare_tables("t", stored, pa.table(made)) if one.largest]
    assert [(one.reason, one.largest) for one in found] == [(reason, math.inf)]
    assert all(one.largest == 0 for one in compare_tables("t", stored, stored))


def test_integers_and_nulls_count_too(tmp_path):
    stored = pa.table({"id": [0, 1], "a": [1, None], "b": np.array([2**40, 7])})
    made = pa.table({"id": [0, 1], "a": [1, None], "b": np.array([2**40 + 1, 7])})
    assert [one.largest for one in compare_tables("t", stored, made)] == [0, 0, 1]


def test_all_of_a_cell_is_compared(real, tmp_path):
    cell = real("analysis=permutation")
    shutil.copytree(cell.root, tmp_path / "copy")
    copy = Cell(tmp_path / "copy", cell.dataset, cell.encoder, cell.attention, 0, cell.hash8)
    assert all(one.largest == 0 for one in compare(cell, copy))
    [analysis] = copy.analyses()
    for edited in (copy.folder / "metrics.json", analysis.folder / "summary.json"):
        content = json.loads(edited.read_text())
        content["summary"][0]["value"] = 9
        edited.write_text(json.dumps(content))
    tables = ["instances.parquet", "tokens.parquet", f"{analysis.folder.name}/instances.parquet"]
    for name in tables:
        place = copy.folder / name if "/" not in name else copy.folder / "analyses" / name
        table = pa.parquet.read_table(place)
        column = "token" if name == "tokens.parquet" else "max_attention"
        changed = pa.array([["x"]] * len(table) if column == "token" else [9.0] * len(table))
        where = table.column_names.index(column)
        pa.parquet.write_table(table.set_column(where, column, changed), place)
    parts = {one.part for one in compare(cell, copy) if one.largest}
    assert parts == {"metrics.json", f"{analysis.folder.name}/summary.json", *tables}
