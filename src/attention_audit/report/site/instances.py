"""The page of instances: a table, each text's weights, and weights that the reader sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attention_audit.report.heatmap.wording import visible
from attention_audit.report.results import UNREADABLE, Result, fault
from attention_audit.report.site.frame import page

# Words of a cell's instances in its file, which a browser has to read at once.
MOST_WORDS = 60_000
# Digits that tell apart any two numbers of the model's precision, and those that a reader sees.
_EXACT, _SEEN = 9, 4
# Recomputed in the browser, a prediction is off by the rounding of float32; more is no rounding.
_ROUNDING = 1e-3
# What the table has of an instance, by the analysis that stored it; those that are there.
NUMBERS = {
    "correlation": ("tau_gradient", "tau_loo", "tau_gradient_loo"),
    "permutation": ("delta_y_med",),
    "adversarial": ("eps_max_jsd", "eps_max_jsd_exact", "eps_max_jsd_found"),
}
# Weights of words, by the analysis that stored them: its column, and what a reader is told.
WEIGHTS = {
    ("correlation", "gradient"): "gradient",
    ("correlation", "loo"): "leave-one-out",
    ("adversarial", "adversarial_attention"): "adversarial attention, by search",
    ("adversarial", "exact_attention"): "adversarial attention, the exact maximum",
    ("adversarial", "found_attention"): "adversarial attention, best found",
}
IMPORTANCES = ("gradient", "leave-one-out")
# What comes out with the adversary that lies farthest: columns of the adversarial analysis.
AFTER = {name: f"adversary_{name}" for name in ("prediction", "probability", "tvd")}
_BODY = """<p>Choose a text to see where the attention lay, and what else keeps the prediction.</p>
<div class="controls">
<label>Cell <select id="chosen"></select></label>
<label>With the word <input id="word" type="search" size="12"></label>
<label>Predicted <select id="predicted"></select></label>
<label>Show <select id="right"><option value="">all</option><option value="1">right</option>
<option value="0">wrong</option></select></label>
</div>
<p class="note" id="said" aria-live="polite"></p>
<div id="table"></div>
<section id="instance" hidden tabindex="-1"></section>"""


def instances_page() -> str:
    """The HTML of `instances.html`."""
    own = ("saving.js", "trial.js", "drawing.js", "instances.js")
    return page("instances.html", ("load.js", "tables.js", "colours.js", *own), _BODY)


def samples(found: Sequence[Result], most: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """For the page: by a cell's key, some of its instances, or why there are none.

    Args:
        found: cells.
        most: instances of a cell, at most.
    """
    for one in found:
        if one.state == "done":
            yield one.key, _sample(one, most)


def _sample(one: Result, most: int) -> dict[str, Any]:
    if not most:
        return {"absent": "none were asked for"}
    if one.is_private:
        return {"absent": "a private corpus: none of its texts is shown"}
    if not (one.cell.folder / "tokens.parquet").exists():
        return {"absent": "the store has no words of it (save_tokens=false)"}
    try:
        return sample(one, most)
    except UNREADABLE as error:
        return {"absent": f"cannot be read: {fault(one.cell, error)}"}


def sample(one: Result, most: int) -> dict[str, Any]:
    """Instances that lie evenly in the test split: numbers, words and weights of each.

    Raises:
        FileNotFoundError: the store has no words of them, or a file is missing.
    """
    table = one.cell.read_table("instances")
    rows = _spread(table["length"].to_numpy(), most)
    scalars = table.take(rows).to_pydict()
    ids = scalars["id"]
    texts = _of(one.cell.read_table("tokens"), ids)
    weights = {"attention": texts["attention"], **_weights(one, ids)}
    logits, bias = _readout(texts, scalars["probability"])
    analysed = {
        name: _of(one.analyses[name].read_instances(), ids)
        for name in NUMBERS
        if name in one.analyses
    }
    return {
        "classes": [str(name) for name in one.corpus["classes"] or one.corpus.get("answers", ())],
        "epsilon": one.epsilon,
        "total": table.num_rows,
        "numbers": {**_scalars(scalars), **_analysed(analysed)},
        "probability": [[_rounded(p, _EXACT) for p in row] for row in scalars["probability"]],
        "words": _words(texts["token"]),
        "asks": "question" if one.corpus.get("answers") else "hypothesis",
        "queries": _words(texts["query"]) if "query" in texts else None,
        "weights": {name: _digits(each, name) for name, each in weights.items()},
        "importances": IMPORTANCES,
        "after": _after(analysed.get("adversarial", {})),
        "logits": logits,
        "bias": bias,
    }


def _words(texts: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [[visible(str(word)) for word in words] for words in texts]


def _spread(lengths: np.ndarray, most: int) -> np.ndarray:
    """Rows at even distances, as many as there is room for."""
    if not len(lengths):
        return np.array([], int)
    room = min(most, len(lengths), int(MOST_WORDS / max(1.0, float(lengths.mean()))))
    return np.unique(np.linspace(0, len(lengths) - 1, max(1, room)).astype(int))


def _of(table: Any, ids: Sequence[int]) -> dict[str, list[Any]]:
    """A stored table's columns, of these instances in this order."""
    place = {instance: row for row, instance in enumerate(table["id"].to_pylist())}
    columns: dict[str, list[Any]] = table.take([place[one] for one in ids]).to_pydict()
    return columns


def _scalars(scalars: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    kept = ("id", "label", "prediction", "length", "max_attention", "entropy")
    return {name: [_rounded(v, _EXACT) for v in scalars[name]] for name in kept}


Columns = Mapping[str, list[Any]]


def _analysed(analysed: Mapping[str, Columns]) -> dict[str, list[Any]]:
    return {
        name: [_rounded(v, _EXACT) for v in columns[name]]
        for analysis, columns in analysed.items()
        for name in NUMBERS[analysis]
        if name in columns
    }


def _after(columns: Columns) -> dict[str, list[Any]] | None:
    """What the model says with the adversary; None of a store that an older version wrote."""
    if not columns.keys() >= set(AFTER.values()):
        return None
    return {name: [_rounded(v, _EXACT) for v in columns[key]] for name, key in AFTER.items()}


def _weights(one: Result, ids: Sequence[int]) -> dict[str, list[list[float]]]:
    found = {}
    for (analysis, column), spelt in WEIGHTS.items():
        if analysis in one.analyses:
            try:
                columns = _of(one.analyses[analysis].read_tokens(), ids)
            except FileNotFoundError:
                continue
            if column in columns:
                found[spelt] = columns[column]
    return found


def _digits(rows: Sequence[Sequence[float]], name: str) -> list[list[Any]]:
    """All digits of what predictions are computed from."""
    digits = _SEEN if name in IMPORTANCES else _EXACT
    return [[_rounded(value, digits) for value in row] for row in rows]


def _readout(
    texts: Mapping[str, Sequence[Any]], probabilities: Sequence[Sequence[float]]
) -> tuple[list[Any] | None, list[float] | None]:
    """The words' logits of a linear decoder and its bias; None where attention is not so read.

    The store has no bias. All instances share it, so that one of them gives it: its logit, which
    is that of its probability, less attention @ token_logit. The one with the most even
    probabilities loses the fewest digits.
    """
    if "token_logit" not in texts:
        return None, None
    attended = [
        np.asarray(a, float) @ np.asarray(s, float).reshape(len(a), -1)
        for a, s in zip(texts["attention"], texts["token_logit"], strict=True)
    ]
    known = np.asarray(probabilities, float)
    if not len(known):
        return None, None
    even = int(known.min(axis=1).argmax())
    bias = _logits(known[even], attended[even].size) - attended[even]
    again = np.array([_probabilities(one + bias) for one in attended])
    if not np.abs(again - known).max() <= _ROUNDING:
        return None, None
    rows = [np.asarray(s, float).reshape(len(s), -1).tolist() for s in texts["token_logit"]]
    packed = [[[_rounded(v, _EXACT) for v in word] for word in row] for row in rows]
    return packed, bias.tolist()


def _logits(probabilities: np.ndarray, outputs: int) -> np.ndarray:
    """One logit for two classes; for more their logarithms, which differ by a constant."""
    logs = np.log(probabilities)
    return logs[1:] - logs[:1] if outputs == 1 else logs


def _probabilities(logits: np.ndarray) -> np.ndarray:
    whole = np.concatenate([[0.0], logits]) if logits.size == 1 else logits
    powers = np.exp(whole - whole.max())
    return powers / powers.sum()


def _rounded(value: Any, digits: int) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None
