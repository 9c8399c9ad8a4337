"""Models fitted beside a cell's own: shared, resumed, promoted, and never mixed up."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from attention_audit import audit, auxiliaries, cell
from attention_audit.auxiliaries import Auxiliaries
from attention_audit.callbacks import Diagnostic
from attention_audit.cell import fitting
from attention_audit.commands.rerun.finding import find
from attention_audit.commands.status.judging import Judge
from attention_audit.diagnostics import Subject
from attention_audit.predictions import Given
from attention_audit.store import Cell, Store

Config = dict[str, Any]
ALL = "analysis=wiegreffe_pinter"
NO_SEARCH = "adversary.search=false"


@pytest.fixture
def config(planted) -> Callable[..., Config]:
    """Composes the configuration of a tiny cell, with more overrides."""
    return partial(planted, "encoder=lstm", "budget.steps=5", NO_SEARCH)


@pytest.fixture
def fits(monkeypatch) -> list[str]:
    """The cells that are fitted from now on."""
    made: list[str] = []
    real = fitting.fit

    def fit(config: Config, into: Cell, *rest: Any) -> float:
        made.append(f"{into.name}/{into.seed}")
        return real(config, into, *rest)

    monkeypatch.setattr(fitting, "fit", fit)
    return made


def weights(found: Cell) -> dict[str, torch.Tensor]:
    stored = torch.load(found.folder / "checkpoint.ckpt", weights_only=True)
    return stored["state_dict"]


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


def content(found: Cell) -> dict[str, bytes]:
    return {
        path.relative_to(found.folder).as_posix(): path.read_bytes()
        for path in found.folder.rglob("*")
        if path.name in ("instances.parquet", "summary.json")
    }


def others(found: Cell) -> dict[str, list[Cell]]:
    """The auxiliary cells of the store, by role."""
    by_role: dict[str, list[Cell]] = {}
    for one in Store(found.root).cells():
        if one.role != "grid":
            by_role.setdefault(one.role, []).append(one)
    return by_role


def test_every_test_fits_what_it_needs_once_for_all(config, fits):
    found = audit.run(config(ALL))
    roles = others(found)
    assert set(roles) == {
        *("uniform", "plain", "seed", "adversary_0", "adversary_0.001"),
        *("guided_uniform", "guided_trained", "guided_base", "guided_seed"),
        *("guided_gradient", "guided_leave_one_out", "guided_permutation"),
    }
    assert len(fits) == 1 + sum(len(cells) for cells in roles.values())
    assert all(c.status().state == "fitted" and not c.damaged() for r in roles.values() for c in r)
    assert {c.read_json("manifest")["base"] for r in roles.values() for c in r} == {
        f"{found.name}/{found.folder.name}"
    }
    # None has a W&B run, and none is a row of the grid.
    summary = (found.root / "summary.csv").read_text().splitlines()[1:]
    assert {line.split(",")[4] for line in summary} == {found.hash8}
    fits.clear()
    before = content(found)
    for analysis in ("uniform", "seeds", "guided_mlp", "model_adversary"):
        alone = audit.run(config(f"analysis={analysis}", "budget.resamples=20"))
    audit.run(config(ALL, "seed=1", "diagnostics.lambdas=[0]"))
    assert alone == found
    assert before.items() <= content(found).items()
    # The other base is one of the first's seeds, and needs but its own dependants.
    assert "planted/lstm+additive/0" not in fits
    assert fits.count("planted/lstm+uniform/1") == 1
    assert fits.count("planted/lstm+additive/2") == 0


def test_an_auxiliary_cell_becomes_a_grid_cell_when_it_is_run(config, fits, tmp_path):
    first = audit.run(config("analysis=seeds"))
    [seed, *_] = [one for one in Store(first.root).cells() if one.seed == 1]
    assert seed.role == "seed"
    assert not audit.is_whole(config("seed=1", "analysis=none"), cell.locate(config("seed=1")))
    fits.clear()
    promoted = audit.run(config("seed=1", "analysis=none"))
    assert promoted == seed
    assert (promoted.role, fits, promoted.damaged()) == ("grid", [], [])
    assert promoted.read_json("manifest").get("base") is None
    assert f",1,{seed.hash8}," in (first.root / "summary.csv").read_text()
    # And stays one, when another cell needs it.
    audit.run(config("analysis=seeds", "budget.resamples=20"))
    assert (seed.role, fits) == ("grid", [])


def test_a_grid_cell_serves_as_an_auxiliary_one_as_it_is(config, fits):
    grid = audit.run(config("attention=uniform", "analysis=permutation"))
    before = content(grid)
    fits.clear()
    audit.run(config("analysis=uniform"))
    assert fits == ["planted/lstm+additive/0", "planted/lstm_summary+uniform/0"]
    assert (grid.role, content(grid)) == ("grid", before)
    assert [one.name for one in grid.analyses()] == ["permutation"]


def test_the_uniform_model_of_a_uniform_model_is_itself(config, fits):
    found = audit.run(config("attention=uniform", ALL))
    assert fits.count("planted/lstm+uniform/0") == 1 + 2  # and the adversaries, of another loss
    rows = {r["quantity"]: r["value"] for r in found.summary() if r["statistic"] == "value"}
    assert rows["uniform_f1_difference"] == 0


def test_the_base_stays_as_it_is_while_others_are_fitted(config):
    alone = audit.run(config("analysis=none"))
    before = weights(alone)
    stamp = (alone.folder / "checkpoint.ckpt").stat().st_mtime_ns
    audit.run(config("analysis=[guided_mlp,model_adversary]"))
    assert same(weights(alone), before)
    assert (alone.folder / "checkpoint.ckpt").stat().st_mtime_ns == stamp
    for adversary in (c for role, cells in others(alone).items() for c in cells if "adv" in role):
        assert not same(weights(adversary), before)


def test_a_killed_auxiliary_fit_goes_on_and_the_base_says_why(config, fits, monkeypatch):
    chosen = config("analysis=[uniform,permutation]")
    real = auxiliaries.fit_or_load

    def broken(config: Config, *rest: Any, **more: Any) -> Any:
        if config["attention"]["name"] == "uniform":
            raise RuntimeError("out of memory")
        return real(config, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(auxiliaries, "fit_or_load", broken)
        with pytest.raises(RuntimeError, match="out of memory"):
            audit.run(chosen)
    base = cell.locate(chosen).cell
    assert [one.name for one in base.analyses()] == ["permutation"]  # its fit had no part in it
    states = {one.name: one.status() for one in Store(base.root).cells()}
    roles = {one.name: one.role for one in Store(base.root).cells()}
    assert roles == {"planted/lstm+additive": "grid", "planted/lstm+uniform": "uniform"}
    judge = Judge()
    assert {(judge(one).role, judge(one).state) for one in Store(base.root).cells()} == {
        *(("grid", "failed"), ("uniform", "failed")),
    }
    assert states["planted/lstm+uniform"].state == "failed"
    assert states["planted/lstm+additive"].reason == "RuntimeError: out of memory"
    fits.clear()
    assert audit.run(chosen).status().state == "fitted"
    assert fits == ["planted/lstm+uniform/0", "planted/lstm_summary+uniform/0"]
    assert {one.status().state for one in Store(base.root).cells()} == {"fitted"}


@pytest.mark.parametrize("name", ["checkpoint.ckpt", "metrics.json", "vocabulary.json"])
def test_a_damaged_auxiliary_cell_is_made_again(config, fits, name):
    found = audit.run(config("analysis=uniform"))
    [uniform] = others(found)["uniform"]
    before = content(uniform)
    (uniform.folder / name).write_bytes(b"damaged")
    audit.run(config("analysis=uniform", "budget.resamples=20"))
    assert fits.count("planted/lstm+uniform/0") == (1 if name == "metrics.json" else 2)
    assert content(uniform)["instances.parquet"] == before["instances.parquet"]
    assert not uniform.damaged()


def test_an_auxiliary_cell_without_its_checkpoint_is_fitted_again_and_a_grid_cell_is_not(
    config, fits
):
    found = audit.run(config("analysis=uniform"))
    [uniform] = others(found)["uniform"]
    before = weights(uniform)
    (uniform.folder / "checkpoint.ckpt").unlink()
    assert Judge()(uniform).why == "without checkpoint.ckpt: made again when an analysis needs it"
    audit.run(config("analysis=uniform", "budget.resamples=20"))
    assert fits.count("planted/lstm+uniform/0") == 2
    assert same(weights(uniform), before)
    assert uniform.role == "uniform"
    audit.run(config("attention=uniform", "analysis=none"))
    (uniform.folder / "checkpoint.ckpt").unlink()
    with pytest.raises(FileNotFoundError, match="is missing: run the cell with force=true"):
        audit.run(config("analysis=uniform", "budget.resamples=30"))


def test_two_cells_that_need_each_other_do_not_wait_for_ever(config):
    failures: list[BaseException] = []
    # A composed configuration is of this thread: both are made before.
    chosen = [config("analysis=seeds", f"seed={seed}", "diagnostics.seeds=1") for seed in (0, 1)]
    places = [cell.locate(one) for one in chosen]
    with places[1].cell.lock():  # as its own process holds it, busy analysing
        waiting = threading.Thread(target=lambda: _kept(failures, audit.run, chosen[0]))
        waiting.start()
        waiting.join(timeout=60)
        assert not waiting.is_alive()
    assert not failures
    assert places[0].cell.status().state == places[1].cell.status().state == "fitted"


def _kept(failures: list[BaseException], work: Callable[..., Any], *arguments: Any) -> None:
    try:
        work(*arguments)
    except BaseException as error:  # noqa: BLE001 (the test shows it)
        failures.append(error)


def test_a_seed_that_changes_nothing_is_refused(config, monkeypatch):
    chosen = config("analysis=seeds", "diagnostics.seeds=1")
    real = auxiliaries.fit_or_load

    def seedless(config: Config, *rest: Any, **more: Any) -> Any:
        return real({**config, "seed": 0}, *rest, **more)

    monkeypatch.setattr(auxiliaries, "fit_or_load", seedless)
    with pytest.raises(ValueError, match="seed 1: its fitted weights are those of seed 0, bit for"):
        audit.run(chosen)
    assert cell.locate(chosen).cell.status().state == "failed"


def test_nothing_is_chosen_by_the_test_split(config, monkeypatch, tmp_path):
    found = audit.run(config(ALL))
    real = fitting.prepare_corpus

    def other_labels(*given: Any) -> Any:
        prepared = real(*given)
        test = prepared.splits["test"]
        changed = test.map(lambda row: {"label": 1 - row["label"]}, load_from_cache_file=False)
        object.__setattr__(prepared, "splits", {**prepared.splits, "test": changed})
        return prepared

    monkeypatch.setattr(fitting, "prepare_corpus", other_labels)
    other = audit.run(config(ALL, f"store={tmp_path / 'other'}"))
    assert other.read_table("instances") != found.read_table("instances")
    for one in Store(found.root).cells():
        [twin] = [
            c
            for c in Store(other.root).cells()
            if c.folder.name == one.folder.name and c.name == one.name
        ]
        assert same(weights(one), weights(twin)), one.name


class Noted(Diagnostic):
    """Keeps what it is given, to look at."""

    name = "noted"
    seen: list[tuple[Subject, Auxiliaries]] = []  # noqa: RUF012

    def __init__(self, attention: Any, resamples: int) -> None:
        self.resamples = resamples

    def prepare(self, base: Subject, fit: Any, config: Any) -> None:
        Noted.seen.append((base, fit))

    def diagnose(self, base: Any, task: Any, batches: Any) -> Any:
        raise RuntimeError("seen enough")


@pytest.fixture
def prepared(config, monkeypatch) -> tuple[Subject, Auxiliaries]:
    """A base model and what fits others beside it."""
    from attention_audit import callbacks

    monkeypatch.setattr(callbacks, "Uniform", Noted)
    with pytest.raises(RuntimeError, match="seen enough"):
        audit.run(config("analysis=uniform"))
    return Noted.seen.pop()


def test_a_frozen_model_attends_as_it_was_told_instance_by_instance(prepared):
    base, fit = prepared
    given = base.gives(("train", "dev", "test"))
    frozen = {"_target_": "attention_audit.models.attentions.Frozen", "name": "frozen"}
    change = {"attention": frozen, "auxiliary": {"given": {"test": 1}}}
    subject = fit("guided", change, given)
    for split in ("train", "dev", "test"):
        mine, told = subject.read(split), base.read(split)
        for instance, row in zip(mine.ids.tolist(), mine.attention, strict=True):
            place = told.ids.tolist().index(instance)
            torch.testing.assert_close(row, told.attention[place])


def test_weights_of_one_split_are_refused_for_another(prepared):
    base, fit = prepared
    frozen = {"_target_": "attention_audit.models.attentions.Frozen", "name": "frozen"}
    change = {"attention": frozen, "auxiliary": {"given": {"test": 2}}}
    train = base.gives(("train",))
    with pytest.raises(ValueError, match="nothing is there for instance"):
        fit("guided", change, train)
    # By place they would have fitted: there are enough of them.
    assert len(train.ids) > len(base.read("test").ids)


def test_what_was_given_is_part_of_a_cells_identity(prepared):
    base, fit = prepared
    frozen = {"_target_": "attention_audit.models.attentions.Frozen", "name": "frozen"}
    given = base.gives(("train", "dev", "test"))
    shuffled = Given.of(given.ids, [row.flip(0) for row in given.rows()])
    one, other = (
        fit("guided", {"attention": frozen, "auxiliary": {"given": {"of": of}}}, weights)
        for of, weights in (("base", given), ("flipped", shuffled))
    )
    assert one.weights != other.weights
    assert not np.array_equal(
        one.read("test").probabilities.numpy(), other.read("test").probabilities.numpy()
    )


def test_a_user_cannot_ask_for_an_auxiliary_fit(config):
    with pytest.raises(ValueError, match=r"auxiliary: found .*, expected null: analyses set it"):
        audit.run({**config(), "auxiliary": {"patience": 3}})


def test_log_odds_of_a_question_are_refused_before_training(planted, composed, fits):
    chosen = composed("dataset=babi_1", "trainer=smoke", "logger=none", "analysis=log_odds")
    with pytest.raises(ValueError, match=r"analysis\.log_odds: found dataset.task=qa, expected"):
        audit.run(chosen)
    assert fits == []


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("encoder@diagnostics.mlp=lstm", "diagnostics.mlp: found lstm, expected an encoder that"),
        ("attention@diagnostics.uniform=dot", "diagnostics.uniform: found dot, expected an att"),
    ],
)
def test_what_a_sentence_would_call_by_a_wrong_name_is_refused(planted, fits, part, said):
    name = part.partition(".")[2].partition("=")[0]
    for analysis in {"mlp": ["guided_mlp"]}.get(name, ["uniform", "guided_mlp", "model_adversary"]):
        with pytest.raises(ValueError, match=re.escape(said)):
            audit.run(planted(part, f"analysis={analysis}"))
    assert fits == []
    audit.run(planted("encoder=average", "encoder@diagnostics.mlp=average", "analysis=uniform"))


def test_a_model_that_learns_no_weights_has_none_to_compare(config):
    found = audit.run(config("attention=uniform", "analysis=guided_mlp"))
    quantities = {row["quantity"] for row in found.summary()}
    assert {"guided_uniform_f1", "guided_base_f1"} <= quantities
    assert not any("guided_trained" in quantity for quantity in quantities)


def test_every_diagnostic_runs_on_a_question(composed, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_AUDIT_CACHE", str(tmp_path / "cache"))
    chosen = composed(
        *("dataset=babi_1", "trainer=smoke", "logger=none", ALL, "dataset.hidden=4"),
        *("dataset.embedding=6", "limits.train=60", "limits.test=10", "budget.steps=3"),
    )
    found = audit.run(chosen)
    quantities = {row["quantity"] for row in found.summary()}
    assert {"uniform_accuracy_difference", "seed_jsd", "guided_base_accuracy"} <= quantities
    assert "excess" not in quantities  # no frontier is exact there


def test_a_fit_beside_a_cells_own_is_timed_as_a_whole(config, monkeypatch):
    moments = (f"2026-01-01T00:{minute:02}:00+00:00" for minute in range(60))
    monkeypatch.setattr(auxiliaries, "now", lambda: next(moments))
    found = audit.run(config("analysis=uniform"))
    [uniform], [plain] = others(found)["uniform"], others(found)["plain"]
    assert uniform.status().started == "2026-01-01T00:00:00+00:00"
    assert plain.status().started == "2026-01-01T00:01:00+00:00"


def test_status_finds_nothing_wrong_with_them_and_names_their_roles(config):
    found = audit.run(config("analysis=[uniform,guided_mlp]"))
    judge = Judge()
    judged = [judge(one) for one in Store(found.root).cells()]
    assert {(one.state, one.why) for one in judged} == {("done", "")}
    assert {one.role for one in judged} > {"grid", "uniform", "guided_base", "adversary_0"}


def test_a_fit_that_needs_what_it_was_given_is_not_made_again_alone(config):
    found = audit.run(config("analysis=model_adversary"))
    [adversary] = others(found)["adversary_0.001"]
    with pytest.raises(
        ValueError, match=re.escape(f"the analyses of {found.name}/{found.folder.name};")
    ):
        find(str(adversary.folder), found.root)
    assert find(str(found.folder), found.root) == found


def test_a_damaged_grid_cell_that_another_needs_stays_one_whose_analyses_are_to_be_made(config):
    seed = audit.run(config("seed=1", "analysis=permutation"))
    (seed.folder / "checkpoint.ckpt").write_bytes(b"damaged")
    audit.run(config("analysis=seeds"))
    assert (seed.role, seed.damaged(), seed.analyses()) == ("grid", [], [])
    judged = Judge()(seed)
    assert (judged.state, judged.role) == ("stale", "grid")
    assert "its fit is finished, its analyses are not" in judged.why
    audit.run(config("seed=1", "analysis=permutation"))
    assert Judge()(seed).state == "done"
