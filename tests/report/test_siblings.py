"""Cells of the same models: which comes first, what tells them apart, which belong together."""

from __future__ import annotations

import pytest

from attention_audit.report.results import result, results
from attention_audit.report.siblings import by_models, foremost, partner, shown, told_apart

MODELS = ("sst", "lstm", "additive")


@pytest.fixture
def under(stored):
    """Makes a finished cell of one seed under other settings."""

    def make(*names, seed=0, **settings):
        cell = stored(*names, seed=seed)
        manifest = cell.read_json("manifest")
        cell.write_json("manifest", manifest | {"settings": manifest["settings"] | settings})
        return result(cell)

    return make


def test_finished_cells_come_first_then_lower_seeds(begun, stored):
    cells = [result(cell) for cell in (stored(seed=2), begun(seed=0), stored(seed=1))]
    [ordered] = by_models(cells).values()
    assert [one.cell.seed for one in ordered] == [1, 2, 0]
    assert foremost(cells)[MODELS].cell.seed == 1
    assert foremost([]) == {}


def test_every_finished_cell_is_shown_and_of_others_one_that_says_why(begun, stored, store):
    begun(seed=0)
    for seed in (1, 2):
        stored(seed=seed)
    for seed in (4, 3):
        begun("imdb", seed=seed)
    found = shown(results(store))
    assert [(one.cell.dataset, one.cell.seed) for one in found] == [
        *(("imdb", 3), ("sst", 1), ("sst", 2))
    ]


def test_a_single_cell_needs_no_name(stored):
    assert told_apart([result(stored())]) == [""]


def test_cells_are_told_apart_by_seed_and_by_the_settings_that_differ(under):
    some = [under(seed=0), under(seed=1, epochs=20), under(seed=2, vectors="glove.txt")]
    assert told_apart(some) == [
        "seed 0, 8 epochs, random vectors",
        "seed 1, 20 epochs, random vectors",
        "seed 2, 8 epochs, glove.txt",
    ]


def test_cells_that_no_setting_tells_apart_have_their_hash(under):
    one, other = under(seed=0), under(seed=1)
    assert told_apart([one, other, other]) == [
        *("seed 0", f"seed 1 ({other.cell.hash8})", f"seed 1 ({other.cell.hash8})")
    ]


def test_a_cell_is_compared_with_one_of_its_seed_and_settings(under, begun):
    average = under("sst", "average", "additive", seed=1, epochs=20)
    lstms = [under(seed=seed, epochs=epochs) for seed, epochs in ((0, 20), (1, 8), (2, 20))]
    assert partner(average, lstms) is lstms[1]
    assert partner(average, [lstms[2], lstms[0]]) is lstms[2]
    assert partner(average, [result(begun(seed=7))]) is None
