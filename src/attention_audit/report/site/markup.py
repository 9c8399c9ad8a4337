"""Tables as HTML, everything of the store escaped."""

from __future__ import annotations

from html import escape

from attention_audit.report.tables import Item, Table

# A difference's size, in steps that the legend names.
STEPS = (0.02, 0.05, 0.1)


def table(shown: Table) -> str:
    """A table that scrolls sideways where it is wider than its place."""
    heads = "".join(_row(row, shown.heads) for row in shown.rows)
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in shown.notes)
    return f"""<div class="scroll" tabindex="0" role="region" aria-label="{escape(shown.title)}">
<table class="compared"><caption><span>{escape(shown.title)}</span></caption>
<thead>{_head(shown)}</thead>
<tbody>
{heads}</tbody></table></div>
{notes}"""


def _head(shown: Table) -> str:
    above = "".join(
        f"<th{_spanning(titles)}>{escape(title)}</th>" for title, titles in shown.groups
    )
    if all(titles == ("",) for _, titles in shown.groups):
        return f"<tr>{above}</tr>"
    below = "".join(
        f'<th scope="col">{escape(title)}</th>'
        for _, titles in shown.groups
        if titles != ("",)
        for title in titles
    )
    return f"<tr>{above}</tr><tr>{below}</tr>"


def _spanning(titles: tuple[str, ...]) -> str:
    return (
        ' scope="col" rowspan="2"'
        if titles == ("",)
        else f' scope="colgroup" colspan="{len(titles)}"'
    )


def _row(items: tuple[Item, ...], heads: int) -> str:
    first = "".join(f'<th scope="row">{escape(item.text)}</th>' for item in items[:heads])
    return f"<tr>{first}{''.join(map(_entry, items[heads:]))}</tr>\n"


def _entry(item: Item) -> str:
    classes = " ".join(filter(None, (item.state, size_class(item.difference))))
    text = escape(item.text)
    if item.cell:
        text = f'<a href="#{escape(item.cell)}">{text}</a>'
    if item.difference is not None and item.cell:
        text += f" <small>{item.difference:+.3f}</small>"
    titled = f' title="{escape(item.note)}"' if item.note else ""
    return f"<td{titled}{f' class={chr(34)}{classes}{chr(34)}' if classes else ''}>{text}</td>"


def size_class(difference: float | None) -> str:
    """How a difference is coloured: by its sign, and by how many of the steps it passes."""
    if difference is None:
        return ""
    passed = sum(abs(difference) > step for step in STEPS)
    return f"{'higher' if difference > 0 else 'lower'}-{passed}" if passed else "alike"
