"""What the diagnostics share: models fitted beforehand, scores with intervals, and findings."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
import pytorch_lightning as pl
from annotated_types import Len
from hydra.utils import get_class
from pydantic import AfterValidator, Field

from attention_audit.callbacks.stored import OVERALL, Row, StoredAnalysis, rows_by_class
from attention_audit.diagnostics import Finding, Fit, Subject
from attention_audit.measures import Metric, Scored, score_difference, score_interval
from attention_audit.predictions import Predictions


def _told_apart(strengths: Sequence[float]) -> Sequence[float]:
    names = Counter(f"{strength:g}" for strength in set(strengths))
    if twins := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"two of them are called {twins[0]}; expected six digits to differ in")
    return strengths


# Lambda, of a divergence.
Strength = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Strengths = Annotated[Sequence[Strength], Len(1), AfterValidator(_told_apart)]


@dataclass
class Diagnosis:
    """What a diagnostic found.

    Attributes:
        instances: values for each test instance, in the order of the base's predictions.
        rows: for `summary.csv`, beside those that the instances are summarised in.
        findings: for the verdict.
        more: whatever else is stored with the summary, by name.
    """

    instances: dict[str, np.ndarray] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)


class Diagnostic(StoredAnalysis):
    """Compares the fitted model with further ones, which are fitted before the test run.

    A subclass fits them in `prepare`, and says in `diagnose` what they show.
    """

    resamples: int

    @abstractmethod
    def prepare(self, base: Subject, fit: Fit, config: Mapping[str, Any]) -> None:
        """Fit what is needed; a fit that was made before is loaded.

        Args:
            base: the model on trial.
            fit: fits models beside it.
            config: the base's.
        """

    @abstractmethod
    def diagnose(self, base: Predictions, task: Any, batches: Iterable[Any]) -> Diagnosis:
        """Compare.

        Args:
            base: what the model on trial says of the test split.
            task: its LightningModule.
            batches: of the test split.
        """

    def summarise(self, instances: Mapping[str, np.ndarray]) -> list[Row]:
        """Rows about a group of instances; none unless a subclass says else."""
        return []

    def on_test_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        base: Predictions = pl_module.predictions()
        loader = trainer.datamodule.test_dataloader()  # type: ignore[attr-defined]
        found = self.diagnose(base, pl_module, loader)
        predicted = base.classes.numpy()
        rows = rows_by_class(found.instances, predicted, pl_module.classes, self.summarise)
        self.stored.write(
            {
                "summary": [*({"klass": OVERALL, **row} for row in found.rows), *rows],
                "findings": [asdict(finding) for finding in found.findings],
                **found.more,
            },
            {"id": base.ids.numpy(), "predicted": predicted, **found.instances},
        )


def aligned(found: Mapping[str, np.ndarray], base: Predictions) -> dict[str, np.ndarray]:
    """Values of instances, found in an order of their own, in the order of the base's."""
    place = {instance: number for number, instance in enumerate(found["id"].tolist())}
    order = [place[instance] for instance in base.ids.tolist()]
    return {name: values[order] for name, values in found.items() if name != "id"}


def check_uniform(attention: Mapping[str, Any]) -> None:
    """Refuse, by a ValueError, another attention where a uniform one is compared with."""
    if not get_class(attention["_target_"]).uniform:
        raise ValueError(
            f"diagnostics.uniform: found {attention['name']}, expected an attention that is "
            "uniform whatever the text: attention@diagnostics.uniform=uniform"
        )


def check_context_free(encoder: Mapping[str, Any]) -> None:
    """Refuse, by a ValueError, an encoder that reads context where one without is compared."""
    if not get_class(encoder["_target_"]).context_free:
        raise ValueError(
            f"diagnostics.mlp: found {encoder['name']}, expected an encoder that is context-free, "
            "and whose class says so: encoder@diagnostics.mlp=mlp or average"
        )


@dataclass(frozen=True)
class Scoring:
    """The score by which models are compared: of two classes F1, of more macro-F1, else accuracy.

    Attributes:
        task: classification, qa or nli.
        classes: how many.
        resamples: of the bootstrap.
    """

    task: str
    classes: int
    resamples: int

    @property
    def metric(self) -> Metric:
        """Its name."""
        if self.task == "qa":
            return "accuracy"
        return "f1" if self.task == "classification" and self.classes == 2 else "macro_f1"

    @property
    def spelt(self) -> str:
        """As a sentence spells it."""
        return {"f1": "F1", "macro_f1": "macro-F1", "accuracy": "accuracy"}[self.metric]

    def of(self, found: Predictions) -> Scored:
        """A model's score, with its interval."""
        return score_interval(
            self.metric,
            found.labels.numpy(),
            found.classes.numpy(),
            classes=self.classes,
            seed=0,
            resamples=self.resamples,
        )

    def difference(self, one: Predictions, other: Predictions) -> Scored:
        """The first model's score minus the second's, over the same instances."""
        return score_difference(
            self.metric,
            one.labels.numpy(),
            one.classes.numpy(),
            other.of(one.ids).classes.numpy(),
            classes=self.classes,
            seed=0,
            resamples=self.resamples,
        )

    def row(self, name: str, found: Scored, suffix: str = "") -> Row:
        """A row for `summary.csv`: the quantity is `<name>_<metric><suffix>`."""
        return {
            "quantity": f"{name}_{self.metric}{suffix}",
            "statistic": "value",
            **found._asdict(),
            "n_undefined": 0,
        }


def told(found: Scored) -> str:
    """`-0.003, 95 % interval [-0.012, 0.006]`."""
    if np.isnan(found.value):
        return "undefined"
    return f"{found.value:.3f}, 95 % interval [{found.lo:.3f}, {found.hi:.3f}]"


def number(value: float) -> str:
    """To three decimals, as a sentence says it."""
    return "undefined" if np.isnan(value) else f"{value:.3f}"
