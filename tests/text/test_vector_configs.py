"""The three choices of `vectors`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra.utils import instantiate
from omegaconf import MissingMandatoryValue, OmegaConf

from attention_audit.text import RandomVectors, WordVectors

CONF = Path(__file__).parents[2] / "conf" / "vectors"


def test_none_takes_the_width_from_the_dataset() -> None:
    config = {"dataset": {"embedding": 50}, "vectors": OmegaConf.load(CONF / "none.yaml")}
    vectors = instantiate(OmegaConf.create(config).vectors)
    assert isinstance(vectors, RandomVectors)
    assert vectors.dimension == 50


@pytest.mark.parametrize("name", ["glove", "fasttext"])
def test_a_file_has_to_be_named(name: str) -> None:
    config = OmegaConf.load(CONF / f"{name}.yaml")
    with pytest.raises(MissingMandatoryValue):
        _ = config.path
    config.path = "some.txt"
    assert isinstance(instantiate(config), WordVectors)
