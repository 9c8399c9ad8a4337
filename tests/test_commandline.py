"""A typo costs one line and no work: nothing is imported, fitted or written for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention_audit.commandline import clear_errors, refuse_typos

CONF = Path(__file__).resolve().parents[1] / "conf"

TYPOS = {
    # groups and options
    "encodr=lstm": "encodr: unknown (did you mean 'encoder'?); expected one of",
    "encoder=lstn": "encoder=lstn: unknown (did you mean 'lstm'?); expected one of",
    "dataset=ssst": "(did you mean 'sst'?)",
    "analysis=permutaton": "(did you mean 'permutation'?)",
    "analysis=[correlation,permutaton]": "(did you mean 'permutation'?)",
    "analysis=nothing": "expected one of adversarial, contexts, correlation, guided_mlp",
    "trainer=smokee": "(did you mean 'smoke'?)",
    "trainer=smoke analysis=nothing": "analysis=nothing: unknown",
    "vectors=glov": "(did you mean 'glove'?)",
    "logger=wandbb": "(did you mean 'wandb'?)",
    "experiment=jain_walace": "(did you mean 'jain_wallace'?)",
    "hydra/launcher=jobliib": "expected one of basic",
    "encoder=/etc/passwd": "passwd",
    "~encoder": "~encoder: no cell can do without it",
    # keys
    "sed=1": "sed: unknown (did you mean 'seed'?)",
    "encoder.hiden=3": "encoder.hiden: unknown (did you mean 'hidden'?); expected one of hidden",
    "trainer.max_epoch=3": "(did you mean 'max_epochs'?)",
    "trainer.max.epochs=3": "trainer.max: unknown; expected one of",
    "dataset.text.tokeniser=spacy": "(did you mean 'tokenizer'?)",
    "limits.tran=3": "(did you mean 'train'?); expected one of dev, test, train",
    "analysis.corelation.resamples=3": "analysis.corelation: unknown (did you mean 'correlation'?)",
    "hydra.run.dirr=x": "hydra.run.dirr: unknown to Hydra",
    # additions that nothing would read
    "+encodr=lstm": "encodr: unknown (did you mean 'encoder'?)",
    "+limits.tran=3": "limits.tran: unknown (did you mean 'train'?)",
    "++budget.stps=3": "budget.stps: unknown (did you mean 'steps'?)",
    "+training.lr=3": "training.lr: unknown; expected one of",
    "+dataset.ephocs=3": "dataset.ephocs: unknown (did you mean 'epochs'?)",
    # values
    "trainer.max_epochs=two": "trainer.max_epochs: Value 'two'",
    "seed=one": "seed: Value 'one'",
    "seed.first=1": "seed",
    "limits.train=few": "limits.train: Value 'few'",
    "dataset=files,sst": "add --multirun",
    # what cannot be read
    "encoder": "encoder: cannot be read",
    "encoder=lstm=3": "encoder=lstm=3: cannot be read",
    "seed=[1": "seed=[1: cannot be read",
    # in a sweep, wherever it stands
    "-m encoder=lstm,lstn": "encoder=lstn: unknown (did you mean 'lstm'?)",
    "-m seed=0,1 encoder=lstm,cnn attention=dot,additve": "attention=additve: unknown",
    "-m seed=0,1,two": "seed: Value 'two'",
    "-m seed=range(0,3) trainer.max_epochs=1,two": "trainer.max_epochs: Value 'two'",
    "-m encoder=choice(lstm,lstn)": "encoder=lstn: unknown",
    "-m encoder=glob(*) +budget.stps=1": "budget.stps: unknown",
    "-m +limits.tran=1,2": "limits.tran: unknown",
    "-m experiment=jain_walace": "(did you mean 'jain_wallace'?)",
    # where only the configuration is asked for
    "--cfg job trainer=smokee": "(did you mean 'smoke'?)",
}


@pytest.mark.parametrize(("line", "said"), TYPOS.items(), ids=TYPOS)
def test_a_typo_is_refused_in_one_line(line, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        refuse_typos(line.split(), CONF)
    out, err = capsys.readouterr()
    assert end.value.code == 2
    assert (out, err.count("\n"), err.count("error: ")) == ("", 1, 1)
    assert err.startswith("error: ")
    assert said in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "",
        "dataset=sst encoder=cnn attention=dot seed=1",
        "-m dataset=sst,imdb encoder=lstm,average",
        "-m seed=range(0,5) encoder=glob(*) attention=choice(dot,additive)",
        "analysis=[correlation,permutation] trainer=smoke analysis=none",
        "++seed=1 ++dataset.epochs=3 +trainer.accumulate_grad_batches=2",
        "dataset.sources.1.train=100 ~analysis",
        "encoder=cnn encoder.kernels=[1,3] limits.train=null",
        "experiment=jain_wallace_code vectors=glove vectors.path=somewhere.txt",
        "-m experiment=jain_wallace",
        "--help encoder=lstn",
        "--hydra-help",
        "--info",
        "--cfg job",
    ],
)
def test_what_is_right_passes(line, capsys):
    refuse_typos(line.split(), CONF)
    assert capsys.readouterr() == ("", "")


def test_options_of_a_users_own_folder_count(tmp_path, capsys):
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder" / "mine.yaml").write_text("name: mine\n")
    arguments = ["--config-dir", str(tmp_path)]
    refuse_typos([*arguments, "encoder=mine"], CONF)
    with pytest.raises(SystemExit):
        refuse_typos([*arguments, "encoder=mien"], CONF)
    assert "(did you mean 'mine'?)" in capsys.readouterr().err


@pytest.mark.parametrize("error", [ValueError("a\n b"), FileNotFoundError("a b"), OSError("a b")])
def test_bad_input_is_one_line(error, capsys):
    with pytest.raises(SystemExit) as end, clear_errors():
        raise error
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: a b\n"


@pytest.mark.parametrize("error", [TypeError, KeyError, RuntimeError, ZeroDivisionError])
def test_a_fault_of_the_program_is_shown_as_it_is(error):
    with pytest.raises(error), clear_errors():
        raise error("a fault")
