"""A pin of a larger table is put aside at once, and completed when its verdict is known."""

from __future__ import annotations

from typing import Any

import pytest

from rwn_core.tuning.policy import QUICK
from rwn_ui.features import limit_queue
from rwn_ui.state.change_table import reweigh
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.tune import view as tune_view
from tests.ui.following import followed, match_map, shown


@pytest.fixture
def session(open_page, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose table counts as a larger one."""
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    return open_page("tune").session


def compared(payload: dict[str, Any]) -> list[str]:
    """The pins that the policy's tile is compared with."""
    return [each["pin"] for each in payload["verdict"]["against"]]


def on_map(payload: dict[str, Any]) -> set[str]:
    return {trace["name"] for trace in match_map(payload)["data"]} & {"now", "A"}


def test_a_pin_waits_for_nothing_and_is_completed_when_it_is_known(session, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(limit_queue.rwn, "MEASURES", {})  # nothing is read for a pin
        patch.setattr(tune_view.tiles, "chosen", lambda _: [])
        session.pins["A"] = tune_view.pin(session, current_release(session))
    assert {*session.pins["A"].pending} == {*session.policy.measures} - {*QUICK}
    assert session.pins["A"].judged(session.policy) is None
    payload = shown(session)
    assert (compared(payload), bool(payload["waits"])) == ([], True)
    payload = followed(session)
    now = limit_queue.readings(session, current_release(session))
    assert session.pins["A"].values == {key: now[key].value for key in session.policy.measures}
    assert session.pins["A"].pending == ()
    assert compared(payload) == ["A"]
    assert payload["verdict"]["against"][0]["text"].startswith("±0")
    user_work().worker.cancel()


def test_a_pin_that_was_left_before_it_was_known_is_read_after_the_setting_on_screen(
    session: Session,
) -> None:
    session.pins["A"] = tune_view.pin(session, current_release(session))
    strict, session.levers["k"] = session.levers["k"], 60
    limit_queue.follow(session)
    asked = [(each.params.k, each.measure) for each in user_work().worker._asked]
    assert {k for k, _ in asked[: len(asked) // 2]} == {60}
    assert asked[-1][0] == strict
    payload = followed(session)
    pinned = session.pins["A"]
    assert (pinned.pending, compared(payload), on_map(payload)) == ((), ["A"], {"now", "A"})
    for k, values in ((60, None), (strict, pinned.values)):
        session.levers["k"] = k
        followed(session)
        live = limit_queue.readings(session, current_release(session))
        known = {key: live[key].value for key in session.policy.measures}
        assert (known == {key: pinned.values[key] for key in known}) is (values is not None)
    user_work().worker.cancel()


def test_a_pin_of_other_weights_is_asked_of_nobody_until_they_are_back(session: Session) -> None:
    session.pins["A"] = tune_view.pin(session, current_release(session))
    reweigh(session, {"age": 3.0})
    followed(session)
    assert session.pins["A"].pending
    assert compared(shown(session)) == []
    reweigh(session, {"age": 1.0})
    followed(session)
    assert not session.pins["A"].pending
    user_work().worker.cancel()
