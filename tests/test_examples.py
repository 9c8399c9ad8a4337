"""What users are told to start from runs as it is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

OWN_MODEL = Path(__file__).parents[1] / "examples" / "own_model.py"


@pytest.fixture
def example():
    """The names of examples/own_model.py."""
    return runpy.run_path(str(OWN_MODEL))


def test_a_model_of_the_users_own_is_put_on_trial(example, capsys):
    example["main"]()
    accuracy, *lines = capsys.readouterr().out.splitlines()
    assert float(accuracy.rpartition(" ")[2]) > 0.7
    assert [line.partition("]")[2].strip() for line in lines] == [*example["SHOWN"].values()]
    values = [[float(one) for one in re.findall(r"-?\d\.\d{3}", line)[:3]] for line in lines]
    assert all(low <= value <= high for value, low, high in values)
    *_, (searched, *_), (exact, *_) = values
    assert searched <= exact <= np.log(2)


def test_a_wrapped_model_that_says_something_else_is_refused(example):
    torch.manual_seed(0)
    theirs, batch = example["Theirs"](), example["texts"](20, seed=0)
    model = example["on_trial"](theirs)
    example["check"](theirs, model, batch)
    model.attention.score = torch.nn.Linear(example["HIDDEN"], 1)
    with pytest.raises(ValueError, match="away from yours"):
        example["check"](theirs, model, batch)
