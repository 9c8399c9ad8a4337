"""The two shapes that everything speaks: what goes into a model, and what it has read."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

PAD, UNK, SOS, EOS = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<unk>", "<sos>", "<eos>")


class _Movable:
    """Tensors of a frozen dataclass move together; Lightning calls `to`."""

    def to(self, *args: Any, **kwargs: Any) -> Any:
        moved = {
            f.name: value.to(*args, **kwargs)
            for f in fields(self)  # type: ignore[arg-type]
            if isinstance(value := getattr(self, f.name), Tensor)
        }
        return replace(self, **moved)  # type: ignore[type-var]


@dataclass(frozen=True)
class Batch(_Movable):
    """Padded token ids of B documents, each `<sos> words <eos>`.

    `mask` is True where attention may go: words, never padding, `<sos>` or `<eos>`.
    `candidates` marks, for question answering, the answers that the row may give.
    `ids` are unique across the splits of a corpus and name the instance in the store.
    """

    tokens: Int[Tensor, "batch tokens"]
    lengths: Int[Tensor, " batch"]
    mask: Bool[Tensor, "batch tokens"]
    labels: Int[Tensor, " batch"]
    ids: Int[Tensor, " batch"]
    query_tokens: Int[Tensor, "batch query"] | None = None
    query_lengths: Int[Tensor, " batch"] | None = None
    candidates: Bool[Tensor, "batch answers"] | None = None

    def __len__(self) -> int:
        return self.tokens.shape[0]

    def rows(self, index: Tensor | slice) -> Batch:
        """The documents at `index` (a slice, or an index that may repeat), padding kept."""
        picked = {
            f.name: value[index]
            for f in fields(self)
            if isinstance(value := getattr(self, f.name), Tensor)
        }
        return replace(self, **picked)


@dataclass(frozen=True)
class Encoding(_Movable):
    """A batch as the encoder has read it: everything that attention and decoder need."""

    hidden: Float[Tensor, "batch tokens hidden"]
    query: Float[Tensor, "batch query_hidden"] | None
    mask: Bool[Tensor, "batch tokens"]
    candidates: Bool[Tensor, "batch answers"] | None
    ids: Int[Tensor, " batch"]


@dataclass(frozen=True)
class Projection(_Movable):
    """Hidden states brought to the decoder's width once: the counterfactual boundary.

    The decoder sees an attention distribution a only through `a @ values + offset`, where
    `offset` holds the biases and the query's part.
    """

    values: Float[Tensor, "batch tokens width"]
    offset: Float[Tensor, "batch width"]
    mask: Bool[Tensor, "batch tokens"]
    candidates: Bool[Tensor, "batch answers"] | None
    ids: Int[Tensor, " batch"]


def collate(
    documents: list[list[int]],
    labels: list[int],
    ids: list[int],
    queries: list[list[int]] | None = None,
    candidates: list[list[int]] | None = None,
    answers: int = 0,
) -> Batch:
    """Pad word ids to a `Batch`, putting `<sos>` and `<eos>` around each document and query.

    `documents` and `queries` hold word ids without special tokens (an empty list is a document
    with no words). `candidates` lists, for each row, the allowed answers out of `answers`.
    """
    tokens, lengths = _pad(documents)
    position = torch.arange(tokens.shape[1])
    mask = (position >= 1) & (position < lengths[:, None] - 1)
    query_tokens, query_lengths = _pad(queries) if queries is not None else (None, None)
    allowed = None
    if candidates is not None:
        allowed = torch.zeros(len(documents), answers, dtype=torch.bool)
        for row, answer_ids in enumerate(candidates):
            allowed[row, answer_ids] = True
    return Batch(
        tokens=tokens,
        lengths=lengths,
        mask=mask,
        labels=torch.tensor(labels, dtype=torch.int64),
        ids=torch.tensor(ids, dtype=torch.int64),
        query_tokens=query_tokens,
        query_lengths=query_lengths,
        candidates=allowed,
    )


def _pad(documents: list[list[int]]) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(words) + 2 for words in documents], dtype=torch.int64)
    tokens = torch.full((len(documents), int(lengths.max())), PAD, dtype=torch.int64)
    for row, words in enumerate(documents):
        tokens[row, : len(words) + 2] = torch.tensor([SOS, *words, EOS], dtype=torch.int64)
    return tokens, lengths
