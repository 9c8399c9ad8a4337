"""What is read cannot run, what is written stays in its place, and secrets are in neither."""

from __future__ import annotations

import ast
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st

import attention_audit
from attention_audit import audit, cell
from attention_audit.__main__ import main
from attention_audit.callbacks import Permutation
from attention_audit.cell import keeping
from attention_audit.configuration import check_targets
from attention_audit.corpora import hub_client
from attention_audit.corpora.files import Files
from attention_audit.corpora.repository import Repository
from attention_audit.privacy import refuse_secrets, without_secrets
from attention_audit.store import Cell, Store, fingerprint
from attention_audit.store.tables import read_table
from attention_audit.text import tokenised, word2vec

SOURCE = Path(attention_audit.__file__).parent
PASSWORD = "correct-horse-battery"
TINY = ("encoder=average", "trainer.max_epochs=1", "analysis=none")


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.fixture
def fuse(tmp_path: Path) -> Path:
    """The file that what runs would create."""
    return tmp_path / "it-ran"


@pytest.fixture
def bomb(fuse: Path) -> Iterator[Bomb]:
    """Something that must not be unpickled."""
    made = Bomb(fuse)
    pickle.loads(pickle.dumps(made))  # noqa: S301 (it does what it is feared to do)
    assert fuse.exists()
    fuse.unlink()
    yield made
    assert not fuse.exists()


def poison(path: Path, bomb: Bomb, kind: str) -> None:
    if kind == "pickle":
        path.write_bytes(pickle.dumps(bomb, protocol=2))  # the one that torch knows
    else:
        torch.save({"state_dict": bomb, "epoch": 1}, path)


# -- what is read


@pytest.mark.parametrize("kind", ["pickle", "torch"])
@pytest.mark.parametrize("name", [keeping.CHECKPOINT, keeping.LAST, keeping.BEST])
def test_a_poisoned_checkpoint_is_refused_in_one_line(tmp_path, bomb, kind, name):
    poison(tmp_path / name, bomb, kind)
    with pytest.raises(ValueError, match=rf"{name} is not a whole checkpoint: [^\n]+$"):
        keeping.read(tmp_path / name, "run the cell with force=true")


@pytest.mark.parametrize("name", ["checkpoint.ckpt", "last.ckpt", "best.ckpt"])
def test_no_cell_runs_what_its_folder_was_given(planted, bomb, name):
    found = audit.run(planted(*TINY))
    if name != keeping.CHECKPOINT:
        found.discard()
        for path in {keeping.BEST, keeping.LAST}:
            (found.folder / path).write_bytes(b"")
    poison(found.folder / name, bomb, "torch")
    # It is not what it was: the fit is made again, without a look inside.
    assert audit.run(planted(*TINY[:-1], "analysis=permutation")).status().state == "fitted"


def test_damaged_caches_are_made_again_and_never_run(tmp_path, bomb):
    (tmp_path / "words.json").write_text('["a"]')
    for content in (np.array([bomb], dtype=object), None):
        if content is None:
            (tmp_path / "vectors.npy").write_bytes(pickle.dumps(bomb))
        else:
            np.save(tmp_path / "vectors.npy", content, allow_pickle=True)
        assert word2vec._read(tmp_path) is None
    (tmp_path / tokenised._FACTS).write_bytes(pickle.dumps(bomb))
    assert tokenised._read(tmp_path) is None
    file, cache = tmp_path / "corpus.txt", tmp_path / "cache"
    file.write_text("text")
    os.utime(file, (0, 0))
    known = fingerprint({}, [file], cache)
    for entry in cache.iterdir():
        entry.write_bytes(pickle.dumps(bomb))
    assert fingerprint({}, [file], cache) == known


def test_a_tables_metadata_is_data(tmp_path, bomb):
    """Arrow once unpickled the type of a column that said it was Python's."""
    metadata = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": pickle.dumps(bomb),
    }
    field = pa.field("text", pa.string(), metadata=metadata)
    schema = pa.schema([field, pa.field("label", pa.int64())])
    table = pa.table([["good film", "bad film"] * 9, [1, 0] * 9], schema=schema)
    pq.write_table(table, tmp_path / "table.parquet")
    with (
        (tmp_path / "train.arrow").open("wb") as file,
        pa.ipc.new_stream(file, schema) as stream,
    ):
        stream.write_table(table)
    assert len(read_table(tmp_path / "table.parquet")) == 18
    assert len(Files(path=str(tmp_path / "table.parquet")).load().splits["train"]) == 18
    facts = '{"splits": ["train"], "classes": [], "source": "", "dropped": {}, "differs": ""}'
    (tmp_path / tokenised._FACTS).write_text(facts)
    found = tokenised._read(tmp_path)
    assert found is None or len(found.splits["train"]) == 18


def calls() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every call in the package: where, what, and its keyword arguments, as written."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                named = {word.arg or "": ast.unparse(word.value) for word in node.keywords}
                where = f"{path.relative_to(SOURCE)}:{node.lineno}"
                yield where, ast.unparse(node.func), named


def test_no_reader_in_the_package_can_run_what_it_reads():
    required = {"torch.load": ("weights_only", "True"), "np.load": ("allow_pickle", "False")}
    forbidden = {
        "eval",
        "exec",
        "compile",
        "os.system",
        "pickle.load",
        "pickle.loads",
        "np.fromfile",
        "yaml.unsafe_load",
        "yaml.full_load",
        "pd.read_pickle",
        "joblib.load",
        "shelve.open",
        "marshal.loads",
        "__import__",
    }
    seen = set()
    for where, name, named in calls():
        assert name not in forbidden, f"{where}: {name}"
        assert not name.startswith(("subprocess.", "tarfile.", "zipfile.", "dill.")), where
        if name in required:
            key, value = required[name]
            assert named.get(key) == value, f"{where}: {name} without {key}={value}"
            seen.add(name)
        if name.endswith("trainer.fit"):
            assert named["weights_only"] == "True", where
            seen.add("fit")
    assert seen == {*required, "fit"}


# -- settings


TAG = '!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ["{}"]]'


@pytest.mark.parametrize("way", ["folder", "variable"])
def test_a_tag_in_a_configuration_file_is_refused(program, tmp_path, monkeypatch, fuse, way):
    (tmp_path / "mine" / "dataset").mkdir(parents=True)
    (tmp_path / "mine" / "dataset" / "evil.yaml").write_text(f"name: {TAG.format(fuse)}\n")
    if way == "variable":
        monkeypatch.setenv("ATTENTION_AUDIT_CONF", "mine")
    chosen = ("--config-dir", "mine") if way == "folder" else ()
    said = program(*chosen, "dataset=evil")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "a configuration file cannot be read: could not determine a constructor" in said.err
    assert not fuse.exists()


BOMB = "a: &a [x, x]\n" + "\n".join(f"{n}: &{n} [*a, *a]" for n in "bcd")
HOSTILE = {
    "a tag": (f"seed: {TAG}", "could not determine a constructor"),
    "aliases": (BOMB, "an alias, which is never stored"),
    "an interpolation": ("store: ${{oc.env:HOME}}", "an interpolation, which is never stored"),
    "nothing": ("", "it holds no settings"),
    "a list": ("- 1", "it holds no settings"),
    "depth": ("[" * 5000, "cannot be read"),
}


@pytest.mark.parametrize(("text", "said"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_stored_configuration_is_named(planted, capsys, fuse, text, said):
    found = audit.run(planted(*TINY))
    (found.folder / "config.yaml").write_text(text.format(fuse) if "{}" in text else text)
    found.seal()  # so that it is not simply taken for damaged
    assert main(["status", "--store", str(found.root)]) == 0
    shown = capsys.readouterr().out
    assert " damaged " in shown
    assert said in shown
    with pytest.raises(SystemExit) as end:
        main(["rerun", str(found.folder)])
    assert end.value.code == 2
    assert not fuse.exists()


def node(target: str, **arguments: Any) -> dict[str, Any]:
    return {"_target_": target, **arguments}


TOUCH = node("pathlib.Path.touch")
TARGETS = [
    {"encoder": node("os.system", command="x")},
    {"encoder": node("attention_audit.models.encoders.nn.Linear")},
    {"encoder": node("attention_audit.store.atomic.remove_folder", folder="x")},
    {"encoder": node("attention_audit.corpora.files.Files", path="x")},
    {"attention": node("attention_audit.models.attention_model.assemble")},
    {"vectors": node("attention_audit.text.vectors.gzip.GzipFile", filename="x", mode="w")},
    {"vectors": node("attention_audit.textual.WordVectors")},
    {"trainer": node("pytorch_lightning.cli.LightningCLI")},
    {"analysis": {"mine": node("attention_audit.corpora.hub_client.os.system", command="x")}},
    {"dataset": {"sources": [node("attention_audit.corpora.corpus.choose", sources=[])]}},
    {"dataset": {"sources": [node("attention_audit.corpora.files.Files", path=TOUCH)]}},
    {"dataset": {"text": TOUCH}},
    {"logger": {"project": TOUCH}},
    {"trainer": node("pytorch_lightning.Trainer", profiler=TOUCH)},
    {"dataset": {"sources": [{"_args_": ["x"]}]}},
    {"encoder": node(3)},  # type: ignore[arg-type]
    {"encoder": {"_target_": ["os.system"]}},
]


@pytest.mark.parametrize("config", TARGETS, ids=map(str, TARGETS))
def test_a_stored_configuration_may_name_classes_of_their_place_only(config):
    with pytest.raises(ValueError, match=r"^[^\n]+_target_: found [^\n]+ expected [^\n]+$"):
        check_targets(config)


def test_what_the_program_stores_passes(composed):
    check_targets(composed())
    check_targets(composed("dataset=imdb", "vectors=word2vec", "encoder=cnn", "attention=dot"))


def test_a_module_that_is_not_trusted_is_not_even_imported(
    planted, tmp_path, fuse, monkeypatch, capsys
):
    (tmp_path / "mine.py").write_text(f"import pathlib; pathlib.Path({str(fuse)!r}).touch()\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = audit.run(planted(*TINY))
    for part in ("dataset", "vectors", "encoder"):
        config = planted(*TINY)
        where = config["dataset"]["sources"][0] if part == "dataset" else config[part]
        where["_target_"] = "mine.Mine"
        (found.folder / "config.yaml").write_text(yaml.safe_dump(config))
        assert main(["status", "--store", str(found.root)]) == 0
        with pytest.raises(SystemExit):
            main(["rerun", str(found.folder)])
        assert "found 'mine.Mine', expected a class of attention_audit" in capsys.readouterr().err
        assert not fuse.exists()


# -- places

NAMES = ["../../x", "..", "/tmp/x", "a/b", "a\0b", "", ".", "-x", "a\n", "~", "a\\..\\b", "x" * 99]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["dataset", "encoder", "attention"])
def test_a_name_that_could_leave_the_store_is_refused(planted, tmp_path, key, name):
    config = planted(*TINY)
    config[key]["name"] = name
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=rf"^{key}='[^\n]*$"):
        audit.run(config)
    assert sorted(tmp_path.rglob("*")) == before


@given(st.text(max_size=70), st.text(max_size=20))
def test_whatever_the_names_a_cell_is_in_its_store(one, other):
    root = Path("/store")
    try:
        found = Store(root).cell(dataset=one, encoder=other, attention=one, seed=0, identity={})
        analysis = found.analysis(other, {}, 1)
    except ValueError:
        return
    for folder in (found.folder, analysis.folder):
        assert os.path.normpath(folder) == str(folder)
        assert root in folder.parents


def test_an_override_cannot_leave_the_store(program, tmp_path, corpora):
    before = sorted(tmp_path.parent.rglob("*"))
    for name in ("../../x", "/tmp/x", ".."):
        said = program("dataset=sst", "logger=none", "store=out", f"encoder.name={name}")
        assert said.code == 2
        assert said.err.startswith(f"error: encoder='{name}' cannot name a folder")
    assert sorted(tmp_path.parent.rglob("*")) == before


@pytest.mark.parametrize("link", ["dataset", "pair", "cell", "analyses", "log.txt"])
def test_a_link_in_the_store_is_not_followed_out_of_it(planted, tmp_path, link):
    found = cell.locate(planted(*TINY)).cell
    place = {
        "dataset": found.folder.parents[1],
        "pair": found.folder.parent,
        "cell": found.folder,
    }.get(link, found.folder / link)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("") if link == "log.txt" else elsewhere.mkdir()
    place.parent.mkdir(parents=True)
    place.symlink_to(elsewhere)
    with pytest.raises(ValueError, match=r"leads out of the store, by a link to .*elsewhere"):
        audit.run(planted(*TINY))
    assert elsewhere.is_file() or not list(elsewhere.iterdir())
    assert elsewhere.is_dir() or elsewhere.read_text() == ""


def test_a_store_that_is_a_link_itself_serves(planted, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "multirun").symlink_to(tmp_path / "disk")
    assert audit.run(planted(*TINY)).status().state == "fitted"


def test_a_lock_that_is_a_link_empties_no_file(planted, tmp_path):
    found = cell.locate(planted(*TINY)).cell
    precious = tmp_path / "precious"
    precious.write_text("mine")
    found._lock_path.parent.mkdir(parents=True)
    found._lock_path.symlink_to(precious)
    with pytest.raises(OSError, match="a lock cannot be a link"):
        audit.run(planted(*TINY))
    with pytest.raises(OSError, match="a lock cannot be a link"), found.lock_if_free():
        pass
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("revision", ["../../x", "/etc/passwd", "a/../../b", "", "a b", "a\0"])
def test_a_revision_names_no_file_outside_the_hubs_cache(revision):
    with pytest.raises(ValueError, match=r"^revision=.* is none of the hub's"):
        Repository("owner/name", None, revision, None)
    assert Repository("owner/name", None, "refs/convert/parquet", None).revision


# -- secrets


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Secrets that the environment holds."""
    values = {"WANDB_API_KEY": "0123456789" * 4, "HF_TOKEN": "hf_" + "Ab1" * 11}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return list(values.values())


def stored(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The content of every file below a folder."""
    return ((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "override",
    [
        f"dataset.path=https://user:{PASSWORD}@example.org/table.csv",
        f"dataset.path='https://user:{PASSWORD}@example.org/table.csv'",
        f"logger.project='s3://:{PASSWORD}@bucket'",
        "logger.entity=${oc.env:HF_TOKEN}",
        "logger.entity=hf_abcdefghijklmnopqrstuvwxyz",
        "dataset.text_column=x${oc.env:WANDB_API_KEY}",
    ],
)
@pytest.mark.parametrize("sweep", [(), ("-m", "seed=0,1")])
def test_a_secret_in_the_settings_is_refused_before_anything_is_written(
    program, tmp_path, corpora, secrets, override, sweep
):
    before = sorted(tmp_path.rglob("*"))
    said = program(*sweep, "dataset=files", "dataset.path=table.csv", "store=out", override)
    assert said.code == 2
    assert f"{override.partition('=')[0]}: holds a password or token" in said.err
    for secret in (PASSWORD, "hf_abcdefg", *secrets):
        assert secret not in said.out + said.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_line_that_cannot_be_read_is_shown_without_its_password(program):
    said = program(f"dataset.path=[https://user:{PASSWORD}@example.org")
    assert said.code == 2
    assert "https://***@example.org: cannot be read" in said.err
    assert PASSWORD not in said.err


def test_a_key_that_is_added_is_refused_without_its_value(program, tmp_path):
    said = program("+logger.key=abcdefghijklmnop", "store=out")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "logger.key: unknown" in said.err
    assert "abcdefghijklmnop" not in said.err
    assert list(tmp_path.iterdir()) == []


def test_the_environments_secrets_are_nowhere_in_the_store(planted, secrets, tmp_path):
    tracked = (*TINY[:2], "analysis=permutation", "logger=wandb")
    found = audit.run(planted(*tracked))
    names = {path.suffix for path, _ in stored(found.folder)}
    assert {".wandb", ".yaml", ".json", ".txt"} <= names
    for path, content in stored(tmp_path):
        assert not any(secret.encode() in content for secret in secrets), path


def test_a_failures_secrets_are_not_kept(planted, secrets, monkeypatch):
    def broken(*_: Any) -> Any:
        message = f"GET https://me:{PASSWORD}@mirror.example/x?token={secrets[1]} {secrets[0]}"
        raise RuntimeError(message) from ValueError(message)

    monkeypatch.setattr(Permutation, "analyse", broken)
    config = planted(*TINY[:2], "analysis=permutation")
    with pytest.raises(RuntimeError):
        audit.run(config)
    found = cell.locate(config).cell
    expected = "RuntimeError: GET https://***@mirror.example/x?token=*** ***"
    assert found.status().reason == expected
    assert (found.folder / "traceback.txt").read_text().count("https://***@mirror") == 2
    for path, content in stored(found.root):
        assert not any(text.encode() in content for text in (PASSWORD, *secrets)), path


def test_a_mirrors_password_is_not_shown(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", f"http://me:{PASSWORD}@127.0.0.1:9/mirror")
    said = Repository("owner/name", None, "main", 0.2).missing()
    assert said is not None
    assert "http://127.0.0.1:9/mirror does not answer" in said
    assert PASSWORD not in said
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert hub_client.shown_endpoint() == "https://mirror.example"


@given(st.text())
def test_what_holds_no_secret_is_left_alone(text):
    assert without_secrets(f"a@b.c: {text.replace('://', '')}").endswith(text.replace("://", ""))
    refuse_secrets({"a": [{"b": "sst@1.0", "c": "https://huggingface.co/x:y"}], "d": None})


def test_a_cell_found_by_status_keeps_its_lock_in_the_store(tmp_path):
    found = Cell(tmp_path, "sst", "lstm", "dot", 0, "0" * 8)
    with found.lock_if_free() as free:
        assert free
    assert {path.parent for path in tmp_path.rglob("*.lock")} == {tmp_path / ".locks"}
