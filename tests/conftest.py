"""What all tests stand on: a home of their own, and the program run in this process."""

from __future__ import annotations

import json
import logging
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import hypothesis
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

import attention_audit.schema  # noqa: F401  (registers the configuration's types)

ROOT = Path(__file__).resolve().parents[1]
TINY = (
    "trainer.max_epochs=1",
    "limits={train: 24, dev: 10, test: 8}",
    "budget={permutations: 2, adversaries: 2, steps: 2, resamples: 10}",
)

hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything heavy is imported: no test sees the user's home, keys, caches or corpora."""
    home = tempfile.TemporaryDirectory(prefix="attention-audit-tests-")
    config.add_cleanup(home.cleanup)
    for name in [*os.environ]:
        if name.startswith(("WANDB_", "HF_")):
            del os.environ[name]
    os.environ |= {
        "HOME": home.name,
        "ATTENTION_AUDIT_CACHE": f"{home.name}/attention_audit",
        "HF_HOME": f"{home.name}/huggingface",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
    }


class Outcome(NamedTuple):
    """What a run of the program left: its exit code and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def composed(tmp_path: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """Composes a resolved configuration from overrides; its store is in `tmp_path`."""

    def resolve(*overrides: str) -> dict[str, Any]:
        places = [f"store={tmp_path / 'store'}", f"data_dir={tmp_path / 'data'}"]
        config = compose("config", overrides=[*places, *overrides])
        return OmegaConf.to_container(config, resolve=True)  # type: ignore[return-value]

    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        yield resolve


@pytest.fixture
def tiny() -> tuple[str, ...]:
    """Overrides that make a cell as small as it can be: one epoch on a few rows."""
    return TINY


@pytest.fixture
def planted(
    composed: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """Composes a tiny cell of the generated corpus, its cache and store in `tmp_path`."""
    monkeypatch.setenv("ATTENTION_AUDIT_CACHE", str(tmp_path / "cache"))
    sizes = {"train": 96, "dev": 40, "test": 24, "shortest": 4, "longest": 9}
    overrides = [
        *("dataset=planted", "trainer=smoke", "logger=none", f"store={tmp_path / 'multirun'}"),
        *("dataset.hidden=8", "dataset.embedding=6"),
        *(f"dataset.sources.0.{key}={value}" for key, value in sizes.items()),
    ]
    return partial(composed, *overrides)


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Outcome]]:
    """Runs run.py with arguments, from the folder `tmp_path`, in this process."""
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
        GlobalHydra.instance().clear()
        capsys.readouterr()
        code = 0
        try:
            runpy.run_path(str(ROOT / "run.py"), run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Outcome(code, *capsys.readouterr())

    yield run
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """The folder `data` with tiny corpora in their true formats, and `table.csv`."""
    folder = tmp_path / "data"
    words = {0: ("dull", "bad"), 1: ("fine", "good")}

    def tree(label: int, number: int) -> str:
        said = words[label][number % 2]
        leaves = f"(2 (2 this) (2 film)) (2 (2 is) (2 (2 so) (2 {said})))"
        tail = "(2 (2 and) (2 slow))" if number % 3 else "(2 (2 and) (2 (2 very) (2 slow)))"
        return f"({4 * label} (2 {leaves}) (2 {tail} (2 .)))"

    (folder / "sst").mkdir(parents=True)
    for split, rows in {"train": 40, "dev": 16, "test": 16}.items():
        trees = "\n".join(tree(number % 2, number // 2) for number in range(rows))
        (folder / "sst" / f"{split}.txt").write_text(trees + "\n")
    for split, label, number in product(("train", "test"), (0, 1), range(30)):
        place = folder / "imdb" / "aclImdb" / split / ("neg", "pos")[label]
        place.mkdir(parents=True, exist_ok=True)
        text = f"I saw it in 1999.<br /><br />It is {words[label][number % 2]}, number {number}."
        (place / f"{number}_{9 * label + 1}.txt").write_text(text)
    rows = [f'"It is, I think, {words[n % 2][n // 2 % 2]} no. {n}",{n % 2}' for n in range(60)]
    (tmp_path / "table.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    return folder


@pytest.fixture(scope="session")
def wandb_records() -> Callable[[Path], list[Any]]:
    """Reads a finished offline W&B run back: the records of its `.wandb` file."""

    def read(path: Path) -> list[Any]:
        # W&B's own process writes the last ones shortly after the run's end.
        for _ in range(300):
            records = _records(path)
            if any(record.HasField("exit") for record in records):
                return records
            time.sleep(0.1)
        raise TimeoutError(f"{path}: no end of the run within 30 seconds")

    return read


def _records(path: Path) -> list[Any]:
    from wandb.proto.wandb_internal_pb2 import Record

    found = []
    for content in _log(path.read_bytes()):
        record = Record()
        record.ParseFromString(content)
        found.append(record)
    return found


def _log(content: bytes) -> Iterator[bytes]:
    """Records of LevelDB's log format: blocks of 32 KiB, pieces with a header of 7 bytes."""
    block, place, whole = 1 << 15, 7, b""
    while place + 7 <= len(content):
        if block - place % block < 7:
            place += block - place % block
            continue
        length, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        whole += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # a whole record, or the last piece of one
            yield whole
            whole = b""


class HubServer:
    """Dataset repositories on 127.0.0.1, with as much of the hub's protocol as its client asks."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.requests: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> HubServer:
        Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def commit(self, repository: str) -> str:
        """Like a commit: another content, another name."""
        return sha1(repr(sorted(self.repositories[repository].items())).encode()).hexdigest()

    def answer(self, path: str, asked: bytes) -> tuple[int, bytes, dict[str, str]]:
        parts = [unquote(part) for part in urlsplit(path).path.strip("/").split("/")]
        api = parts[:1] == ["api"]
        parts = parts[1:] if api else parts
        repository = "/".join(parts[1:3])
        if parts[0] != "datasets" or repository not in self.repositories:
            return 404, b"{}", {"X-Error-Code": "RepoNotFound"}
        files, what = self.repositories[repository], parts[3] if len(parts) > 3 else "revision"
        revision = parts[4] if len(parts) > 4 else "main"
        if revision not in ("main", self.commit(repository)):
            return 404, b"{}", {"X-Error-Code": "RevisionNotFound"}
        if what == "resolve":
            return self._file(repository, files.get("/".join(parts[5:])))
        if what == "revision":
            return 200, json.dumps(self._about(repository)).encode(), {}
        names = sorted(files)
        folders = sorted({name.rpartition("/")[0] for name in names} - {""})
        if what == "paths-info":
            wanted = parse_qs(asked.decode()).get("paths") or json.loads(asked)["paths"]
            names = [name for name in names if name in wanted]
            folders = [name for name in folders if name in wanted]
        else:
            inside = "/".join(parts[5:])
            names = [name for name in names if name.rpartition("/")[0] == inside]
            folders = [name for name in folders if not inside]
        entries: list[dict[str, Any]] = [
            {"type": "file", "path": name, "size": len(files[name]), "oid": self._oid(files[name])}
            for name in names
        ]
        entries += [{"type": "directory", "path": name, "oid": "0" * 40} for name in folders]
        return 200, json.dumps(entries).encode(), {}

    def _about(self, repository: str) -> dict[str, Any]:
        siblings = [{"rfilename": name} for name in sorted(self.repositories[repository])]
        return {"id": repository, "sha": self.commit(repository), "siblings": siblings, "tags": []}

    def _file(self, repository: str, body: bytes | None) -> tuple[int, bytes, dict[str, str]]:
        if body is None:
            return 404, b"", {"X-Error-Code": "EntryNotFound"}
        headers = {"ETag": f'"{self._oid(body)}"', "X-Repo-Commit": self.commit(repository)}
        return 200, body, headers

    @staticmethod
    def _oid(body: bytes) -> str:
        return sha1(body).hexdigest()

    def _handler(server: HubServer) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.requests.append(f"{self.command} {self.path}")
                asked = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body, headers = server.answer(self.path, asked)
                self.send_response(status)
                for name, value in (headers | {"Content-Length": str(len(body))}).items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server
