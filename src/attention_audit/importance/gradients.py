"""Gradient importance: how the predicted probability moves with a token's embedding."""

from __future__ import annotations

from dataclasses import fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_audit.batch import Batch
from attention_audit.importance.model import Model, require_eval


def gradient(
    model: Model, batch: Batch, *, through_attention: bool = False
) -> Float[Tensor, "batch tokens"]:
    """|e_t . dy/de_t| >= 0 in float64, exactly 0 off the mask (Jain & Wallace 2019, algorithm 1).

    y is the positive class's probability if the model has one logit, else the predicted class's.
    Attention is held fixed unless `through_attention`. Works under no_grad and inference_mode and
    leaves the parameters' `.grad` alone. Raises ValueError if the model is in train mode.
    """
    return signed_gradient(model, batch, through_attention=through_attention).abs()


def signed_gradient(
    model: Model, batch: Batch, *, through_attention: bool = False
) -> Float[Tensor, "batch tokens"]:
    """e_t . dy/de_t with its sign; otherwise as `gradient`.

    The logit margin is differentiated and dy/dmargin = y (1 - y) multiplied in float64, because
    the probability's own gradient is 0 in float32 as soon as the model is sure.
    """
    require_eval(model)
    # cuDNN's recurrent layers have no backward in evaluation mode.
    cudnn_off = torch.backends.cudnn.flags(enabled=False)
    with torch.inference_mode(False), torch.enable_grad(), cudnn_off:
        batch = _usable_in_autograd(batch)
        embedded = model.embed(batch).detach().clone().requires_grad_()
        encoding = model.encode(batch, embedded)
        attention = model.attend(encoding)
        if not through_attention:
            attention = attention.detach()
        margin, slope = _margin(model.decode(model.project(encoding), attention))
        (moved,) = torch.autograd.grad(margin.sum(), embedded)
        along = (moved.double() * embedded.detach().double()).sum(-1)
    return torch.where(batch.mask, along * slope[:, None], 0.0)


def _margin(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Margin m of y = sigmoid(m), to be differentiated, and dy/dm = y (1 - y) in float64."""
    margin = logits[:, 0] if logits.shape[-1] == 1 else _against_others(logits)
    exact = margin.detach().double() if logits.shape[-1] == 1 else _log_odds(logits.detach())
    return margin, torch.sigmoid(exact) * torch.sigmoid(-exact)


def _against_others(logits: Tensor) -> Tensor:
    """z_c - sum_k w_k z_k, w the softmax over the other classes: its gradient is the log odds'."""
    chosen = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
    others = logits.detach().masked_fill(chosen, float("-inf"))
    weights = torch.where(others.isfinite(), others.softmax(-1), 0.0)
    # A forbidden class may have an infinite logit: no weight must not become 0 * inf.
    rivals = torch.where(weights > 0, logits, 0.0)
    return logits[chosen] - (weights * rivals).sum(-1)


def _log_odds(logits: Tensor) -> Tensor:
    """ln y / (1 - y) of the predicted class, in float64 and without forming 1 - y."""
    top, chosen = logits.double().max(-1, keepdim=True)
    others = logits.double().scatter(-1, chosen, float("-inf"))
    return top[:, 0] - others.logsumexp(-1)


def _usable_in_autograd(batch: Batch) -> Batch:
    """Copies of tensors made in inference mode, which autograd may not save."""
    copies = {
        f.name: value.clone()
        for f in fields(batch)
        if isinstance(value := getattr(batch, f.name), Tensor) and value.is_inference()
    }
    return replace(batch, **copies)
