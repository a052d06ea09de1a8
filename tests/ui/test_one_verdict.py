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
from rwn_core.data.rounding import given_steps
from rwn_core.data.variable import Role
from rwn_core.evaluation.disclosure import Disclosure, disclose
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

KEPT = {"bayes_linkage": (0.03, 0.04), "distance_linkage": (0.01, 0.01), "correlation": (0.2, 0.2)}
BROKEN = {**KEPT, "distance_linkage": (0.06, 0.07), "correlation": (0.1, 0.1)}
UNREAD = {key: values for key, values in KEPT.items() if key != "distance_linkage"}


def point(k: int, numbers: dict[str, tuple[float, ...]]) -> Point:
    spreads = {key: Spread(measure=key, values=values) for key, values in numbers.items()}
    if "distance_linkage" not in spreads:
        spreads["distance_linkage"] = Spread(measure="distance_linkage", reason="Too many.")
    return Point(setting=Setting.of("rwn", {"k": k}), spreads=spreads)


POINTS = (point(5, KEPT), point(6, BROKEN), point(7, UNREAD))


def found(policy: rwn.Policy, each: Point) -> FoundSetting:
    """A setting as a search tells it, with its line on the Find page."""
    return FoundSetting(point=each, verdict=policy.judge(each), loss=each.median("correlation"))


@pytest.fixture
def judging() -> Session:
    limits = (
        rwn.Limit(measure="bayes_linkage", at_most=0.5),
        rwn.Limit(measure="distance_linkage", at_most=0.05),
    )
    data = rwn.load_demo("bodyfat")
    made = Session(name="bodyfat", demo="bodyfat", data=data, policy=rwn.Policy(limits=limits))
    for each, name in zip(POINTS, ("kept", "broken", "unread"), strict=True):
        made.scenarios[name] = rwn.Scenario(
            name=name,
            setting=each.setting,
            table=data.fingerprint,
            policy=made.policy,
            readings=each.stated(),
            unread=each.unread,
        )
    return made


def candidates(judging: Session, policy: rwn.Policy | None = None) -> dict[str, Any]:
    scenarios = list(judging.scenarios.values())
    shown = compare_cards.screen(judging, scenarios, policy or judging.policy, meeting=True)
    found: dict[str, Any] = shown["candidates"]
    return found


def test_a_trial_of_other_limits_judges_all_and_changes_no_policy(judging: Session) -> None:
    policy = judging.policy
    looser = rwn.Policy(limits=(policy.limits[0], replace(policy.limits[1], at_most=0.2)))
    shown = candidates(judging, looser)
    assert [each["state"] for each in shown["candidates"]] == ["kept", "kept", None]
    assert shown["notes"][0] == (
        "WHAT IF other limits held: Distance linkage 20.0\N{NO-BREAK SPACE}% instead of "
        "5.0\N{NO-BREAK SPACE}%. The policy is unchanged."
    )
    assert judging.policy is policy
    assert not any("WHAT IF" in note for note in candidates(judging)["notes"])
    stricter = rwn.Policy(limits=(policy.limits[0], replace(policy.limits[1], at_most=0.001)))
    assert candidates(judging, stricter)["candidates"][0]["state"] == "over"


def test_compare_is_green_only_if_all_limits_were_read_and_hold(judging: Session) -> None:
    shown = candidates(judging)
    assert [each["state"] for each in shown["candidates"]] == ["kept", "over", None]
    assert [(each["verdict"], each["which"]) for each in shown["candidates"]] == [
        ("keeps all limits", ""),
        ("breaks 1 of 2", "Distance linkage"),
        ("not judged fully", "Distance linkage not judged"),
    ]
    linkage = next(row for row in shown["rows"] if row["title"] == "Distance linkage")
    assert [cell["state"] for cell in linkage["cells"]] == ["kept", "over", None]
    assert linkage["cells"][2]["text"] == "not judged"
    table = compare_cards.table(judging, list(judging.scenarios.values()), meeting=False)
    few = "range of only 2 releases, wide enough for skewed values; draw at least 19 to know it"
    assert few in table["tables"][0]["caption"]
    (row,) = (row for row in table["tables"][0]["rows"] if row[0] == "policy")
    assert row[1].startswith("All 2 limits are kept")
    assert row[2].startswith("1 of 2 limits is broken, most of all Distance linkage")
    assert row[3] == "Keeps 1 of 2 limits; distance linkage not judged: too many."


def test_other_limits_judge_all_scenarios_anew_and_say_that_they_do(judging: Session) -> None:
    judging.policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.01),))
    scenarios = list(judging.scenarios.values())
    shown = candidates(judging)["candidates"]
    assert {each["state"] for each in shown} == {"over"}
    assert all(each["which"].endswith("saved under other limits") for each in shown)
    (row,) = (
        row
        for row in compare_cards.table(judging, scenarios, meeting=False)["tables"][0]["rows"]
        if row[0] == "policy"
    )
    assert all(words.endswith("saved under other limits.") for words in row[1:])


def test_the_sweep_says_the_same(judging: Session) -> None:
    sweep = Sweep(plan=Plan(measures=tuple(KEPT)), points=tuple(POINTS), wanted=3)
    spots = places_on_map.map_points(judging.policy, sweep, "correlation", POLICY)
    assert [spot["kept"] for spot in spots] == [True, False, False]
    assert spots[1]["y"] > 1 > spots[0]["y"]
    listed = [found(judging.policy, each) for each in POINTS]
    assert min(listed, key=lambda each: each.rank).point is POINTS[0]
    assert [find_view.line(each)[0] for each in listed] == ["✓", "▲", "?"]
    assert "1 of 3 settings keep all limits" in sweep.words(judging.policy)


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
    words = verdict_words(judging.policy.judge(lost))
    assert words == "too few records released"


def test_tune_agrees_that_hardly_any_record_keeps_no_policy(open_page) -> None:
    judging = open_page("tune", method="nbrs2015", epsilon="1", q="1").session
    judging.policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.9),))
    payload = tune_view.payload(judging, current_release(judging))
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


def judged(session):
    return tiles.verdict(tune_view.snapshot(session, current_release(session)))


@pytest.mark.parametrize(("large", "words"), [(True, "an estimate"), (False, "at once")])
def test_the_linkage_as_the_maps_axis(open_page, request, large: bool, words: str) -> None:
    if large:
        request.getfixturevalue("too_large")
    screen = open_page("tune")
    box = screen.find("selectbox", "Risk on the map")
    box.set_value("bayes_linkage").run()
    current = current_release(screen.session)
    tile, *_ = tiles.draw(tune_view.snapshot(screen.session, current))
    assert tile["label"] == ("Linkage, at least" if large else "Worst-case linkage")
    assert not (large and claims(tile["help"]))
    assert words in tile["help"]
    assert f"risk: {tile['label'].lower()}" in screen.panel["cards"][0]


def test_the_tile_shows_the_number_that_was_judged(session, too_large) -> None:
    reading = rwn.MEASURES["bayes_linkage"].read(current_release(session).comparison)
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))

    def tile(value: float, **changed: Any) -> dict[str, Any]:
        planted = replace(with_parts(reading, **{"estimate": None, **changed}), value=value)
        planted_only = {"bayes_linkage": planted}
        return limit_queue.draw_verdict(policy, planted_only, policy.judge(planted_only))

    for changed, label, number, state in (
        ({"at_most": 0.04}, "Linkage, estimated at most", "4 %, limit 5 %", "kept"),
        ({"at_most": 0.04, "estimate": 0.07}, "Linkage, an estimate", "7 %, limit 5 %", "over"),
    ):
        shown = tile(0.006, **changed)
        words = shown["nearest"].replace("\N{NO-BREAK SPACE}", " ").partition(f"{label} ")[2]
        assert (shown["label"], words, shown["state"]) == (label, number, state)
        assert "Linkage, at least 0.6" in shown["help"].replace("\N{NO-BREAK SPACE}", " ")
        assert not claims(shown["help"])
    shown = tile(0.006, at_most=0.06)
    assert (shown["nearest"], shown["state"]) == ("", None)
    assert "at most 6 %" in shown["help"].replace("\N{NO-BREAK SPACE}", " ")


def disclosed(session, share: float = 0.0) -> Disclosure:
    data = session.data
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=1)
    base = rwn.Comparison(original=data, masked=data)
    return disclose(base, release.masked, release.law, precision=given_steps(data, share))


def test_the_risk_page(session, too_large) -> None:
    found = disclosed(session)
    now = view.snapshot(session, found)
    shown = [view._tile(now, *each) for each in tiles_of("risk").items()][:2]
    assert [tile["label"] for tile in shown] == ["At least, all", "At least, by keys"]
    assert not any(claims(tile["help"]) for tile in shown)
    rows = {row[0]: row[-1] for row in sentences.rows(found.readings, session.data.n)}
    for key in LINKAGES:
        words = rows[rwn.MEASURES[key].at_least]
        assert "at least" in words
        assert not claims(words)
    drawn = view.cards(found)
    for card in (card for card in drawn if card["key"] == "linkage_attacks"):
        assert not claims(str(card))
        assert "at least" in str(card)


def test_what_is_sought_and_chosen(open_page, too_large) -> None:
    """Goal seek's sentences, and the boxes in which a measure is chosen."""
    spreads = {
        key: Spread(measure=key, values=(0.07, 0.08), is_bound=bound)
        for key, bound in (("bayes_linkage", True), ("correlation", False))
    }
    point = Point(setting=Setting(params=rwn.RWN(epsilon=2.0, k=5)), spreads=spreads)
    limit = rwn.Limit(measure="bayes_linkage", at_most=0.05)
    policy = rwn.Policy(limits=(limit,))
    for reached in (True, False):
        said = SearchAnswer.of_point(policy, point, reached=reached, tried=1).sentence
        assert "Linkage, at least" in said
        assert not claims(said)


CANNOT = "This limit cannot be broken on this table: the unmasked file reads 50.1 %."
UNBREAKABLE = rwn.Policy(limits=(rwn.Limit(measure="t_closeness", at_most=0.9),))


@pytest.fixture
def limited(session: Session) -> Session:
    session.policy = UNBREAKABLE
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


def test_tune_says_that_it_is_not_judged_and_is_not_green(limited: Session) -> None:
    payload = tune_view.payload(limited, current_release(limited))
    tile = payload["verdict"]
    assert (tile["state"], tile["text"]) == (None, "Not judged: 1 of 1 limit cannot be judged")
    assert CANNOT[1:] in tile["help"]
    assert "unmasked 50.1 %" in tile["help"]


def test_the_ends_are_read_once_and_not_at_a_move(limited: Session, read_ends: list[Any]) -> None:
    limited.policy = rwn.Policy()
    tune_view.payload(limited, current_release(limited))
    first = len(read_ends)
    assert first == len(limited.policy.limits) + 2, "the limits, and two tiles of utility"
    for epsilon in (0.5, 1.0, 3.0):
        limited.move(epsilon=epsilon)
        tune_view.payload(limited, current_release(limited))
    limited.data = limited.data.with_weights({"age": 3.0})
    tune_view.payload(limited, current_release(limited))
    assert len(read_ends) == first


def test_a_scenario_remembers_the_ends(limited: Session) -> None:
    (verdict,) = judged_scenarios([save(limited, "A", "")], limited.policy)
    assert not verdict.kept
    assert verdict.unread["t_closeness"].startswith(CANNOT)


def limit_cell(limited: Session, scenario: rwn.Scenario) -> dict[str, Any]:
    """What Compare shows of the limit of `UNBREAKABLE`."""
    shown = compare_cards.screen(limited, [scenario], UNBREAKABLE, meeting=False)["candidates"]
    (row,) = [row for row in shown["rows"] if row["kind"] == "limit"]
    (cell,) = row["cells"]
    return cell


def test_sweep_and_compare_do_not_call_it_kept(limited: Session) -> None:
    spread = Spread(measure="t_closeness", values=(0.25, 0.25), ends={"unmasked": 0.501})
    lost = Spread(measure="correlation", values=(0.1, 0.1))
    setting = Setting.of("rwn", {"k": 5})
    point = Point(setting=setting, spreads={"t_closeness": spread, "correlation": lost})
    plan = Plan(measures=("t_closeness", "correlation"), releases=2)
    sweep = Sweep(plan=plan, points=(point,), wanted=1)
    (placed,) = places_on_map.map_points(UNBREAKABLE, sweep, "correlation", "t_closeness")
    assert not placed["kept"]
    assert "✓" not in find_view.line(found(UNBREAKABLE, point))
    scenario = rwn.Scenario(
        name="one", setting=setting, table=limited.data.fingerprint, readings=point.stated()
    )
    assert limit_cell(limited, scenario)["text"] == "not judged"
    assert limit_cell(limited, scenario)["state"] is None
    assert CANNOT in limit_cell(limited, scenario)["note"]
    # the planted other case: a table on which the same limit can be broken
    free = replace(spread, ends={"unmasked": 0.95})
    fair = replace(scenario, readings=replace(point, spreads={"t_closeness": free}).stated())
    assert limit_cell(limited, fair)["state"] == "kept"


def test_the_editor_ends_at_a_hundred_percent_or_at_all_people(open_page) -> None:
    """One person allowed is exactly one of all, so that one who is linked keeps the limit."""
    screen = open_page("tune")
    screen.test.session_state["tune.0.policy.box"] = True
    screen.test.run()

    def field() -> Any:
        named = "Linked over one half, records at most"
        return next(each for each in screen.test.number_input if each.label == named)

    n = screen.session.data.n
    fields = {each.label: each.max for each in screen.test.number_input if "at most" in each.label}
    assert fields.pop("Linked over one half, records at most") == n
    assert list(fields.values()) == [100.0] * (len(rwn.Policy().limits) - 1)
    assert (field().value, field().max, field().step) == (0.0, n, 1.0)
    field().set_value(7.0).run()
    limits = {each.measure: each.at_most for each in screen.session.policy.limits}
    assert limits["linked_over_half"] == 7 / n
    assert field().value == 7.0


def test_people_with_several_rows_are_counted_in_the_editor_of_limits() -> None:
    frame = pd.DataFrame({"x": np.arange(90.0) % 31, "who": np.arange(90) // 3})
    data = rwn.Microdata.from_frame(frame)
    limit = rwn.Limit(measure="linked_over_half", at_most=0.0)
    for role, stated in ((Role.PERSON, ("people", 30.0)), (Role.HOUSEHOLD, ("households", 30.0)),
                         (Role.OTHER, ("records", 90.0))):  # fmt: skip
        schema = data.schema.replace_variable("who", role=role)
        session = Session(name="panel", demo="", data=data.with_schema(schema))
        name, count = shown_as(session, limit)
        assert (name, count) == (f"Linked over one half, {stated[0]} at most", stated[1])
    assert shown_as(session, replace(limit, measure="bayes_linkage"))[1] == 100.0
