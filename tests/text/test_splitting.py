from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.text.splitting import draw

strata = st.lists(st.integers(0, 4), min_size=1, max_size=60).map(np.array)


@given(strata, st.data())
def test_each_class_gives_its_share_within_one_row(
    classes: np.ndarray, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, len(classes)))
    chosen = draw(classes, count, (0, 1))
    assert chosen.sum() == count
    for label in np.unique(classes):
        here = classes == label
        assert abs((chosen & here).sum() - here.sum() * count / len(classes)) < 1


@given(strata, st.integers(0, 5))
def test_the_choice_depends_on_the_seed_only(classes: np.ndarray, seed: int) -> None:
    count = len(classes) // 2
    assert (draw(classes, count, (seed,)) == draw(classes, count, (seed,))).all()


def test_another_seed_chooses_others() -> None:
    classes = np.zeros(200, dtype=int)
    assert (draw(classes, 50, (0,)) != draw(classes, 50, (1,))).any()


def test_a_class_of_one_row_stays_where_another_can_give() -> None:
    classes = np.array([0] + [1] * 7 + [2] * 7)
    assert not any(draw(classes, 4, (seed,))[0] for seed in range(20))
