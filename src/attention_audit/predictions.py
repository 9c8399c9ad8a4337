"""What a model says of instances: its predictions, and a look-up of them by the instance's id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

# How far from 1 the sum of given weights may be: float32's noise over thousands of words.
SUM_SLACK = 1e-3


@dataclass(frozen=True)
class Predictions:
    """A model's predictions, one row an instance, in the order they were made, on the CPU.

    `attention` and `token_logits` hold, for each instance, only the positions of its words.
    `token_logits` [words, O] is each word's value under a linear decoder, so that the logits are
    attention @ token_logits + bias; None where the decoder is not linear.
    """

    ids: Int[Tensor, " instances"]
    labels: Int[Tensor, " instances"]
    probabilities: Float[Tensor, "instances classes"]
    attention: list[Tensor]
    token_logits: list[Tensor] | None

    @staticmethod
    def joined(parts: Sequence[Predictions]) -> Predictions:
        """One batch's predictions after another's."""
        logits = [part.token_logits for part in parts if part.token_logits is not None]
        return Predictions(
            ids=torch.cat([part.ids for part in parts]),
            labels=torch.cat([part.labels for part in parts]),
            probabilities=torch.cat([part.probabilities for part in parts]),
            attention=[row for part in parts for row in part.attention],
            token_logits=[row for rows in logits for row in rows] if logits else None,
        )

    @property
    def classes(self) -> Int[Tensor, " instances"]:
        """The predicted class of each instance."""
        return self.probabilities.argmax(-1)

    def of(self, ids: Int[Tensor, " instances"]) -> Predictions:
        """The same, in the order of `ids`: two models never have to agree on an order.

        Raises:
            ValueError: not the same instances.
        """
        ascending, order = self.ids.sort()
        place = order[_places(ascending, ids, "predictions")]
        if not torch.equal(ids.sort().values, self.ids.sort().values):
            raise ValueError(
                f"predictions: found {len(self.ids)} instances, expected {len(ids)}, each once: "
                "both models must have read the same ones"
            )
        rows = place.tolist()
        logits = self.token_logits
        return Predictions(
            ids=self.ids[place],
            labels=self.labels[place],
            probabilities=self.probabilities[place],
            attention=[self.attention[row] for row in rows],
            token_logits=None if logits is None else [logits[row] for row in rows],
        )


@dataclass(frozen=True, eq=False)
class Given:
    """Attention that was given for instances, perhaps with outputs; found by ids, never by place.

    Each row has as many weights as the instance has words, those that are 0 included.

    Attributes:
        ids: unique across the splits, ascending.
        ends: the row of instance i is `weights[ends[i - 1]:ends[i]]`.
        weights: all rows, end to end.
        probabilities: of the model that gave them, where they matter.
    """

    ids: Int[Tensor, " instances"]
    ends: Int[Tensor, " instances"]
    weights: Float[Tensor, " words"]
    probabilities: Float[Tensor, "instances classes"] | None = None

    @staticmethod
    def of(
        ids: Int[Tensor, " instances"],
        rows: Sequence[Float[Tensor, " _"]],
        probabilities: Float[Tensor, "instances classes"] | None = None,
    ) -> Given:
        """From rows of weights over the words of each instance, in any order.

        Raises:
            ValueError: an id that comes twice; a row that is no distribution (empty ones aside).
        """
        if len(set(ids.tolist())) != len(ids):
            raise ValueError("given attention: an instance's id comes twice")
        for instance, row in zip(ids.tolist(), rows, strict=True):
            if len(row) and not _is_distribution(row):
                raise ValueError(
                    f"given attention: the weights of instance {instance} are no distribution: "
                    f"found sum {float(row.sum()):.4f} and least {float(row.min()):.4f}, expected "
                    "sum 1 and none below 0"
                )
        order = ids.argsort()
        lengths = torch.tensor([len(rows[place]) for place in order.tolist()], dtype=torch.int64)
        sorted_rows = [rows[place] for place in order.tolist()]
        return Given(
            ids=ids[order],
            ends=lengths.cumsum(0),
            weights=torch.cat([torch.zeros(0), *sorted_rows]),
            probabilities=None if probabilities is None else probabilities[order],
        )

    def rows(self) -> list[Float[Tensor, " _"]]:
        """Each instance's weights, in the order of `ids`."""
        return list(self.weights.tensor_split(self.ends[:-1])) if len(self.ids) else []

    def attention(
        self, ids: Int[Tensor, " batch"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """The weights of these instances, on the words that `mask` marks; 0 elsewhere.

        Raises:
            ValueError: an instance that nothing was given for, or with another number of words.
        """
        place = _places(self.ids, ids.cpu(), "given attention")
        ends = self.ends[place]
        lengths = torch.diff(self.ends, prepend=self.ends.new_zeros(1))[place]
        if not torch.equal(lengths, words := mask.sum(1).cpu()):
            row = int((lengths != words).nonzero()[0])
            raise ValueError(
                f"given attention: instance {int(ids[row])}: found {int(words[row])} words, "
                f"expected {int(lengths[row])}: weights are of whole texts, as they were read then"
            )
        # Word by word: where its row begins, and how far it is into that row.
        begins = torch.repeat_interleave(ends - lengths, lengths)
        first = torch.repeat_interleave(lengths.cumsum(0) - lengths, lengths)
        flat = self.weights[begins + torch.arange(len(first)) - first]
        found = torch.zeros(mask.shape, dtype=flat.dtype, device=mask.device)
        return found.masked_scatter(mask, flat.to(mask.device))

    def outputs(self, ids: Int[Tensor, " batch"]) -> Float[Tensor, "batch classes"]:
        """The probabilities that were given for these instances.

        Raises:
            ValueError: none were given.
        """
        if self.probabilities is None:
            raise ValueError("given attention: came without outputs")
        return self.probabilities[_places(self.ids, ids.cpu(), "given outputs")].to(ids.device)


def _is_distribution(row: Float[Tensor, " words"]) -> bool:
    return bool(row.isfinite().all() and (row >= 0).all() and abs(float(row.sum()) - 1) < SUM_SLACK)


def _places(
    ascending: Int[Tensor, " instances"], ids: Int[Tensor, " wanted"], what: str
) -> Int[Tensor, " wanted"]:
    """Where each of `ids` stands in `ascending`."""
    place = torch.searchsorted(ascending, ids).clamp(max=max(0, len(ascending) - 1))
    found = ascending[place] == ids if len(ascending) else torch.zeros(len(ids), dtype=torch.bool)
    if not bool(found.all()):
        missing = ids[~found].tolist()
        raise ValueError(
            f"{what}: nothing is there for instance {missing[0]}"
            + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            + ": what was made for one split says nothing of another"
        )
    return place
