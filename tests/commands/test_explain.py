"""The command: what it prints and draws of a sentence, and what it refuses."""

from __future__ import annotations

import html
import math
import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from rich.console import Console

from attention_audit import audit
from attention_audit.commands.explain.showing import drawn, show
from attention_audit.report.sentence import Measured, Output, Quantity, Word

AVERAGE = ("encoder=average", "trainer.max_epochs=1", "analysis=none")
SENTENCE = "ba be positiveba floobydust negativebi"


@pytest.fixture
def real(planted):
    """Fits a tiny cell."""
    return lambda *overrides: audit.run(planted(*AVERAGE, *overrides))


@pytest.fixture
def explain(command, store):
    return lambda cell, *words: command("explain", str(cell), *words, "--store", str(store))


def numbers(line: str) -> list[str]:
    return re.findall(r"[+-]?\d\.\d{3}", line)


def test_a_sentence_in_the_terminal_and_as_a_page(real, explain, tmp_path, capsys):
    cell = real()
    path = tmp_path / "page.html"
    said = explain(cell.hash8, SENTENCE, "--html", str(path))
    assert (said.code, said.err) == (0, "")
    rows = [said.row(str(n), word) for n, word in enumerate(SENTENCE.split())]
    assert ["[unk]" in row for row in rows] == [False, False, False, True, False]
    table = [numbers(row) for row in rows]
    assert sum(float(row[0]) for row in table) == pytest.approx(1, abs=0.003)
    for attention, _, _, adversary, difference in table:
        moved = float(adversary) - float(attention)
        assert float(difference) == pytest.approx(moved, abs=0.0011)
    before, after = (sum(float(numbers(said.row(name))[n]) for name in CLASSES) for n in (0, 1))
    assert (before, after) == (pytest.approx(1, abs=0.002), pytest.approx(1, abs=0.002))
    for name in ("tau_gradient", "tau_loo", "delta_y_med", "adversary_jsd", "adversary_tvd"):
        assert numbers(said.row(name))
    assert float(numbers(said.row("adversary_tvd"))[0]) <= 0.01
    assert "1 of 5 words marked [unk]" in said.out
    assert said.out.endswith(f"drawn in {path}\n")
    page = path.read_text(encoding="utf-8")
    assert all(f"<td>{number}</td>" in page for row in table for number in row)


CLASSES = ("negative", "positive")


def test_its_words_observe_and_claim_nothing(real, explain):
    said = explain(real().hash8, SENTENCE)
    assert not re.search(r"because|important|explain|reason|why", said.out, re.IGNORECASE)
    assert "It does not show what the prediction rests on." in said.out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((SENTENCE, "--query", "what"), "--query: found one, expected none: the cell's task is"),
        ((SENTENCE, "--candidates", "a,b"), "--candidates: found some, expected none"),
        ((" \n",), r"SENTENCE: found ' \n', expected at least one word"),
        ((SENTENCE, "--html", "none/a.html"), "--html none/a.html: no such folder as none"),
        ((SENTENCE, "--html", "a.pdf"), "--html a.pdf: expected a name that ends with .html"),
    ],
)
def test_what_cannot_be_asked_ends_with_one_line(real, explain, words, line):
    said = explain(real().hash8, *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"error: {line}")


def test_a_test_instance_in_place_of_a_sentence(real, explain, tmp_path):
    cell = real()
    known = cell.read_table("instances").slice(2, 1).to_pylist()[0]
    path = tmp_path / "page.html"
    said = explain(cell.hash8, "--instance", str(known["id"]), "--html", str(path))
    assert (said.code, said.err) == (0, "")
    label = CLASSES[known["label"]]
    origin = f"Test instance {known['id']} ({known['uid']}) of the corpus; its label is '{label}'."
    assert origin in said.out
    assert html.escape(origin) in path.read_text(encoding="utf-8")
    before = float(numbers(said.row("positive"))[0])
    assert before == pytest.approx(known["probability"][1], abs=0.0006)


@pytest.mark.parametrize(
    ("change", "words", "line"),
    [
        ((), ("--instance", "999999"), "--instance: found 999999, expected the id of one of the"),
        ((), ("--instance", "1", "--query", "a"), "--query: found one, expected none: --instance"),
        (("dataset.private=true",), ("--instance", "1"), "its corpus is private, and no text of"),
        (("save_tokens=false",), ("--instance", "1"), "tokens.parquet is missing: run the cell"),
    ],
)
def test_an_instance_that_cannot_be_had_ends_with_one_line(real, explain, change, words, line):
    said = explain(real(*change).hash8, *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert line in said.err


def test_an_instance_of_damaged_files_is_not_shown(real, explain):
    cell = real()
    (cell.folder / "tokens.parquet").write_bytes(b"x")
    said = explain(cell.hash8, "--instance", "1")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert said.err.endswith("tokens.parquet is damaged: run the cell again\n")


@pytest.mark.parametrize("name", ["config.yaml", "identity.json", "manifest.json"])
def test_a_file_that_is_gone_is_named_with_what_to_do(real, explain, name):
    cell = real()
    (cell.folder / name).unlink()
    said = explain(cell.folder, SENTENCE)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: {cell.folder / name} is missing: run the cell with force")


def test_no_name_is_no_cell(explain):
    assert explain("", SENTENCE).err.startswith("error: CELL: found '', expected its folder")


def test_a_cell_that_is_not_there_ends_with_one_line(explain):
    said = explain("xyz", SENTENCE)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: xyz: no such cell in ")


def test_a_place_for_the_page_is_looked_at_before_the_cell(explain):
    assert explain("xyz", SENTENCE, "--html", "a.pdf").err.startswith("error: --html a.pdf")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["encoder"].update(_target_="os.system"), "found 'os.system', expected a cl"),
        (lambda c: c["dataset"]["sources"][0].update(_target_="os.system"), "found 'os.system'"),
        (lambda c: c["dataset"]["text"].update(tokenizer="x"), "dataset.text.tokenizer: found 'x'"),
        (lambda c: c.update(sed=5), "sed: unknown (did you mean 'seed'?)"),
        (lambda c: c.update(auxiliary={"given": {}}), "its attention is frozen to weights"),
    ],
)
def test_settings_of_somebody_else_that_are_not_taken(real, explain, change, said):
    cell = real()
    config = cell.config
    change(config)
    (cell.folder / "config.yaml").write_text(yaml.safe_dump(config))
    refused = explain(cell.folder, SENTENCE)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert said in refused.err


def test_classes_of_a_package_that_is_trusted_are_used(real, explain, tmp_path, monkeypatch):
    (tmp_path / "own_encoders.py").write_text(
        "from attention_audit.models.encoders import Average\nclass Mine(Average):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    cell = real("encoder._target_=own_encoders.Mine", "encoder.name=mine")
    said = explain(cell.folder, SENTENCE)
    assert said.code == 2
    assert "found 'own_encoders.Mine', expected a class of attention_audit.models" in said.err
    assert explain(cell.folder, SENTENCE, "--trust", "own_encoders").code == 0


def test_of_a_private_corpus_nothing_but_class_names_is_shown(real, explain, tmp_path):
    cell = real("dataset.private=true")
    path = tmp_path / "page.html"
    said = explain(cell.hash8, "ba floobydust", "--html", str(path))
    assert said.code == 0
    shown = said.out + path.read_text(encoding="utf-8").partition("</style>")[2]
    # Shorter ones are too like the page's own.
    own = {word for word in cell.read_json("vocabulary")["words"] if len(word) > 3}
    assert len(own) > 40
    assert own & set(re.findall(r"\w+", shown)) == set()
    assert all(name in said.out for name in CLASSES)
    # Which word is marked would tell which words the corpus has.
    assert "[unk]" not in shown
    assert 'class="token unknown' not in shown
    assert "The corpus is private" in said.out


def test_a_question_with_candidates(composed, explain, store):
    sizes = ("dataset.folder=null", "dataset.sources.1.train=60", "dataset.sources.1.test=20")
    small = ("encoder=average", "trainer=smoke", "logger=none", "analysis=none")
    cell = audit.run(composed("dataset=babi_1", *sizes, *small, f"store={store}"))
    passage = "Mary moved to the kitchen. John went to the office."
    missed = explain(cell.hash8, passage)
    assert missed.err == (
        "error: --query: missing; the cell's task is qa, expected --query with the question\n"
    )
    said = explain(
        cell.hash8, passage, "--query", "Where is Mary?", "--candidates", "kitchen, office"
    )
    assert said.code == 0
    assert "asked: where is mary" in said.out
    probabilities = [float(numbers(said.row(name))[0]) for name in ("kitchen", "office ")]
    assert sum(probabilities) == pytest.approx(1, abs=0.0011)
    strange = explain(cell.hash8, passage, "--query", "Where?", "--candidates", "moon")
    assert strange.err.startswith("error: --candidates: found 'moon', expected of the model's")


def test_naming_the_command_loads_nothing_heavy():
    code = (
        "import sys, attention_audit.commands.explain;"
        "print(*sorted(set(sys.modules) & {'torch', 'pytorch_lightning', 'spacy', 'datasets'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


# -- what is drawn in the terminal


@pytest.fixture
def printed(capsys):
    """Shows a sentence on a console of a width."""

    def make(words, width=120, **changes):
        count = len(words)
        whole = {
            "cell": "sst, lstm + dot, seed 0",
            "words": tuple(Word(word, True) for word in words),
            "query": (),
            "attention": np.full(count, 1 / count),
            "gradient": np.ones(count),
            "leave_one_out": np.full(count, math.nan),
            "adversary": np.eye(count)[0],
            "kind": "exact",
            "epsilon": 0.01,
            "outputs": (Output("no", 0.25, 0.26), Output("yes", 0.75, 0.74)),
            "others": 3,
            "quantities": (Quantity("tau_loo", math.nan, "a tau", math.nan),),
            **changes,
        }
        show(Measured(**whole), Console(width=width))
        return capsys.readouterr().out

    return make


def test_words_are_rows_in_their_order_whatever_their_script(printed):
    words = ["영화", "הסרט", "film", "영화"]
    lines = [line.split() for line in printed(words).splitlines()]
    assert [line[:2] for line in lines if line[:1] in (["0"], ["1"], ["2"], ["3"])] == [
        [str(n), word] for n, word in enumerate(words)
    ]


def test_bars_can_be_compared_from_row_to_row(printed):
    lines = [line for line in printed(["a", "영화", "ccc"]).splitlines() if "0.333" in line]
    starts = {Console().render_str(line.partition("0.333")[0]).cell_len for line in lines}
    assert (len(lines), len(starts)) == (3, 1)


@pytest.mark.parametrize("width", [72, 80, 100, 160])
def test_it_fits_the_terminal(printed, width):
    out = printed(["averyveryveryveryverylongwordindeed", "b"], width)
    table = [line for line in out.splitlines() if re.match(r" +\d ", line)]
    assert all(len(line.rstrip()) <= width for line in out.splitlines())
    assert [numbers(line)[-1] for line in table] == ["+0.500", "-0.500"]
    assert re.search(r" 0 +averyv", out)
    assert "\u2026" not in out


def test_what_is_undefined_or_left_out_is_said(printed):
    out = printed(["a", "b"])
    row = next(line for line in out.splitlines() if line.startswith(" 0"))
    assert "\u2013" in row
    assert re.search(r"tau_loo +undefined +a tau", out)
    assert "and 3 less probable" in out


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0, ""), (1, "████"), (0.5, "██"), (0.25, "█"), (1 / 32, "▏"), (0.9999, "████"), (2, "████")],
)
def test_a_bars_length_is_the_share(share, bar):
    assert drawn(share, 4) == bar


def test_nothing_of_a_sentence_is_markup_or_control(printed):
    out = printed(["[red]x[/red]", "\x1b[31m", "\u202e"], outputs=(Output("[b]\x07", 0.5, 0.5),))
    assert "[red]x[/red]" in out
    assert out.replace("\n", "").isprintable()
