"""The time left: by the pace of this run, unknown before there is one, never rising in between."""

from __future__ import annotations

import pytest

from rwn_core.parallel.pace import LONGER, UNKNOWN, Pace, left_words


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_prepares_the_work_is_no_part_of_its_pace(clock: Clock) -> None:
    """Formerly "about 10 min left" of two: a worker took a minute to begin."""
    pace = Pace(clock)
    for now, share in ((60.0, 0.1), (70.0, 0.2), (80.0, 0.3)):
        clock.now = now
        pace.report(share)
    assert pace.seconds_left == pytest.approx(70.0), "a tenth in ten seconds"
    assert pace.words == "about 70 s left"


def test_it_is_unknown_before_the_first_pace(clock: Clock) -> None:
    pace = Pace(clock)
    assert pace.words == UNKNOWN
    pace.report(0.0)
    clock.now = 30.0
    assert pace.words == UNKNOWN, "no share was reported"
    pace.report(0.5)
    clock.now = 31.0
    pace.report(0.51)
    assert pace.words == UNKNOWN, "one second is no pace"
    clock.now = 40.0
    pace.report(0.6)
    assert pace.seconds_left == pytest.approx(40.0)


def test_between_two_reports_it_counts_down_and_never_rises(clock: Clock) -> None:
    pace = Pace(clock)
    pace.report(0.25)
    clock.now = 10.0
    pace.report(0.5)
    left = []
    for now in range(10, 31):
        clock.now = float(now)
        left.append(pace.seconds_left)
    assert left == [20.0 - each for each in range(21)]
    clock.now = 31.0
    pace.report(0.5)
    assert pace.words == LONGER


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_at_an_even_pace_it_is_true_at_every_moment(clock: Clock, factor: float) -> None:
    pace, whole = Pace(clock), 60.0 * factor
    for step in range(1, 61):
        clock.now = step * factor
        pace.report(step / 60)
        if pace.seconds_left is not None:
            assert pace.seconds_left == pytest.approx(whole - clock.now, abs=1e-6)


def test_hours_minutes_and_seconds() -> None:
    assert left_words(0.2) == "about 1 s left"
    assert left_words(89) == "about 89 s left"
    assert left_words(91) == "about 2 min left"
    assert left_words(5000) == "about 83 min left"
    assert left_words(9000) == "about 2 h left"
