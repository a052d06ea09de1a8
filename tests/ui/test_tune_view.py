"""What Tune shows of a release: tiles, verdict, pins, unmasked categories, the card that asks."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_ui.features import limit_queue, unchanged_categories
from rwn_ui.state.change_table import redescribe, set_setting
from rwn_ui.state.results import current_release, preparation_key, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import question
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets.live_sliders import controls
from tests.tables import table
from tests.ui.following import shown

LABELS = ("Relations lost", "Largest |Δ slope| / SE")  # cards say the rest themselves


def tiles(session: Session) -> dict[str, dict[str, Any]]:
    return {tile["label"]: tile for tile in shown(session)["tiles"]}


def card(session: Session, key: str) -> dict[str, Any]:
    cards = map(json.loads, shown(session)["cards"])
    return next(each for each in cards if each["key"] == key)


def test_the_payload_is_plain_data_and_a_move_leaves_tables_out(session: Session) -> None:
    session.move(q=0.95)  # a mean over the variables would show 0.9499999999999996
    whole = shown(session)
    json.dumps(whole, allow_nan=False)
    assert len(whole["cards"]) == 9
    assert tuple(tile["label"] for tile in whole["tiles"]) == LABELS
    for each in map(json.loads, whole["cards"]):
        assert each["title"]
        assert len(each["alt"]) > 20
        behind = json.loads(each["table"])
        assert all(len(row) == len(behind["columns"]) for row in behind["rows"])
        assert len(behind["rows"]) <= 400
    changed = whole["changed"]
    assert (changed["q"], changed["names"]) == (0.95, list(session.data.names))
    assert 0.85 < changed["overall"] < 0.95
    moved = orjson.loads(tune_view.after_edits(session, prepared(session)))["cards"]
    assert [json.loads(each) | {"table": "null"} for each in whole["cards"]] == [
        *map(json.loads, moved)
    ]
    assert sum(map(len, moved)) < 0.8 * sum(map(len, whole["cards"]))
    # a full view asks for its own
    asked = tune_view.whole_card(session, json.loads(whole["cards"][4])["key"])
    assert asked == whole["cards"][4].encode()
    assert tune_view.whole_card(session, "no card") is None


def test_the_tiles_say_what_the_readings_say(session: Session) -> None:
    readings, told = current_release(session).readings, tiles(session)
    linked = limit_queue.readings(session, current_release(session))["linked_over_half"]
    judged = shown(session)["verdict"]
    words = f"worst: Linked over one half {100 * linked.value:.3g} %, limit 0 %"
    assert (judged["text"], judged["nearest"]) == ("Not releasable: 3 of 4 limits broken", words)
    lost, tile = readings["association_loss"], told["Relations lost"]
    assert (tile["released"], tile["state"]) == (f"{lost.value:.3f}", None)
    slope = readings["regression"].value
    assert float(told["Largest |Δ slope| / SE"]["released"]) == pytest.approx(slope, abs=0.005)
    # findings S1, S2: what a file without relations loses is stated, the faded ones are named
    assert 0.9 < float(tile["limit"].removeprefix("none left: ")) <= 1
    (first, second), *_ = lost.detail.faded
    assert f"Faded most: {first} with {second}" in tile["help"]


def limited(session: Session, **limits: float) -> dict[str, Any]:
    """The verdict under these limits."""
    made = tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits.items())
    session.policy = rwn.Policy(limits=made)
    verdict: dict[str, Any] = shown(session)["verdict"]
    return verdict


def test_the_verdict_is_green_only_if_all_limits_are_kept(session: Session) -> None:
    readings = limit_queue.readings(session, current_release(session))
    ordinary, gain = (readings[key].value for key in ("distance_linkage", "attribute_gain"))
    kept = limited(session, attribute_gain=gain, distance_linkage=2 * ordinary)
    assert (kept["label"], kept["state"]) == ("Attribute gain", "kept")
    assert kept["text"] == "Keeps all 2 limits"
    # the planted wrong case: one of them holds by far, the other does not
    broken = limited(session, attribute_gain=0.9, distance_linkage=0.9 * ordinary)
    assert (broken["label"], broken["state"]) == ("Distance linkage", "over")
    assert broken["text"] == "Not releasable: 1 of 2 limits broken"
    assert broken["broken"] == ["Distance linkage"]
    assert all(title in broken["help"] for title in ("Attribute gain", "Distance linkage"))
    # what was not judged is named, and not green
    apart = limited(session, distance_linkage=0.9, prediction=1.0)
    assert (apart["label"], apart["state"], apart["nearest"]) == ("Policy", None, "")
    assert apart["text"] == "Not judged: 1 of 2 limits cannot be judged"
    assert apart["help"].startswith("Keeps 1 of 2 limits; prediction not judged: ")
    none = limited(session)
    assert (none["state"], none["text"]) == (None, "Not judged: the policy has no limits")
    assert "nothing is judged" in none["help"]


def read_so(session: Session, change: float) -> rwn.Scenario:
    """A scenario whose readings are those of the release on screen, and something more."""
    found = limit_queue.readings(session, current_release(session))
    known = {key: x.value + change for key, x in found.items() if isinstance(x, rwn.Reading)}
    readings = {k: {"median": x, "low": x - 0.1, "high": x + 0.1} for k, x in known.items()}
    return rwn.Scenario(name="", setting=session.setting, readings=readings)


def test_differences_against_scenarios_have_the_right_sign_and_mark(session: Session) -> None:
    session.scenarios.update({"A": read_so(session, -0.5), "B": read_so(session, 0.5)})
    assert not any(tile["against"] for tile in tiles(session).values())
    session.compared = ("A", "B")
    for label, tile in tiles(session).items():
        less, more = tile["against"]
        assert (less["pin"], less["text"][0], less["better"]) == ("A", "+", False), label
        assert (more["pin"], more["text"][0], more["better"]) == ("B", "−", True), label
        assert "lies outside of where releases of A fall." in tile["help"]
    judged = shown(session)["verdict"]
    assert "+50.0 pp vs A" in judged["against"][0]["text"]
    assert judged["against"][0]["better"] is False
    session.scenarios["A"] = read_so(session, 0.05)
    assert "fall: the difference may be luck." in tiles(session)["Relations lost"]["help"]

    def marked() -> list[bool]:
        """Where A is drawn: on the map, and on each chart after it."""
        cards = map(orjson.loads, shown(session)["cards"])
        return ["A" in {trace.get("name") for trace in each["data"]} for each in cards]

    assert marked() == [True] + [False] * 8
    tune_view.keep_marks(session, current_release(session))
    assert any(marked()[1:])
    session.scenarios.clear()  # removed on Compare
    assert not any(marked())


def test_the_stamp_is_new_for_everything_that_changes_a_chart(session: Session) -> None:
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


def test_the_largest_own_weight_stands_next_to_q_where_a_record_is_its_own_donor(session) -> None:
    assert shown(session)["changed"]["own"] == ""
    for own, words in ((True, ", own donor up to 10 %"), (False, "")):
        set_setting(session, replace(session.setting, params=rwn.SoftRWN(width=0.5, own=own)))
        assert shown(session)["changed"]["own"] == words
        law = current_release(session).comparison.law
        assert law.probabilities.toarray().diagonal().max() == 0.1 * own  # the cap


# ---------------------------------------------------------------- the card that asks


@pytest.fixture
def own_table() -> Session:
    """A table of one's own, which names no regression."""
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

    before, schema = kept(), own_table.data.schema
    for sent in (
        "1234",
        "regression:{",
        'regression:{"response": "y", "predictors": []}',
        'regression:{"response": "y", "predictors": ["y"]}',
        'regression:{"response": "y", "predictors": ["nobody"]}',
        'regression:["y"]',
    ):
        question.take(own_table, sent)
        assert own_table.data.schema == schema, "it is no regression of the table"
    question.take(own_table, form["send"] + '{"response": "y", "predictors": ["x", "n"]}')
    assert "reason" not in card(own_table, "cooks_distance")
    again = card(own_table, "regression")
    assert "reason" not in again
    assert again["title"] == "Regression of y"
    assert (again["form"]["response"], again["form"]["chosen"]) == ("y", ["x", "n"])
    assert kept() == before


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
