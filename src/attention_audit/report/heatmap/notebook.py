"""Heatmaps from Python: of arrays that are at hand, shown in a notebook or saved as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from attention_audit.report.heatmap.attention import Attention
from attention_audit.report.heatmap.checks import Check, Range, check, check_scale
from attention_audit.report.heatmap.page import page
from attention_audit.report.heatmap.reading import parse
from attention_audit.store.atomic import write_text


@dataclass(frozen=True)
class Heatmap:
    """One or more attentions, checked, on one colour scale. A notebook shows it by itself.

    Attributes:
        drawn: each attention with its checks.
        scale: the values at the two ends of the colour scale.
    """

    drawn: tuple[tuple[Attention, list[Check]], ...] = field(repr=False)
    scale: Range

    @property
    def failed(self) -> list[Check]:
        """The checks that failed."""
        return [one for _, checks in self.drawn for one in checks if one.passed is False]

    @property
    def html(self) -> str:
        """The page: one HTML file that asks nothing of the network."""
        return page(self.drawn, self.scale)

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        write_text(Path(path), self.html)

    def _repr_html_(self) -> str:
        # In a frame of its own, where no text of the input can reach the notebook.
        style = "width: 100%; height: 36rem; border: 0; resize: vertical"
        allowed = "allow-scripts allow-downloads"
        return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{escape(self.html)}"></iframe>'


def heatmap(*inputs: Mapping[str, Any], scale: Range = (0.0, 1.0)) -> Heatmap:
    """Check attentions, and draw them side by side on one colour scale.

        heatmap({"tokens": tokens, "weights": weights, "model": "mine"})

    Of a transformer of Hugging Face, for one text, with a choice of its layers and heads:

        tokens = tokenizer.convert_ids_to_tokens(inputs.input_ids[0])
        attentions = model(**inputs, output_attentions=True).attentions
        heatmap({"tokens": tokens, "weights": attentions, "axes": "layer_batch_head_query_key"})

    Args:
        inputs: mappings with the keys that `attention_audit.report.heatmap.reading` lists; weights
            are lists, or arrays or tensors of any library.
        scale: the values at the two ends of the colour scale.

    Raises:
        ValueError: what cannot be drawn without guessing: one line that names the key.
    """
    if not inputs:
        raise ValueError("found no attention, expected one or more mappings")
    check_scale("scale", scale)
    names = [f"attention {number}" for number in range(1, len(inputs) + 1)]
    found = [parse(given, name) for given, name in zip(inputs, names, strict=True)]
    return Heatmap(tuple((one, check(one, scale)) for one in found), scale)
