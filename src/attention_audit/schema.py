"""Types of the configuration, so that a wrong key or value is refused as it is typed.

What stands behind a `_target_` (encoder, attention, analyses, corpus sources) has its constructor's
signature for a schema, checked by `attention_audit.configuration`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING


@dataclass
class Limits:
    """A seeded sample of so many rows of each split; null keeps all."""

    train: int | None = None
    dev: int | None = None
    test: int | None = None


@dataclass
class Budget:
    """What the analyses may spend."""

    permutations: int = MISSING
    adversaries: int = MISSING
    steps: int = MISSING
    resamples: int = MISSING


@dataclass
class Adversary:
    """What adversarial attention is looked for, and how."""

    epsilon: float = MISSING
    objective: str = MISSING
    search: bool = MISSING
    exact: bool = MISSING
    frontier: list[float] = MISSING


@dataclass
class Diagnostics:
    """What models are fitted beside a cell's own for the second paper's tests."""

    seeds: int = MISSING
    lambdas: list[float] = MISSING
    epochs: int = MISSING
    patience: int = MISSING
    weighted: bool = MISSING
    least_jsd: float = MISSING
    mlp: dict[str, Any] = field(default_factory=dict)
    uniform: dict[str, Any] = field(default_factory=dict)


@dataclass
class Trainer:
    """Arguments of the Lightning Trainer; others can be added with `+trainer.<name>=...`."""

    _target_: str = MISSING
    max_epochs: int = MISSING
    accelerator: str = MISSING
    devices: Any = MISSING
    strategy: str = MISSING
    precision: str = MISSING
    gradient_clip_val: float | None = None
    deterministic: Any = None


@dataclass
class TrainingSchema:
    """Loss and optimiser; see `attention_audit.models.training.Training`."""

    learning_rate: float = MISSING
    amsgrad: bool = MISSING
    weight_decay: float = MISSING
    decay_attention: bool = MISSING
    class_weights: str = MISSING
    reduction: str = MISSING
    first_epoch: int = MISSING


@dataclass
class Logger:
    """W&B: `mode` is offline, online or none; `figures` sends the report's plots of the cell."""

    mode: str = MISSING
    figures: bool = True
    project: str = "attention_audit"
    entity: str | None = None


@dataclass
class Config:
    """The root of the configuration."""

    dataset: dict[str, Any] = field(default_factory=dict)
    encoder: dict[str, Any] = field(default_factory=dict)
    attention: dict[str, Any] = field(default_factory=dict)
    vectors: dict[str, Any] = field(default_factory=dict)
    analysis: dict[str, Any] = field(default_factory=dict)
    training: TrainingSchema = field(default_factory=TrainingSchema)
    trainer: Trainer = field(default_factory=Trainer)
    logger: Logger = field(default_factory=Logger)
    limits: Limits = field(default_factory=Limits)
    budget: Budget = field(default_factory=Budget)
    adversary: Adversary = field(default_factory=Adversary)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    seed: int = MISSING
    threads: int = MISSING
    force: bool = MISSING
    save_tokens: bool | None = None
    # Of a model that is fitted beside a cell's own; its analyses set it.
    auxiliary: dict[str, Any] | None = None
    store: str = MISSING
    data_dir: str = MISSING
    cache_dir: str = MISSING


ConfigStore.instance().store(name="schema", node=Config)
