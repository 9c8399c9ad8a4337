"""The model on trial: embedding, encoder, attention, decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_audit.batch import PAD, Batch, Encoding, Projection, words
from attention_audit.measures import probabilities
from attention_audit.models.attentions import Attention
from attention_audit.models.decoders import Classification, Decoder, WithQuery
from attention_audit.models.deletions import Reading
from attention_audit.models.encoders import Encoder
from attention_audit.predictions import Given, Predictions


class Output(NamedTuple):
    """Logits [B, O] (O = 1 for two classes) and attention [B, T]."""

    logits: Tensor
    attention: Tensor


class WithoutEach(NamedTuple):
    """Logits of whole documents [B, O], and without the word at each position [B, T, O].

    Where no word stands, the latter mean nothing.
    """

    whole: Tensor
    without: Tensor


class AttentionModel(nn.Module):
    """Encoder x attention x decoder; every analysis uses only the methods below.

    A question, or a hypothesis, is read by an embedding and an encoder of its own.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        encoder: Encoder,
        attention: Attention,
        decoder: Decoder,
        query_embedding: nn.Embedding | None = None,
        query_encoder: Encoder | None = None,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.encoder = encoder
        self.attention = attention
        self.decoder = decoder
        self.query_embedding = query_embedding
        self.query_encoder = query_encoder

    def embed(self, batch: Batch) -> Float[Tensor, "batch tokens embedding"]:
        """Embedded tokens; padding is the zero vector."""
        return self.embedding(batch.tokens)

    def encode(
        self, batch: Batch, embedded: Float[Tensor, "batch tokens embedding"] | None = None
    ) -> Encoding:
        """Read the batch; `embedded` replaces the embedding's output, for gradients at it."""
        if embedded is None:
            embedded = self.embed(batch)
        hidden, _ = self.encoder(embedded, batch.lengths)
        return Encoding(hidden, self._query(batch), batch.mask, batch.candidates, batch.ids)

    def _query(self, batch: Batch) -> Tensor | None:
        if self.query_encoder is None or self.query_embedding is None:
            return None
        _, summary = self.query_encoder(
            self.query_embedding(batch.query_tokens), batch.query_lengths
        )
        return summary

    def score(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]:
        """Unnormalised attention; its values outside the mask mean nothing."""
        return self.attention(encoding)

    def attend(self, encoding: Encoding) -> Float[Tensor, "batch tokens"]:
        """Attention: sums to 1 over the mask, exactly 0 elsewhere (all 0 where no word is)."""
        return self.attention.normalise(self.score(encoding), encoding.mask)

    def project(self, encoding: Encoding) -> Projection:
        """Hidden states at the decoder's width D, computed once for any number of attentions."""
        return self.decoder.project(encoding)

    def decode(
        self, projection: Projection, attention: Float[Tensor, "batch *alternatives tokens"]
    ) -> Float[Tensor, "batch *alternatives outputs"]:
        """Logits under the given attention, one [B, T] or K alternatives [B, K, T] a row."""
        alternatives = attention if attention.dim() == 3 else attention[:, None]
        logits = self.decoder.logits(projection, projection.attended(alternatives))
        return logits if attention.dim() == 3 else logits[:, 0]

    def without_each(self, batch: Batch) -> WithoutEach | None:
        """Logits of each document, whole and without each of its words, all at once.

        None where a part of the model has no fast way, or changes what its base class does
        without saying how this goes then: the documents have to be read again without the words.
        """
        query = self._query(batch)
        scoring, weight = self.attention.scoring(query), self.decoder.weight
        if scoring is None or weight is None or not self._agrees():
            return None
        reading = Reading(scoring, weight, batch.mask)
        told = self.encoder.without_each(self.embed(batch), batch.lengths, reading)
        if told is None:
            return None
        encoding = Encoding(told.hidden, query, batch.mask, batch.candidates, batch.ids)
        projection = self.project(encoding)
        contexts = told.pool.context().to(projection.values.dtype)
        whole = self.decode(projection, self.attend(encoding))
        contexts = contexts + projection.offset[:, None]
        return WithoutEach(whole, self.decoder.logits(projection, contexts))

    def _agrees(self) -> bool:
        """No part has a fast way that is inherited from above a method that it must agree with."""
        return (
            _as_new(self.encoder, "without_each", "forward")
            and _as_new(self.attention, "scoring", "forward", "normalise")
            and _as_new(self.decoder, "weight", "project")
        )

    def predict(self, batch: Batch, given: Given | None = None) -> Predictions:
        """What the model says of the batch, on the CPU; with `given` attention, not its own."""
        encoding = self.encode(batch)
        attention = (
            self.attend(encoding)
            if given is None
            else given.attention(batch.ids, batch.mask).to(encoding.hidden)
        )
        projection = self.project(encoding)
        linear = self.decoder.linear
        return Predictions(
            ids=batch.ids.cpu(),
            labels=batch.labels.cpu(),
            probabilities=probabilities(self.decode(projection, attention)).cpu(),
            attention=words(attention, batch.mask),
            token_logits=words(projection.values, batch.mask) if linear else None,
        )

    def forward(self, batch: Batch) -> Output:
        encoding = self.encode(batch)
        attention = self.attend(encoding)
        return Output(self.decode(self.project(encoding), attention), attention)


def assemble(
    vectors: Float[Tensor, "vocabulary embedding"],
    encoder: Callable[..., Encoder],
    attention: Callable[..., Attention],
    outputs: int,
    query: bool = False,
) -> AttentionModel:
    """Build a model from word vectors, the constructors of its parts and the number of classes.

    Args:
        vectors: initial embedding, trained on; row 0 is padding and stays zero.
        encoder: called as encoder(embedding=width), twice where there is a question.
        attention: called as attention(hidden=H, query=H or None).
        outputs: number of classes or answers; without a query two classes share one logit.
        query: the task has one: the question, or the hypothesis of inference.

    Raises:
        ValueError: an encoder whose `width` is not that of what it returns.
    """
    reader = encoder(embedding=vectors.shape[1])
    _check_width(reader, vectors.shape[1])
    if not query:
        decoder: Decoder = Classification(reader.width, 1 if outputs == 2 else outputs)
        return AttentionModel(
            _embedding(vectors), reader, attention(hidden=reader.width, query=None), decoder
        )
    asker = encoder(embedding=vectors.shape[1])
    return AttentionModel(
        embedding=_embedding(vectors),
        encoder=reader,
        attention=attention(hidden=reader.width, query=asker.width),
        decoder=WithQuery(reader.width, asker.width, outputs),
        query_embedding=_embedding(vectors),
        query_encoder=asker,
    )


def _check_width(encoder: Encoder, embedding: int) -> None:
    """Refuse an encoder whose `width` is not that of what it returns."""
    with torch.no_grad():
        hidden, summary = encoder(torch.zeros(1, 3, embedding), torch.tensor([3]))
    if not hidden.shape[-1] == summary.shape[-1] == encoder.width:
        raise ValueError(
            f"encoder {type(encoder).__name__}: its width is {encoder.width}, its hidden states "
            f"are {hidden.shape[-1]} wide, its summary {summary.shape[-1]}; all must be equal"
        )


def _as_new(part: nn.Module, fast: str, *plain: str) -> bool:
    """The class that `fast` comes from is none above those that any of `plain` comes from."""
    classes = type(part).__mro__

    def depth(name: str) -> int:
        return next(place for place, found in enumerate(classes) if name in vars(found))

    return all(depth(fast) <= depth(name) for name in plain)


def _embedding(vectors: Tensor) -> nn.Embedding:
    words, width = vectors.shape
    return nn.Embedding(words, width, padding_idx=PAD, _weight=vectors.clone())
