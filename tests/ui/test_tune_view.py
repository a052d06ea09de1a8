"""The panel's payload: plain data, tiles that say what the readings say, true marks."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_ui.features import limit_queue
from rwn_ui.state.prepared_table import PreparedTable
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Pin, Session
from rwn_ui.tune import tiles as tune_tiles
from rwn_ui.tune import view as tune_view

LABELS = (
    "Max Cook’s distance",
    "Max Mahalanobis",
    "Relations lost",
    "Largest |Δ slope| / SE",
    "PC1 share",
)


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


def test_the_share_of_changed_cells_is_set_against_q_as_it_was_chosen(session: Session) -> None:
    session.levers["q"] = 0.95  # a mean over the variables would show 0.9499999999999996
    changed = tune_view.payload(session, current_release(session))["changed"]
    assert changed["q"] == 0.95
    assert changed["names"] == list(session.data.names)
    assert 0.85 < changed["overall"] < 0.95


def test_the_tiles_say_what_the_readings_say(session: Session) -> None:
    readings = {
        key: r for key, r in current_release(session).readings.items() if isinstance(r, Reading)
    }
    shown = tiles(session)
    linked = limit_queue.readings(session, current_release(session))["linked_over_half"]
    pc1 = readings["principal_components"].detail
    judged = tune_view.payload(session, current_release(session))["verdict"]
    words = f"worst: Linked over one half {100 * linked.value:.3g} %, limit 1 %"
    assert (judged["text"], judged["nearest"]) == ("Not releasable: 3 of 4 limits broken", words)
    assert shown["Max Cook’s distance"]["original"] == "0.754"
    assert shown["Max Mahalanobis"]["original"] == "10.9"
    for label, key in (
        ("Max Cook’s distance", "cooks_distance"),
        ("Max Mahalanobis", "mahalanobis"),
    ):
        assert float(shown[label]["released"]) == pytest.approx(readings[key].value, rel=0.005)
    lost = readings["association_loss"].value
    assert shown["Relations lost"]["released"] == f"{lost:.3f}"
    slope = readings["regression"].value
    assert float(shown["Largest |Δ slope| / SE"]["released"]) == pytest.approx(slope, abs=0.005)
    for side in ("original", "released"):
        assert shown["PC1 share"][side] == f"{100 * pc1[f'share_{side}'][0]:.1f} %"


@pytest.mark.parametrize(
    ("label", "field", "measure"),
    [
        ("Relations lost", "relations", "association_loss"),
        ("Largest |Δ slope| / SE", "slope", "regression"),
    ],
)
def test_a_tile_of_utility_is_marked_where_it_misses_its_aim_and_never_green(
    session: Session, label: str, field: str, measure: str
) -> None:
    value = limit_queue.readings(session, current_release(session))[measure].value
    for aim, state in ((value, None), (value * 0.99, "over"), (value * 1.01, None)):
        session.aims = replace(session.aims, **{field: aim})
        assert tiles(session)[label]["state"] == state


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
    assert (tile["label"], tile["state"]) == ("Distance linkage", None)
    assert tile["text"] == "Not judged: 1 of 2 limits cannot be judged"
    assert "Not judged: " in tile["help"]
    none = limited(session)
    assert (none["state"], none["text"]) == (None, "Not judged: the policy has no limits")
    assert "nothing is judged" in none["help"]


def test_the_source_of_a_limit_stands_in_the_help(session: Session) -> None:
    limit = rwn.Limit(measure="bayes_linkage", at_most=0.05, source="handbook", set_by="A. S.")
    session.policy = rwn.Policy(limits=(limit,))
    tile = tune_view.payload(session, current_release(session))["verdict"]
    assert "(handbook, A. S.)" in tile["help"]


def test_a_pin_of_the_same_setting_shows_no_difference(session: Session) -> None:
    session.pins["A"] = tune_view.pin(session, current_release(session))
    for tile in tiles(session).values():
        (mark,) = tile["against"]
        assert mark["text"].startswith("±")
        assert mark["better"] is None


def test_differences_against_pins_have_the_right_sign_and_mark(session: Session) -> None:
    here = tune_view.pin(session, current_release(session)).values
    session.pins["A"] = Pin(text="less", values={k: v - 0.5 for k, v in here.items()})
    session.pins["B"] = Pin(text="more", values={k: v + 0.5 for k, v in here.items()})
    for label, tile in tiles(session).items():
        less, more = tile["against"]
        assert (less["pin"], more["pin"]) == ("A", "B")
        assert less["text"].startswith("+")
        assert more["text"].startswith("−")
        neutral = label in ("PC1 share", "Max Cook’s distance", "Max Mahalanobis")
        assert less["better"] is (None if neutral else False)
        assert more["better"] is (None if neutral else True)
    judged = tune_view.payload(session, current_release(session))["verdict"]
    assert "+50.0 pp vs A" in judged["against"][0]["text"]
    assert judged["against"][0]["better"] is False


def test_the_map_shows_now_and_the_pins(session: Session) -> None:
    session.pins["A"] = tune_view.pin(session, current_release(session))
    session.levers["k"] = 20
    card = json.loads(tune_view.payload(session, current_release(session))["cards"][0])
    assert [row[0] for row in json.loads(card["table"])["rows"]] == ["now", "A"]


def test_a_pin_holds_words_and_readings_but_no_data(session: Session) -> None:
    pinned = tune_view.pin(session, current_release(session))
    assert pinned.text == "ε = 2 · k = 5 · q = 1"
    assert all(isinstance(value, float) for value in pinned.values.values())


def test_the_stamp_is_new_for_everything_that_changes_a_chart(session: Session) -> None:
    stamps = set()

    def note() -> None:
        stamps.add(tune_view.payload(session, current_release(session))["stamp"])

    for name, value in (("k", 6), ("q", 0.5), ("epsilon", 3.0)):
        session.levers[name] = value
        note()
    for name, value in (("seed", 2), ("variable", "age")):
        setattr(session, name, value)
        note()
    session.use_method("nbrs2015", PreparedTable.prepare(session.data, method="nbrs2015").prepared)
    note()
    assert len(stamps) == 6


def test_a_pin_says_whether_luck_makes_the_difference() -> None:
    assert "draw 25 to see" in tune_tiles._noise("A", 0.3, None)
    assert "may be luck" in tune_tiles._noise("A", 0.3, (0.2, 0.4))
    assert "outside" in tune_tiles._noise("A", 0.5, (0.2, 0.4))


def test_a_pin_of_one_draw_is_said_to_be_one(session: Session) -> None:
    session.pins["A"] = tune_view.pin(session, current_release(session))
    assert "A is one draw" in tiles(session)["Relations lost"]["help"]


def test_the_map_says_what_its_loss_is(session: Session) -> None:
    card = json.loads(tune_view.payload(session, current_release(session))["cards"][0])
    assert card["layout"]["xaxis"]["title"]["text"] == "loss of relations, 0 to 1"


def test_all_broken_limits_are_named_and_an_aim_is_no_limit(session: Session) -> None:
    limits = (("bayes_linkage", 0.001), ("distance_linkage", 0.001), ("attribute_gain", 1.0))
    session.policy = rwn.Policy(
        limits=tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits)
    )
    shown = list(tiles(session).values())
    titles = {rwn.MEASURES[key].title for key, _ in limits[:2]}
    judged = tune_view.payload(session, current_release(session))["verdict"]
    assert set(judged["broken"]) == titles
    assert all(title in judged["help"] for title in titles)
    assert [tile.get("aim", False) for tile in shown].count(True) == 2


def test_relations_are_lost_on_a_scale_of_what_can_be_lost(session: Session) -> None:
    """Findings S1, S2: the aim is a share of what can be lost, and the faded ones are named."""
    tile = tiles(session)["Relations lost"]
    assert tile["limit"] == "aim 0.200"
    (first, second), *_ = current_release(session).readings["association_loss"].detail["faded"]
    assert f"Faded most: {first} with {second}" in tile["help"]
    session.aims = replace(session.aims, relations=0.001)
    assert tiles(session)["Relations lost"]["state"] == "over"
    session.aims = replace(session.aims, relations=1.0)
    assert str(tiles(session)["Relations lost"]["limit"]).startswith("empty aim")
