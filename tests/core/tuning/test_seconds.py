"""The seconds of a search: what would end too late does not begin, the rest stops in time."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest

import rwn_core as rwn
from rwn_core.parallel.threads import Cancelled, current_work, work
from rwn_core.tuning import Policy, Setting, Space
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.strength import Deadline, Late, StrengthTrial, TableSearch

LIMIT = Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.1),))


class Clock:
    """Seconds that pass only where a trial is said to take them."""

    def __init__(self) -> None:
        self.now = 0.0
        self.releases = 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Each release takes 25 seconds."""
    clock, compared = Clock(), PreparedTables.compared

    def slow(self: PreparedTables, setting: Setting, seed: int) -> object:
        if (setting, seed) not in self.releases:
            clock.now += 25.0
            clock.releases += 1
        return compared(self, setting, seed)

    monkeypatch.setattr(PreparedTables, "compared", slow)
    times = SimpleNamespace(monotonic=lambda: clock.now, perf_counter=time.perf_counter)
    for name in ("evaluate", "quick_verdict", "recommend", "search", "seek_slices", "strength"):
        monkeypatch.setattr(import_module(f"rwn_core.tuning.{name}"), "time", times)
    return clock


def test_a_step_that_would_end_too_late_does_not_begin(few, clock) -> None:
    table, starts = TableSearch(microdata=few, policy=LIMIT, until=25.0), list[float]()

    def step() -> None:
        starts.append(clock.now)
        clock.now += 10.0

    table.timed("step", step)
    table.timed("step", step)
    with pytest.raises(Late):
        table.timed("step", step)
    assert starts == [0.0, 10.0]
    assert table.late
    assert table.look(Setting(params=rwn.RWN(epsilon=1.0, k=5))) is None


@pytest.mark.parametrize("seconds", [60.0, 80.0])
@pytest.mark.parametrize(
    "space",
    [None, Space(setting=Setting(params=rwn.RWN(epsilon=1.0, k=5)), levers=("k", "q"))],
    ids=["everything", "levers"],
)
def test_a_search_of_slow_releases_ends_within_its_seconds(few, clock, space, seconds) -> None:
    found = rwn.search(few.take(range(200)), LIMIT, space, seconds=seconds)
    assert found.late
    assert not found.confirmed
    assert 0 < clock.releases <= int(seconds // 25)
    assert clock.now <= seconds


def test_advice_on_slow_releases_ends_within_its_seconds(few, clock) -> None:
    found = rwn.recommend(few.take(range(201)), LIMIT, within=60.0)
    assert clock.now <= 60.0
    assert found.late
    verdict = rwn.quick_verdict(few.take(range(202)), "rwn", LIMIT, within=60.0, steps=False)
    assert clock.now <= 120.0
    assert verdict.late


def test_a_step_stops_when_the_time_is_over(few) -> None:
    """The planted fault, work that goes on to its end, would take a minute."""
    done = list[int]()
    table = TableSearch(microdata=few, policy=LIMIT, until=time.monotonic() + 0.2)

    def slowly(start: int, stop: int) -> None:
        for each in range(start, stop):
            time.sleep(0.02)
            done.append(each)

    with pytest.raises(Late):
        table.timed("step", lambda: current_work().run(slowly, 3_000))
    assert len(done) < 3_000


def test_one_release_outbids_no_setting_that_several_have_kept(few, monkeypatch) -> None:
    """Late, a lower loss on a single release may be luck: the planted fault takes it."""
    setting = Setting(params=rwn.RWN(epsilon=1.0, k=5))
    table = TableSearch(microdata=few, policy=LIMIT)
    first = table.look(setting)
    assert first is not None
    assert first.kept

    def late(trial: StrengthTrial, *_: object) -> None:
        trial.verdicts[0] = first.verdict
        raise Late

    monkeypatch.setattr(StrengthTrial, "steady", late)
    monkeypatch.setattr(StrengthTrial, "first_found", lambda *_: replace(first, releases=1))
    other = Setting(params=rwn.RWN(epsilon=1.0, k=9))
    for releases, taken in ((1, True), (6, False)):
        table.tried, table.seen = [replace(first, releases=releases)], set()
        assert (table.look(other) is not None) == taken


def test_what_stops_the_work_around_it_is_no_lack_of_time(few) -> None:
    around = Deadline(-1.0)
    with work(cancel=around):
        table = TableSearch(microdata=few, policy=LIMIT)
        with pytest.raises(Cancelled):
            table.timed("step", lambda: current_work().report(0.5))
