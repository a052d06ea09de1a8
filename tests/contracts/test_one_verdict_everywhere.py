"""One question, one answer: every entrance gives the same verdict of a policy on small tables.

`OF_A_SETTING` are the entrances that say something of one setting, `OF_A_TABLE` those that search;
each of `TABLES` has a trait that once split them. An entrance is compared by what it says: kept,
broken or not judged, and the reason of each limit that was set apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.runtime.state import session_state_proxy

import rwn_core as rwn
from rwn_cli import main
from rwn_core.compile_ahead import warm_for_limits
from rwn_core.data.belonging.gate import refuse_together
from rwn_core.datasets.key_file import read_key
from rwn_core.masking import at_levers
from rwn_core.measures.attacks.red_team import prediction
from rwn_core.reporting import ledger, places_on_map, read_record
from rwn_core.reporting.judged_release import judge_release
from rwn_core.reporting.judged_release import judged as judged_file
from rwn_core.reporting.ledger import policy_words
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.reporting.readable import decision_html, judged
from rwn_core.reporting.scenario import Decision
from rwn_core.tuning import (
    FoundSetting,
    Goal,
    Grid,
    Plan,
    SearchAnswer,
    Setting,
    Sweep,
    evaluate,
    prepared,
    sweep,
)
from rwn_core.tuning.answer import Remedy
from rwn_core.tuning.on_all_records import on_all_records
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.remedies import with_remedies
from rwn_core.tuning.verdict import Mark, State, Verdict
from rwn_ui.compare import cards
from rwn_ui.features import advice, limit_queue, repeated_draws, scenario_trial
from rwn_ui.find import view as find_view
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.results import current_release
from rwn_ui.state.results import prepared as prepared_table
from rwn_ui.state.session import Session
from rwn_ui.tune import view
from tests import tables
from tests.lanes import lanes
from tests.ui.work_here import WorkHere

ROLES = {"age": rwn.Role.KEY, "size": rwn.Role.KEY, "ill": rwn.Role.CONFIDENTIAL}
Make = Callable[[], rwn.Microdata]


def frame(n: int = 104) -> pd.DataFrame:
    """Two related numbers, another one, and a category."""
    rng = np.random.default_rng(7)
    age = rng.integers(20, 80, n)
    return pd.DataFrame(
        {
            "age": age,
            "size": rng.normal(170, 9, n).round(1),
            "pay": (20 * age + rng.normal(0, 200, n)).round(0),
            "ill": np.where(rng.random(n) < 0.4, "yes", "no"),
        }
    )


def described(table: pd.DataFrame, **roles: rwn.Role) -> rwn.Microdata:
    """The table with the roles of its variables by name, the usual ones or others."""
    return tables.described(table, **(roles or {k: v for k, v in ROLES.items() if k in table}))


def with_roles() -> rwn.Microdata:
    return described(frame())


def without_roles() -> rwn.Microdata:
    """Nothing is stated of its variables, and their names say nothing."""
    return described(frame().set_axis(list("abcd"), axis=1))


def rare_flag() -> rwn.Microdata:
    table = frame()
    return described(table.assign(ill=np.where(np.arange(len(table)) % 40 == 3, "yes", "no")))


def coarse() -> rwn.Microdata:
    """Some fifty cells of people: the unmasked file itself links few, which breaks few limits."""
    table = frame()
    coarser = {"age": table["age"] // 10, "size": table["size"] // 10}
    return described(table.assign(**coarser)[["age", "size", "ill"]])


def heavy_tail() -> rwn.Microdata:
    table = frame()
    return described(table.assign(pay=np.exp(table["pay"] / 200).round(1)))


def panel() -> rwn.Microdata:
    """Each person twice, in rows that the steward says are of separate people."""
    table = frame(52)
    later = table.assign(age=table["age"] + 2, pay=table["pay"] * 1.1)
    data = described(pd.concat([table, later], ignore_index=True))
    return data.with_schema(data.schema.with_rows("separate"))


def households() -> rwn.Microdata:
    table = frame()
    home = np.arange(len(table)) // 2
    return described(table.assign(home=home), **ROLES, home=rwn.Role.HOUSEHOLD)


def one_number() -> rwn.Microdata:
    return described(frame()[["pay"]].set_axis(["a"], axis=1))


def constant() -> rwn.Microdata:
    return described(frame().assign(same=1.5))


def far_people() -> rwn.Microdata:
    table = frame()
    return described(table.assign(size=table["size"].where(np.arange(len(table)) > 2, 400.0)))


def derived() -> rwn.Microdata:
    """A column is twice another one, and one is a sum."""
    table = frame()
    return described(table.assign(double=2 * table["pay"], sum=table["age"] + table["size"]))


def survey() -> rwn.Microdata:
    """An exact weight that is released unmasked tells everybody apart."""
    table = frame()
    share = np.random.default_rng(21).uniform(0.3, 3.0, len(table)).round(4)
    return tables.described(table.assign(share=share), unmasked=["share"], **ROLES)


TABLES: tuple[Make, ...] = (
    with_roles,
    without_roles,
    rare_flag,
    coarse,
    heavy_tail,
    panel,
    households,
    one_number,
    constant,
    far_people,
    derived,
    survey,
)


WEAK, STRONG = rwn.RWN(epsilon=0.0, k=2), rwn.RWN(epsilon=0.0, k=100)
EASY = {"bayes_linkage": 0.2, "attribute_gain": 0.6, "true_matches": 0.5, "linked_over_half": 0.3}
"""Kept by many settings that keep relations, too, and far from both of the settings above."""
STRICT = {"bayes_linkage": 0.001, "attribute_gain": 0.3}
"""No release keeps it: of so few records one is linked by chance."""
LOSS = "marginals"  # has an answer on every table


def policy_of(limits: Mapping[str, float]) -> Policy:
    return Policy(limits=tuple(Limit(measure=key, at_most=most) for key, most in limits.items()))


@dataclass(frozen=True)
class Said:
    """What an entrance says of a policy: its state, and why each limit was set apart."""

    state: State
    apart: dict[str, str]


@dataclass(frozen=True)
class Case:
    """A table with a setting and a policy; what several entrances need is made once."""

    data: rwn.Microdata
    params: rwn.RWN
    policy: Policy
    folder: Path

    @property
    def swept(self) -> Sweep:
        return _swept(self)

    @property
    def scenario(self) -> rwn.Scenario:
        """The setting with its readings, as it comes back from a file."""
        (point,) = self.swept.points
        about = {"readings": point.stated(), "unread": point.unread, "policy": self.policy}
        made = rwn.Scenario(name="A", setting=point.setting, **about)
        return rwn.Scenario.from_toml(made.to_toml())


@cache
def _swept(case: Case) -> Sweep:
    axes = {"epsilon": (case.params.epsilon,), "k": (case.params.k,)}
    plan = Plan(measures=(*case.policy.measures, LOSS), releases=4)
    settings = prepared(case.data, Grid(axes=axes))
    return sweep(case.data, settings, plan=plan, workers=1)


def point_of_a_sweep(case: Case) -> Said:
    (point,) = case.swept.points
    verdict = case.policy.judge(point)
    assert case.policy.judge(point.spreads) == verdict
    return Said(verdict.state, dict(verdict.unread))


def place_on_the_map(case: Case) -> Said:
    """The map, the list beside it and the sentence of the sweep."""
    (point,) = case.swept.points
    verdict = case.policy.judge(point)
    (spot,) = places_on_map.map_points(case.policy, case.swept, LOSS, POLICY)
    state: State = "kept" if spot["kept"] else "broken"
    state = "not judged" if spot["y"] is None else state
    assert state == "not judged" or (spot["y"] <= 1) == (state == "kept")
    about = {"verdict": verdict, "loss": point.median(LOSS), "confirmed": True}
    line = find_view.line(FoundSetting(point=point, **about))
    assert line[0] == {"kept": "✓", "broken": "▲", "not judged": "?"}[state]
    assert ("1 of 1 setting" in case.swept.words(case.policy)) == spot["kept"]
    return Said(state, dict(verdict.unread))


def compare(case: Case) -> Said:
    session = Session(name="A", demo=None, data=case.data, policy=case.policy)
    shown = cards.screen(session, [case.scenario], case.policy, meeting=True)["candidates"]
    (head,) = shown["candidates"]
    limits = [row for row in shown["rows"] if row["kind"] == "limit"]
    apart = {
        limit.measure: row["cells"][0]["note"]
        for limit, row in zip(case.policy.limits, limits, strict=True)
        if row["cells"][0]["text"] == "not judged"
    }
    assert all(row["cells"][0]["state"] is None for row in limits if row["cells"][0]["note"])
    below = cards.table(session, [case.scenario], meeting=False)["tables"][0]["rows"]
    (row,) = (row for row in below if row[0] == "policy")
    for why in apart.values():
        assert why[1:] in row[1]
    states: dict[Any, State] = {"kept": "kept", "over": "broken", None: "not judged"}
    return Said(states[head["state"]], apart)


def minutes(case: Case) -> Said:
    (verdict,) = judged([case.scenario], case.policy)
    decision = Decision(scenarios=(case.scenario,), chosen="A", policy=case.policy)
    page = unescape(decision_html(Decision.thaw(decision.frozen())).decode("utf-8"))
    assert f"“A” was chosen: {verdict.headline}" in page
    assert page.count(">not judged<") >= len(verdict.unread)
    return Said(verdict.state, dict(verdict.unread))


def goal_seek(case: Case) -> Said:
    found = rwn.seek(case.data, case.swept, Goal(keep=case.policy, best=LOSS), workers=1)
    assert found.kept == found.verdict.kept
    assert found.kept == (found.reached and not found.unread)
    for why in found.unread.values():
        assert why[1:] in found.sentence
    return Said(found.verdict.state, dict(found.verdict.unread))


def judged_release(case: Case) -> Said:
    """The very file: its record, the same file drawn again from its key, the entry of a ledger."""
    key_file = case.folder / "release.key"
    made = judge_release(case.data, case.params, "csv", case.policy, key_file=key_file)
    record = made.document["verdict"]
    assert (record["state"], record["kept"]) == (made.verdict.state, made.verdict.kept)
    assert record["not_judged"] == made.verdict.unread
    again = rwn.mask(case.data, case.params, seed=read_key(key_file))
    verdict = judged_file(case.data, again, case.policy)
    assert verdict == made.verdict == made.own, "no further draws were asked for"
    # the entry of the file in a ledger, and its line when it is read again
    path = case.folder / "ledger.jsonl"
    ledger.add(path, made.document, case.data, by="A")
    (entry,) = ledger.read_entries(path.read_bytes())
    assert entry["kept"] == record["kept"] == (entry["state"] == "kept")
    assert (entry["state"], entry["not_judged"]) == (record["state"], record["not_judged"])
    for why in entry["not_judged"].values():
        assert why.rstrip(".")[1:] in policy_words(entry)
    return Said(record["state"], record["not_judged"])


def command_mask(case: Case) -> Said:
    source, schema, scenario = (case.folder / name for name in ("in.csv", "in.toml", "a.toml"))
    case.data.frame.to_csv(source, index=False)
    schema.write_text(case.data.schema.to_toml(), "utf-8")
    scenario.write_text(case.scenario.to_toml(), "utf-8")
    record = case.folder / "record.toml"
    given = ["mask", source, case.folder / "out.csv", "--schema", schema, "--scenario", scenario]
    assert main.run([*map(str, given), "--record", str(record), "--seed", "1"]) == 0
    verdict = read_record(record.read_text("utf-8"))["verdict"]
    for why in verdict["not_judged"].values():
        assert why[1:] in verdict["words"]
    return Said(verdict["state"], verdict["not_judged"])


def tune(case: Case) -> Said:
    """The line above the picture, and the limits that it judges."""
    session = Session(name="A", demo=None, data=case.data, policy=case.policy)
    session.clamp(prepared_table(session).prepared)
    set_setting(session, Setting(params=case.params), undo=True)
    assert session.params == case.params
    current = current_release(session)
    line = view.payload(session, current)["verdict"]
    readings = limit_queue.readings(session, current)
    verdict = case.policy.judge(readings, params=current.params)
    for why in verdict.unread.values():
        assert why[1:] in line["help"]
    states: dict[Any, State] = {"kept": "kept", "over": "broken", None: "not judged"}
    if verdict.mark == "one draw":
        assert line["state"] in (None, "costly"), "it is never green alone"
    else:
        assert states[line["state"]] == verdict.state
    assert line["text"].startswith({"kept": "This draw keeps all", "broken": "This draw breaks",
                                    "not judged": "Not judged"}[verdict.state])  # fmt: skip
    return Said(verdict.state, dict(verdict.unread))


# ---------------------------------------------------------------- one state, one sentence


@dataclass(frozen=True)
class Shown:
    """What a place shows of a setting: a mark, and the words that lead."""

    mark: Mark
    headline: str


MARKS: dict[Any, Mark] = {"kept": "kept", "costly": "kept", "over": "broken", None: "not judged"}


@dataclass(frozen=True)
class Place:
    """A table with a setting and a policy, judged by several draws."""

    data: rwn.Microdata
    setting: Setting
    policy: Policy
    folder: Path

    @property
    def session(self) -> Session:
        made = Session(name="A", demo=None, data=self.data, policy=self.policy)
        made.clamp(prepared_table(made).prepared)
        set_setting(made, self.setting, undo=True)
        return made


def in_python(place: Place) -> Shown:
    verdict = rwn.judge_setting(place.data, place.setting, place.policy)
    assert verdict.draws > 1
    return Shown(verdict.mark, verdict.headline)


def on_tune(place: Place) -> Shown:
    session = place.session
    for _ in range(2):  # the sliders rest
        repeated_draws.follow_verdict(session)
    session.user.work.further.end()
    repeated_draws.follow_verdict(session)
    line = view.payload(session, current_release(session))["verdict"]
    return Shown(MARKS[line["state"]], line["text"].partition(". Left")[0].partition(", but")[0])


def on_compare(place: Place) -> Shown:
    session = place.session
    kept = scenario_trial.measured(place.data, scenario_trial.scenario_draft(session, "A"))
    again = rwn.Scenario.from_toml(kept.to_toml())
    shown = cards.screen(session, [again], place.policy, meeting=False)["candidates"]
    (head,) = shown["candidates"]
    return Shown(MARKS[head["state"]], head["verdict"])


def on_find(place: Place) -> Shown:
    n = place.data.n
    point = evaluate(place.data, place.setting, (1,), place.policy.measures)
    before = SearchAnswer.of_point(place.policy, point, records=n, of=n, tried=1)
    answer = on_all_records(place.data, place.policy, before, (), 1e6)
    (found,) = answer.settings
    marks: dict[str, Mark] = {"✓": "kept", "▲": "broken", "?": "not judged"}
    words = find_view.judged_words(place.session, place.policy, found)
    mark = marks[find_view.line(found)[0]]
    unread = place.policy.judgeable(place.data)[1]
    return Shown("not judged" if unread and mark == "kept" else mark, words.removesuffix("."))


def on_release(place: Place) -> Shown:
    data = place.setting.applied_to(place.data)
    made = judge_release(data, place.setting.params, "csv", place.policy, further=True)
    record = made.document["verdict"]
    assert record["words"].startswith(made.verdict.sentence)
    assert (record["state"], record["draws"]) == (made.verdict.state, made.verdict.draws)
    return Shown(made.verdict.mark, made.verdict.headline)


def by_the_command(place: Place) -> Shown:
    source, schema, scenario = (place.folder / name for name in ("in.csv", "in.toml", "a.toml"))
    place.data.frame.to_csv(source, index=False)
    schema.write_text(place.data.schema.to_toml(), "utf-8")
    given = rwn.Scenario(name="A", setting=place.setting, policy=place.policy)
    scenario.write_text(given.to_toml(), "utf-8")
    record = place.folder / "record.toml"
    line = ["mask", source, place.folder / "out.csv", "--schema", schema, "--scenario", scenario]
    assert main.run([*map(str, line), "--record", str(record), "--seed", "1"]) == 0
    verdict = read_record(record.read_text("utf-8"))["verdict"]
    assert verdict["draws"] > 1 or verdict["state"] == "not judged"
    words = verdict["words"].removeprefix("Not judged: ")
    (headline, *_) = re.split(r"[,;:.] ", words)
    if verdict["state"] == "not judged":
        headline = f"Not judged: {headline}"
    return Shown(verdict["state"], headline)


BY_DAY = (coarse, without_roles, one_number)
"""All limits judged, one or three set apart, and nothing to look for: all traits of a verdict."""


PLACES = (in_python, on_tune, on_compare, on_find, on_release, by_the_command)
PRESETS = ("Light", "Standard", "Strong")
AT_ALL_PRESETS = (with_roles,)  # by day; of the others Standard alone


def by_day_and_preset() -> list[Any]:
    """All tables at all presets; most of them at night, by day three tables stand for them."""
    cases = []
    for make in TABLES:
        for preset in PRESETS:
            at_standard = make in (without_roles, coarse) and preset == "Standard"
            days = make in AT_ALL_PRESETS or at_standard
            # by day: the other cases of this test
            marks = () if days else (pytest.mark.nightly,)
            cases.append(pytest.param(make, preset, marks=marks))
    return cases


def with_stated_rows(data: rwn.Microdata) -> rwn.Microdata:
    """A table that leaves: where its rows look like several of a person, they are called apart."""
    try:
        refuse_together(data)
    except rwn.ReleaseError:
        return data.with_schema(data.schema.with_rows("separate"))
    return data


@pytest.mark.parametrize(("make", "preset"), by_day_and_preset())
def test_every_place_shows_one_state_and_one_sentence(make, preset, tmp_path, monkeypatch) -> None:
    """One setting has one verdict, that on one more release, wherever it is shown."""
    monkeypatch.setattr(repeated_draws, "Job", WorkHere)
    # a release is drawn with a fresh secret, and one in ten alone breaks what its setting keeps
    drawn = import_module("rwn_core.reporting.judged_release")
    monkeypatch.setattr(drawn, "mask", lambda data, params, **_: rwn.mask(data, params, seed=1))
    data = with_stated_rows(make())
    start = rwn.RWN(epsilon=0.0, k=5)
    setting = Setting(params=at_levers(start, dict(start.preview(data).presets[preset])))
    place = Place(data, setting.resolved(data), policy_of(EASY), tmp_path)
    shown = {each.__name__: each(place) for each in PLACES}
    own = shown["in_python"]
    by_words = dict.fromkeys(shown, own.headline)
    assert {name: each.headline for name, each in shown.items()} == by_words
    assert {name: each.mark for name, each in shown.items()} == dict.fromkeys(shown, own.mark)


# ---------------------------------------------------------------- a remedy gives what it promised


def has_what_it_promised(remedy: Remedy, verdict: Verdict) -> bool:
    """True if what one more release uses of its worst limit is within 20 % of the promise."""
    read = max(verdict.shares.values(), default=0.0)
    stays = remedy.kept == (not verdict.broken)
    return stays and abs(remedy.interval[1] - read) <= 0.2 * read


@pytest.mark.parametrize("make", lanes(survey, *(each for each in TABLES if each is not survey)))
def test_each_remedy_that_is_pressed_gives_what_it_promised(make) -> None:
    """Of a weak setting each no carries a remedy, or says what is attainable at best."""
    data = make()
    policy = policy_of(EASY)
    weak = Setting(params=WEAK).resolved(data)
    found = with_remedies(SearchAnswer(goal=policy), data, weak, policy, within=1e6)
    asked = [each for each in found.remedies if not each.asks_less]
    best = f"None does; best attainable is {asked[0].words}." if asked else "Nothing that was tried"
    assert any(each.kept for each in asked) or found.caution.startswith(best)
    for remedy in found.remedies:
        session = Place(data, weak, policy, Path()).session
        advice.take_remedy(session, remedy)
        verdict = rwn.judge_setting(session.data, session.setting, session.policy)
        assert has_what_it_promised(remedy, verdict), remedy.words
    # the planted fault: a remedy that leaves the setting as it is
    same = rwn.judge_setting(data, weak, policy)
    assert not any(has_what_it_promised(each, same) for each in found.remedies if each.kept)


def slice_search(data: rwn.Microdata, policy: Policy) -> Said:
    about = {"tries": 4, "starts": [()], "only_starts": True, "weights": False}
    ranges = rwn.SliceRanges(strengths=(0, 30), **about)
    if policy.judgeable(data)[0] is None:
        with pytest.raises(rwn.ParameterError, match="No limit can be judged") as refused:
            rwn.seek_slices(data, policy, ranges=ranges, workers=1)
        reasons = policy.judgeable(data)[1]
        assert next(iter(reasons.values())) in str(refused.value)
        return Said("not judged", reasons)
    found = rwn.seek_slices(data, policy, ranges=ranges, workers=1)
    assert found.reached == found.verdict.kept
    for why in found.unread.values():
        assert why[1:] in found.sentence
    return Said(found.verdict.state, dict(found.verdict.unread))


@cache
def _advised(data: rwn.Microdata, policy: Policy) -> rwn.SearchAnswer:
    return rwn.recommend(data, policy, within=1e6)


def recommendation(data: rwn.Microdata, policy: Policy) -> Said:
    found = _advised(data, policy)
    assert found.kept == (found.state == "kept")
    assert found.kept == (found.reached and not found.unread)
    assert not (found.unread and "this one keeps the policy" in found.reason)
    for why in found.unread.values():
        assert why[1:] in found.reason
    return Said(found.state, dict(found.unread))


def quick_verdict(data: rwn.Microdata, policy: Policy) -> Said:
    """Of the kind of setting that is recommended, and of RWN as published where none keeps it."""
    advice = _advised(data, policy)
    setting = advice.point.setting if advice.reached else WEAK
    found = rwn.quick_verdict(data, setting, policy, within=1e6, steps=False)
    assert (found.answer == "can") == (found.state == "kept")
    assert found.setting is None or (found.state == "kept") == (not found.unread)
    for why in found.unread.values() if found.setting else ():
        assert why[1:] in found.sentence
    return Said(found.state, dict(found.unread))


def one_strength(data: rwn.Microdata, policy: Policy) -> Said:
    """`rwn.search` of RWN as published along its strength, whatever loss it has."""
    space = rwn.Space(setting=Setting(params=STRONG), lose_at_most=1.0)
    if policy.judgeable(data)[0] is None:
        with pytest.raises(rwn.ParameterError, match="No limit can be judged"):
            rwn.search(data, policy, space, seconds=1e6)
        return Said("not judged", policy.judgeable(data)[1])
    found = rwn.search(data, policy, space, seconds=1e6)
    assert found.kept == (found.state == "kept")
    return Said(found.state, dict(found.unread))


OF_A_SETTING: tuple[Callable[[Case], Said], ...] = (
    point_of_a_sweep,
    place_on_the_map,
    compare,
    minutes,
    goal_seek,
    judged_release,
    command_mask,
    tune,
)
OF_A_TABLE = (slice_search, one_strength, recommendation, quick_verdict)


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch, read_here: None) -> None:
    """Searches end after so many trials, with few releases and small forests behind them."""
    monkeypatch.setattr(prediction, "TREES", 3)
    monkeypatch.setattr(import_module("rwn_core.tuning.recommend"), "_STEPS", 20_000)
    monkeypatch.setattr(import_module("rwn_core.tuning.goal_seek"), "_ROUNDS", 0)
    monkeypatch.setattr(import_module("rwn_core.tuning.goal_seek"), "_STATED", 4)
    for name, few in (("_TRIAL", 2), ("_CHOOSING", 2), ("_STATED", 4)):
        monkeypatch.setattr(import_module("rwn_core.tuning.seek_slices"), name, few)


@pytest.fixture(autouse=True)
def nobody_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pages outside of a browser begin with an empty state of their own, and compiled limits."""
    warm_for_limits()
    monkeypatch.setattr(session_state_proxy, "_mock_session_state", None)
    yield
    _swept.cache_clear()
    _advised.cache_clear()


def by_day(*some: Make) -> list[Any]:
    """All tables, those that are not named at night only."""
    at_night = pytest.mark.nightly
    return [make if make in some else pytest.param(make, marks=at_night) for make in TABLES]


@pytest.mark.parametrize("params", [STRONG, WEAK], ids=["strong", "weak"])
@pytest.mark.parametrize("make", by_day(*BY_DAY))
def test_every_entrance_says_the_same_of_a_setting(make, params, tmp_path) -> None:
    data = make()
    policy = policy_of(EASY)
    _, apart = policy.judgeable(data)
    verdict = judged_file(data, rwn.mask(data, params, seed=1), policy)
    case = Case(data, params, policy, tmp_path)
    said = {entrance.__name__: entrance(case) for entrance in OF_A_SETTING}
    assert said == dict.fromkeys(said, Said(verdict.state, apart))
    expected: State = "not judged" if apart else "kept"
    if params is WEAK or make in (one_number, survey):  # whose values are read whatever is drawn
        expected = "broken"
    assert verdict.state == expected


@pytest.mark.parametrize("make", by_day(*BY_DAY))
def test_every_search_says_the_same_of_a_table(make) -> None:
    """What the strongest release keeps is found; what none keeps is said to be broken."""
    data = make()
    # one variable has no slices, and no relation that a strength could lose
    one = sum(variable.masked for variable in data.schema.released) < 2
    searches = OF_A_TABLE[2 * one :]
    for limits in (EASY, STRICT):
        policy = policy_of(limits)
        _, apart = policy.judgeable(data)
        state: State = "broken"
        if limits is EASY:
            state = judged_file(data, rwn.mask(data, STRONG, seed=1), policy).state
        if limits is EASY and make is one_number:  # it has no relations to look for
            state = "not judged"
        said = {search.__name__: search(data, policy) for search in searches}
        assert said == dict.fromkeys(said, Said(state, apart))


@pytest.mark.parametrize(
    "make",
    [
        rare_flag,
        *(
            pytest.param(make, marks=pytest.mark.nightly)
            for make in (with_roles, without_roles, coarse)
        ),
    ],
)
def test_every_search_sets_the_usual_limits_apart(make: Make) -> None:
    """The usual policy, near whose limits luck decides what is kept, but not what is judged."""
    data = make()
    _, apart = Policy().judgeable(data)
    for entrance in OF_A_TABLE[1:]:
        found = entrance(data, Policy())
        assert found.apart == apart
        assert not (apart and found.state == "kept")


def test_no_advice_calls_a_policy_kept_that_was_not_judged() -> None:
    """A limit that every setting keeps, beside one that no variable can be judged by."""
    data = without_roles()
    limits = {"bayes_linkage": 0.9, "attribute_gain": 0.5}
    for policy in (policy_of(limits), policy_of({"bayes_linkage": 0.9})):
        advice = rwn.recommend(data, policy, within=1e6)
        verdict = rwn.quick_verdict(data, advice.setting, policy, within=1e6, steps=False)
        unread = set(policy.measures) - {"bayes_linkage"}
        assert set(advice.unread) == set(verdict.unread) == unread
        assert advice.reached
        assert verdict.setting is not None
        assert advice.state == verdict.state == ("not judged" if unread else "kept")
        assert advice.kept == (not unread)
        assert verdict.answer == ("unknown" if unread else "can")
        for words in (advice.reason, verdict.sentence):
            assert ("Attribute gain not judged: " in words) == bool(unread)
            assert not (unread and "keeps the policy" in words)


def test_the_tables_tell_entrances_apart() -> None:
    """Some have no limit that is set apart, others several, for reasons of their own."""
    reasons = {make.__name__: policy_of(EASY).judgeable(make())[1] for make in TABLES}
    assert not reasons["with_roles"]
    assert set(reasons["without_roles"]) == set(reasons["one_number"]) == {"attribute_gain"}
    assert len(reasons["coarse"]) == 3
    assert "cannot be broken" in reasons["rare_flag"]["attribute_gain"]
    assert len(TABLES) >= 10
