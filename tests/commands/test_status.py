"""The state of every cell, from files that may be damaged or hostile."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_audit import callbacks
from attention_audit.commands.status.judging import Judge, printable
from attention_audit.commands.status.versions import versions
from attention_audit.store import FORMAT, Cell, Status

AVERAGE = "encoder=average"


@pytest.fixture
def status(command, store):
    return lambda *more: command("status", "--store", str(store), *more)


@pytest.fixture
def judged():
    """State and reason of one cell."""

    def judge(cell: Cell) -> tuple[str, str]:
        found = Judge()(cell)
        return found.state, found.why

    return judge


def edit(cell: Cell, name: str, **values) -> None:
    """Change values of a JSON file of a cell."""
    cell.write_json(name, cell.read_json(name) | values)


def test_a_row_a_cell_and_totals(finished, begun, worker, status):
    finished(AVERAGE)
    failed = begun("encoder=cnn")
    failed.set_failed(ValueError("loss is NaN\nsecond line"))
    worker(begun("encoder=lstm"))
    left = begun("encoder=lstm", "seed=1")
    left.write_file("last.ckpt", lambda file: file.write(b"weights"))
    said = status()
    assert (said.code, said.err) == (0, "")
    done = said.row("planted/average+additive/0-")
    assert " done 20" in done
    assert done.endswith("12.5 s")
    assert "failed" in said.row("planted/cnn+additive/0-")
    assert said.row("planted/cnn+additive/0-").endswith("ValueError: loss is NaN")
    running = said.row("planted/lstm+additive/0-")
    assert f"process {os.getpid()} on {socket.gethostname()}" in running
    gone = said.row("planted/lstm+additive/1-")
    assert "stale" in gone
    assert gone.endswith("ended without a word; the same command goes on from its last epoch")
    assert "1 done" in said.out
    assert "1 failed, 1 running, 1 stale" in said.out


def test_json_says_the_same(finished, begun, status, store):
    finished(AVERAGE, "seed=3")
    begun("encoder=cnn").set_failed(ValueError("[red]loss[/red]"))
    said = json.loads(status("--json").out)
    assert said["totals"] == {"done": 1, "failed": 1}
    done, failed = sorted(said["cells"], key=lambda one: one["state"])
    assert done["fit_seconds"] == 12.5
    assert done["took"] >= 0
    assert failed["why"] == "ValueError: [red]loss[/red]"
    assert (store / done["cell"] / "metrics.json").exists()


def test_an_empty_store_and_none(status, store, command):
    assert status().code == 2
    assert "no such folder" in status().err
    store.mkdir()
    assert status().out == f"{store}: no cells\n"


def test_an_auxiliary_fit_is_marked(finished, status):
    edit(finished(AVERAGE), "manifest", role="uniform")
    assert " uniform done " in status().row("planted/average")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "preparing, or in its first epoch"),
        ({"last.ckpt": "", "log.txt": "x a: epoch 8/8: dev\nx a: epoch 2/8: dev f1\n"}, "3 of 8"),
        ({"last.ckpt": "", "log.txt": "x a: epoch 8/8: dev f1 0.5\n"}, "in epoch 8 of 8"),
        ({"last.ckpt": "", "log.txt": "\udcff\n"}, "fitting"),
    ],
)
def test_a_running_cell_says_where_it_is(begun, worker, judged, files, said):
    cell = begun(AVERAGE)
    worker(cell)
    for name, text in files.items():
        (cell.folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    state, why = judged(cell)
    assert state == "running"
    assert why.endswith(said)
    assert cell.status().started is not None
    assert "since " in why


def test_a_running_cell_with_a_finished_fit_is_analysing(finished, worker, judged):
    cell = finished(AVERAGE)
    cell.set_running()
    worker(cell)
    assert judged(cell)[1].endswith("; analysing")


def test_a_cell_that_another_machine_left_is_told_so(begun, judged):
    cell = begun(AVERAGE)
    edit(cell, "status", host="elsewhere")
    assert judged(cell)[1].startswith(
        "by elsewhere, it seems: ended without a word; the same command starts"
    )


def test_another_format_is_stale(finished, judged, monkeypatch):
    cell = finished(AVERAGE)
    monkeypatch.setattr("attention_audit.commands.status.freshness.FORMAT", FORMAT + 1)
    assert judged(cell) == (
        "stale",
        f"made under format {FORMAT}, today's is {FORMAT + 1}: "
        "the same command makes a new cell beside it",
    )


def test_a_corpus_that_has_changed_is_stale_and_one_that_is_gone_is_not(
    composed, tmp_path, corpora, judged, monkeypatch
):
    from attention_audit.cell import locate

    monkeypatch.setenv("ATTENTION_AUDIT_CACHE", str(tmp_path / "cache"))
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("good 1 2\nbad 3 4\n")
    table = tmp_path / "table.csv"
    config = composed(
        *(AVERAGE, "dataset=files", f"dataset.path={table}"),
        *("vectors=glove", f"vectors.path={vectors}", "logger=none"),
    )
    cell = locate(config).cell
    cell.open(config)
    cell.write_json("metrics", {"summary": []})
    for name in ("instances.parquet", "checkpoint.ckpt"):
        cell.write_file(name, lambda file: file.write(b"."))
    cell.set_fitted()
    assert judged(cell) == ("done", "")
    vectors.write_text("good 1 2\nbad 3 5\n")
    again = "the same command makes a new cell beside it"
    assert judged(cell) == ("stale", f"its word vectors have changed since: {again}")
    table.write_text(table.read_text() + "one more,1\n")
    state, why = judged(cell)
    assert state == "stale"
    assert why.startswith("its corpus, or the place that it comes from, has changed since and its")
    vectors.unlink()
    assert judged(cell) == ("done", "word vectors not here")
    table.unlink()
    assert judged(cell) == ("done", "corpus not here")


def test_no_network_is_asked_for_a_corpus(finished, judged, hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    cell = finished(AVERAGE)
    config = cell.config
    source = {"_target_": "attention_audit.corpora.hub.Hub", "path": "owner/name"}
    config["dataset"]["sources"] = [source]
    cell.open(config)
    assert judged(cell) == ("done", "corpus not here")
    assert hub.requests == []


def test_an_analysis_of_older_code_is_stale_until_it_is_made_again(finished, judged):
    cell = finished(AVERAGE)
    today = versions()["permutation"]
    cell.analysis("permutation", {"permutations": 2}, today - 1).write({"summary": []})
    assert judged(cell) == (
        "stale",
        f"permutation by version {today - 1} of its code, today's is {today}: "
        "made again by the same command",
    )
    cell.analysis("permutation", {"permutations": 3}, today).write({"summary": []})
    assert judged(cell)[0] == "stale"
    cell.analysis("permutation", {"permutations": 2}, today).write({"summary": []})
    cell.analysis("somebody_elses", {}, 7).write({"summary": []})
    assert judged(cell) == ("done", "")


def test_versions_read_from_the_source_are_those_of_the_classes():
    classes = [getattr(callbacks, name) for name in callbacks.__all__]
    ours = {
        c.name: c.version
        for c in classes
        if issubclass(c, callbacks.StoredAnalysis) and hasattr(c, "name")
    }
    assert len(ours) >= 8
    assert versions() == ours


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(encodr=1), "encodr: unknown (did you mean 'encoder'?)"),
        (lambda c: c.pop("limits"), "limits: missing"),
        (lambda c: c["dataset"].update(task="tagging"), "dataset.task: found 'tagging'"),
        (lambda c: c["dataset"]["sources"][0].update(sed=1), "sources[0].sed: unknown"),
        (lambda c: c.update(dataset=None), "refuses its settings"),
        (lambda c: c.update(trainer={"devices": "x"}), "refuses its settings"),
        (lambda c: c.update(seed=5), "today's cell of its settings differs in seed"),
    ],
)
def test_settings_that_today_refuses_are_stale(finished, judged, change, said):
    cell = finished(AVERAGE)
    config = cell.config
    change(config)
    (cell.folder / "config.yaml").write_text(yaml.safe_dump(config))
    state, why = judged(cell)
    assert state == "stale"
    assert said in why


@pytest.mark.parametrize(
    "name", ["status.json", "identity.json", "metrics.json", "manifest.json", "config.yaml"]
)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b"{a: [*b]}"])
def test_a_damaged_file_is_named_with_what_to_do(finished, status, name, content):
    cell = finished(AVERAGE)
    (cell.folder / name).write_bytes(content)
    said = status()
    assert (said.code, said.err) == (0, "")
    if name != "metrics.json" or content != b"[]":
        why = said.row("planted/")
        assert " damaged " in why
        assert name in said.out
        remedies = ("made again by the same command", "force=true", "move the folder away")
        assert any(remedy in said.out for remedy in remedies)


def test_a_folder_without_anything_is_shown(begun, status, store):
    (store / "sst" / "lstm+dot" / "0-0123abcd").mkdir(parents=True)
    (store / "sst" / "lstm+dot" / "notes").mkdir()
    assert "nothing yet: made by the same command" in status().row("sst/lstm+dot/0-0123abcd")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
STATES = st.sampled_from(["missing", "running", "fitted", "failed", "x"])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stored=st.fixed_dictionaries(
        {"state": STATES},
        optional={
            "started": ANY | st.datetimes().map(str) | st.just("0001-01-01T00:00:00+00:00"),
            "reason": ANY,
            "fitted": ANY,
            "pid": ANY,
            "host": st.text(),
            "finished": st.text(),
            "x": ANY,
        },
    ),
    name=st.sampled_from(["identity.json", "manifest.json", "config.yaml", "metrics.json"]),
    content=ANY,
)
def test_no_content_makes_it_raise(grid, store, status, stored, name, content):
    shutil.rmtree(store, ignore_errors=True)
    [cell] = grid(1)
    (cell.folder / "status.json").write_text(json.dumps(stored))
    (cell.folder / name).write_text(json.dumps(content))
    for more in ((), ("--json",)):
        said = status(*more)
        assert (said.code, said.err) == (0, "")
        assert any(word in said.out for word in ("done", "running", "failed", "stale", "damaged"))
        assert all(printable(line) == line for line in said.out.split("\n"))


def test_what_a_reason_holds_is_plain_text(begun, status):
    cell = begun(AVERAGE)
    edit(cell, "status", state="failed", reason="[bold]x[/bold] \x1b[31mred\x07 \u202eabc\r\x9b2J")
    said = status()
    assert "[bold]x[/bold] ?[31mred? ?abc??2J" in said.out
    assert not set(said.out) & set("\x1b\x07\u202e\r\x9b")


def test_a_cell_whose_lock_may_not_be_asked_is_running(begun, judged, monkeypatch):
    def refused(self):
        raise PermissionError(13, "Permission denied", "x.lock")

    cell = begun(AVERAGE)
    monkeypatch.setattr(Cell, "at_work", refused)
    state, why = judged(cell)
    assert state == "running"
    assert why.endswith("its lock may not be asked")


def test_clean_failed_removes_only_failed_cells_without_a_fit(
    finished, begun, worker, status, store
):
    done, gone = finished(AVERAGE), begun("seed=9")
    halfway = finished("seed=2")
    halfway.set_failed(RuntimeError("analysis broke"))
    broken = begun("encoder=cnn")
    broken.set_failed(ValueError("no"))
    busy = begun("encoder=cnn", "seed=1")
    busy.set_failed(ValueError("no"))
    worker(busy)
    said = status("--clean-failed")
    assert said.code == 0
    assert not broken.folder.exists()
    assert f"removed planted/cnn+additive/0-{broken.hash8}\n" in said.out
    assert f"left planted/cnn+additive/1-{busy.hash8}: it is at work\n" in said.out
    assert f"forgot the failure of planted/lstm+additive/2-{halfway.hash8}: its fit" in said.out
    assert busy.status().state == "failed"
    assert not (halfway.folder / "traceback.txt").exists()
    assert halfway.is_fitted
    assert halfway.status().state == "missing"
    assert "its fit is finished, its analyses are not" in said.row("planted/lstm+additive/2-")
    assert done.status().state == "fitted"
    assert gone.status().state == "running"
    assert status("--clean-failed").out.count("removed") == 0


def test_clean_failed_follows_no_link(begun, status, store, tmp_path):
    cell = begun(AVERAGE)
    cell.set_failed(ValueError("no"))
    cell.folder.parent.rename(tmp_path / "precious")
    cell.folder.parent.symlink_to(tmp_path / "precious")
    assert ": it is a link" in status("--clean-failed").out
    assert (tmp_path / "precious" / cell.folder.name / "status.json").exists()


def test_it_is_light_and_quick(grid, store):
    grid(72)
    code = (
        "import sys; from attention_audit.__main__ import main; main(sys.argv[1:]);"
        "print(*sorted({'torch', 'pytorch_lightning', 'datasets', 'wandb', 'pandas', 'pyarrow'}"
        " & set(sys.modules)), file=sys.stderr)"
    )
    arguments = [sys.executable, "-c", code, "status", "--store", str(store)]
    result = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert result.stderr == "\n"
    assert result.stdout.endswith(": 72 done\n")


def test_status_says_fitted_only_of_ours(begun):
    cell = begun(AVERAGE)
    assert Status.of({"state": "failed", "reason": "x"}, "p").reason == "x"
    with pytest.raises(ValueError, match=r"p: pid='x': run the cell with force=true"):
        Status.of({"state": "failed", "pid": "x"}, "p")
    assert cell.status().state == "running"
