"""Draws attention from JSON files as one page, after checks that it prints."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from pathlib import Path

from attention_audit.report.document import check_place
from attention_audit.report.heatmap import (
    Attention,
    Check,
    check,
    check_scale,
    page,
    prompt,
    read,
    reading,
    views,
)
from attention_audit.report.heatmap.packing import decimals_of
from attention_audit.report.heatmap.wording import counted, number, place, visible, without_isolates
from attention_audit.store.atomic import write_text

ABOUT = "draw attention as heatmaps that are checked first: JSON files to one HTML page"
EXAMPLE = """
An example:

  {"tokens": ["the", "student", "laughed"], "mask": "causal", "model": "mine", "kind": "raw",
   "weights": [[1, 0, 0], [0.3, 0.7, 0], [0.2, 0.6, 0.2]]}

The exit code is 0, 1 where a check failed (the page is drawn, and shows it), 2 with one line where
nothing can be drawn.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """The command's arguments."""
    parser.formatter_class = RawDescriptionHelpFormatter
    _, _, keys = (reading.__doc__ or "").partition("\n\n")
    parser.epilog = f"{keys}{EXAMPLE}"
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE.json", help="see below; - is standard input"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.html", help="the page (the first FILE's name with .html)"
    )
    parser.add_argument(
        "--range",
        nargs=2,
        type=float,
        default=(0.0, 1.0),
        metavar=("LOW", "HIGH"),
        help="the values at the ends of the one colour scale (0 1)",
    )
    parser.add_argument(
        "--prompt",
        action="store_true",
        help="write beside the page a request for a language model to describe it: *.prompt.txt",
    )


def run(arguments: Namespace) -> int:
    """Check, print, draw; 1 if a check failed."""
    out, scale = _out(arguments), tuple(arguments.range)
    check_scale("--range", scale)
    request = out.with_suffix(".prompt.txt")
    if arguments.prompt and request.is_dir():
        raise ValueError(f"--prompt: {request} is a folder, and the place of the request")
    drawn = []
    for path in arguments.files:
        attention = read(path)
        drawn.append((attention, check(attention, scale)))
        for line in _report(*drawn[-1]):
            print(without_isolates(line))
    write_text(out, page(drawn, scale))
    print(f"drawn in {out}")
    if arguments.prompt:
        write_text(request, prompt(drawn))
        print(f"request for a language model in {request}")
    return int(any(one.passed is False for _, checks in drawn for one in checks))


def _out(arguments: Namespace) -> Path:
    if arguments.out is None and reading.is_stream(arguments.files[0]):
        raise ValueError(f"--out: missing; {arguments.files[0]} gives the page no name")
    out: Path = arguments.out or arguments.files[0].with_suffix(".html")
    check_place("--out", out, arguments.files)
    return out


def _report(attention: Attention, checks: list[Check]) -> Iterator[str]:
    """What the terminal says of an attention: each check, then each row's maximum as drawn."""
    yield visible(attention.name)
    for one in checks:
        yield f"  {one.verdict:11}  {one.name}: {one.detail}"
    first = next(views(attention))[0]
    yield f"  maximum of each row as first drawn ({first.title})"
    decimals = decimals_of(attention)
    for query, found in enumerate(first.maxima(decimals)):
        row = f"    {place(query, attention.query[query])}"
        if found is None:
            yield f"{row}: no value"
            continue
        ties = f", and {counted(found.ties, 'other')}" if found.ties else ""
        value = number(found.value, decimals)
        yield f"{row}: {value} at {place(found.key, attention.key[found.key])}{ties}"
