"""What Tune shows of a release: tiles, verdict, pins, unmasked categories."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_ui.features import limit_queue, unchanged_categories
from rwn_ui.state.results import PreparedTable, current_release, prepared
from rwn_ui.state.session import Session, first_setting
from rwn_ui.tune import view as tune_view

LABELS = ("Relations lost", "Largest |Δ slope| / SE")  # cards say the rest themselves


def tiles(session: Session) -> dict[str, dict]:
    shown = tune_view.payload(session, current_release(session))["tiles"]
    return {tile["label"]: tile for tile in shown}


def test_the_payload_is_plain_data(session: Session) -> None:
    shown = tune_view.payload(session, current_release(session))
    json.dumps(shown, allow_nan=False)
    assert len(shown["cards"]) == 9
    assert tuple(tile["label"] for tile in shown["tiles"]) == LABELS
    for card in map(json.loads, shown["cards"]):
        assert card["title"]
        assert len(card["alt"]) > 20
        table = json.loads(card["table"])
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
        assert len(table["rows"]) <= 400


def test_a_move_leaves_tables_out_and_a_full_view_asks_for_its_own(session: Session) -> None:
    current = current_release(session)
    whole = tune_view.payload(session, current)["cards"]
    moved = orjson.loads(tune_view.after_edits(session, prepared(session)))["cards"]
    assert [json.loads(card) | {"table": "null"} for card in whole] == [*map(json.loads, moved)]
    assert sum(map(len, moved)) < 0.8 * sum(map(len, whole))
    key = json.loads(whole[4])["key"]
    asked = tune_view.whole_card(session, key)
    assert asked is not None
    assert asked.decode() == whole[4]
    assert tune_view.whole_card(session, "no card") is None


def test_the_share_of_changed_cells_is_set_against_q_as_it_was_chosen(session: Session) -> None:
    session.move(q=0.95)  # a mean over the variables would show 0.9499999999999996
    changed = tune_view.payload(session, current_release(session))["changed"]
    assert changed["q"] == 0.95
    assert changed["names"] == list(session.data.names)
    assert 0.85 < changed["overall"] < 0.95


def test_the_tiles_say_what_the_readings_say(session: Session) -> None:
    readings = {
        key: r for key, r in current_release(session).readings.items() if isinstance(r, rwn.Reading)
    }
    shown = tiles(session)
    linked = limit_queue.readings(session, current_release(session))["linked_over_half"]
    judged = tune_view.payload(session, current_release(session))["verdict"]
    words = f"worst: Linked over one half {100 * linked.value:.3g} %, limit 0 %"
    assert (judged["text"], judged["nearest"]) == ("Not releasable: 3 of 4 limits broken", words)
    lost = readings["association_loss"].value
    assert shown["Relations lost"]["released"] == f"{lost:.3f}"
    slope = readings["regression"].value
    assert float(shown["Largest |Δ slope| / SE"]["released"]) == pytest.approx(slope, abs=0.005)


def limited(session: Session, **limits: float) -> dict:
    """The verdict under these limits."""
    made = tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits.items())
    session.policy = rwn.Policy(limits=made)
    return tune_view.payload(session, current_release(session))["verdict"]


def test_the_verdict_is_green_only_if_all_limits_are_kept(session: Session) -> None:
    readings = limit_queue.readings(session, current_release(session))
    ordinary = readings["distance_linkage"].value
    gain = readings["attribute_gain"].value
    kept = limited(session, attribute_gain=gain, distance_linkage=2 * ordinary)
    assert (kept["label"], kept["state"]) == ("Attribute gain", "kept")
    assert kept["text"] == "Keeps all 2 limits"
    # the planted wrong case: one of them holds by far, the other does not
    broken = limited(session, attribute_gain=0.9, distance_linkage=0.9 * ordinary)
    assert (broken["label"], broken["state"]) == ("Distance linkage", "over")
    assert "Attribute gain" in broken["help"]
    assert broken["text"] == "Not releasable: 1 of 2 limits broken"


def test_the_verdict_names_what_was_not_judged_and_is_not_green(session: Session) -> None:
    tile = limited(session, distance_linkage=0.9, prediction=1.0)
    assert (tile["label"], tile["state"], tile["nearest"]) == ("Policy", None, "")
    assert tile["text"] == "Not judged: 1 of 2 limits cannot be judged"
    assert tile["help"].startswith("Keeps 1 of 2 limits; prediction not judged: ")
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
        assert (less["pin"], more["pin"]) == ("A", "B")
        assert less["text"].startswith("+")
        assert more["text"].startswith("−")
        assert less["better"] is False, label
        assert more["better"] is True, label
        assert "lies outside of where releases of A fall." in tile["help"]
    judged = tune_view.payload(session, current_release(session))["verdict"]
    assert "+50.0 pp vs A" in judged["against"][0]["text"]
    assert judged["against"][0]["better"] is False
    session.scenarios["A"] = read_so(session, 0.05)
    assert "fall: the difference may be luck." in tiles(session)["Relations lost"]["help"]


def test_a_compared_scenario_is_marked_on_the_charts_and_the_map(session: Session) -> None:
    session.scenarios["A"], session.compared = read_so(session, 0.01), ("A",)
    cards = [orjson.loads(card) for card in shown_cards(session)]
    assert "A" in names(cards[0])
    assert not any("A" in names(card) for card in cards[1:])
    tune_view.keep_marks(session, current_release(session))
    cards = [orjson.loads(card) for card in shown_cards(session)]
    assert any("A" in names(card) for card in cards[1:])
    session.scenarios.clear()  # removed on Compare
    assert not any("A" in names(orjson.loads(card)) for card in shown_cards(session))


def names(card: dict[str, Any]) -> set[str | None]:
    return {trace.get("name") for trace in card["data"]}


def shown_cards(session: Session) -> list[bytes]:
    return tune_view.payload(session, current_release(session))["cards"]


def test_the_stamp_is_new_for_everything_that_changes_a_chart(session: Session) -> None:
    stamps = set()

    def note() -> None:
        stamps.add(tune_view.payload(session, current_release(session))["stamp"])

    for name, value in (("k", 6), ("q", 0.5), ("epsilon", 3.0)):
        session.move(**{name: value})
        note()
    for name, value in (("seed", 2), ("variable", "age")):
        setattr(session, name, value)
        note()
    params = first_setting("nbrs2015")
    ready = PreparedTable.prepare(session.data, params=params).prepared
    session.set(replace(session.setting, params=params), ready, "", "Standard")
    note()
    assert len(stamps) == 6


def test_all_broken_limits_are_named(session: Session) -> None:
    limits = (("bayes_linkage", 0.001), ("distance_linkage", 0.001), ("attribute_gain", 1.0))
    session.policy = rwn.Policy(
        limits=tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits)
    )
    titles = {rwn.MEASURES[key].title for key, _ in limits[:2]}
    judged = tune_view.payload(session, current_release(session))["verdict"]
    assert set(judged["broken"]) == titles
    assert all(title in judged["help"] for title in titles)


def test_relations_are_lost_on_a_scale_of_what_can_be_lost(session: Session) -> None:
    """Findings S1, S2: what a file without relations loses is stated, the faded ones are named."""
    tile = tiles(session)["Relations lost"]
    assert 0.9 < float(tile["limit"].removeprefix("none left: ")) <= 1
    (first, second), *_ = current_release(session).readings["association_loss"].detail.faded
    assert f"Faded most: {first} with {second}" in tile["help"]
    assert tile["state"] is None


def strip(data: rwn.Microdata, params: object) -> dict:
    session = Session(name="pima", demo=None, data=data)
    session.set(rwn.Setting(params=params).resolved(data))
    return unchanged_categories.strip(tune_view.snapshot(session, current_release(session)))


def test_a_category_that_stays_is_named_and_both_remedies_work() -> None:
    data = rwn.load_demo("pima")
    shown = strip(data, rwn.RWN(epsilon=0.5, k=5))
    assert shown["least"].startswith("least: test 0.")
    assert shown["warning"].startswith("Barely masked at q = 1: test (at most 0.")
    light = data.with_schema(data.schema.with_weights({"test": 0.1}))
    assert strip(light, rwn.RWN(epsilon=0.5, k=5))["warning"] == ""
    assert strip(data, rwn.RWN(epsilon=0.5, k=5, encoding="matching"))["warning"] == ""


def test_what_a_method_without_q_leaves_as_it_is_is_named() -> None:
    data = rwn.load_demo("pima")
    warning = strip(data, rwn.AdditiveNoise(size=0.3))["warning"]
    assert warning == "Not masked at this setting: test."


def test_the_largest_own_weight_stands_next_to_q_where_a_record_is_its_own_donor(open_page) -> None:
    shown = open_page("tune", kernel="gaussian", width="0.5", own_donors="1")
    law = current_release(shown.session).comparison.law
    largest = law.probabilities.toarray().diagonal().max()
    assert largest == 0.1  # the cap
    assert shown.panel["changed"]["own"] == ", own donor up to 10 %"
    assert open_page("tune", kernel="gaussian").panel["changed"]["own"] == ""
    assert open_page("tune").panel["changed"]["own"] == ""
