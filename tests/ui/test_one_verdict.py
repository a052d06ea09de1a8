"""One policy, one verdict on every page; and no lower bound is called a worst case.

That pages, commands and files say the same of ten tables is held by `tests/contracts`, in
`test_one_verdict_everywhere`; here stand planted readings, and words.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from rwn_core.measures.measure import with_parts
from rwn_core.reporting import places_on_map
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.reporting.readable import judged as judged_scenarios
from rwn_core.reporting.readable import verdict_words
from rwn_core.tuning import FoundSetting, Plan, Point, SearchAnswer, Setting, Spread, Sweep
from rwn_ui.compare import cards as compare_cards
from rwn_ui.features import limit_queue
from rwn_ui.features.scenario_trial import save
from rwn_ui.find import view as find_view
from rwn_ui.risk import sentences, view
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.tune import tiles
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets.limits import shown_as
from tests.tables import described
from tests.ui.following import shown

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
    """A setting as a search tells it, with its line on the Find page."""
    return FoundSetting(point=each, verdict=policy.judge(each), loss=each.median("correlation"))


def spoken(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def judging() -> Session:
    policy, data = limits(bayes_linkage=0.5, distance_linkage=0.05), rwn.load_demo("bodyfat")
    made = Session(name="bodyfat", demo="bodyfat", data=data, policy=policy)
    for each, name in zip(POINTS, ("kept", "broken", "unread"), strict=True):
        made.scenarios[name] = rwn.Scenario(
            name=name,
            setting=each.setting,
            table=data.fingerprint,
            policy=policy,
            readings=each.stated(),
            unread=each.unread,
        )
    return made


def candidates(judging: Session, policy: rwn.Policy | None = None) -> dict[str, Any]:
    scenarios = list(judging.scenarios.values())
    cards = compare_cards.screen(judging, scenarios, policy or judging.policy, meeting=True)
    found: dict[str, Any] = cards["candidates"]
    return found


def row_of_policy(judging: Session) -> tuple[list[str], str]:
    """What the table below says of the policy, and its caption."""
    scenarios = list(judging.scenarios.values())
    table = compare_cards.table(judging, scenarios, meeting=False)["tables"][0]
    (row,) = (row for row in table["rows"] if row[0] == "policy")
    return row[1:], table["caption"]


def test_compare_is_green_only_if_all_limits_were_read_and_hold(judging: Session) -> None:
    told = candidates(judging)
    assert [(each["state"], each["verdict"], each["which"]) for each in told["candidates"]] == [
        ("kept", "keeps all limits", ""),
        ("over", "breaks 1 of 2", "Distance linkage"),
        (None, "not judged fully", "Distance linkage not judged"),
    ]
    linkage = next(row for row in told["rows"] if row["title"] == "Distance linkage")
    assert [cell["state"] for cell in linkage["cells"]] == ["kept", "over", None]
    assert linkage["cells"][2]["text"] == "not judged"
    row, caption = row_of_policy(judging)
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    assert few in caption
    assert row[0].startswith("All 2 limits are kept")
    assert row[1].startswith("1 of 2 limits is broken, most of all Distance linkage")
    assert row[2] == "Keeps 1 of 2 limits; distance linkage not judged: too many."


def test_other_limits_judge_all_scenarios_anew_and_say_that_they_do(judging: Session) -> None:
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


# ---------------------------------------------------------------- at least, and the worst case

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


def test_the_tile_shows_the_number_that_was_judged(session, too_large) -> None:
    reading = rwn.MEASURES["bayes_linkage"].read(current_release(session).comparison)
    policy = limits(bayes_linkage=0.05)

    def tile(at_most: float, estimate: float | None = None) -> dict[str, Any]:
        parts = with_parts(reading, estimate=estimate, at_most=at_most)
        planted = {"bayes_linkage": replace(parts, value=0.006)}
        return limit_queue.draw_verdict(policy, planted, policy.judge(planted))

    for told, label, number, state in (
        (tile(0.04), "Linkage, estimated at most", "4 %, limit 5 %", "kept"),
        (tile(0.04, 0.07), "Linkage, an estimate", "7 %, limit 5 %", "over"),
    ):
        words = spoken(told["nearest"]).partition(f"{label} ")[2]
        assert (told["label"], words, told["state"]) == (label, number, state)
        assert "Linkage, at least 0.6" in spoken(told["help"])
        assert not claims(told["help"])
    told = tile(0.06)
    assert (told["nearest"], told["state"]) == ("", None)
    assert "at most 6 %" in spoken(told["help"])


def test_the_risk_page_and_the_search_call_a_lower_bound_so(session, too_large) -> None:
    data = session.data
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=1)
    found = disclose(rwn.Comparison(original=data, masked=data), release.masked, release.law)
    now = view.snapshot(session, found)
    first = [view._tile(now, *each) for each in tiles_of("risk").items()][:2]
    assert [tile["label"] for tile in first] == ["At least, all", "At least, by keys"]
    assert not any(claims(tile["help"]) for tile in first)
    rows = {row[0]: row[-1] for row in sentences.rows(found.readings, data.n)}
    said = [rows[rwn.MEASURES[key].at_least] for key in LINKAGES]
    said += [str(card) for card in view.cards(found) if card["key"] == "linkage_attacks"]
    spreads = {
        key: Spread(measure=key, values=(0.07, 0.08), is_bound=bound)
        for key, bound in (("bayes_linkage", True), ("correlation", False))
    }
    point = Point(setting=Setting(params=rwn.RWN(epsilon=2.0, k=5)), spreads=spreads)
    for reached in (True, False):
        policy = limits(bayes_linkage=0.05)
        said.append(SearchAnswer.of_point(policy, point, reached=reached, tried=1).sentence)
    assert len(said) == 5
    for words in said:
        assert "at least" in words
        assert not claims(words)


# ---------------------------------------------------------------- a limit that cannot be broken

CANNOT = "This limit cannot be broken on this table: the unmasked file reads 50.1 %."


def test_tune_says_that_it_is_not_judged_and_a_scenario_remembers_it(session: Session) -> None:
    session.policy = limits(t_closeness=0.9)
    tile = shown(session)["verdict"]
    assert (tile["state"], tile["text"]) == (None, "Not judged: 1 of 1 limit cannot be judged")
    assert CANNOT[1:] in tile["help"]
    assert "unmasked 50.1 %" in tile["help"]
    (verdict,) = judged_scenarios([save(session, "A", "")], session.policy)
    assert not verdict.kept
    assert verdict.unread["t_closeness"].startswith(CANNOT)


def test_the_ends_are_read_once_and_not_at_a_move(session: Session, monkeypatch) -> None:
    computed: list[Any] = []  # every reading of an end that is really computed
    own = measure._read_ends
    monkeypatch.setattr(measure, "_read_ends", lambda *of: computed.append(of) or own(*of))
    shown(session)
    first = len(computed)
    assert first == len(session.policy.limits) + 2, "the limits, and two tiles of utility"
    for epsilon in (0.5, 1.0, 3.0):
        session.move(epsilon=epsilon)
        shown(session)
    session.data = session.data.with_weights({"age": 3.0})
    shown(session)
    assert len(computed) == first


def test_the_editor_ends_at_a_hundred_percent_or_at_all_people(open_page) -> None:
    """One person allowed is exactly one of all, so that one who is linked keeps the limit."""
    screen = open_page("tune")
    screen.test.session_state["tune.0.policy.box"] = True
    screen.test.run()
    named, n = "Linked over one half, records at most", screen.session.data.n
    fields = {each.label: each.max for each in screen.test.number_input if "at most" in each.label}
    assert fields.pop(named) == n
    assert list(fields.values()) == [100.0] * (len(rwn.Policy().limits) - 1)
    field = screen.find("number_input", named)
    assert (field.value, field.max, field.step) == (0.0, n, 1.0)
    field.set_value(7.0).run()
    assert screen.session.policy.limit("linked_over_half").at_most == 7 / n
    assert screen.find("number_input", named).value == 7.0


def test_people_with_several_rows_are_counted_in_the_editor_of_limits() -> None:
    frame = pd.DataFrame({"x": np.arange(90.0) % 31, "who": np.arange(90) // 3})
    limit = rwn.Limit(measure="linked_over_half", at_most=0.0)
    for role, units, count in ((Role.PERSON, "people", 30.0), (Role.HOUSEHOLD, "households", 30.0),
                               (Role.OTHER, "records", 90.0)):  # fmt: skip
        session = Session(name="panel", demo="", data=described(frame, who=role))
        assert shown_as(session, limit) == (f"Linked over one half, {units} at most", count)
    assert shown_as(session, replace(limit, measure="bayes_linkage"))[1] == 100.0
