"""What the adversarial search costs: the plain way, ours, and the exact optimum, in one process.

    python benchmarks/adversary.py [steps]

The plain way attends to hidden states H wide, lets autograd differentiate the objective and
torch's Adam move the logits, pair by pair, as the equation is read. Ours works on projected values
with gradients in closed form: in float32, as the plain way, and in float64, as the analysis. The
exact optimum is that of a sigmoid on a linear decoder: for one epsilon, and for a frontier of six.
Processor milliseconds of one thread for a document of T words with random hidden states, the best
of alternating repetitions; searches are scaled to 500 steps.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import torch
from torch import Tensor

from attention_audit.batch import Encoding
from attention_audit.counterfactual import Decoding, Search, adversarial_search, exact_adversary
from attention_audit.counterfactual.adversarial import draw_noise
from attention_audit.measures import jsd, probabilities, tvd
from attention_audit.models.decoders import Classification, Decoder, WithQuery

# Documents in a batch, and their words.
SIZES = ((128, 20), (32, 180), (8, 750), (4, 2000))
FRONTIER = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
HIDDEN = 256
WHOLE = 500
REPETITIONS = 3


def main(steps: int) -> None:
    torch.set_num_threads(1)
    results = []
    for name, outputs in (("sigmoid", 1), ("answers", 20)):
        for rows, words in SIZES:
            seconds = _alternate(_ways(rows, words, outputs, steps))
            per_row = {way: value / rows for way, value in seconds.items()}
            results.append({"decoder": name, "words": words, "ms_per_document": per_row})
            print(json.dumps(results[-1]), flush=True)
    folder = Path(__file__).resolve().parent / "results"
    (folder / "adversary.json").write_text(json.dumps(results, indent=1) + "\n")


def _ways(rows: int, words: int, outputs: int, steps: int) -> dict[str, Callable[[], float]]:
    torch.manual_seed(0)
    hidden = torch.randn(rows, words + 2, HIDDEN)
    mask = torch.ones(rows, words + 2, dtype=torch.bool)
    mask[:, [0, -1]] = False
    attention = (1.5 * torch.randn(rows, words + 2)).masked_fill(~mask, -1e30).softmax(-1)
    query = torch.randn(rows, HIDDEN)
    encoding = Encoding(hidden, query, mask, None, torch.arange(rows))
    decoder: Decoder = (
        Classification(HIDDEN, 1) if outputs == 1 else WithQuery(HIDDEN, HIDDEN, outputs)
    )
    decoder.requires_grad_(False)
    noise = draw_noise(mask, encoding.ids, candidates=5, seed=0)
    decode, double = _decoding(decoder, encoding), _decoding(decoder, encoding, torch.float64)
    search = Search(steps=steps)

    def ours(decode: Decoding, attention: Tensor) -> None:
        adversarial_search(decode, attention, mask, encoding.ids, search, noise=noise)

    def exact(epsilons: tuple[float, ...]) -> None:
        scores, offset = double.projection.values[..., 0], double.projection.offset[:, 0]
        exact_adversary(scores, offset, attention.double(), mask, epsilons)

    share = WHOLE / steps
    ways = {
        "plain": lambda: share * _timed(lambda: _plain(decoder, encoding, attention, noise, steps)),
        "ours": lambda: share * _timed(lambda: ours(decode, attention)),
        "ours, float64": lambda: share * _timed(lambda: ours(double, attention.double())),
    }
    if outputs == 1:
        ways["exact"] = lambda: _timed(lambda: exact((0.01,)))
        ways["exact, six epsilons"] = lambda: _timed(lambda: exact(FRONTIER))
    return ways


def _decoding(decoder: Decoder, encoding: Encoding, dtype: torch.dtype = torch.float32) -> Decoding:
    exact = deepcopy(decoder).to(dtype)
    query = None if encoding.query is None else encoding.query.to(dtype)
    return Decoding(
        exact, exact.project(replace(encoding, hidden=encoding.hidden.to(dtype), query=query))
    )


def _plain(
    decoder: Decoder, encoding: Encoding, attention: Tensor, noise: Tensor, steps: int
) -> None:
    """The paper's objective, written down as it is and left to autograd."""
    mask, k = encoding.mask[:, None], noise.shape[1]
    logits = (3 * noise.float()).requires_grad_()
    adam = torch.optim.Adam([logits], lr=0.01, amsgrad=True)
    original = _answer(decoder, encoding, attention[:, None])
    for _ in range(steps):
        candidates = logits.masked_fill(~mask, -1e30).softmax(-1)
        moved = tvd(_answer(decoder, encoding, candidates), original)
        apart = jsd(candidates, attention[:, None])
        pairs = [jsd(candidates[:, i], candidates[:, j]) for i, j in combinations(range(k), 2)]
        hinge = (moved - 0.01).clamp(min=0)
        loss = (500 / k) * hinge.sum() - apart.sum() - torch.stack(pairs).sum() / (k * (k - 1))
        adam.zero_grad()
        loss.backward()
        adam.step()


def _answer(decoder: Decoder, encoding: Encoding, attention: Tensor) -> Tensor:
    context = attention @ encoding.hidden
    if isinstance(decoder, WithQuery):
        mixed = decoder.passage(context) + decoder.query(encoding.query)[:, None]
        return probabilities(decoder.output(torch.tanh(mixed)))
    return probabilities(decoder.readout(context @ decoder.output.weight.T + decoder.output.bias))


def _timed(work: Callable[[], None]) -> float:
    """Milliseconds of the processor: others' programs do not count."""
    started = time.process_time()
    work()
    return 1000 * (time.process_time() - started)


def _alternate(ways: dict[str, Callable[[], float]]) -> dict[str, float]:
    for way in ways.values():
        way()
    tries = [{name: way() for name, way in ways.items()} for _ in range(REPETITIONS)]
    return {name: min(one[name] for one in tries) for name in ways}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
