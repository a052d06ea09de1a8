"""Every page says of a limit that no file can break that it is not judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.measures import measure
from rwn_core.reporting import places_on_map
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Plan, Point, Setting, Spread, Sweep
from rwn_ui.compare import cards as compare_cards
from rwn_ui.features import limit_queue
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.sweep import pick as sweep_pick
from rwn_ui.tune import view as tune_view

CANNOT = "This limit cannot be broken on this table: the unmasked file reads 50.1 %."
POLICY = rwn.Policy(limits=(rwn.Limit(measure="t_closeness", at_most=0.9),))


@pytest.fixture
def session(session: Session) -> Session:
    session.policy = POLICY
    return session


@pytest.fixture
def read_ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Every reading of an end that is really computed."""
    computed: list[Any] = []
    own = measure._read_ends

    def counted(*arguments: Any) -> Any:
        computed.append(arguments)
        return own(*arguments)

    monkeypatch.setattr(measure, "_read_ends", counted)
    return computed


def test_tune_says_that_it_is_not_judged_and_is_not_green(session: Session) -> None:
    payload = tune_view.payload(session, current_release(session))
    tile = payload["verdict"]
    assert (tile["state"], tile["text"]) == (None, "Not judged: 1 of 1 limit cannot be judged")
    assert CANNOT in tile["help"]
    assert "unmasked 50.1 %" in tile["help"]


def test_the_ends_are_read_once_and_not_at_a_move(session: Session, read_ends: list[Any]) -> None:
    session.policy = rwn.Policy()
    tune_view.payload(session, current_release(session))
    first = len(read_ends)
    assert first == len(session.policy.limits) + 2, "the limits, and the two aims"
    for epsilon in (0.5, 1.0, 3.0):
        session.levers["epsilon"] = epsilon
        tune_view.payload(session, current_release(session))
    session.data = session.data.with_weights({"age": 3.0})
    tune_view.payload(session, current_release(session))
    assert len(read_ends) == first


def test_a_pin_and_a_scenario_remember_the_ends(session: Session) -> None:
    pin = tune_view.pin(session, current_release(session))
    verdict = pin.judged(session.policy)
    assert verdict is not None
    assert not verdict.kept
    assert verdict.unread["t_closeness"].startswith(CANNOT)
    read = limit_queue.with_readings(pin, limit_queue.readings(session, current_release(session)))
    assert read.judged(session.policy) == verdict


def limit_cell(session: Session, scenario: Scenario) -> dict[str, Any]:
    """What Compare shows of the limit of `POLICY`."""
    shown = compare_cards.screen(session, [scenario], POLICY, meeting=False)["candidates"]
    (row,) = [row for row in shown["rows"] if row["kind"] == "limit"]
    (cell,) = row["cells"]
    return cell


def test_sweep_and_compare_do_not_call_it_kept(session: Session) -> None:
    spread = Spread(measure="t_closeness", values=(0.25, 0.25), ends={"unmasked": 0.501})
    lost = Spread(measure="correlation", values=(0.1, 0.1))
    setting = Setting.of("rwn", {"k": 5})
    point = Point(setting=setting, spreads={"t_closeness": spread, "correlation": lost})
    plan = Plan(measures=("t_closeness", "correlation"), releases=2)
    sweep = Sweep(plan=plan, points=(point,), wanted=1)
    (placed,) = places_on_map.map_points(POLICY, sweep, "correlation", "t_closeness")
    assert not placed["kept"]
    frame = sweep_pick.frame(session, sweep.points, plan.measures, set())
    assert frame["keeps all limits"].tolist() == ["no"]
    assert "✓" not in sweep_pick._line(session, point, "correlation", "t_closeness", set())
    scenario = Scenario(
        name="one", setting=setting, table=session.data.fingerprint, readings=point.stated()
    )
    assert limit_cell(session, scenario)["text"] == "not judged"
    assert limit_cell(session, scenario)["state"] is None
    assert CANNOT in limit_cell(session, scenario)["note"]
    # the planted other case: a table on which the same limit can be broken
    free = replace(spread, ends={"unmasked": 0.95})
    fair = replace(scenario, readings=replace(point, spreads={"t_closeness": free}).stated())
    assert limit_cell(session, fair)["state"] == "kept"


def test_the_editor_ends_at_a_hundred_percent(open_page) -> None:
    """Finding P1: 500 % was a limit like any other."""
    screen = open_page("tune")
    screen.test.session_state["tune.0.policy.box"] = True
    screen.test.run()
    fields = [each for each in screen.test.number_input if "% at most" in each.label]
    assert len(fields) == len(rwn.Policy().limits)
    assert {field.max for field in fields} == {100.0}
