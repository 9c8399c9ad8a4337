import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_audit.diagnostics import fit_seeds, other_seeds


@pytest.mark.parametrize(
    ("own", "count", "expected"),
    [
        (0, 3, [1, 2, 3]),
        (1, 3, [0, 2, 3]),
        (3, 3, [0, 1, 2]),
        (2, 2, [0, 1]),
        (700, 2, [0, 1]),
        (0, 0, []),
    ],
)
def test_the_first_seeds_but_ones_own(own, count, expected):
    assert other_seeds(own, count) == expected


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 20))
def test_cells_that_differ_in_their_seed_share_nearly_all(own, other, count):
    mine, theirs = set(other_seeds(own, count)), set(other_seeds(other, count))
    assert len(mine) == len(theirs) == count
    assert own not in mine
    assert len((mine | {own}) & (theirs | {other})) >= count


def test_each_seed_is_fitted_once_in_the_bases_configuration(speaking, noted):
    fit = noted(lambda change, **_: speaking(f"of seed {change['seed']}"))
    found = fit_seeds(speaking("of seed 1"), fit, own=1, count=3)
    assert {seed: subject.weights for seed, subject in found.items()} == {
        seed: f"of seed {seed}" for seed in (0, 2, 3)
    }
    assert [asked["change"] for asked in fit.asked] == [{"seed": 0}, {"seed": 2}, {"seed": 3}]
    assert {asked["role"] for asked in fit.asked} == {"seed"}
    assert all(asked["given"] is None for asked in fit.asked)


@pytest.mark.parametrize(
    ("twins", "said"), [((0, 2), "seed 2: .* of seed 0"), ((1, 3), "seed 3: .* of seed 1")]
)
def test_a_seed_that_made_another_ones_model_is_refused(speaking, noted, twins, said):
    fit = noted(lambda change, **_: speaking("twin" if change["seed"] in twins else str(change)))
    base = speaking("twin" if 1 in twins else "base")
    with pytest.raises(ValueError, match=f"^{said}, bit for bit; expected another model[^\n]*$"):
        fit_seeds(base, fit, own=1, count=3)
