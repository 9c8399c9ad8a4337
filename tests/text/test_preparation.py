from __future__ import annotations

from typing import Any

import pytest

from attention_audit.text import Preparation


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"tokenizer": "moses"}, "dataset.text.tokenizer='moses'"),
        ({"longer_than": -1}, "dataset.text.longer_than=-1"),
        ({"shorter_than": 0}, "dataset.text.shorter_than=0"),
        ({"dev_fraction": 0.0}, "dataset.text.dev_fraction=0.0"),
        ({"dev_fraction": 1.0}, "dataset.text.dev_fraction=1.0"),
        ({"test_sample": 2}, "dataset.text.test_sample=2"),
        ({"min_df": "two"}, "dataset.text.min_df='two'"),
        ({"min_df": True}, "dataset.text.min_df=True"),
        ({"lowercase": "yes"}, "dataset.text.lowercase='yes'"),
        ({"digits": "drop"}, "dataset.text.digits='drop'"),
        ({"split_seed": -3}, "dataset.text.split_seed=-3"),
        ({"dev_fraction": 0.5, "test_fraction": 0.5}, "leave nothing to train on"),
        ({"longer_than": 5, "shorter_than": 6}, "longer than 5 and shorter than 6"),
        ({"shorter_than": 1}, "longer than 0 and shorter than 1"),
    ],
)
def test_a_wrong_setting_is_refused_on_one_line(settings: dict[str, Any], found: str) -> None:
    with pytest.raises(ValueError, match=r"dataset\.text") as caught:
        Preparation(**settings)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_narrowest_bounds_are_accepted() -> None:
    assert Preparation(longer_than=5, shorter_than=7).shorter_than == 7
