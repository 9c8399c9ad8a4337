"""Leave-one-out: how far the prediction moves when a token is taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_audit.batch import PAD, Batch
from attention_audit.importance.model import Model, require_eval
from attention_audit.measures import probabilities, tvd

# Tokens of the texts that are swept at once: their states are what the processor's cache holds.
SWEPT = 2048


def leave_one_out(
    model: Model, batch: Batch, *, frozen: bool = False, max_tokens: int = 65536
) -> Float[Tensor, "batch tokens"]:
    """TVD(y(x without t), y(x)) in [0, 1], float64 (Jain & Wallace 2019, algorithm 1).

    The token is deleted and the model rerun, attention recomputed; `frozen` keeps hidden states
    and attention instead, drops the token's weight and renormalises the rest. NaN off the mask,
    and where nothing is left. What the model can tell of all deletions at once is asked for at
    once (`without_each`); what it can not is rerun, at most about `max_tokens` padded tokens at a
    time. Raises ValueError if the model is in train mode.
    """
    require_eval(model)
    with torch.no_grad():
        return (_without_weight if frozen else _without_token)(model, batch, max_tokens)


def _without_token(model: Model, batch: Batch, max_tokens: int) -> Tensor:
    importance = _undefined(batch)
    for rows in _of_like_length(batch.lengths, SWEPT):
        part = _cropped(batch.rows(rows))
        told = model.without_each(part)
        importance[rows, : part.tokens.shape[1]] = (
            rerun(model, part, max_tokens) if told is None else _moved(*told, part)
        )
    return importance


def _moved(
    whole: Float[Tensor, "batch outputs"],
    without: Float[Tensor, "batch tokens outputs"],
    batch: Batch,
) -> Float[Tensor, "batch tokens"]:
    deletable = batch.mask & (batch.mask.sum(1, keepdim=True) > 1)
    moved = tvd(probabilities(without), probabilities(whole)[:, None])
    return moved.masked_fill(~deletable, torch.nan)


def _of_like_length(lengths: Int[Tensor, " batch"], tokens: int) -> Iterator[Int[Tensor, " rows"]]:
    """Groups of at most so many padded tokens, or of one document; short documents first."""
    order = lengths.argsort(stable=True)
    start = 0
    for end, length in enumerate(lengths[order].tolist()):
        if end > start and (end + 1 - start) * length > tokens:
            yield order[start:end]
            start = end
    if len(order):
        yield order[start:]


def _cropped(batch: Batch) -> Batch:
    """Without the columns that are padding in every row."""
    width = int(batch.lengths.max())
    return replace(batch, tokens=batch.tokens[:, :width], mask=batch.mask[:, :width])


def rerun(model: Model, batch: Batch, max_tokens: int = 65536) -> Float[Tensor, "batch tokens"]:
    """Leave-one-out by its definition: every document read again without each of its words."""
    importance = _undefined(batch)
    whole = _predict(model, batch)
    for rows, positions in _chunks(batch, max_tokens):
        reduced = _predict(model, _delete(batch, rows, positions))
        importance[rows, positions] = tvd(reduced, whole[rows])
    return importance


def _without_weight(model: Model, batch: Batch, max_tokens: int) -> Tensor:
    importance = _undefined(batch)
    encoding = model.encode(batch)
    attention, projection = model.attend(encoding), model.project(encoding)
    whole = probabilities(model.decode(projection, attention))
    everywhere = torch.arange(batch.mask.shape[1], device=batch.mask.device)
    step = max(1, max_tokens // batch.mask.numel())
    for start in range(0, len(everywhere), step):
        positions = everywhere[start : start + step]
        kept, left = _drop(attention, positions)
        moved = tvd(probabilities(model.decode(projection, kept)), whole[:, None])
        defined = batch.mask[:, positions] & (left > 0)
        importance[:, positions] = torch.where(defined, moved, torch.nan)
    return importance


def _drop(
    attention: Float[Tensor, "batch tokens"], positions: Int[Tensor, " dropped"]
) -> tuple[Float[Tensor, "batch dropped tokens"], Float[Tensor, "batch dropped"]]:
    """Attention without each position, renormalised, and the weight that was left before."""
    kept = attention[:, None].repeat(1, len(positions), 1)
    kept[:, torch.arange(len(positions), device=positions.device), positions] = 0
    left = kept.sum(-1)
    tiny = torch.finfo(left.dtype).tiny
    return kept / left.clamp(min=tiny)[..., None], left


def _chunks(batch: Batch, max_tokens: int) -> Iterator[tuple[Tensor, Tensor]]:
    """(rows, positions) of all deletions that leave a word, short documents first."""
    deletable = batch.mask & (batch.mask.sum(1, keepdim=True) > 1)
    rows, positions = deletable.nonzero(as_tuple=True)
    for some in _of_like_length(batch.lengths[rows], max_tokens):
        yield rows[some], positions[some]


def _delete(batch: Batch, rows: Int[Tensor, " pairs"], positions: Int[Tensor, " pairs"]) -> Batch:
    """The documents at `rows`, each without the token at its position, padded to the longest."""
    repeated = batch.rows(rows)
    width = int(repeated.lengths.max()) - 1
    source = torch.arange(width, device=rows.device).repeat(len(rows), 1)
    source = source + (source >= positions[:, None])
    lengths = repeated.lengths - 1
    tokens = repeated.tokens.gather(1, source)
    inside = torch.arange(width, device=rows.device) < lengths[:, None]
    return replace(
        repeated,
        tokens=tokens.masked_fill(~inside, PAD),
        lengths=lengths,
        mask=repeated.mask.gather(1, source) & inside,
    )


def _predict(model: Model, batch: Batch) -> Float[Tensor, "batch classes"]:
    encoding = model.encode(batch)
    return probabilities(model.decode(model.project(encoding), model.attend(encoding)))


def _undefined(batch: Batch) -> Float[Tensor, "batch tokens"]:
    return torch.full_like(batch.mask, torch.nan, dtype=torch.float64)
