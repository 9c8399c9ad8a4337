"""How fast the analyses are: ours against the paper's algorithms one thing at a time.

    python benchmarks/analyses.py [--quick]

In one process, on one thread, on the same weights and documents: leave-one-out, permutation,
adversarial search and its exact optimum for the three encoders, Kendall's tau, at documents of
about 20, 180, 750 and 2,000 tokens; the counterfactuals start from hidden states that are there,
which is what they are about. Then the whole analysis stage of SST's test split where
ATTENTION_AUDIT_DATA names the corpus. From 750 tokens on the plain leave-one-out deletes a random
sample of the positions, and its time is scaled to all of them. Writes analyses.json and
analyses.svg into benchmarks/results.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import plain
import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from torch import Tensor

import attention_audit.schema  # noqa: F401
from attention_audit import cell
from attention_audit.batch import Batch, Encoding, collate
from attention_audit.callbacks import Adversarial, Correlation, Permutation
from attention_audit.callbacks.analysis import decoder
from attention_audit.counterfactual import Search, adversarial_search, optimum, permutation
from attention_audit.importance import leave_one_out
from attention_audit.measures import kendall_tau
from attention_audit.models import AttentionModel, assemble
from attention_audit.models.attentions import Additive
from attention_audit.models.encoders import CNN, LSTM, Average, Encoder
from attention_audit.text.batching import BudgetSampler

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
EMBEDDING = 300
VOCABULARY = 5000
ENCODERS: dict[str, Callable[..., Encoder]] = {"lstm": LSTM, "average": Average, "cnn": CNN}
# Tokens of a document -> how many documents.
SIZES = {20: 128, 180: 16, 750: 4, 2000: 2}
SAMPLED_FROM = 750
SAMPLE = 12
FRONTIER = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)
# The goal of each ratio, at the shortest documents and from 180 tokens on.
GOALS = {
    "permutation": (20, 20),
    "leave_one_out average": (10, 50),
    "leave_one_out cnn": (5, 30),
    "leave_one_out lstm": (2.5, 4),
    "exact": (100, None),
    "search": (8, 8),
    "kendall": (5, None),
}


class Case(NamedTuple):
    """One analysis on one set of documents, two ways.

    `scale` makes a sample's time the whole's. The plain way of `like` is timed for both.
    """

    name: str
    tokens: int
    plain: Callable[[], Any]
    ours: Callable[[], Any]
    scale: float = 1.0
    like: str = ""


def main(quick: bool) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = {20: 32, 180: 4} if quick else SIZES
    known: dict[tuple[str, int], float] = {}
    rows = [_measured(case, known) for case in _cases(sizes)]
    result = {"threads": 1, "torch": torch.__version__, "gflops": _rate(), "rows": rows}
    if not quick:
        result["sst"] = _sst()
        result["growth"] = _growth(rows)
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "analyses.json").write_text(json.dumps(result, indent=1) + "\n")
        _draw(rows)
    print(_table(rows))
    print(json.dumps({key: value for key, value in result.items() if key != "rows"}, indent=1))


def _cases(sizes: dict[int, int]) -> Iterator[Case]:
    for tokens, count in sizes.items():
        batches = _documents(tokens, count)
        for name, encoder in ENCODERS.items():
            yield from _model_cases(name, _model(encoder), batches, tokens)
        yield _kendall_case(tokens, count)


def _model_cases(
    name: str, model: AttentionModel, batches: Sequence[Batch], tokens: int
) -> Iterator[Case]:
    double = _model(ENCODERS[name]).double()
    deleted, scale = _sample(batches)
    yield Case(
        f"leave_one_out {name}",
        tokens,
        lambda: [
            plain.leave_one_out(model, batch, places)
            for batch, places in zip(batches, deleted, strict=True)
        ],
        lambda: [leave_one_out(model, batch) for batch in batches],
        scale,
    )
    read, read_double = _read(model, batches), _read(double, batches)
    yield Case(
        f"permutation {name}",
        tokens,
        lambda: [plain.permutation(model, *one) for one in read],
        lambda: [_permuted(model, *one) for one in read],
    )
    search = Case(
        f"search {name}",
        tokens,
        lambda: [plain.adversarial_search(model, *one) for one in read],
        lambda: [_searched(double, *one) for one in read_double],
    )
    yield search
    yield search._replace(
        name=f"exact {name}",
        ours=lambda: [_exact(double, *one) for one in read_double],
        like=search.name,
    )


@torch.no_grad()
def _read(model: AttentionModel, batches: Sequence[Batch]) -> list[tuple[Encoding, Tensor]]:
    """The documents as the model has read them, with its attention: no part of what is timed."""
    read = [model.encode(batch) for batch in batches]
    return [(one, model.attend(one)) for one in read]


@torch.no_grad()
def _permuted(model: AttentionModel, read: Encoding, attention: Tensor) -> Any:
    return permutation(decoder(model, model.project(read)), attention, read.mask, read.ids)


@torch.no_grad()
def _searched(model: AttentionModel, read: Encoding, attention: Tensor) -> Any:
    decode = decoder(model, model.project(read))
    return adversarial_search(decode, attention, read.mask, read.ids, Search())


@torch.no_grad()
def _exact(model: AttentionModel, read: Encoding, attention: Tensor) -> Any:
    return optimum(decoder(model, model.project(read)), attention, FRONTIER, None)


def _kendall_case(tokens: int, count: int) -> Case:
    random = np.random.default_rng(0)
    rows = max(8, 40_000 // tokens)
    one, other = random.normal(size=(2, rows, tokens)).round(2)
    mask = np.ones((rows, tokens), dtype=bool)
    return Case(
        "kendall",
        tokens,
        lambda: plain.kendall(one, other, mask),
        lambda: kendall_tau(one, other, mask),
    )


def _documents(tokens: int, count: int) -> list[Batch]:
    """Documents of 0.8 to 1.2 times so many tokens, batched as a test split is."""
    random = np.random.default_rng(tokens)
    lengths = random.integers(int(0.8 * tokens), int(1.2 * tokens) + 1, size=count)
    documents = [random.integers(4, VOCABULARY, size=length).tolist() for length in lengths]
    return [
        collate([documents[row] for row in rows], [0] * len(rows), rows)
        for rows in BudgetSampler(lengths)
    ]


def _model(encoder: Callable[..., Encoder]) -> AttentionModel:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(VOCABULARY, EMBEDDING, generator=generator)
    torch.manual_seed(0)
    model = assemble(vectors, encoder, Additive, outputs=2).eval()
    # Untrained, attention is all but uniform: no model is like that.
    with torch.no_grad():
        for parameter in model.attention.parameters():
            parameter.mul_(4)
    return model


def _sample(batches: Sequence[Batch]) -> tuple[list[list[int] | None], float]:
    """The positions that the plain leave-one-out deletes, and how much more it had to."""
    widths = [batch.tokens.shape[1] - 2 for batch in batches]
    if max(widths) < SAMPLED_FROM * 0.8:
        return [None for _ in batches], 1.0
    random = np.random.default_rng(0)
    chosen = [(1 + random.choice(n, SAMPLE, replace=False)).tolist() for n in widths]
    return [*chosen], sum(widths) / (SAMPLE * len(widths))


def _measured(case: Case, known: dict[tuple[str, int], float]) -> dict[str, Any]:
    ours = min(_seconds(case.ours) for _ in range(3))
    key = case.like or case.name, case.tokens
    if key not in known:
        known[key] = _seconds(case.plain) * case.scale
    theirs = known[key]
    row = {
        "analysis": case.name,
        "tokens": case.tokens,
        "plain": theirs,
        "ours": ours,
        "ratio": theirs / ours,
        "plain_sampled": case.scale > 1,
    }
    print(json.dumps(row), file=sys.stderr, flush=True)
    return row


def _seconds(way: Callable[[], Any]) -> float:
    started = time.perf_counter()
    way()
    return time.perf_counter() - started


def _rate() -> float:
    """Floating-point operations a second, in 10^9, of a large float32 matrix product here."""
    a = torch.randn(1024, 1024)
    best = min(_seconds(lambda: a @ a) for _ in range(5))
    return 2 * 1024**3 / best / 1e9


def _growth(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Exponent of the time of one document in its tokens, fitted on a log-log scale."""
    return {
        name: {
            way: round(_exponent([row for row in rows if row["analysis"] == name], way), 2)
            for way in ("plain", "ours")
        }
        for name in dict.fromkeys(row["analysis"] for row in rows)
    }


def _exponent(rows: Sequence[dict[str, Any]], way: str) -> float:
    tokens = np.log([row["tokens"] for row in rows])
    seconds = np.log([row[way] / _count(row) for row in rows])
    return float(np.polyfit(tokens, seconds, 1)[0])


def _count(row: dict[str, Any]) -> int:
    if row["analysis"] == "kendall":
        return max(8, 40_000 // row["tokens"])
    return SIZES[row["tokens"]]


def _draw(rows: Sequence[dict[str, Any]]) -> None:
    """Seconds of one document against its tokens, both on a log scale, a panel an analysis."""
    import altair as alt

    growth = _growth(rows)
    titles = {
        name: f"{name}: T^{found['plain']} plain, T^{found['ours']} ours"
        for name, found in growth.items()
    }
    points = [
        {
            "analysis": titles[row["analysis"]],
            "tokens": row["tokens"],
            "seconds": row[way] / _count(row),
            "way": way,
        }
        for row in rows
        for way in ("plain", "ours")
    ]
    powers = [10.0**power for power in range(-6, 3)]
    sizes = sorted({row["tokens"] for row in rows})
    seconds = alt.Axis(values=powers, format="~e")
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "tokens:Q",
                scale=alt.Scale(type="log", domain=[15, 2700]),
                axis=alt.Axis(values=sizes),
                title="tokens of a document",
            ),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), axis=seconds, title="seconds each"),
            color=alt.Color("way:N", sort=["plain", "ours"], title=None),
        )
        .properties(width=230, height=150)
        .facet(alt.Facet("analysis:N", title=None, sort=sorted(titles.values())), columns=3)
    )
    chart.save(RESULTS / "analyses.svg")


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'':<24}{'tokens':>8}{'plain s':>10}{'ours s':>10}{'ratio':>8}  goal"]
    for row in rows:
        goal = _goal(row)
        lines.append(
            f"{row['analysis']:<24}{row['tokens']:>8}{row['plain']:>10.3f}{row['ours']:>10.4f}"
            f"{row['ratio']:>8.1f}  {goal if goal else ''}"
        )
    return "\n".join(lines)


def _goal(row: dict[str, Any]) -> float | None:
    for name, (short, long) in GOALS.items():
        if row["analysis"].startswith(name):
            return short if row["tokens"] < 100 else long
    return None


def _sst() -> dict[str, Any] | None:
    """The analysis stage of SST's test split, lstm, after two epochs; None without the corpus."""
    if "ATTENTION_AUDIT_DATA" not in os.environ:
        return None
    overrides = [
        "dataset=sst",
        "trainer.max_epochs=2",
        "logger=none",
        f"store={tempfile.mkdtemp()}",
    ]
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        config: Any = OmegaConf.to_container(compose("config", overrides), resolve=True)
    place = cell.locate(config)
    place.cell.open(config)
    fitted = cell.fit_or_load(config, place)
    model = fitted.task.model.eval()
    double = _double(model)
    fitted.data.setup("test")
    batches = list(fitted.data.test_dataloader())
    search, exact = Adversarial(0.01, exact=False), Adversarial(0.01, search=False)
    ours = {
        "correlation": _seconds(lambda: _stage(Correlation(), double, batches)),
        "permutation": _seconds(lambda: _stage(Permutation(), model, batches)),
        "search": _seconds(lambda: _stage(search, double, batches)),
        "exact": _seconds(lambda: _stage(exact, double, batches)),
    }
    theirs = _plain_stage(model, batches)
    shared = ours["correlation"] + ours["permutation"]
    return {
        "sentences": sum(map(len, batches)),
        "ours": ours,
        "plain": theirs,
        "ratio_with_search": sum(theirs.values()) / (shared + ours["search"]),
        "ratio_with_exact": sum(theirs.values()) / (shared + ours["exact"]),
    }


def _double(model: AttentionModel) -> AttentionModel:
    import copy

    return copy.deepcopy(model).double()


def _stage(analysis: Any, model: AttentionModel, batches: Sequence[Batch]) -> None:
    parts = [analysis.analyse(model, batch) for batch in batches]
    instances = {
        name: np.concatenate([part.instances[name] for part in parts])
        for name in parts[0].instances
    }
    analysis.summarise(instances)


def _plain_stage(model: AttentionModel, batches: Sequence[Batch]) -> dict[str, float]:
    """Every analysis one after another, in batches of 32 as the paper's."""
    small = [batch.rows(slice(n, n + 32)) for batch in batches for n in range(0, len(batch), 32)]
    kept: dict[str, list[Any]] = {}

    def each(name: str, analyse: Callable[[Batch], Any]) -> float:
        started = time.perf_counter()
        kept[name] = [analyse(batch) for batch in small]
        return time.perf_counter() - started

    def counterfactual(analyse: Callable[..., Any]) -> Callable[[Batch], Any]:
        return lambda batch: analyse(model, *_read(model, [batch])[0])

    seconds = {
        "predictions": each("predictions", partial(plain.predict, model)),
        "gradient": each("gradient", partial(plain.gradient, model)),
        "leave_one_out": each("loo", partial(plain.leave_one_out, model)),
        "permutation": each("permutation", counterfactual(plain.permutation)),
        "search": each("search", counterfactual(plain.adversarial_search)),
    }
    kept["attention"] = [attention for _, attention in _read(model, small)]
    started = time.perf_counter()
    for one, other in (("attention", "gradient"), ("attention", "loo"), ("gradient", "loo")):
        for a, b, batch in zip(kept[one], kept[other], small, strict=True):
            plain.kendall(a.numpy(), b.numpy(), batch.mask.numpy())
    return seconds | {"statistics": time.perf_counter() - started}


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
