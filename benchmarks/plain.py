"""The paper's algorithms as written down, one thing at a time: what ours are timed against.

Written from the paper (Jain & Wallace 2019, algorithms 1 and 2, section 4.2.2), not from its
program. They share the model and its weights with ours, batch the documents in the same way, and
work on hidden states of full width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from scipy.stats import kendalltau
from torch import Tensor

from attention_audit.batch import Batch, Encoding
from attention_audit.models import AttentionModel

STEPS = 500
CANDIDATES = 5
PERMUTATIONS = 100
PENALTY = 500.0


@torch.no_grad()
def predict(model: AttentionModel, batch: Batch) -> Tensor:
    """Probabilities [B] of the positive class."""
    return torch.sigmoid(model(batch).logits[:, 0])


def gradient(model: AttentionModel, batch: Batch) -> Tensor:
    """Absolute gradient times embedding [B, T], attention held fixed."""
    embedded = model.embed(batch).detach().requires_grad_(True)
    encoding = model.encode(batch, embedded)
    attention = model.attend(encoding).detach()
    output = torch.sigmoid(_decode(model, encoding.hidden, attention))
    (slope,) = torch.autograd.grad(output.sum(), embedded)
    return (slope * embedded).sum(-1).abs().detach()


def leave_one_out(
    model: AttentionModel, batch: Batch, positions: Sequence[int] | None = None
) -> Tensor:
    """Change of the output without each position [B, T]: the whole batch again for each."""
    whole = predict(model, batch)
    width = batch.tokens.shape[1]
    found = torch.zeros(len(batch), width)
    for position in range(1, width - 1) if positions is None else positions:
        kept = [t for t in range(width) if t != position]
        shorter = replace(
            batch,
            tokens=batch.tokens[:, kept],
            mask=batch.mask[:, kept],
            lengths=batch.lengths - (batch.lengths > position).long(),
        )
        found[:, position] = (predict(model, shorter) - whole).abs()
    return found


@torch.no_grad()
def permutation(
    model: AttentionModel, read: Encoding, attention: Tensor, permutations: int = PERMUTATIONS
) -> Tensor:
    """Median output change [B] under shuffled attention: one permutation at a time."""
    whole = torch.sigmoid(_decode(model, read.hidden, attention))
    changes = []
    for _ in range(permutations):
        shuffled = attention.clone()
        for row, mask in enumerate(read.mask):
            places = torch.from_numpy(np.flatnonzero(mask.numpy()))
            shuffled[row, places] = attention[row, places[torch.randperm(len(places))]]
        changes.append((torch.sigmoid(_decode(model, read.hidden, shuffled)) - whole).abs())
    return torch.stack(changes).median(0).values


def adversarial_search(
    model: AttentionModel,
    read: Encoding,
    attention: Tensor,
    epsilon: float = 0.01,
    steps: int = STEPS,
) -> Tensor:
    """Largest divergence [B] of an attention found with the output within epsilon.

    Adam on the logits of five candidates, their contexts of full width, autograd throughout.
    """
    hidden, mask = read.hidden, read.mask[:, None]
    with torch.no_grad():
        whole = torch.sigmoid(_decode(model, hidden, attention))
    logits = 3 * torch.randn(len(whole), CANDIDATES, mask.shape[-1])
    logits.requires_grad_(True)
    optimiser = torch.optim.Adam([logits], lr=0.01, amsgrad=True)
    pairs = [(i, j) for i in range(CANDIDATES) for j in range(i)]
    for _ in range(steps):
        optimiser.zero_grad()
        candidates = torch.softmax(logits.masked_fill(~mask, float("-inf")), -1)
        moved = (torch.sigmoid(_contexts(model, hidden, candidates)) - whole[:, None]).abs()
        apart = sum(_jsd(candidates[:, i], candidates[:, j]) for i, j in pairs)
        gain = _jsd(candidates, attention[:, None]).sum(1) + apart * 2 / 20
        loss = -gain + PENALTY / CANDIDATES * torch.relu(moved - epsilon).sum(1)
        loss.sum().backward()
        optimiser.step()
    with torch.no_grad():
        candidates = torch.softmax(logits.masked_fill(~mask, float("-inf")), -1)
        moved = (torch.sigmoid(_contexts(model, hidden, candidates)) - whole[:, None]).abs()
        found = _jsd(candidates, attention[:, None]).masked_fill(moved > epsilon, 0)
    return found.max(1).values


def kendall(one: np.ndarray, other: np.ndarray, mask: np.ndarray) -> list[tuple[float, float]]:
    """Tau and p of each row: one row at a time."""
    rows = zip(one, other, mask, strict=True)
    return [tuple(kendalltau(a[kept], b[kept])) for a, b, kept in rows]


def _decode(model: AttentionModel, hidden: Tensor, attention: Tensor) -> Tensor:
    """Logits [B]: the context at full width, then the decoder."""
    context = (attention[..., None] * hidden).sum(1)
    return model.decoder.output(context)[:, 0]


def _contexts(model: AttentionModel, hidden: Tensor, candidates: Tensor) -> Tensor:
    """Logits [B, K] of K alternatives."""
    context = (candidates[..., None] * hidden[:, None]).sum(2)
    return model.decoder.output(context)[..., 0]


def _jsd(one: Tensor, other: Tensor) -> Tensor:
    middle = (one + other) / 2
    return (_kl(one, middle) + _kl(other, middle)) / 2


def _kl(one: Tensor, other: Tensor) -> Tensor:
    return (one * ((one + 1e-10).log() - (other + 1e-10).log())).sum(-1)
