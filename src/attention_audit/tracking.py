"""Weights & Biases: one run for each grid cell, offline unless asked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from attention_audit.store import Cell, latest

if TYPE_CHECKING:
    from pytorch_lightning.loggers import WandbLogger
    from wandb import Run

HISTOGRAM_BINS = 40
# A histogram's ends, by what its quantity's name has, the first that fits: those of all runs, so
# that they can be compared.
ENDS = {
    "tau_": (-1.0, 1.0),
    "search_gap": (0.0, 0.7),
    "gap_": (-2.0, 2.0),
    "jsd": (0.0, 0.7),
    "tvd": (0.0, 1.0),
    "delta_y": (0.0, 1.0),
}
# Tables of a run: numbers of each test instance, and examples with their texts; means after each
# epoch; how far other models are from the cell's, and other attention under its own model.
NUMBERS, MOST_NUMBERS = "instances", 10_000
EXAMPLES, MOST_EXAMPLES = "examples", 200
TRAJECTORY, PLANE = "trajectory", "plane"
_EPOCH = re.compile(r"(.+)_epoch_(\d+)")


@contextmanager
def tracked(
    config: Mapping[str, Any], cell: Cell, sweep: str | None
) -> Iterator[WandbLogger | None]:
    """A logger whose run lasts as long as the block; None where `logger=none`.

    The run's id is the cell's, so a cell that is run again goes on in its own run. It is finished
    whatever happens, failed if the block raises, so that the next cell gets a run of its own.

    Raises:
        ValueError: online without an API key, or with what W&B refuses.
    """
    if config["logger"]["mode"] == "none":
        yield None
        return
    from pytorch_lightning.loggers import WandbLogger

    run = _start(config, cell, sweep)
    try:
        yield WandbLogger(experiment=run)
    except BaseException:
        run.finish(exit_code=1)
        raise
    run.finish()


@contextmanager
def faults_told(doing: str) -> Iterator[None]:
    """What W&B raises, of a key that it refuses or a server out of reach say, as a ValueError."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("wandb", "wandb_workspaces"):
            raise
        raise ValueError(f"{doing}: W&B says: {' '.join(str(error).split())}") from error


def note_failure(config: Mapping[str, Any], cell: Cell, sweep: str | None) -> None:
    """Mark the run of a cell as failed whose process could not do it itself."""
    if config["logger"]["mode"] != "none":
        _start(config, cell, sweep).finish(exit_code=1)


def _start(config: Mapping[str, Any], cell: Cell, sweep: str | None) -> Run:
    import wandb

    settings = config["logger"]
    online = settings["mode"] == "online"
    with faults_told(f"logger.mode={settings['mode']} (offline asks no server)"):
        if online and not wandb.login(prompt=False, verify=False):
            raise ValueError(
                "logger.mode=online: found no W&B API key; expected WANDB_API_KEY or `wandb "
                "login`; or keep logger.mode=offline and `wandb sync` later"
            )
        return _begun(config, cell, sweep)


def _begun(config: Mapping[str, Any], cell: Cell, sweep: str | None) -> Run:
    import wandb

    settings = config["logger"]
    # Lightning's logger would take an earlier cell's run for its own: it is given this one.
    return wandb.init(
        project=settings["project"],
        entity=settings["entity"],
        dir=str(cell.folder.resolve()),  # the process that writes it has a folder of its own
        id=f"{cell.dataset}-{cell.encoder}-{cell.attention}-{cell.seed}-{cell.hash8}",
        name=f"{cell.name} seed {cell.seed}",
        group=sweep,
        tags=[cell.dataset, cell.encoder, cell.attention],
        config=dict(config) | {"cell": cell.hash8},
        mode=settings["mode"],
        resume="allow" if settings["mode"] == "online" else None,
        reinit="create_new",
        settings=wandb.Settings(
            silent=True,
            console="off",
            x_disable_stats=True,
            disable_git=True,
            disable_code=True,
        ),
    )


def publish(
    logger: WandbLogger | None,
    cell: Cell,
    histograms: Mapping[str, Sequence[str]],
    verdict: Sequence[Mapping[str, Any]] = (),
    examples: bool = False,
    figures: Mapping[str, str] | None = None,
) -> None:
    """Put the whole cell's results into the run's summary.

    All of them each time, so that offline runs of one cell agree in whatever order they are
    synchronised. Names are `<quantity>/<klass>/<statistic>`; undefined values are left out.

    Args:
        logger: of `tracked`.
        cell: a finished cell.
        histograms: analysis name -> the instance columns to draw and to list.
        verdict: the lines of the diagnostics' verdict, which become a table.
        examples: list texts, too; never of a private corpus.
        figures: by name, SVG.
    """
    if logger is None:
        return
    import wandb

    summary: dict[str, Any] = {}
    rows = cell.summary()
    for row in rows:
        value = row.get("value")
        if value is not None and math.isfinite(value):
            summary[f"{row['quantity']}/{row['klass']}/{row['statistic']}"] = value
    numbers = _numbers(cell, histograms)
    for column, values in numbers.items():
        defined = np.array([value for value in values.values() if np.isfinite(value)])
        if defined.size:
            counts = _histogram(column, defined)
            summary[f"{column}/histogram"] = wandb.Histogram(np_histogram=counts)
    tables = {
        "verdict": verdict,
        NUMBERS: _spread(_rows(numbers), MOST_NUMBERS),
        TRAJECTORY: _trajectory(rows),
        PLANE: _plane(cell),
    }
    if examples:
        tables[EXAMPLES] = _spread(_examples(cell, numbers), MOST_EXAMPLES)
    for name, lines in tables.items():
        if lines:
            columns = list(lines[0])
            data = [[line[column] for column in columns] for line in lines]
            summary[name] = wandb.Table(columns=columns, data=data)
    for name, drawing in (figures or {}).items():
        summary[f"figures/{name}"] = wandb.Html(drawing, inject=False)
    logger.experiment.summary.update(summary)


def _histogram(column: str, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts and edges; a quantity that is of no known kind has ends of its own."""
    ends = next((ends for name, ends in ENDS.items() if name in column), None)
    # Rounding may lead beyond an end.
    return np.histogram(values if ends is None else values.clip(*ends), HISTOGRAM_BINS, ends)


def _trajectory(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row an epoch, of the means over all instances."""
    epochs: dict[int, dict[str, Any]] = {}
    for row in rows:
        found = _EPOCH.fullmatch(row["quantity"])
        if found is not None and (row["klass"], row["statistic"]) == ("overall", "mean"):
            epochs.setdefault(int(found[2]), {})[found[1]] = row["value"]
    return [{"epoch": number} | _defined(epochs[number]) for number in sorted(epochs)]


def _plane(cell: Cell) -> list[dict[str, Any]]:
    """A row a point of the second paper's plane: whose it is, and how far output and attention."""
    analysis = latest(cell.analyses()).get("model_adversary")
    points = [] if analysis is None else analysis.read_summary()["points"]
    return [
        {"of": f"{point['kind']} {point['which']}".strip()}
        | _defined({distance: point[distance] for distance in ("tvd", "jsd")})
        for point in points
    ]


def _numbers(cell: Cell, histograms: Mapping[str, Sequence[str]]) -> dict[str, dict[int, float]]:
    """By quantity, the analyses' values of each instance; NaN where undefined.

    As in the summary, of two configs of one analysis the later one counts.
    """
    found: dict[str, dict[int, float]] = {}
    for analysis in sorted(cell.analyses(), key=lambda one: one.written):
        if not (columns := histograms.get(analysis.name)):
            continue
        instances = analysis.read_instances()
        ids = instances["id"].to_pylist()
        # An older version of the analysis may lack some.
        for column in sorted(set(columns) & set(instances.column_names)):
            found[column] = dict(zip(ids, instances[column].to_pylist(), strict=True))
    return found


def _rows(numbers: Mapping[str, Mapping[int, float]]) -> list[dict[str, Any]]:
    """A row an instance, without anything that would say which."""
    ids = sorted({instance for values in numbers.values() for instance in values})
    return [_defined({name: values.get(one) for name, values in numbers.items()}) for one in ids]


def _examples(cell: Cell, numbers: Mapping[str, Mapping[int, float]]) -> list[dict[str, Any]]:
    """A row a test instance: its texts, what was predicted, and its numbers; [] without words."""
    if not (cell.folder / "tokens.parquet").exists():
        return []
    tokens = cell.read_table("tokens")
    spelt = {"text": "token", "query": "query"}
    columns = {name: column for name, column in spelt.items() if column in tokens.column_names}
    texts = {
        row["id"]: {name: " ".join(row[column]) for name, column in columns.items()}
        for row in tokens.select(["id", *columns.values()]).to_pylist()
    }
    found = cell.read_table("instances").to_pylist()
    shown = ("label", "prediction", "length", "max_attention", "entropy")
    return [
        texts[one["id"]]
        | {name: one[name] for name in shown}
        | {"probability": one["probability"][one["prediction"]]}
        | _defined({name: values.get(one["id"]) for name, values in numbers.items()})
        for one in found
    ]


def _defined(row: Mapping[str, float | None]) -> dict[str, float | None]:
    return {k: v if v is not None and math.isfinite(v) else None for k, v in row.items()}


def _spread(lines: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """At most so many of the lines, evenly spread over all of them."""
    if len(lines) <= most:
        return lines
    return [lines[place] for place in np.linspace(0, len(lines) - 1, most).round().astype(int)]
