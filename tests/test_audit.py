"""The engine of one cell: what is redone, what is not, and what a failure leaves behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from attention_audit import audit, cell, tracking
from attention_audit.callbacks import Correlation, Permutation
from attention_audit.cell import fitting
from attention_audit.store import Cell

Config = dict[str, Any]


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ATTENTION_AUDIT_CACHE", str(tmp_path / "cache"))
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "wandb"))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)


@pytest.fixture
def config(planted) -> Callable[..., Config]:
    """Composes the configuration of a tiny cell, with more overrides."""
    return partial(planted, "encoder=average", "budget.steps=5")


def content(found: Cell) -> dict[str, bytes]:
    """The results: all that two runs must agree on to the byte."""
    kept = ("metrics.json", "instances.parquet", "tokens.parquet", "summary.json")
    return {
        path.relative_to(found.folder).as_posix(): path.read_bytes()
        for path in found.folder.rglob("*")
        if path.name in kept
    }


def written(found: Cell) -> dict[str, int]:
    names = [found.folder / "checkpoint.ckpt", *(a.folder for a in found.analyses())]
    return {path.name: path.stat().st_mtime_ns for path in names}


def whole(chosen: Config) -> bool:
    return audit.is_whole(chosen, cell.locate(chosen))


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError("analysis broke\nsecond line")


def test_a_finished_cell_is_not_touched(config, monkeypatch):
    first = audit.run(config())
    assert first.status().state == "fitted"
    assert {a.name for a in first.analyses()} == {"correlation", "permutation", "adversarial"}
    assert whole(config())
    monkeypatch.setattr(audit, "_work", broken)
    assert audit.run(config()) == first
    assert not whole(config("seed=1"))


def test_what_is_finished_is_shown_from_a_store_that_cannot_be_written(config, monkeypatch):
    first = audit.run(config())
    monkeypatch.setattr(Cell, "lock", broken)
    assert audit.run(config()) == first


def test_the_same_numbers_whichever_way_they_are_come_by(config, tmp_path):
    at_once = audit.run(config())
    audit.run(config("encoder=cnn", "attention=dot"))
    elsewhere = f"store={tmp_path / 'other'}"
    for analysis in ("none", "permutation", "[adversarial,correlation]", "paper"):
        in_steps = audit.run(config(elsewhere, f"analysis={analysis}"))
    assert content(at_once) == content(in_steps)
    again = content(audit.run(config("force=true")))
    assert again == content(in_steps)


def test_a_failing_analysis_is_seen_and_only_what_is_missing_is_done_again(config, monkeypatch):
    chosen = config("analysis=[correlation,permutation]")
    with monkeypatch.context() as patch:
        patch.setattr(Permutation, "analyse", broken)
        with pytest.raises(RuntimeError, match="analysis broke"):
            audit.run(chosen)
    found = cell.locate(chosen).cell
    status = found.status()
    assert (status.state, status.reason) == ("failed", "RuntimeError: analysis broke")
    assert "second line" in (found.folder / "traceback.txt").read_text()
    assert found.is_fitted
    assert [a.name for a in found.analyses()] == ["correlation"]
    before = written(found)
    assert not whole(chosen)
    monkeypatch.setattr(fitting, "fit", broken)
    monkeypatch.setattr(Correlation, "analyse", broken)
    assert audit.run(chosen).status().state == "fitted"
    assert not (found.folder / "traceback.txt").exists()
    assert before.items() <= written(found).items()
    assert {a.name for a in found.analyses()} == {"correlation", "permutation"}


def test_ctrl_c_in_an_analysis_is_a_failure_with_its_name(config, monkeypatch):
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Permutation, "analyse", stop)
    with pytest.raises(KeyboardInterrupt):
        audit.run(config("analysis=permutation"))
    status = cell.locate(config("analysis=permutation")).cell.status()
    assert (status.state, status.reason) == ("failed", "KeyboardInterrupt")


@pytest.mark.parametrize("step", ["publish", "tracked"])
def test_a_cell_that_was_not_tracked_to_the_end_is_not_finished(config, monkeypatch, step):
    chosen = config("analysis=none")
    with monkeypatch.context() as patch:
        patch.setattr(tracking, step, broken)
        with pytest.raises(RuntimeError, match="analysis broke"):
            audit.run(chosen)
    assert cell.locate(chosen).cell.status().state == "failed"
    assert not whole(chosen)
    assert audit.run(chosen).status().state == "fitted"


def test_summary_is_complete_once_a_cell_is_finished(config, monkeypatch):
    chosen = config("analysis=none")

    def killed(*_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(audit.Store, "write_summary", killed)
        with pytest.raises(RuntimeError, match="killed"):
            audit.run(chosen)
    found = audit.run(chosen)
    assert found.hash8 in (found.root / "summary.csv").read_text()


def test_force_fits_and_analyses_again(config):
    chosen = config("analysis=permutation")
    found = audit.run(chosen)
    before = written(found)
    audit.run(config("analysis=permutation", "force=true"))
    after = written(found)
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())


def test_force_waits_for_the_process_at_work(config):
    chosen = config("analysis=none", "force=true")
    found = audit.run(config("analysis=none"))
    before = written(found)
    with found.lock():
        other = threading.Thread(target=audit.run, args=[chosen])
        other.start()
        other.join(0.5)
        assert other.is_alive()
        assert written(found) == before
        assert found.read_json("metrics")
    other.join(60)
    assert found.status().state == "fitted"
    assert written(found) != before


def test_a_removed_checkpoint_hurts_only_where_it_is_needed(config):
    found = audit.run(config("analysis=permutation"))
    (found.folder / "checkpoint.ckpt").unlink()
    assert audit.run(config("analysis=permutation")) == found
    with pytest.raises(FileNotFoundError, match=r"checkpoint\.ckpt is missing: .* force=true"):
        audit.run(config("analysis=[correlation,permutation]"))
    assert found.status().state == "failed"
    again = audit.run(config("analysis=[correlation,permutation]", "force=true"))
    assert again.status().state == "fitted"


def runs(found: Cell) -> list[Path]:
    return sorted((found.folder / "wandb").glob("offline-run-*"))


def test_a_run_of_its_own_for_each_cell_and_none_left_open(config, monkeypatch):
    import wandb

    finished = []
    finish = wandb.sdk.wandb_run.Run.finish

    def noted(run: Any, exit_code: int | None = None, **options: Any) -> None:
        finished.append((run.id, exit_code, dict(run.config)["seed"]))
        finish(run, exit_code=exit_code, **options)

    monkeypatch.setattr(wandb.sdk.wandb_run.Run, "finish", noted)
    tracked = ("logger=wandb", "analysis=permutation")
    first, second = (audit.run(config(*tracked, f"seed={seed}")) for seed in (0, 1))
    with monkeypatch.context() as patch:
        patch.setattr(Permutation, "analyse", broken)
        with pytest.raises(RuntimeError, match="analysis broke"):
            audit.run(config(*tracked, "seed=2"))
    third = cell.locate(config(*tracked, "seed=2")).cell
    found = [
        (f"planted-average-additive-{c.seed}-{c.hash8}", code, c.seed)
        for c, code in ((first, None), (second, None), (third, 1))
    ]
    assert finished == found
    assert [len(runs(c)) for c in (first, second, third)] == [1, 1, 1]
    assert wandb.run is None


def test_publish_draws_the_later_of_two_configs_and_passes_what_an_old_version_lacks(config):
    found = audit.run(config("analysis=permutation"))
    [new] = found.analyses()
    old = found.analysis("permutation", {"old": 1}, 0)
    old.write({"summary": []}, instances={"id": [0, 1], "delta_y_med": [5.0, 5.0]})
    other = found.analysis("permutation", {"old": 2}, 0)
    other.write({"summary": []}, instances={"id": [0]})

    class Logger:
        class experiment:
            summary: dict[str, Any] = {}  # noqa: RUF012

    tracking.publish(Logger, found, {"permutation": ("delta_y_med",)})  # type: ignore[arg-type]
    drawn = Logger.experiment.summary["delta_y_med/histogram"]
    assert sum(drawn.histogram) == 2
    assert new.written < old.written
    assert len(Logger.experiment.summary["instances"].data) == 2
    tables = {"delta_y_med/histogram", "instances"}
    json.dumps({k: v for k, v in Logger.experiment.summary.items() if k not in tables})


def test_a_broken_table_is_named(config):
    found = audit.run(config("analysis=permutation"))
    (found.analyses()[0].folder / "instances.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"instances\.parquet is not valid Parquet .*force=true"):
        found.analyses()[0].read_instances()
