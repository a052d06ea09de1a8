"""Curves of the tiles over the lever moved last: the numbers of releases, and where it stands."""

from __future__ import annotations

import pytest

from rwn_ui.features import limit_queue
from rwn_ui.state.results import current_release
from rwn_ui.tune import tiles
from tests.ui.test_live_picture import asked


@pytest.fixture
def screen(open_page):
    made = open_page("tune")
    assert asked(made, {"k": 20.0}) is not None
    return made


def curves(screen) -> list[dict]:
    session = screen.session
    current = current_release(session)
    shown = tiles.draw(session, current, limit_queue.readings(session, current), None)
    return [tile["curve"] for tile in shown if "curve" in tile]


def test_no_curve_before_a_lever_was_moved(session) -> None:
    assert tiles.moved_lever(session) is None
    tiles.extend_curves(session)
    assert not tiles.lacks_curves(session)


def test_a_curve_is_shown_when_it_is_complete_and_is_that_of_releases(screen) -> None:
    session = screen.session
    for _ in range(tiles.POSITIONS):
        assert tiles.lacks_curves(session)
        assert curves(screen) == []
        tiles.extend_curves(session)
    assert not tiles.lacks_curves(session)
    found = curves(screen)
    assert len(found) == len(tiles.TILES)
    session.levers["k"] = 1  # an end of the range, read as any release
    readings = limit_queue.readings(session, current_release(session))
    for tile, curve in zip(tiles.TILES, curves(screen), strict=True):
        assert curve["at"] == 0.0
        assert curve["y"][0] == pytest.approx(tile.value(readings[tile.measure]))
    assert any(min(c["y"]) < max(c["y"]) for c in found)


def test_the_curve_stays_while_its_lever_moves_and_goes_with_another_setting(screen) -> None:
    for _ in range(tiles.POSITIONS):
        tiles.extend_curves(screen.session)
    before = curves(screen)
    asked(screen, {"k": 60.0})
    after = curves(screen)
    assert [c["y"] for c in after] == [c["y"] for c in before]
    assert after[0]["at"] > before[0]["at"]
    asked(screen, {"q": 0.5})
    assert curves(screen) == []


def test_a_large_table_has_none(screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    assert tiles.moved_lever(screen.session) is None
