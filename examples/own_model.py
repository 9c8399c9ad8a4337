"""Put a model on trial that you have trained yourself: may its attention be shown as a reason?

    python examples/own_model.py

`Theirs` stands for your model: any PyTorch classifier that reads a text as a weighted sum of hidden
states. `on_trial` wraps the parts that it has; nothing is trained anew. First of all the wrapped
model must say what yours says: `check` compares every probability and weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attention_audit.batch import Batch, Encoding, collate
from attention_audit.callbacks import Adversarial, Correlation, Permutation
from attention_audit.measures import probabilities
from attention_audit.models import AttentionModel
from attention_audit.models.attentions import Attention
from attention_audit.models.decoders import Classification
from attention_audit.models.encoders import Encoder

WORDS, WIDTH, HIDDEN = 60, 16, 24
SHOWN = {
    "tau_gradient": "Kendall's tau of attention and gradient",
    "tau_loo": "Kendall's tau of attention and leave-one-out",
    "tau_gradient_loo": "Kendall's tau of gradient and leave-one-out, to compare",
    "delta_y_med": "output change (TVD) when attention is permuted, median",
    "eps_max_jsd": "most different attention (JSD, at most 0.693) found by search",
    "eps_max_jsd_exact": "the most different attention there is, output within epsilon",
}


class Theirs(nn.Module):
    """Your model: token ids and their mask -> a logit for the positive class, and attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.gru = nn.GRU(WIDTH, HIDDEN, batch_first=True)
        self.score = nn.Linear(HIDDEN, 1)
        self.output = nn.Linear(HIDDEN, 1)

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        hidden, _ = self.gru(self.embedding(tokens))
        scores = self.score(hidden.tanh())[..., 0].masked_fill(~mask, float("-inf"))
        attention = scores.softmax(-1)
        return self.output((attention[..., None] * hidden).sum(1))[:, 0], attention


class TheirEncoder(Encoder):
    """Embedded tokens [B, T, E] -> hidden states [B, T, H], and a summary that nothing uses here.

    Padding stands at the end, so that a GRU that reads forwards never sees it before a word.
    """

    def __init__(self, gru: nn.GRU) -> None:
        super().__init__()
        self.gru, self.width = gru, gru.hidden_size

    def forward(self, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        hidden, _ = self.gru(embedded)
        return hidden, hidden[torch.arange(len(hidden)), lengths - 1]


class TheirAttention(Attention):
    """Hidden states -> scores [B, T]; the softmax over the words is the base class's."""

    def __init__(self, score: nn.Linear) -> None:
        super().__init__()
        self.score = score

    def forward(self, encoding: Encoding) -> Tensor:
        return self.score(encoding.hidden.tanh())[..., 0]


def on_trial(theirs: Theirs) -> AttentionModel:
    """The same weights, in the parts that every analysis uses."""
    decoder = Classification(HIDDEN, outputs=1)  # one logit for two classes
    decoder.output = theirs.output
    encoder, attention = TheirEncoder(theirs.gru), TheirAttention(theirs.score)
    return AttentionModel(theirs.embedding, encoder, attention, decoder)


def check(theirs: Theirs, model: AttentionModel, batch: Batch) -> None:
    """Refuse, by a ValueError, a wrapped model that says anything else."""
    with torch.no_grad():
        logits, attention = theirs(batch.tokens, batch.mask)
        ours = model(batch)
    apart = max(
        float((probabilities(ours.logits) - probabilities(logits[:, None])).abs().max()),
        float((ours.attention - attention).abs().max()),
    )
    if apart > 1e-5:
        raise ValueError(f"the wrapped model is up to {apart:.2g} away from yours")


def measured(model: AttentionModel, batch: Batch) -> Iterator[Mapping[str, Any]]:
    """The first paper's tests of these texts: rows with a mean and its 95 % interval."""
    for analysis in (Correlation(), Permutation(), Adversarial(epsilon=0.01)):
        found = analysis.analyse(model.eval().double(), batch)
        for row in analysis.summarise(found.instances):
            if row["quantity"] in SHOWN and row["statistic"] == "mean":
                yield row


def texts(count: int, seed: int) -> Batch:
    """Random words; positive where words 4 to 13 outnumber words 14 to 23."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(6, 25, (count,), generator=draw).tolist()
    documents = [torch.randint(4, WORDS, (n,), generator=draw).tolist() for n in lengths]
    labels = [int(sum((w < 14) - (14 <= w < 24) for w in document) > 0) for document in documents]
    # `collate` puts <sos> and <eos> around each text, which are never attended to. For a model that
    # knows none, make the `Batch` yourself: its `mask` says where attention may go.
    return collate(documents, labels, list(range(count)))


def trained(batch: Batch, epochs: int = 150) -> Theirs:
    """Yours is trained already."""
    torch.manual_seed(0)
    model = Theirs()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(epochs):
        logits, _ = model(batch.tokens, batch.mask)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, batch.labels.float())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


def main() -> None:
    theirs, test = trained(texts(600, seed=0)), texts(300, seed=1)
    model = on_trial(theirs)
    check(theirs, model, test)
    right = (theirs(test.tokens, test.mask)[0] > 0).long() == test.labels
    print(f"accuracy on {len(test)} texts: {right.float().mean():.3f}")
    for row in measured(model, test):
        interval = f"[{row['lo']:.3f}, {row['hi']:.3f}]"
        print(f"{row['value']:6.3f} {interval:16} {SHOWN[row['quantity']]}")


if __name__ == "__main__":
    main()
