"""Tables as LaTeX and Markdown."""

from __future__ import annotations

import pytest

from attention_audit.report.tables import Item, Table
from attention_audit.report.text import latex, markdown


def table(text="0.5"):
    return Table(
        name="t",
        title="A title",
        groups=(("corpus", ("",)), ("score", ("ours", "published"))),
        rows=((Item("sst"), Item(text), Item("0.8 \u00b1 0.1")),),
        notes=("one", "two."),
    )


def test_latex_has_every_entry_in_its_column():
    lines = latex(table()).splitlines()
    assert r"\begin{tabular}{lrr}" in lines
    assert r"corpus & \multicolumn{2}{c}{score} \\" in lines
    assert r"\cmidrule(lr){2-3}" in lines
    assert r" & ours & published \\" in lines
    assert r"sst & 0.5 & 0.8 $\pm$ 0.1 \\" in lines
    assert r"\caption{A title. one. two.}" in lines


def test_latex_has_the_minus_of_numbers_only():
    [row] = [one for one in latex(table("-0.5")).splitlines() if one.startswith("sst")]
    assert row == r"sst & $-$0.5 & 0.8 $\pm$ 0.1 \\"
    assert "leave-1 & " in latex(table("leave-1"))


def test_markdown_has_every_entry_in_its_column():
    lines = markdown(table()).splitlines()
    assert lines[0] == "**A title**"
    assert lines[2:5] == [
        "| corpus | score ours | score published |",
        "| --- | ---: | ---: |",
        "| sst | 0.5 | 0.8 \u00b1 0.1 |",
    ]
    assert lines[-1] == "two."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b & 5%", r"a\_b \& 5\%"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("$x^2", r"\$x\textasciicircum{}2"),
    ],
)
def test_nothing_is_a_command_in_latex(text, shown):
    assert f"sst & {shown} &" in latex(table(text))


def test_nothing_is_markup_in_markdown():
    shown = markdown(table("a|b <script>\n[x](y) *z*"))
    assert r"| a\|b \<script\> \[x\]\(y\) \*z\* |" in shown
