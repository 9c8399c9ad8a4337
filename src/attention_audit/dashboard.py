"""A W&B dashboard that compares the runs of a project, of panels for what runs really log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attention_audit.tracking import EXAMPLES, NUMBERS, PLANE, TRAJECTORY, faults_told

if TYPE_CHECKING:
    from wandb_workspaces.workspaces import Workspace

NAME = "Is attention an explanation?"
TAUS = ("tau_gradient", "tau_loo", "tau_gradient_loo")


def mean(quantity: str) -> str:
    """The key of a quantity's mean over all test instances."""
    return f"{quantity}/overall/mean"


def value(quantity: str) -> str:
    """The key of a quantity that is of all test instances at once."""
    return f"{quantity}/overall/value"


METRICS = ("f1", "macro_f1", "accuracy")
# The attentions of a context-free model.
GUIDES = ("uniform", "trained", "base", "adversary")
# A panel of a table's columns, by its kind: the table, and W&B's chart with its fields.
CHARTS = {
    "distribution": (NUMBERS, "wandb/histogram/v0", ("value",)),
    "epochs": (TRAJECTORY, "wandb/line/v0", ("x", "y")),
    "plane": (PLANE, "wandb/scatter/v0", ("x", "y")),
}
# By section: a panel's title, its kind, and the keys or columns that it draws.
PANELS: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {
    "Does attention rank words as importances do?": [
        *((f"{tau}, by encoder", "bars", (mean(tau),)) for tau in TAUS),
        (
            "F1 of class 1 against tau of attention and gradient",
            "scatter",
            (mean(TAUS[0]), "f1/1/value"),
        ),
        (
            "accuracy against tau of attention and gradient",
            "scatter",
            (mean(TAUS[0]), value("accuracy")),
        ),
        ("tau of attention and gradient", "distribution", ("tau_gradient",)),
    ],
    "Does the prediction survive other attention?": [
        ("median output change under permutation, by encoder", "bars", (mean("delta_y_med"),)),
        ("eps-max JSD by search, by encoder", "bars", (mean("eps_max_jsd"),)),
        ("eps-max JSD, exact, by encoder", "bars", (mean("eps_max_jsd_exact"),)),
        ("eps-max JSD, best found, by encoder", "bars", (mean("eps_max_jsd_found"),)),
        ("eps-max JSD by search", "distribution", ("eps_max_jsd",)),
        ("eps-max JSD, exact", "distribution", ("eps_max_jsd_exact",)),
        ("eps-max JSD, best found", "distribution", ("eps_max_jsd_found",)),
    ],
    "Single instances": [("examples", "table", (EXAMPLES,))],
    "The second paper's four tests": [
        ("verdict", "table", ("verdict",)),
        (
            "F1, macro-F1 or accuracy with uniform weights, minus the cell's, by encoder",
            "bars",
            tuple(value(f"uniform_{metric}_difference") for metric in METRICS),
        ),
        ("JSD of attention to other seeds', by encoder", "bars", (mean("seed_jsd"),)),
        (
            "F1 of a context-free model by its attention, by encoder",
            "bars",
            tuple(value(f"guided_{guide}_f1") for guide in GUIDES),
        ),
        ("other models: TVD of the output, JSD of attention", "plane", ("tvd", "jsd")),
    ],
    "Training trajectory": [
        ("JSD of attention to that after the last epoch", "epochs", ("epoch", "settled_jsd")),
        *((f"{tau} after each epoch", "epochs", ("epoch", tau)) for tau in TAUS),
    ],
}


def described() -> list[str]:
    """A line for each panel, for people."""
    return [
        f"{section}: {title} ({kind} of {', '.join(keys)})"
        for section, panels in PANELS.items()
        for title, kind, keys in panels
    ]


def create(entity: str, project: str) -> str | None:
    """Save the dashboard in a project of W&B; its address, or None without an API key.

    Raises:
        ValueError: what W&B refuses, or a server that is out of reach.
    """
    import wandb

    with faults_told(f"no dashboard in {entity}/{project}"):
        if not wandb.login(prompt=False, verify=False):
            return None
        return str(dashboard(entity, project).save().url)


def dashboard(entity: str, project: str) -> Workspace:
    """The dashboard, not yet saved; nothing is asked of a server.

    Args:
        entity: the user or team.
        project: whose runs are compared.
    """
    import wandb_workspaces.workspaces as ws

    sections = [
        ws.Section(name=section, panels=[_panel(*panel) for panel in panels], is_open=True)
        for section, panels in PANELS.items()
    ]
    return ws.Workspace(entity=entity, project=project, name=NAME, sections=sections)


def _panel(title: str, kind: str, keys: tuple[str, ...]) -> Any:
    import wandb_workspaces.reports.v2 as wr

    if kind == "bars":
        return wr.BarPlot(
            title=title,
            metrics=[wr.SummaryMetric(key) for key in keys],
            groupby=wr.Config("encoder.name"),
            groupby_aggfunc="mean",
            groupby_rangefunc="minmax",
        )
    if kind == "scatter":
        x, y = (wr.SummaryMetric(key) for key in keys)
        return wr.ScatterPlot(title=title, x=x, y=y)
    if kind in CHARTS:
        table, chart, fields = CHARTS[kind]
        return wr.CustomChart(
            query={"summaryTable": {"tableKey": table}},
            chart_name=chart,
            chart_fields=dict(zip(fields, keys, strict=True)),
            chart_strings={"title": title},
        )
    return wr.WeavePanelSummaryTable(table_name=keys[0])
