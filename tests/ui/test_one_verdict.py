"""One policy, one verdict: Tune, Risk, Sweep and Compare say the same of the same numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_core.reporting import places_on_map
from rwn_core.reporting.candidates import verdict_words
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Plan, Point, Setting, Spread, Sweep
from rwn_ui.compare import cards as compare_cards
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.sweep import pick as sweep_pick
from rwn_ui.tune import view as tune_view

KEPT = {"bayes_linkage": (0.03, 0.04), "distance_linkage": (0.01, 0.01), "correlation": (0.2, 0.2)}
BROKEN = {**KEPT, "distance_linkage": (0.06, 0.07), "correlation": (0.1, 0.1)}
UNREAD = {key: values for key, values in KEPT.items() if key != "distance_linkage"}


def point(k: int, numbers: dict[str, tuple[float, ...]]) -> Point:
    spreads = {key: Spread(measure=key, values=values) for key, values in numbers.items()}
    if "distance_linkage" not in spreads:
        spreads["distance_linkage"] = Spread(measure="distance_linkage", reason="Too many.")
    return Point(setting=Setting.of("rwn", {"k": k}), spreads=spreads)


POINTS = (point(5, KEPT), point(6, BROKEN), point(7, UNREAD))


@pytest.fixture
def session() -> Session:
    limits = (
        rwn.Limit(measure="bayes_linkage", at_most=0.5),
        rwn.Limit(measure="distance_linkage", at_most=0.05),
    )
    data = rwn.load_demo("bodyfat")
    made = Session(name="bodyfat", demo="bodyfat", data=data, policy=rwn.Policy(limits=limits))
    for each, name in zip(POINTS, ("kept", "broken", "unread"), strict=True):
        made.scenarios[name] = Scenario(
            name=name,
            setting=each.setting,
            table=data.fingerprint,
            policy=made.policy,
            readings=each.stated(),
        )
    return made


def candidates(session: Session, policy: rwn.Policy | None = None) -> dict[str, Any]:
    scenarios = list(session.scenarios.values())
    shown = compare_cards.screen(session, scenarios, policy or session.policy, meeting=True)
    found: dict[str, Any] = shown["candidates"]
    return found


def test_a_trial_of_other_limits_judges_all_and_changes_no_policy(session: Session) -> None:
    policy = session.policy
    looser = rwn.Policy(limits=(policy.limits[0], replace(policy.limits[1], at_most=0.2)))
    shown = candidates(session, looser)
    assert [each["state"] for each in shown["candidates"]] == ["kept", "kept", None]
    assert shown["notes"][0] == (
        "TRIAL of other limits: Distance linkage 20.0\N{NO-BREAK SPACE}% instead of "
        "5.0\N{NO-BREAK SPACE}%. The policy is unchanged."
    )
    assert session.policy is policy
    assert not any("TRIAL" in note for note in candidates(session)["notes"])
    stricter = rwn.Policy(limits=(policy.limits[0], replace(policy.limits[1], at_most=0.001)))
    assert candidates(session, stricter)["candidates"][0]["state"] == "over"


def test_compare_is_green_only_if_all_limits_were_read_and_hold(session: Session) -> None:
    shown = candidates(session)
    assert [each["state"] for each in shown["candidates"]] == ["kept", "over", None]
    assert [(each["verdict"], each["which"]) for each in shown["candidates"]] == [
        ("keeps all limits", ""),
        ("breaks 1 of 2", "Distance linkage"),
        ("not judged fully", "Distance linkage not judged"),
    ]
    linkage = next(row for row in shown["rows"] if row["title"] == "Distance linkage")
    assert [cell["state"] for cell in linkage["cells"]] == ["kept", "over", None]
    assert linkage["cells"][2]["text"] == "not judged"
    table = compare_cards.table(session, list(session.scenarios.values()), meeting=False)
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    assert few in table["tables"][0]["caption"]
    (row,) = (row for row in table["tables"][0]["rows"] if row[0] == "policy")
    assert row[1].startswith("All 2 limits are kept")
    assert row[2].startswith("1 of 2 limits is broken, most of all Distance linkage")
    assert "Not judged: Distance linkage" in row[3]


def test_other_limits_judge_all_scenarios_anew_and_say_that_they_do(session: Session) -> None:
    session.policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.01),))
    scenarios = list(session.scenarios.values())
    shown = candidates(session)["candidates"]
    assert {each["state"] for each in shown} == {"over"}
    assert all(each["which"].endswith("saved under other limits") for each in shown)
    (row,) = (
        row
        for row in compare_cards.table(session, scenarios, meeting=False)["tables"][0]["rows"]
        if row[0] == "policy"
    )
    assert all(words.endswith("saved under other limits.") for words in row[1:])


def test_the_sweep_says_the_same(session: Session) -> None:
    sweep = Sweep.from_points(Plan(measures=tuple(KEPT)), list(POINTS), 3)
    spots = places_on_map.map_points(session.policy, sweep, "correlation", POLICY)
    assert [spot["kept"] for spot in spots] == [True, False, False]
    assert spots[1]["y"] > 1 > spots[0]["y"]
    ranked = sorted(
        POINTS, key=lambda p: sweep_pick._rank(session, p, "correlation", POLICY, set())
    )
    assert ranked[0] is POINTS[0]
    lines = [sweep_pick._line(session, p, "correlation", POLICY, set()) for p in POINTS]
    assert [line.startswith("✓") for line in lines] == [True, False, False]
    assert "1 of 3 settings keep all limits" in sweep.words(session.policy)


def test_a_setting_with_hardly_any_record_is_no_choice_anywhere(session: Session) -> None:
    """It keeps all limits by its numbers, and loses less than the one that does keep them."""
    lost = replace(point(8, {**KEPT, "correlation": (0.01, 0.01)}), shown=(0.02, 0.04))
    sweep = Sweep(plan=Plan(measures=tuple(KEPT), releases=2), points=(POINTS[0], lost), wanted=2)
    kept, few = places_on_map.map_points(session.policy, sweep, "correlation", POLICY)
    assert (few["kept"], few["frontier"], few["released"]) == (False, False, 0.03)
    assert (kept["kept"], kept["frontier"], kept["released"]) == (True, True, 1.0)
    ranked = sorted(
        sweep, key=lambda p: sweep_pick._rank(session, p, "correlation", POLICY, {kept["key"]})
    )
    assert ranked == [POINTS[0], lost]
    assert "✓" not in sweep_pick._line(session, lost, "correlation", POLICY, set())
    words = verdict_words(session.policy.judge_point(lost))
    assert words == "too few records released"


def test_tune_agrees_that_hardly_any_record_keeps_no_policy(open_page) -> None:
    session = open_page("tune", method="nbrs2015", epsilon="1", q="1").session
    session.policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))
    payload = tune_view.payload(session, current_release(session))
    tile = payload["verdict"]
    assert tile["state"] is None
    assert tile["text"].startswith("Not releasable: only ")
    assert "of the records are released." in tile["help"]
    assert "; not all limits are kept" in orjson.loads(payload["cards"][0])["alt"]
