from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest


@pytest.fixture
def data() -> Path:
    """The folder of real corpora; the test is skipped where there is none."""
    folder = os.environ.get("ATTENTION_AUDIT_DATA")
    if not folder:
        pytest.skip("ATTENTION_AUDIT_DATA is not set: no real corpora to compare with")
    return Path(folder)


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
