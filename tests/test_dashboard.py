"""The W&B dashboard: panels of what runs really log, saved where the user asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from attention_audit import audit
from attention_audit.__main__ import main
from attention_audit.dashboard import CHARTS, PANELS, dashboard, described
from attention_audit.tracking import EXAMPLES, MOST_EXAMPLES, NUMBERS, PLANE, TRAJECTORY

# wandb-workspaces' own.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20")
KINDS = [panel for panels in PANELS.values() for panel in panels]


@pytest.fixture
def logged(planted, wandb_records, monkeypatch, tmp_path) -> Iterator[Any]:
    """Runs a cell offline; says what its run's summary holds, tables read back."""
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "wandb"))

    def run(*overrides: str, compose: Any = planted) -> dict[str, Any]:
        found = audit.run(compose("logger=wandb", "encoder=average", *overrides))
        [path] = (found.folder / "wandb").rglob("*.wandb")
        summary = {
            item.key or "/".join(item.nested_key): json.loads(item.value_json)
            for record in wandb_records(path)
            for item in record.summary.update
        }
        for name, value in summary.items():
            if isinstance(value, dict) and value.get("_type") == "table-file":
                summary[name] = json.loads((path.parent / "files" / value["path"]).read_text())
        return summary

    return run


def test_panels_name_only_what_runs_log(logged, composed):
    second = "uniform,seeds,guided_mlp,model_adversary,trajectory"
    few = ("diagnostics.seeds=1", "diagnostics.lambdas=[0]", "diagnostics.least_jsd=0")
    two = logged(f"analysis=[paper,{second}]", *few)
    # Of more than two classes there is no exact maximum, and another score.
    more = logged("analysis=[adversarial,uniform]", "dataset.sources.0.classes=[a,b,c]")
    sizes = ("dataset.folder=null", "dataset.sources.1.train=60", "dataset.sources.1.test=20")
    asked = logged("dataset=babi_1", *sizes, "trainer=smoke", "analysis=uniform", compose=composed)
    known = {**more, **two, **asked}.keys()
    for title, kind, keys in KINDS:
        columns = {
            column
            for run in (two, more)
            if kind in CHARTS and (table := run.get(CHARTS[kind][0]))
            for column in table["columns"]
        }
        assert set(keys) <= (columns if kind in CHARTS else known), title


def test_examples_have_texts_and_numbers_and_are_few(logged):
    summary = logged("analysis=paper", "dataset.sources.0.test=230", "limits.test=null")
    examples = summary[EXAMPLES]
    assert len(examples["data"]) == MOST_EXAMPLES
    assert len(summary[NUMBERS]["data"]) == 230
    rows = [dict(zip(examples["columns"], row, strict=True)) for row in examples["data"]]
    assert all(len(row["text"].split()) == row["length"] for row in rows)
    assert all(0.5 <= row["probability"] <= 1 for row in rows)
    assert {"tau_gradient", "eps_max_jsd", "delta_y_med"} <= set(rows[0])
    assert not {"text", "id", "uid"} & set(summary[NUMBERS]["columns"])


def test_the_cells_figures_are_drawn_unless_they_are_not_wanted(logged):
    summary = logged("analysis=permutation")
    figures = {name for name in summary if name.startswith("figures/")}
    assert figures == {"figures/permutation"}
    assert summary["figures/permutation"]["_type"] == "html-file"
    bare = logged("analysis=permutation", "logger.figures=false", "seed=1")
    assert not [name for name in bare if name.startswith("figures/")]


@pytest.mark.parametrize("hidden", ["dataset.private=true", "save_tokens=false"])
def test_no_text_of_a_private_corpus_or_where_none_is_kept(logged, hidden):
    summary = logged("analysis=paper", hidden)
    assert EXAMPLES not in summary
    assert len(summary[NUMBERS]["data"]) == 24


def test_the_second_papers_plane_and_the_trajectory_are_tables(logged):
    few = ("diagnostics.seeds=1", "diagnostics.lambdas=[0]")
    summary = logged("analysis=[model_adversary,trajectory]", *few)
    plane, epochs = (
        [dict(zip(summary[name]["columns"], row, strict=True)) for row in summary[name]["data"]]
        for name in (PLANE, TRAJECTORY)
    )
    assert [row["of"] for row in plane][:3] == ["adversary 0", "uniform", "seed 1"]
    assert plane[0]["jsd"] == pytest.approx(summary["adversary_0_jsd/overall/mean"])
    assert plane[0]["tvd"] == pytest.approx(summary["adversary_0_tvd/overall/mean"])
    assert [row["epoch"] for row in epochs] == list(range(1, len(epochs) + 1))
    for row in epochs:
        key = f"tau_gradient_epoch_{row['epoch']}/overall/mean"
        assert row["tau_gradient"] == pytest.approx(summary[key])
    assert epochs[-1]["settled_jsd"] == 0


def test_histograms_of_all_runs_have_the_same_edges(logged):
    one, other = (logged("analysis=paper", f"seed={seed}") for seed in (0, 1))
    names = {name for name in one if name.endswith("/histogram")}
    assert {"tau_gradient/histogram", "eps_max_jsd_exact/histogram"} <= names
    for name in names:
        assert one[name]["bins"] == other[name]["bins"], name
        assert sum(one[name]["values"]) == sum(other[name]["values"]) == 24, name
    ends = [one[f"{name}/histogram"]["bins"] for name in ("tau_loo", "eps_max_jsd", "gap_loo")]
    assert [(bins[0], bins[-1]) for bins in ends] == [(-1, 1), (0, 0.7), (-2, 2)]


class Server(BaseHTTPRequestHandler):
    """As much of W&B's server as saving a view asks for."""

    asked: list[dict[str, Any]] = []  # noqa: RUF012
    refused = ""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Server.asked.append(asked)
        view = {"view": {"id": "VmlldzoxMjM=", "name": "nw-abc-v"}, "inserted": True}
        viewer = {"id": "1", "entity": "me", "username": "me", "flags": "{}", "admin": False}
        answer = json.dumps({"data": {"upsertView": view, "viewer": viewer}}).encode()
        refuses = Server.refused and Server.refused in asked["query"]
        if refuses:
            answer = json.dumps({"errors": [{"message": "no such\nproject"}]}).encode()
        self.send_response(404 if refuses else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch) -> Iterator[list[dict[str, Any]]]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{served.server_port}")
    monkeypatch.setenv("WANDB_API_KEY", "0" * 40)
    Server.asked.clear()
    monkeypatch.setattr(Server, "refused", "")
    yield Server.asked
    served.shutdown()
    served.server_close()


def test_it_is_saved_in_the_users_project(server, capsys):
    assert main(["dashboard", "--entity", "me", "--project", "mine"]) == 0
    [saved] = [one for one in server if "upsertView" in one["query"]]
    variables = saved["variables"]
    assert (variables["entityName"], variables["projectName"]) == ("me", "mine")
    spec = variables["spec"]
    for title, _, keys in KINDS:
        assert all(json.dumps(key)[1:-1] in spec for key in keys), title
    out = capsys.readouterr().out
    assert "created: http://127.0.0.1" in out
    assert all(line in out for line in described())


def test_without_a_key_it_says_what_it_would_be_and_how_to_log_in(tmp_path):
    """In a process of its own: W&B remembers a key for as long as a process lives."""
    command = [sys.executable, "-m", "attention_audit", "dashboard", "--entity", "me"]
    home = {**os.environ, "HOME": str(tmp_path), "NETRC": str(tmp_path / "netrc")}
    ended = subprocess.run(command, capture_output=True, text=True, env=home)
    assert ended.returncode == 1
    assert "wandb login" in ended.stdout
    assert all(line in ended.stdout for line in described())


@pytest.mark.parametrize("refused", ["upsertView", "viewer"])
def test_what_the_server_refuses_is_told_in_one_line(server, refused, monkeypatch, capsys):
    monkeypatch.setattr(Server, "refused", refused)
    with pytest.raises(SystemExit) as end:
        main(["dashboard", "--entity", "me", "--project", "mine"])
    assert end.value.code == 2
    [line] = capsys.readouterr().err.strip().splitlines()[-1:]
    assert line.startswith("error: no dashboard in me/mine: W&B says: ")
    assert line.endswith("no such project")


def test_a_key_that_is_none_is_told_in_one_line(tmp_path):
    command = [sys.executable, "-m", "attention_audit", "dashboard", "--entity", "me"]
    home = {**os.environ, "HOME": str(tmp_path), "WANDB_API_KEY": "abc"}
    ended = subprocess.run(command, capture_output=True, text=True, env=home)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert ended.stderr.startswith("error: no dashboard in me/attention_audit: W&B says: ")


@pytest.mark.parametrize("name", ["", " ", "me/mine", "../x", "a%b", "x" * 129])
@pytest.mark.parametrize("option", ["--entity", "--project"])
def test_what_cannot_be_a_name_is_told_before_anything_else(server, option, name, capsys):
    named = {"--entity": "me", "--project": "mine", option: name}
    with pytest.raises(SystemExit) as end:
        main(["dashboard", *(word for pair in named.items() for word in pair)])
    said = capsys.readouterr()
    assert (end.value.code, said.out, server) == (2, "", [])
    assert said.err.startswith(f"error: {option}: found {name!r}, expected a name as W&B shows it")
    assert said.err.count("\n") == 1


def test_nothing_is_asked_of_a_server_before_it_is_saved(server):
    assert len(dashboard("me", "mine").sections) == len(PANELS)
    assert server == []
