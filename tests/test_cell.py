"""A fit that is killed, interrupted, repeated, moved, or whose files were tampered with."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.exceptions import SIGTERMException

from attention_audit.cell import Place, fit_or_load, locate
from attention_audit.cell import fitting as cell_module
from attention_audit.trainer import guarded

Config = dict[str, Any]


@pytest.fixture
def config(planted) -> Callable[..., Config]:
    """Composes the configuration of a tiny cell, with more overrides."""
    return partial(planted, "trainer.max_epochs=3")


def fit(config: Config) -> Place:
    place = locate(config)
    with place.cell.lock():
        place.cell.open(config)
        fit_or_load(config, place)
    return place


def weights(place: Place) -> dict[str, torch.Tensor]:
    stored = torch.load(place.cell.folder / "checkpoint.ckpt", weights_only=True)
    return stored["state_dict"]


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


class StopAfter(pl.Callback):
    """Raises while an epoch (from 0) is trained, as a kill would end it."""

    def __init__(self, epoch: int, error: BaseException) -> None:
        self.epoch = epoch
        self.error = error

    def on_train_batch_end(self, trainer, *_: Any) -> None:
        if trainer.current_epoch == self.epoch:
            raise self.error


def interrupted(config: Config, epoch: int, error: BaseException) -> None:
    make = cell_module.make_trainer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            cell_module,
            "make_trainer",
            lambda config, callbacks, *rest: make(
                config, [*callbacks, StopAfter(epoch, error)], *rest
            ),
        )
        with pytest.raises(type(error)):
            fit(config)


def test_a_fit_leaves_its_lasting_files_only(config):
    place = fit(config())
    assert {path.name for path in place.cell.folder.iterdir()} == {
        *("checkpoint.ckpt", "config.yaml", "identity.json", "manifest.json", "status.json"),
        *("vocabulary.json", "checksums.json"),
    }
    assert place.cell.is_fitted
    assert place.cell.status().state != "fitted"  # that is for who analyses it to say


def test_the_same_cell_has_the_same_weights_also_as_the_third_of_a_process(config, tmp_path):
    first = weights(fit(config()))
    fit(config("encoder=cnn", "seed=5"))
    # The first found no tokenised text in the cache, the third does.
    again = weights(fit(config(f"store={tmp_path / 'other'}")))
    assert same(first, again)
    assert not same(first, weights(fit(config("seed=1"))))


@pytest.mark.parametrize("encoder", ["lstm", "average"])
@pytest.mark.parametrize("epoch", [1, 2])
def test_a_killed_fit_goes_on_to_the_same_weights(config, tmp_path, encoder, epoch):
    whole = fit(config(f"encoder={encoder}", f"store={tmp_path / 'whole'}"))
    killed = config(f"encoder={encoder}")
    interrupted(killed, epoch, RuntimeError("killed"))
    folder = locate(killed).cell.folder
    assert torch.load(folder / "last.ckpt", weights_only=True)["epoch"] == epoch - 1
    resumed = fit(killed)
    assert same(weights(whole), weights(resumed))
    assert not (folder / "last.ckpt").exists()
    best = [place.cell.read_json("manifest")["best_epoch"] for place in (whole, resumed)]
    assert best[0] == best[1]


def test_a_killed_fit_whose_folder_was_moved_remembers_its_best_epoch(config, tmp_path):
    """From epoch 1 on nothing is learned but noise, so that epoch 0 or 1 is the best."""
    harmful = ("training.learning_rate=0.3", "trainer.max_epochs=5")
    whole = fit(config(*harmful, f"store={tmp_path / 'whole'}"))
    best = whole.cell.read_json("manifest")["best_epoch"]
    assert best < 5, "the test needs a best epoch that is not the last"
    interrupted(config(*harmful), best, RuntimeError("killed"))
    shutil.move(tmp_path / "multirun", tmp_path / "moved")
    resumed = fit(config(*harmful, f"store={tmp_path / 'moved'}"))
    assert same(weights(whole), weights(resumed))


def test_a_fit_killed_just_before_it_was_said_finished_is_kept(config, monkeypatch):
    def killed(*_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(cell_module, "keep", killed)
        with pytest.raises(RuntimeError, match="killed"):
            fit(config())
    cell = locate(config()).cell
    best = torch.load(cell.folder / "best.ckpt", weights_only=True)["state_dict"]
    assert not cell.is_fitted
    assert same(weights(fit(config())), best)


def test_a_last_epoch_without_the_best_one_is_not_gone_on_with(config, tmp_path):
    whole = weights(fit(config(f"store={tmp_path / 'whole'}")))
    interrupted(config(), 1, RuntimeError("killed"))
    (locate(config()).cell.folder / "best.ckpt").unlink()
    assert same(weights(fit(config())), whole)


def test_ctrl_c_is_an_exception_and_later_ones_are_heard(config):
    handler = signal.getsignal(signal.SIGINT)
    interrupted(config(), 1, KeyboardInterrupt())
    assert signal.getsignal(signal.SIGINT) is handler
    assert fit(config()).cell.is_fitted


def test_another_exit_passes():
    with pytest.raises(SystemExit, match="3"), guarded():
        raise SystemExit(3)


@pytest.mark.parametrize("damage", [b"", b"garbage", "half", "one bit"])
def test_a_damaged_checkpoint_is_fitted_again_to_the_same_weights(config, caplog, damage):
    place = fit(config())
    whole = weights(place)
    path = place.cell.folder / "checkpoint.ckpt"
    content = bytearray(path.read_bytes())
    if damage == "one bit":
        content[len(content) // 2] ^= 1
    path.write_bytes({"half": content[:2000], "one bit": content}.get(damage, damage))
    assert place.cell.damaged() == ["checkpoint.ckpt"]
    assert same(weights(fit(config())), whole)
    assert f"{path} is damaged: making it again" in caplog.text
    assert place.cell.damaged() == []


def test_a_removed_checkpoint_is_one_clear_line(config):
    place = fit(config())
    (place.cell.folder / "checkpoint.ckpt").unlink()
    with pytest.raises(FileNotFoundError, match=r"checkpoint\.ckpt is missing: .* force=true"):
        fit(config())


def test_a_fit_whose_last_epoch_is_damaged_starts_again(config, caplog, tmp_path):
    whole = weights(fit(config(f"store={tmp_path / 'whole'}")))
    interrupted(config(), 1, RuntimeError("killed"))
    path = locate(config()).cell.folder / "last.ckpt"
    path.write_bytes(path.read_bytes()[:2000])
    assert same(weights(fit(config())), whole)
    assert f"{path} is not a whole checkpoint: fitting from the start" in caplog.text


def test_a_model_of_another_vocabulary_is_refused(config):
    place = fit(config())
    vocabulary = place.cell.read_json("vocabulary")
    place.cell.write_json("vocabulary", {**vocabulary, "more": 1})
    place.cell.seal()
    with pytest.raises(ValueError, match=r"fitted on another vocabulary .* force=true"):
        fit(config())


@pytest.mark.skipif(os.name == "nt", reason="needs resource limits")
def test_a_full_disk_is_one_clear_line_and_the_old_checkpoint_stays(config):
    import resource

    interrupted(config(), 1, RuntimeError("killed"))
    path = locate(config()).cell.folder / "last.ckpt"
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: .*\.ckpt") as error:
            fit(config())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    assert not list(path.parent.glob(".tmp-*"))
    assert fit(config()).cell.is_fitted


def test_a_fit_that_diverges_is_refused(config):
    with pytest.raises(ValueError, match=r"diverged: after epoch 1 .* lower training.learning"):
        fit(config("training.learning_rate=1e30", "encoder=average"))


def test_weights_that_are_not_finite_are_refused(config):
    place = fit(config("encoder=average"))
    path = place.cell.folder / "checkpoint.ckpt"
    stored = torch.load(path, weights_only=True)
    stored["state_dict"]["model.embedding.weight"].fill_(torch.nan)
    torch.save(stored, path)
    place.cell.seal()
    with pytest.raises(ValueError, match="not finite: run the cell with force=true"):
        fit(config("encoder=average"))


def test_a_new_fit_leaves_no_analysis_of_the_old_one(config):
    place = fit(config("encoder=average"))
    place.cell.analysis("some", {}, 1).write({"summary": []})
    (place.cell.folder / "status.json").unlink()
    assert fit(config("encoder=average")).cell.analyses() == []


def test_sigterm_is_not_success():
    def ended() -> None:
        raise SIGTERMException

    with pytest.raises(SystemExit) as stop, guarded():
        ended()
    assert stop.value.code == 143


@pytest.fixture
def epochs(caplog) -> Callable[[], list[float]]:
    """What each epoch that was trained until now was chosen by, forgotten when it is told."""

    def told() -> list[float]:
        lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("epoch ")]
        caplog.clear()
        return [float(line.split()[-1]) for line in lines]

    caplog.set_level("INFO")
    return told


def patient(config: Callable[..., Config], patience: int | None, *overrides: str) -> Config:
    """Epochs beyond the first ones only add noise, so that the best one is soon over."""
    harmful = ("training.learning_rate=0.3", "trainer.max_epochs=30", *overrides)
    auxiliary = None if patience is None else {"patience": patience}
    return {**config(*harmful), "auxiliary": auxiliary}


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_ends_a_fit_so_many_epochs_after_its_best_one(config, epochs, patience):
    place = fit(patient(config, patience))
    trained = epochs()
    best = place.cell.read_json("manifest")["best_epoch"]
    assert len(trained) == best + patience < 30
    assert trained[best - 1] == max(trained)


def test_without_patience_a_fit_takes_all_its_epochs(config, epochs):
    fit(patient(config, None))
    assert len(epochs()) == 30


def test_epochs_that_may_not_be_chosen_are_no_reason_to_stop(config, epochs):
    place = fit(patient(config, 1, "training.first_epoch=4"))
    assert len(epochs()) > 4
    assert place.cell.read_json("manifest")["best_epoch"] > 4


def test_a_fit_that_patience_had_ended_does_not_go_on_when_it_was_killed_then(
    config, epochs, monkeypatch
):
    def killed(*_: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(cell_module, "keep", killed)
        with pytest.raises(RuntimeError, match="killed"):
            fit(patient(config, 2))
    assert epochs()
    folder = locate(patient(config, 2)).cell.folder
    best = torch.load(folder / "best.ckpt", weights_only=True)["state_dict"]
    place = fit(patient(config, 2))
    assert epochs() == []
    assert same(weights(place), best)
