"""Tables as LaTeX and Markdown, with what has a meaning there escaped."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from attention_audit.report.tables import Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\u00b1": r"$\pm$",
    "\u2264": r"$\leq$",
    "\u2013": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
# Of a number, not of a word.
_MINUS = re.compile(r"(?<!\S)-(?=\d)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|!&])")


def latex(table: Table) -> str:
    """A table for LaTeX, with booktabs' rules, no wider than the page; its notes in the caption."""
    spans = [len(titles) for _, titles in table.groups]
    above = " & ".join(
        _escaped(title) if span == 1 else rf"\multicolumn{{{span}}}{{c}}{{{_escaped(title)}}}"
        for (title, _), span in zip(table.groups, spans, strict=True)
    )
    below = " & ".join(_escaped(title) for _, titles in table.groups for title in titles)
    alignment = "l" * table.heads + "r" * (sum(spans) - table.heads)
    rows = "\n".join(" & ".join(_escaped(item.text) for item in row) + r" \\" for row in table.rows)
    notes = " ".join(_escaped(_sentence(note)) for note in table.notes)
    return rf"""% Needs \usepackage{{booktabs,graphicx}}.
\begin{{table*}}
\caption{{{_escaped(table.title)}. {notes}}}
\resizebox{{\ifdim\width>\textwidth\textwidth\else\width\fi}}{{!}}{{%
\begin{{tabular}}{{{alignment}}}
\toprule
{above} \\
{_rules(spans)}
{below} \\
\midrule
{rows}
\bottomrule
\end{{tabular}}}}
\end{{table*}}
"""


def _rules(spans: Sequence[int]) -> str:
    """A rule below the title of each group of several columns."""
    ends = itertools.accumulate(spans)
    return " ".join(
        rf"\cmidrule(lr){{{end - span + 1}-{end}}}"
        for span, end in zip(spans, ends, strict=True)
        if span > 1
    )


def markdown(table: Table) -> str:
    """A table for Markdown; groups of columns are named in each of their columns."""
    titles = [
        " ".join(filter(None, (group, title))) for group, each in table.groups for title in each
    ]
    rule = ["---"] * table.heads + ["---:"] * (len(titles) - table.heads)
    rows = [_line(_marked(title) for title in titles), _line(rule)]
    rows += [_line(_marked(item.text) for item in row) for row in table.rows]
    notes = "".join(f"\n{_marked(note)}\n" for note in table.notes)
    return f"**{_marked(table.title)}**\n\n" + "\n".join(rows) + f"\n{notes}"


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _escaped(text: str) -> str:
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return _MINUS.sub("$-$", escaped)


def _marked(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _line(entries: Iterable[str]) -> str:
    return f"| {' | '.join(entries)} |"
