"""Wrong keys and types are refused while the configuration is composed."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import get_type_hints

import pytest
from hydra.errors import HydraException

from attention_audit.schema import Config


def typed(schema: type, prefix: str = "") -> list[tuple[str, object]]:
    """Every typed key of the schema, dotted."""
    hints, found = get_type_hints(schema), []
    for field in fields(schema):
        kind = hints[field.name]
        inner = typed(kind, f"{prefix}{field.name}.") if is_dataclass(kind) else []
        found += inner or [(prefix + field.name, kind)]
    return found


NUMBERS = [key for key, kind in typed(Config) if kind in (int, float, int | None, float | None)]


def test_there_are_numbers():
    assert {"seed", "trainer.max_epochs", "limits.train", "budget.steps"} <= set(NUMBERS)


@pytest.mark.parametrize("key", NUMBERS)
def test_a_number_is_a_number(composed, key):
    with pytest.raises(HydraException, match=r"two|Error"):
        composed(f"{key}=two")


@pytest.mark.parametrize("section", [f.name for f in fields(Config) if f.name != "auxiliary"])
def test_an_unknown_key_is_refused(composed, section):
    with pytest.raises(HydraException, match=r"Could not override|Error merging override"):
        composed(f"{section}.no_such_key=1")


@pytest.mark.parametrize("value", ["1.5", "[1]", "null"])
def test_epochs_are_a_whole_number(composed, value):
    with pytest.raises(HydraException):
        composed(f"trainer.max_epochs={value}")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_limit_may_be_none(composed, split):
    assert composed(f"limits.{split}=null")["limits"][split] is None
    assert composed(f"limits.{split}=5")["limits"][split] == 5
