"""Which cells are launched again when a launcher loses some, and which have failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hydra.core.utils import JobReturn, JobStatus

from attention_audit.cell import Place
from attention_audit.grid import GridCell
from attention_audit.store import Store
from hydra_plugins.attention_audit._rounds import Rounds

Deed = Callable[[GridCell], JobReturn]
CONFIG = {
    "logger": {"mode": "none"},
    "force": True,
    "save_tokens": False,
    "dataset": {"private": False},
    "analysis": {},
}


def done(cell: GridCell) -> JobReturn:
    cell.place.cell.open({})
    cell.place.cell.write_json("metrics", {"summary": []})
    cell.place.cell.set_fitted()
    return JobReturn(status=JobStatus.COMPLETED)


def failed(cell: GridCell) -> JobReturn:
    return JobReturn(status=JobStatus.FAILED, _return_value=ValueError("two\nlines"))


def not_started(cell: GridCell) -> JobReturn:
    return JobReturn(status=JobStatus.UNKNOWN, _return_value="not started")


def killed(cell: GridCell) -> JobReturn:
    cell.place.cell.open({})
    cell.place.cell.set_running()
    return JobReturn(status=JobStatus.UNKNOWN, _return_value="killed")


def fitted_but_lost(cell: GridCell) -> JobReturn:
    cell.place.cell.open({})
    cell.place.cell.set_fitted()
    return JobReturn(status=JobStatus.UNKNOWN, _return_value="killed")


def done_but_lost(cell: GridCell) -> JobReturn:
    done(cell)
    return JobReturn(status=JobStatus.UNKNOWN, _return_value="killed")


def failed_but_lost(cell: GridCell) -> JobReturn:
    cell.place.cell.open({})
    cell.place.cell.set_failed(ValueError("its own words"))
    return JobReturn(status=JobStatus.UNKNOWN, _return_value="killed")


@dataclass
class Launcher:
    """Does to each cell, at each of its launches, the next of its deeds."""

    deeds: dict[str, list[Deed]]
    launched: list[list[str]] = field(default_factory=list)

    def __call__(self, cells: Sequence[GridCell]) -> list[JobReturn]:
        self.launched.append([cell.name for cell in cells])
        return [self.deeds[cell.name].pop(0)(cell) for cell in cells]


@pytest.fixture
def run(tmp_path):
    """Works off cells of the given names and deeds; returns failures, launches and cells."""

    def run(**deeds: list[Deed]):
        store = Store(tmp_path / "multirun")
        names = {"dataset": "d", "encoder": "e", "attention": "a"}
        cells = [
            GridCell((name,), CONFIG, Place(store.cell(**names, seed=n, identity={}), None, ""))
            for n, name in enumerate(deeds)
        ]
        launcher = Launcher(dict(deeds))
        failures = Rounds(launcher, "sweep").run(cells)
        said = {cell.name: reason for cell, reason in failures.items()}
        return said, launcher.launched, {cell.name: cell.place.cell for cell in cells}

    return run


def test_what_a_launcher_reports_is_taken_as_it_is(run):
    failures, launched, _ = run(a=[done], b=[failed], c=[done])
    assert failures == {"b": "ValueError: two lines"}
    assert launched == [["a", "b", "c"]]


def test_one_that_was_interrupted_is_tried_alone_and_those_not_started_again_together(run):
    failures, launched, cells = run(
        a=[done],
        b=[killed, done],
        c=[killed, done],
        d=[not_started, done],
        e=[not_started, failed],
    )
    assert failures == {"e": "ValueError: two lines"}
    assert launched == [["a", "b", "c", "d", "e"], ["b"], ["c"], ["d", "e"]]
    assert {cells[name].status().state for name in "abcd"} == {"fitted"}


def test_one_that_kills_its_process_has_failed_and_its_neighbour_has_not(run):
    failures, launched, cells = run(a=[killed, done], b=[killed, killed], c=[not_started, done])
    assert failures == {"b": "RuntimeError: killed"}
    assert launched == [["a", "b", "c"], ["a"], ["b"], ["c"]]
    status = cells["b"].status()
    assert (status.state, status.reason) == ("failed", "RuntimeError: killed")
    assert "killed" in (cells["b"].folder / "traceback.txt").read_text()
    assert not cells["b"].interrupted()


def test_ones_that_die_before_they_are_begun_come_to_an_end_too(run):
    never = [not_started, not_started]
    failures, launched, cells = run(a=never[:], b=never[:])
    assert failures == dict.fromkeys("ab", "RuntimeError: not started")
    assert launched == [["a", "b"], ["a"], ["b"]]
    assert {cell.status().state for cell in cells.values()} == {"failed"}


def test_what_had_ended_before_its_process_was_lost_is_not_run_again(run):
    failures, launched, _ = run(a=[done_but_lost], b=[failed_but_lost])
    assert failures == {"b": "ValueError: its own words"}
    assert launched == [["a", "b"]]


def test_what_was_lost_with_nothing_but_its_fit_is_run_again(run):
    failures, launched, _ = run(a=[fitted_but_lost, done], b=[done])
    assert not failures
    assert launched == [["a", "b"], ["a"]]
