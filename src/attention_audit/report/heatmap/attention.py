"""An attention array with what has to be known of it before it may be drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, UInt8
from pydantic import BaseModel, ConfigDict

OPEN, MASKED, PADDING = 0, 1, 2
"""What a cell of the figure is: attention may go there, may not, or there is no word."""

NOT_STATED = "not stated"


class About(BaseModel):
    """What the input says of its weights beside the numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    model: str | None = None
    version: str | int | float | None = None
    aggregation: str | None = None
    kind: Literal["raw", "with residual"] | None = None
    excluded_tokens: list[str] | None = None
    excluded_rule: str | None = None
    normalised: bool = True


@dataclass(frozen=True)
class Attention:
    """Weights of every layer and head over one text, queries as rows and keys as columns.

    Args:
        name: whose input this is, such as a file's name.
        query: the tokens of the rows, in their order.
        key: the tokens of the columns.
        weights: NaN where a value is missing.
        states: OPEN, MASKED or PADDING, for each cell, the same in every head.
        layers: the layers' names; one `not stated` where the input has none.
        heads: the heads' names, likewise.
        masked: whether the input has a mask.
        padding: the padding token, where the input names it by one; it may be none of the tokens.
        transposed: whether the input was key x query.
        texts: the text that the tokens of a side are of, by `query` and `key`.
        words: for each side the word that each token belongs to, non-decreasing from 0, or None.
        rule: how words were told apart, in words.
    """

    name: str
    query: tuple[str, ...]
    key: tuple[str, ...]
    weights: Float[np.ndarray, "layers heads query key"]
    states: UInt8[np.ndarray, "query key"]
    layers: tuple[str, ...]
    heads: tuple[str, ...]
    about: About = field(default_factory=About)
    masked: bool = False
    padding: str = ""
    transposed: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    words: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    rule: str = ""

    @cached_property
    def open(self) -> Bool[np.ndarray, "query key"]:
        """Where attention may go."""
        return self.states == OPEN

    @cached_property
    def open_weights(self) -> Float[np.ndarray, "layers heads query key"]:
        """The weights, 0 where attention may not go."""
        return np.where(self.open, self.weights, 0.0)

    def mean(self, layer: int) -> Float[np.ndarray, "query key"]:
        """The mean of a layer's heads."""
        return self.weights[layer].mean(axis=0)
