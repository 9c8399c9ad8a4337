"""How much does attention vary from seed to seed? (Wiegreffe & Pinter 2019, section 3.3)"""

from __future__ import annotations

from attention_audit.diagnostics.subject import Fit, Subject


def other_seeds(own: int, count: int) -> list[int]:
    """The first seeds from 0 on but one's own: cells that differ in their seed share them."""
    return [seed for seed in range(count + 1) if seed != own][:count]


def fit_seeds(base: Subject, fit: Fit, own: int, count: int) -> dict[int, Subject]:
    """Further models of the same configuration, by their seed.

    Args:
        base: the model on trial.
        fit: fits them.
        own: the base's seed.
        count: how many.

    Raises:
        ValueError: a seed that made the very model that another one made.
    """
    found = {seed: fit("seed", {"seed": seed}) for seed in other_seeds(own, count)}
    known = {base.weights: own}
    for seed, subject in found.items():
        if (twin := known.setdefault(subject.weights, seed)) != seed:
            raise ValueError(
                f"seed {seed}: its fitted weights are those of seed {twin}, bit for bit; expected "
                "another model: the seed had no part in the fit, or a cell's files were copied"
            )
    return found
