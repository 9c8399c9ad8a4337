"""The command: what it prints, draws and answers."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path):
    """Writes an input of two tokens."""

    def write(name="a.json", **changes):
        whole = {"tokens": ["a", "b"], "weights": [[1.0, 0.0], [0.4, 0.6]], **changes}
        path = tmp_path / name
        path.write_text(json.dumps(whole))
        return str(path)

    return write


def test_checks_and_maxima_are_printed_and_the_page_drawn(command, file, tmp_path):
    said = command("heatmap", file(mask="causal", text="A b"))
    assert said.code == 0
    assert (
        said.row("passed", "row", "sums")
        == "passed row sums: 1 within 0.001: from 1.0000 to 1.0000"
    )
    assert said.row("position", "1") == "position 1 'b': 0.6000 at position 1 'b'"
    assert said.out.endswith(f"drawn in {tmp_path / 'a.html'}\n")
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def test_a_failed_check_is_printed_drawn_and_answered(command, file, tmp_path):
    said = command("heatmap", file(weights=[[0.98, 0.0], [0.4, 0.6]]))
    assert said.code == 1
    assert said.row("FAILED", "row").startswith("FAILED row sums: not 1 within 0.001 in 1 row")
    assert "1 check FAILED" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"tokens": ["a"]}, "weights: found 2 x 2 (query x key), expected 1 x 1"),
        ({"tokes": []}, "tokes: unknown (did you mean 'tokens'?); expected one of"),
        ({"weights": [[[1.0]]]}, "weights: found 3 axes, which may be layers or heads; say axes:"),
    ],
)
def test_what_cannot_be_drawn_ends_with_one_line(command, file, tmp_path, changes, line):
    path = file(**changes)
    said = command("heatmap", path)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"error: {path}: {line}")
    assert not (tmp_path / "a.html").exists()


def test_what_is_no_json_ends_with_one_line(command, tmp_path):
    (tmp_path / "a.json").write_text("tokens")
    said = command("heatmap", str(tmp_path / "a.json"))
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "a.json: cannot be read as JSON" in said.err


@pytest.mark.parametrize(
    ("out", "line"),
    [("a.svg", "expected a name that ends with .html"), ("none/a.html", "no such folder as")],
)
def test_a_place_that_cannot_be_written_is_refused_before_anything(
    command, file, tmp_path, out, line
):
    said = command("heatmap", file(), "--out", str(tmp_path / out))
    assert (said.code, said.out) == (2, "")
    assert line in said.err


def test_a_request_that_cannot_be_written_is_refused_before_anything(command, file, tmp_path):
    (tmp_path / "a.prompt.txt").mkdir()
    said = command("heatmap", file(), "--prompt")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "a.html").exists()


@pytest.fixture
def piped(monkeypatch):
    """Gives the command a text on standard input."""

    def give(text):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return give


def test_standard_input_is_read(command, file, piped, tmp_path):
    piped(Path(file()).read_text())
    said = command("heatmap", "-", "--out", str(tmp_path / "b.html"))
    assert (said.code, said.out.splitlines()[0]) == (0, "standard input")
    assert (tmp_path / "b.html").exists()


def test_standard_input_names_no_page(command, piped):
    piped("{}")
    said = command("heatmap", "-")
    assert (said.code, said.err) == (2, "error: --out: missing; - gives the page no name\n")


def test_a_pipe_is_read(command, file, tmp_path):
    content, pipe = Path(file()).read_text(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(content,), daemon=True)
    writer.start()
    assert command("heatmap", str(pipe), "--out", str(tmp_path / "b.html")).code == 0
    writer.join()


def test_the_input_is_not_overwritten(command, file):
    path = file("a.html")
    said = command("heatmap", path)
    assert said.code == 2
    assert "expected a name for the page" in said.err


@pytest.mark.parametrize("scale", [("1", "0"), ("0", "0"), ("nan", "1"), ("0", "inf")])
def test_a_scale_needs_a_low_and_a_higher_end(command, file, scale):
    said = command("heatmap", file(), "--range", *scale)
    assert said.code == 2
    assert "expected a low and a higher number" in said.err


def test_a_scale_of_ones_own(command, file, tmp_path):
    assert command("heatmap", file(), "--range", "0", "0.5").code == 1
    assert "one colour scale from 0 to 0.5" in (tmp_path / "a.html").read_text()


def test_several_files_are_one_page_with_one_request(command, file, tmp_path):
    out = tmp_path / "both.html"
    said = command("heatmap", file("a.json"), file("b.json"), "--out", str(out), "--prompt")
    assert said.code == 0
    assert out.read_text().count('<section class="panel">') == 2
    request = (tmp_path / "both.prompt.txt").read_text()
    assert "## a.json" in request
    assert "## b.json" in request


def test_one_failing_file_of_several_is_enough(command, file):
    assert command("heatmap", file("a.json"), file("b.json", weights=[[0.5, 0], [0, 1]])).code == 1


def test_the_help_tells_the_format(command):
    said = command("heatmap", "--help")
    assert said.code == 0
    for key in ("tokens", "weights", "mask", "padding", "excluded_rule", "words", '"causal"'):
        assert key in said.out


def test_no_control_character_reaches_the_terminal(command, file):
    said = command("heatmap", file(tokens=["\x1b[2J", "\u202e"], model="\x1b]0;x\x07"))
    assert said.code == 0
    assert said.out.replace("\n", "").isprintable()
