"""The two shapes that everything speaks: what goes into a model, and what it has read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

PAD, UNK, SOS, EOS = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<unk>", "<sos>", "<eos>")


@dataclass(frozen=True)
class Batch:
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
        return self._each(lambda tensor: tensor[index])

    def to(self, *args: Any, **kwargs: Any) -> Batch:
        """All tensors as `Tensor.to` gives them; Lightning calls it."""
        return self._each(lambda tensor: tensor.to(*args, **kwargs))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        held = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{n: change(t) for n, t in held.items() if isinstance(t, Tensor)})


@dataclass(frozen=True)
class Encoding:
    """A batch as the encoder has read it: everything that attention and decoder need."""

    hidden: Float[Tensor, "batch tokens hidden"]
    query: Float[Tensor, "batch query_hidden"] | None
    mask: Bool[Tensor, "batch tokens"]
    candidates: Bool[Tensor, "batch answers"] | None
    ids: Int[Tensor, " batch"]


@dataclass(frozen=True)
class Projection:
    """Hidden states brought to the decoder's width once: the counterfactual boundary.

    The decoder sees an attention distribution a only through `a @ values + offset`, where
    `offset` holds the biases and the query's part.
    """

    values: Float[Tensor, "batch tokens width"]
    offset: Float[Tensor, "batch width"]
    mask: Bool[Tensor, "batch tokens"]
    candidates: Bool[Tensor, "batch answers"] | None
    ids: Int[Tensor, " batch"]

    def attended(
        self, attention: Float[Tensor, "batch alternatives tokens"]
    ) -> Float[Tensor, "batch alternatives width"]:
        """`a @ values + offset` for K alternatives a of each row."""
        return torch.baddbmm(self.offset[:, None], attention, self.values)


def words(
    rows: Shaped[Tensor, "batch tokens ..."], mask: Bool[Tensor, "batch tokens"]
) -> list[Shaped[Tensor, "_ ..."]]:
    """Each row's values, of any type, at its words only, on the CPU."""
    return [row[kept] for row, kept in zip(rows.cpu(), mask.cpu(), strict=True)]


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
