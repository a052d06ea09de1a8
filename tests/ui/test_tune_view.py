"""What Tune shows of a release, and one verdict of a policy on every page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.variable import Role
from rwn_core.evaluation.disclosure import disclose
from rwn_core.measures import measure, tiles_of
from rwn_core.measures.measure import Detail, Reading, with_parts
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.usual_use import usual_use
from rwn_core.reporting import places_on_map
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.reporting.readable import judged as judged_scenarios
from rwn_core.reporting.readable import verdict_words
from rwn_core.tuning import FoundSetting, Plan, Point, SearchAnswer, Setting, Spread, Sweep
from rwn_ui.compare import cards as compare_cards
from rwn_ui.features import limit_queue, repeated_draws, unchanged_categories
from rwn_ui.features.scenario_trial import measured, scenario_draft
from rwn_ui.find import view as find_view
from rwn_ui.risk import sentences, view
from rwn_ui.state import address
from rwn_ui.state.address import take_setting
from rwn_ui.state.change_table import redescribe, set_setting
from rwn_ui.state.results import current_release, preparation_key, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import question, tiles
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets import live_sliders
from rwn_ui.widgets.limits import shown_as
from rwn_ui.widgets.live_sliders import controls
from tests.tables import described, frame, table
from tests.ui.following import CARDS_OF_TUNE, shown

KEPT = {"bayes_linkage": (0.03, 0.04), "distance_linkage": (0.01, 0.01), "correlation": (0.2, 0.2)}
BROKEN = {**KEPT, "distance_linkage": (0.06, 0.07), "correlation": (0.1, 0.1)}
UNREAD = {key: values for key, values in KEPT.items() if key != "distance_linkage"}


def limits(**at_most: float) -> rwn.Policy:
    made = (rwn.Limit(measure=key, at_most=most) for key, most in at_most.items())
    return rwn.Policy(limits=tuple(made))


def point(k: int, numbers: dict[str, tuple[float, ...]]) -> Point:
    spreads = {key: Spread(measure=key, values=values) for key, values in numbers.items()}
    if "distance_linkage" not in spreads:
        spreads["distance_linkage"] = Spread(measure="distance_linkage", reason="Too many.")
    return Point(setting=Setting.of("rwn", {"k": k}), spreads=spreads)


POINTS = (point(5, KEPT), point(6, BROKEN), point(7, UNREAD))


def found(policy: rwn.Policy, each: Point) -> FoundSetting:
    return FoundSetting(point=each, verdict=policy.judge(each), loss=each.median("correlation"))


def spoken(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def judging() -> Session:
    policy = limits(bayes_linkage=0.5, distance_linkage=0.05)
    data = rwn.load_demo("bodyfat")
    made = Session(name="bodyfat", demo="bodyfat", data=data, policy=policy)
    for each, name in zip(POINTS, ("kept", "broken", "unread"), strict=True):
        about = {"setting": each.setting, "readings": each.stated(), "unread": each.unread}
        made.scenarios[name] = rwn.Scenario(
            name=name, table=data.fingerprint, policy=policy, **about
        )
    return made


def candidates(judging: Session, policy: rwn.Policy | None = None) -> dict[str, Any]:
    scenarios = list(judging.scenarios.values())
    cards = compare_cards.screen(judging, scenarios, policy or judging.policy, meeting=True)
    found: dict[str, Any] = cards["candidates"]
    return found


def row_of_policy(judging: Session) -> tuple[list[str], str]:
    scenarios = list(judging.scenarios.values())
    table = compare_cards.table(judging, scenarios, meeting=False)["tables"][0]
    (row,) = (row for row in table["rows"] if row[0] == "policy")
    return row[1:], table["caption"]


def test_compare_is_green_only_if_all_limits_hold(judging) -> None:
    told = candidates(judging)
    assert [(each["state"], each["verdict"], each["which"]) for each in told["candidates"]] == [
        ("kept", "Keeps all 2 limits", ""),
        ("over", "Breaks 1 of 2 limits", "Distance linkage"),
        (None, "Not judged: 1 of 2 limits cannot be judged", "Distance linkage not judged"),
    ]
    linkage = next(row for row in told["rows"] if row["title"] == "Distance linkage")
    assert [cell["state"] for cell in linkage["cells"]] == ["kept", "over", None]
    assert linkage["cells"][2]["text"] == "not judged"


def test_the_table_of_compare_says_the_verdict_of_each_scenario(judging) -> None:
    row, caption = row_of_policy(judging)
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    assert few in caption
    assert row[0].startswith("Keeps all 2 limits; nearest is ")
    assert row[1].startswith("Breaks 1 of 2 limits, most of all Distance linkage")
    assert row[2] == (
        "Not judged: 1 of 2 limits cannot be judged; the other is kept. Distance linkage not "
        "judged: too many."
    )


def test_compare_judges_anew_under_other_limits_and_leaves_the_policy(judging) -> None:
    policy = judging.policy
    looser = candidates(judging, limits(bayes_linkage=0.5, distance_linkage=0.2))
    assert [each["state"] for each in looser["candidates"]] == ["kept", "kept", None]
    assert spoken(looser["notes"][0]) == (
        "WHAT IF other limits held: Distance linkage 20.0 % instead of 5.0 %. "
        "The policy is unchanged."
    )
    assert judging.policy is policy
    assert not any("WHAT IF" in note for note in candidates(judging)["notes"])
    stricter = candidates(judging, limits(bayes_linkage=0.5, distance_linkage=0.001))
    assert stricter["candidates"][0]["state"] == "over"


def test_compare_says_which_scenarios_were_saved_under_other_limits(judging) -> None:
    judging.policy = limits(bayes_linkage=0.01)
    told = candidates(judging)["candidates"]
    assert {each["state"] for each in told} == {"over"}
    assert all(each["which"].endswith("saved under other limits") for each in told)
    assert all(words.endswith("saved under other limits.") for words in row_of_policy(judging)[0])


def test_a_setting_with_hardly_any_record_is_no_choice_anywhere(judging: Session) -> None:
    """It keeps all limits by its numbers, and loses less than the one that does keep them."""
    lost = replace(point(8, {**KEPT, "correlation": (0.01, 0.01)}), shown=(0.02, 0.04))
    sweep = Sweep(plan=Plan(measures=tuple(KEPT), releases=2), points=(POINTS[0], lost), wanted=2)
    kept, few = places_on_map.map_points(judging.policy, sweep, "correlation", POLICY)
    assert (few["kept"], few["frontier"], few["released"]) == (False, False, 0.03)
    assert (kept["kept"], kept["frontier"], kept["released"]) == (True, True, 1.0)
    listed = sorted((found(judging.policy, each) for each in sweep), key=lambda each: each.rank)
    assert [each.point for each in listed] == [POINTS[0], lost]
    assert "✓" not in find_view.line(found(judging.policy, lost))
    assert verdict_words(judging.policy.judge(lost)) == "too few records released"
    # Tune agrees
    judging.policy = limits(distance_linkage=0.9)
    judging.variable = "siri"
    judging.set(Setting(params=rwn.NBRS2015(epsilon=1.0, q=1.0)))
    payload = shown(judging)
    tile = payload["verdict"]
    assert tile["state"] is None
    assert tile["text"].startswith("Not releasable: only ")
    assert "of the records are released." in tile["help"]
    assert "; not all limits are kept" in orjson.loads(payload["cards"][0])["alt"]


LINKAGES = ("bayes_linkage", "intruder_levels")


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every table counts as too large to be assigned at once."""
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 1)
    usual = {key: rwn.MEASURES[key].certain_up_to for key in LINKAGES}
    for key in LINKAGES:
        object.__setattr__(rwn.MEASURES[key], "certain_up_to", 1)
    yield
    for key, size in usual.items():
        object.__setattr__(rwn.MEASURES[key], "certain_up_to", size)


def claims(text: str) -> bool:
    return "worst case" in text.replace("-", " ").lower()


@pytest.mark.parametrize(
    ("large", "title", "words"),
    [(True, "Linkage, at least", "an estimate"), (False, "Worst-case linkage", "at once")],
)
def test_the_linkage_as_the_maps_axis(session, request, large: bool, title: str, words: str):
    if large:
        request.getfixturevalue("too_large")
    session.views[limit_queue.VIEW] = "bayes_linkage"
    tile, *_ = tiles.draw(tune_view.snapshot(session, current_release(session)))
    assert tile["label"] == title
    assert not (large and claims(tile["help"]))
    assert words in tile["help"]
    assert f"risk: {title.lower()}" in shown(session)["cards"][0]


@pytest.fixture
def bounded_tile(session: Session, too_large: None) -> Callable[..., dict[str, Any]]:
    """Return what draws the verdict's tile under a limit of 5 %, between two bounds of linkage."""
    reading = rwn.MEASURES["bayes_linkage"].read(current_release(session).comparison)
    policy = limits(bayes_linkage=0.05)

    def tile(at_most: float, estimate: float | None = None) -> dict[str, Any]:
        parts = with_parts(reading, estimate=estimate, at_most=at_most)
        planted = {"bayes_linkage": replace(parts, value=0.006)}
        verdict = policy.judge(planted)
        return limit_queue.draw_verdict(policy, planted, verdict, records=session.data.n)

    return tile


@pytest.mark.parametrize(
    ("bounds", "label", "share", "state"),
    [
        ((0.04,), "Linkage, estimated at most", 0.04, None),
        ((0.04, 0.07), "Linkage, an estimate", 0.07, "over"),
    ],
)
def test_the_tile_shows_the_judged_number(session, bounded_tile, bounds, label, share, state):
    n = session.data.n
    # whole people on the side of the limit where the share is
    whole = math.floor if state is None else math.ceil
    count = whole(share * n)
    number = f"{100 * share:.0f} %, limit 5 % ({count} of {n:,} records, limit {n // 20})"
    told = bounded_tile(*bounds)
    words = spoken(told["nearest"]).partition(f"{label} ")[2]
    assert (told["label"], words, told["state"]) == (label, number, state)
    assert "Linkage, at least 0.6" in spoken(told["help"])
    assert not claims(told["help"])


def test_the_tile_of_two_bounds_around_the_limit_judges_nothing(bounded_tile):
    told = bounded_tile(0.06)
    assert (told["nearest"], told["state"]) == ("", None)
    assert "at most 6 %" in spoken(told["help"])


@pytest.fixture
def disclosed(session: Session, too_large: None) -> rwn.Audit:
    """What is found of a release too large for its worst case."""
    data = session.data
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=1)
    return disclose(rwn.Comparison(original=data, masked=data), release.masked, release.law)


def test_risk_calls_a_lower_bound_so(session, disclosed):
    now = view.snapshot(session, disclosed)
    first = [view._tile(now, *each) for each in tiles_of("risk").items()][:2]
    assert [tile["label"] for tile in first] == ["At least, all", "At least, by keys"]
    assert not any(claims(tile["help"]) for tile in first)
    rows = {row[0]: row[-1] for row in sentences.rows(disclosed.readings, session.data.n)}
    said = [rows[rwn.MEASURES[key].at_least] for key in LINKAGES]
    said += [str(card) for card in view.cards(disclosed) if card["key"] == "linkage_attacks"]
    assert len(said) == 3
    for words in said:
        assert "at least" in words
        assert not claims(words)


@pytest.mark.parametrize("reached", [True, False])
def test_the_answer_of_a_search_calls_a_lower_bound_so(too_large, reached):
    spreads = {
        key: Spread(measure=key, values=(0.07, 0.08), is_bound=bound)
        for key, bound in (("bayes_linkage", True), ("correlation", False))
    }
    point = Point(setting=Setting(params=rwn.RWN(epsilon=2.0, k=5)), spreads=spreads)
    policy = limits(bayes_linkage=0.05)
    words = SearchAnswer.of_point(policy, point, reached=reached, tried=1).sentence
    assert "at least" in words
    assert not claims(words)


CANNOT = "This limit cannot be broken on this table: the unmasked file reads 50.1 %."


def test_tune_says_that_it_is_not_judged_and_a_scenario_remembers_it(session: Session) -> None:
    session.policy = limits(t_closeness=0.9)
    tile = shown(session)["verdict"]
    assert tile["state"] is None
    assert tile["text"].startswith("Not judged: 1 of 1 limit cannot be judged. Left: ")
    assert CANNOT[1:] in tile["help"]
    assert "unmasked 50.1 %" in tile["help"]
    kept = measured(session.data, scenario_draft(session, "A"))
    (verdict,) = judged_scenarios([kept], session.policy)
    assert not verdict.kept
    assert verdict.unread["t_closeness"].startswith(CANNOT)


@pytest.mark.usefixtures("unread_demos")
def test_the_ends_are_read_once_and_not_at_a_move(session: Session, monkeypatch) -> None:
    computed: list[Any] = []  # every reading of an end that is really computed
    own = measure._read_ends
    monkeypatch.setattr(measure, "_read_ends", lambda *of: computed.append(of) or own(*of))
    shown(session)
    first = len(computed)
    assert first == len(session.policy.limits) + 1, "the limits, and the tile of slopes"
    for epsilon in (0.5, 1.0, 3.0):
        session.move(epsilon=epsilon)
        shown(session)
    session.data = session.data.with_weights({"age": 3.0})
    shown(session)
    assert len(computed) == first


def test_the_editor_of_limits_ends_at_a_hundred_percent_or_at_all_people(open_page) -> None:
    # One person allowed is exactly one of all, so that one who is linked keeps the limit
    screen = open_page("tune")
    screen.test.session_state["tune.0.policy.box"] = True
    screen.test.run()
    named = "Linked over one half, records at most"
    n = screen.session.data.n
    fields = {each.label: each.max for each in screen.test.number_input if "at most" in each.label}
    assert fields.pop(named) == n
    assert list(fields.values()) == [100.0] * (len(rwn.Policy().limits) - 1)
    field = screen.find("number_input", named)
    assert (field.value, field.max, field.step) == (0.0, n, 1.0)
    field.set_value(7.0).run()
    assert screen.session.policy.limit("linked_over_half").at_most == 7 / n
    assert screen.find("number_input", named).value == 7.0
    frame = pd.DataFrame({"x": np.arange(90.0) % 31, "who": np.arange(90) // 3})
    limit = rwn.Limit(measure="linked_over_half", at_most=0.0)
    for role, units, count in ((Role.PERSON, "people", 30.0), (Role.HOUSEHOLD, "households", 30.0),
                               (Role.OTHER, "records", 90.0)):  # fmt: skip
        session = Session(name="panel", demo="", data=described(frame, who=role))
        assert shown_as(session, limit) == (f"Linked over one half, {units} at most", count)
    assert shown_as(session, replace(limit, measure="bayes_linkage"))[1] == 100.0


SLOPE = "Largest move of a slope, in its standard errors"
LABELS = ("Least left of the use", SLOPE)  # cards say the rest themselves


def told_tiles(session: Session) -> dict[str, dict[str, Any]]:
    return {tile["label"]: tile for tile in shown(session)["tiles"]}


def card(session: Session, key: str) -> dict[str, Any]:
    cards = map(json.loads, shown(session)["cards"])
    return next(each for each in cards if each["key"] == key)


def test_the_payload_is_plain_data_with_words_and_a_table_for_each_chart(session):
    session.move(q=0.95)
    whole = shown(session)
    json.dumps(whole, allow_nan=False)
    assert len(whole["cards"]) == CARDS_OF_TUNE
    assert tuple(tile["label"] for tile in whole["tiles"]) == LABELS
    for each in map(json.loads, whole["cards"]):
        assert each["title"]
        assert len(each["alt"]) > 20
        behind = json.loads(each["table"])
        assert all(len(row) == len(behind["columns"]) for row in behind["rows"])
        assert len(behind["rows"]) <= 400


def test_the_payload_says_how_much_is_changed(session):
    session.move(q=0.95)  # a mean over the variables would show 0.9499999999999996
    changed = shown(session)["changed"]
    assert (changed["q"], changed["names"]) == (0.95, list(session.data.names))
    assert 0.85 < changed["overall"] < 0.95


def test_a_move_brings_the_cards_without_their_tables(session):
    session.move(q=0.95)
    whole = shown(session)
    moved = orjson.loads(tune_view.after_edits(session, prepared(session)))["cards"]
    bare = [json.loads(each) | {"table": "null"} for each in whole["cards"]]
    assert bare == [*map(json.loads, moved)]
    assert sum(map(len, moved)) < 0.8 * sum(map(len, whole["cards"]))
    # a full view asks for its own
    asked = tune_view.whole_card(session, json.loads(whole["cards"][4])["key"])
    assert asked == whole["cards"][4].encode()
    assert tune_view.whole_card(session, "no card") is None


def test_the_stamp_is_new_for_everything_that_changes_a_chart(session):
    session.move(q=0.95)
    changes: list[Callable[[], Any]] = [
        lambda: session.move(k=6),
        lambda: session.move(q=0.5),
        lambda: session.move(epsilon=3.0),
        lambda: setattr(session, "seed", 2),
        lambda: setattr(session, "variable", "age"),
        lambda: set_setting(session, replace(session.setting, params=rwn.NBRS2015(epsilon=1.0))),
    ]
    stamps = [shown(session)["stamp"]]
    for change in changes:
        change()
        stamps.append(shown(session)["stamp"])
    assert len(set(stamps)) == len(stamps)


def test_the_tiles_say_what_the_readings_say(session: Session) -> None:
    readings = current_release(session).readings
    told = told_tiles(session)
    linked = limit_queue.readings(session, current_release(session))["linked_over_half"]
    judged = shown(session)["verdict"]
    people = f"{linked.value * session.data.n:.0f} of {session.data.n} records, limit 0"
    words = f"worst: Linked over one half {100 * linked.value:.3g} %, limit 0 % ({people})"
    left = readings["use_left"].detail
    lost = readings["association_loss"]
    assert judged["text"] == f"This draw breaks 3 of 4 limits. {left.sentence}"
    assert judged["nearest"] == words
    assert judged["price"].startswith("Slope that moved most: ")
    tile = told["Least left of the use"]
    assert (tile["released"], tile["state"]) == (percent(left.least), None)
    assert tile["limit"] == left.least_words
    slope = readings["regression"].value
    assert float(told[SLOPE]["released"]) == pytest.approx(slope, abs=0.05)
    assert told[SLOPE]["limit"].startswith("with no relation left ")
    (first, second), *_ = lost.detail.faded
    assert f"Faded most: {first} with {second}" in tile["help"]


def limited(session: Session, **limits: float) -> dict[str, Any]:
    made = tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits.items())
    session.policy = rwn.Policy(limits=made)
    verdict: dict[str, Any] = shown(session)["verdict"]
    return verdict


def note_draws(session: Session, **values: tuple[float, ...]) -> None:
    """Remember what further draws of the setting on screen have read of the limits."""
    spreads = {key: Spread(measure=key, values=each) for key, each in values.items()}
    several = Point(setting=session.setting, spreads=spreads)
    verdict = session.policy.judge(several)
    repeated_draws.note_judged(session, session.setting, verdict, several)


def test_the_verdict_is_green_only_if_all_limits_are_kept(session: Session) -> None:
    readings = limit_queue.readings(session, current_release(session))
    ordinary, gain = (readings[key].value for key in ("distance_linkage", "attribute_gain"))
    one = limited(session, attribute_gain=gain, distance_linkage=2 * ordinary)
    assert (one["label"], one["state"]) == ("Attribute gain", None), "one draw is never green"
    words = "This draw keeps all 2 limits; further draws are being read. Left: "
    assert one["text"].startswith(words)
    assert not one["is_final"]


def test_further_draws_make_it_green_or_red(session: Session) -> None:
    readings = limit_queue.readings(session, current_release(session))
    ordinary, gain = (readings[key].value for key in ("distance_linkage", "attribute_gain"))
    limited(session, attribute_gain=gain, distance_linkage=2 * ordinary)
    note_draws(session, attribute_gain=(gain, gain), distance_linkage=(ordinary, ordinary))
    kept = shown(session)["verdict"]
    assert (kept["label"], kept["state"]) == ("Attribute gain", "kept")
    assert kept["text"].startswith("Keeps all 2 limits. Left: ")
    assert kept["is_final"]
    assert " in one more release, limit " in kept["nearest"]
    # the planted wrong case: this draw keeps them, one more release of the setting need not
    note_draws(session, attribute_gain=(gain, gain), distance_linkage=(0.0, 3 * ordinary))
    luck = shown(session)["verdict"]
    assert luck["state"] == "over"
    assert luck["text"].startswith("Breaks 1 of 2 limits. Left: ")
    # another policy is another verdict
    again = limited(session, attribute_gain=0.9, distance_linkage=0.9)
    assert again["text"].startswith("This draw keeps all 2 limits")


def test_what_is_broken_or_not_judged_is_named(session: Session) -> None:
    readings = limit_queue.readings(session, current_release(session))
    ordinary = readings["distance_linkage"].value
    # one limit holds by far, the other does not
    broken = limited(session, attribute_gain=0.9, distance_linkage=0.9 * ordinary)
    assert (broken["label"], broken["state"]) == ("Distance linkage", "over")
    assert broken["text"].startswith("This draw breaks 1 of 2 limits. Left: ")
    assert broken["broken"] == ["Distance linkage"]
    assert all(title in broken["help"] for title in ("Attribute gain", "Distance linkage"))
    # what was not judged is named, and not green
    apart = limited(session, distance_linkage=0.9, prediction=1.0)
    assert (apart["label"], apart["state"], apart["nearest"]) == ("Policy", None, "")
    assert apart["text"].startswith("Not judged: 1 of 2 limits cannot be judged. Left: ")
    words = "Not judged: 1 of 2 limits cannot be judged; the other is kept. Prediction not judged: "
    assert apart["help"].startswith(words)
    none = limited(session)
    assert none["state"] is None
    assert none["text"].startswith("Not judged: the policy has no limits. Left: ")
    assert "nothing is judged" in none["help"]


def read_so(session: Session, change: float) -> rwn.Scenario:
    """A scenario whose readings are those of the release on screen, and something more."""
    found = limit_queue.readings(session, current_release(session))
    known = {key: x.value + change for key, x in found.items() if isinstance(x, rwn.Reading)}
    readings = {k: {"median": x, "low": x - 0.1, "high": x + 0.1} for k, x in known.items()}
    return rwn.Scenario(name="", setting=session.setting, readings=readings)


def test_differences_against_scenarios_have_the_right_sign_and_mark(session: Session) -> None:
    session.scenarios.update({"A": read_so(session, -0.5), "B": read_so(session, 0.5)})
    assert not any(tile["against"] for tile in told_tiles(session).values())
    session.compared = ("A", "B")
    for label, tile in told_tiles(session).items():
        less, more = tile["against"]
        higher = label == "Least left of the use"  # of which more is better
        assert (less["pin"], less["text"][0], less["better"]) == ("A", "+", higher), label
        assert (more["pin"], more["text"][0], more["better"]) == ("B", "−", not higher), label
        assert "lies outside of where releases of A fall." in tile["help"]
    judged = shown(session)["verdict"]
    assert "+50.0 pp vs A" in judged["against"][0]["text"]
    assert judged["against"][0]["better"] is False
    session.scenarios["A"] = read_so(session, 0.05)
    assert (
        "fall: the difference may be luck." in told_tiles(session)["Least left of the use"]["help"]
    )

    def marked() -> list[bool]:
        """Where A is drawn: on the map, and on each chart after it."""
        cards = map(orjson.loads, shown(session)["cards"])
        return ["A" in {trace.get("name") for trace in each["data"]} for each in cards]

    assert marked() == [True] + [False] * (CARDS_OF_TUNE - 1)
    tune_view.keep_marks(session, current_release(session))
    assert any(marked()[1:])
    session.scenarios.clear()  # removed on Compare
    assert not any(marked())


def test_a_category_that_stays_is_named_and_both_remedies_work() -> None:
    data = table("pima")

    def strip(data: rwn.Microdata, params: object) -> dict[str, Any]:
        session = Session(name="pima", demo=None, data=data)
        session.set(rwn.Setting(params=params).resolved(data))
        now = tune_view.snapshot(session, current_release(session))
        return unchanged_categories.strip(now)

    found = strip(data, rwn.RWN(epsilon=0.5, k=5))
    assert found["least"].startswith("least: test 1.")
    assert found["warning"].startswith("Barely masked at q = 1: test (at most 1.")
    light = data.with_schema(data.schema.with_weights({"test": 0.1}))
    assert strip(light, rwn.RWN(epsilon=0.5, k=5))["warning"] == ""
    assert strip(data, rwn.RWN(epsilon=0.5, k=5, encoding="matching"))["warning"] == ""
    left = strip(data, rwn.AdditiveNoise(size=0.3))["warning"]
    assert left == "Not masked at this setting: test.", "a method without q"


def test_what_leaves_unmasked_stands_in_the_headline() -> None:
    def said(data: rwn.Microdata, setting: rwn.Setting) -> str:
        session = Session(name="pima", demo=None, data=data, variable="age")
        session.set(setting.resolved(data))
        words: str = shown(session)["verdict"]["unmasked"]
        return words

    data = table("pima")
    p = len(data.schema.released)
    near = rwn.Setting(params=rwn.RWN(epsilon=0.5, k=5))
    assert said(data, near) == ""
    noise = rwn.Setting(params=rwn.AdditiveNoise(size=0.3))
    assert said(data, noise) == f"1 of {p} variables leaves unmasked: test."
    schema = data.schema.replace_variable("age", masked=False)
    bare = data.with_schema(schema.replace_variable("test", masked=False))
    rounded = replace(near, precision=(("age", 5.0),))
    words = f"2 of {p} variables leave unmasked: "
    assert said(bare, near) in (f"{words}age, test.", f"{words}test, age.")
    assert "age (rounded)" in said(bare, rounded)
    nothing = rwn.Setting(params=rwn.RWN(epsilon=0.5, k=5, q=0.0))
    assert said(data, nothing).startswith(f"{p} of {p} variables leave unmasked: ")


def test_the_largest_own_weight_stands_next_to_q_where_a_record_is_its_own_donor(session) -> None:
    assert shown(session)["changed"]["own"] == ""
    for own, words in ((True, ", own donor up to 10 %"), (False, "")):
        set_setting(session, replace(session.setting, params=rwn.SoftRWN(width=0.5, own=own)))
        assert shown(session)["changed"]["own"] == words
        law = current_release(session).comparison.law
        assert law.probabilities.toarray().diagonal().max() == 0.1 * own  # the cap


@pytest.fixture
def own_table() -> Session:
    session = Session(name="small.csv", demo=None, data=table("cloud"))
    session.clamp(prepared(session).prepared)
    return session


def test_the_card_asks_and_draws_the_regression_that_is_chosen(own_table: Session) -> None:
    form = card(own_table, "regression")["form"]
    assert form["responses"] == ["x", "y", "n"]
    assert form["predictors"] == ["x", "y", "n", "g"]
    assert "form" not in card(own_table, "cooks_distance")

    def kept() -> tuple[object, ...]:
        key = preparation_key(own_table, own_table.data, own_table.params)
        return own_table.levers, key  # no neighbor is ranked again

    before = kept()
    schema = own_table.data.schema
    for sent in (
        "1234",
        "regression:{",
        'regression:{"response": "y", "predictors": []}',
        'regression:{"response": "y", "predictors": ["y"]}',
        'regression:{"response": "y", "predictors": ["nobody"]}',
        'regression:["y"]',
    ):
        with suppress(rwn.RWNError):  # the page says why
            question.take(own_table, sent)
        assert own_table.data.schema == schema, "it is no regression of the table"
    question.take(own_table, form["send"] + '{"response": "y", "predictors": ["x", "n"]}')
    assert "reason" not in card(own_table, "cooks_distance")
    again = card(own_table, "regression")
    assert "reason" not in again
    assert again["title"] == "Regression of y"
    assert (again["form"]["response"], again["form"]["chosen"]) == ("y", ["x", "n"])
    assert kept() == before


REGRESSION = (
    'regression:{"response": "y", "predictors": ["x"], "terms": "square(x) + x:n", '
    '"kind": "linear"}'
)


def test_a_term_and_a_model_of_the_card_are_part_of_the_use(own_table: Session) -> None:
    question.take(own_table, REGRESSION)
    (stated,) = own_table.data.schema.use.regressions
    assert stated.formula == "y ~ x + square(x) + x:n"
    assert own_table.data.schema.question == rwn.Question(response="y", predictors=("x", "n"))
    form = card(own_table, "regression")["form"]
    assert (form["chosen"], form["terms"], form["kind"]) == (["x"], "square(x) + x:n", "linear")
    drawn = next(table for table in shown(own_table)["tables"] if "y" in table["title"])
    assert [row[0] for row in drawn["rows"]] == ["(intercept)", "x", "square(x)", "x:n"]
    with pytest.raises(rwn.ParameterError, match="A part of the formula cannot be read"):
        question.take(
            own_table, 'regression:{"response": "y", "predictors": [], "terms": "x + n n"}'
        )


def test_a_scenario_and_a_link_carry_the_regression_of_the_card(own_table: Session) -> None:
    question.take(own_table, REGRESSION)
    scenario = scenario_draft(own_table, "A")
    assert scenario.use == own_table.data.schema.use
    other = Session(name="small.csv", demo=None, data=table("cloud"))
    other.clamp(prepared(other).prepared)
    linked = address._setting_parts(own_table)
    assert take_setting(other, linked) == []
    assert other.data.schema.use == own_table.data.schema.use
    assert take_setting(other, {"use": "0_linear.99.0"}) == [
        "use of the link cannot be read; it is left as it was."
    ]


def test_no_card_about_a_regression_is_empty_where_a_usual_use_exists() -> None:
    cloud = frame("cloud", 200)
    data = described(cloud.assign(y=cloud["x"] + cloud["y"]), y="confidential")
    session = Session(name="small.csv", demo=None, data=data)
    session.clamp(prepared(session).prepared)
    assert data.schema.question is None
    assert usual_use(data).regressions
    for key in ("regression", "cooks_distance"):
        assert "reason" not in card(session, key), key
    assert card(session, "regression")["form"]["responses"][0] == "y", "the confidential one first"


def test_a_lever_that_is_refused_stands_still_and_says_why_beside_its_slider(session) -> None:
    names = [v.name for v in session.data.schema.released]
    slices = (tuple(names[:7]), tuple(names[7:]))
    tied = rwn.SoftRWN(width=2.0, tie=True)
    set_setting(session, rwn.Setting(params=tied, slices=slices))

    def q() -> dict[str, Any]:
        sliders = controls(session, prepared(session))["levers"]["sliders"]
        return next(each for each in sliders if each["name"] == "q")

    assert (
        q()["note"]
        == "Ties need q = 1; own = true, of soft neighborhoods, lets records keep values."
    )
    assert q()["value"] == 1.0
    live_sliders.apply_edit(session, {"levers": {"q": 0.5, "width": 1.5}})
    assert session.levers == session.levers | {"q": 1.0, "width": 1.5}
    set_setting(session, rwn.Setting(params=rwn.SoftRWN(width=2.0), slices=slices))
    assert q()["note"] == ""


def test_a_label_stands_beside_its_name_wherever_variables_are_chosen(open_page) -> None:
    screen = open_page("tune")
    session = screen.session
    schema = session.data.schema.replace_variable("age", label="Years")
    redescribe(session, session.data.with_schema(schema), by_grid=False)
    screen.test.run()
    assert screen.panel["labels"] == {"age": "Years"}
    sliders = controls(session, prepared(session))["weights"]["sliders"]
    assert sliders[1]["title"] == "2 · age · Years"
    assert screen.find("selectbox", "Variable of the dist").options[1] == "age · Years"


@pytest.mark.parametrize(
    ("value", "said"), [(0.0495, "11 of 235 people, limit 11"), (0.0502, "12 of 235 people")]
)
def test_people_stand_on_the_side_of_the_limit_where_the_share_is(value: float, said: str) -> None:
    reading = Reading(value=value, detail=Detail(), people=235)
    limit = rwn.Limit(measure="bayes_linkage", at_most=0.05)
    assert said in limit_queue._in_people("bayes_linkage", reading, 241, limit, value)
