"""The Risk page: its choices reach the numbers, its warnings are true, single people are marked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.disclosure import follow, odds_words
from rwn_core.measures.comparison import Sampling
from rwn_core.measures.measure import Sides, with_parts
from rwn_core.measures.risk import population_risk
from rwn_core.measures.statistics.population import PopulationRisk
from rwn_ui.compare import view as compare_view
from rwn_ui.features import repeated_draws, watch_list
from rwn_ui.features.scenario_trial import scenario_draft
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import view as risk_view
from rwn_ui.risk.form import Attack
from rwn_ui.risk.warnings import warnings
from rwn_ui.state import kept_picture
from rwn_ui.state.change_table import load
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import tiles as tune_tiles
from tests import tables as small_tables
from tests.ui.following import shown

pytestmark = pytest.mark.usefixtures("few_people")

Payloads = list[dict[str, Any]]
KEYS = ("age", "weight", "height")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Payloads:
    payloads: Payloads = []
    for each in (kept_picture, compare_view):
        monkeypatch.setattr(each, "panel", lambda payload, **more: payloads.append(payload))
    return payloads


@pytest.fixture
def small(drawn: Payloads, open_page: Any) -> Any:
    """The app at Risk."""
    screen = open_page("compare")
    screen.visit("risk")
    assert screen.errors == []
    return screen


def test_what_the_page_answers_stands_until_there_is_a_picture(open_page, monkeypatch) -> None:
    def refused(*_: object) -> None:
        raise rwn.ParameterError("Nothing was attacked.")

    title = risk_view.FIRST["title"]
    with monkeypatch.context() as none_yet:
        none_yet.setattr(risk_view, "live", refused)
        screen = open_page("risk")
        assert title in screen.words("markdown")
    screen.test.run()
    assert title not in screen.words("markdown")  # the picture says it


@pytest.fixture(scope="module")
def payload() -> dict[str, Any]:
    session = Session(name="men", demo=None, data=small_tables.table("bodyfat", n=80))
    session.clamp(prepared(session).prepared)
    attack = Attack(keys=KEYS, sampling=Sampling.of_schema(session.data))
    found = risk_view.live(session, attack)
    return dict(risk_view.payload(session, attack, found, risk_view.snapshot(session, found)))


def charts(payload: dict[str, Any]) -> dict[str, Any]:
    return {chart["key"]: chart for chart in map(orjson.loads, payload["cards"])}


def tables(payload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {table["title"]: table for table in payload["tables"]}


def test_the_verdict_and_the_first_tiles_are_of_the_worst_case(payload: dict[str, Any]) -> None:
    assert ". Left: " in payload["verdict"]["text"]
    assert payload["verdict"]["price"].startswith("Slope that moved most: ")
    assert [tile["label"] for tile in payload["tiles"]][:4] == [
        "Worst case, all",
        "Worst case, by keys",
        "Linked over one half",
        "Ordinary, by distance",
    ]
    assert all(tile["help"] for tile in payload["tiles"])


def test_cards_that_answer_the_page_s_question_come_first(payload: dict[str, Any]) -> None:
    assert list(charts(payload)) == [
        "linkage_attacks",
        "record_risk",
        "guessing_attacks",  # these answer the page's question, the others open by a click
        "precision_recall",
        "true_matches",
        "repeated_releases",
        "key_classes",
        "extreme_values",
        "queries",
        "neighborhood_size",
    ]
    first = payload["first"]
    assert first["cards"] == 3
    assert set(first["tables"]) <= {each["title"] for each in payload["tables"]}
    assert charts(payload)["queries"]["title"].endswith("(internal)")


def test_each_risk_stands_in_the_table_of_its_question(payload: dict[str, Any]) -> None:
    orjson.dumps(payload["tables"])
    questions = payload["tables"][:3]
    titles = ["Whose row is it?", "What is learned about a person?"]
    titles.append("Who stands out, and what has masking changed?")
    assert [table["title"] for table in questions] == titles
    rows = [row for table in questions for row in table["rows"]]
    risks = [measure for measure in rwn.MEASURES.values() if measure.side == "risk"]
    assert len(rows) == len(risks), "each stands in one of them"
    assert min(len(table["rows"]) for table in questions) > 8
    assert any("\N{NO-BREAK SPACE}%" in row[-1] for row in rows)
    assert not any(" %" in row[-1] for row in rows)


def test_each_table_is_an_internal_file_of_its_own_name(payload: dict[str, Any]) -> None:
    files = [table["file"] for table in payload["tables"]]
    assert len(set(files)) == len(files)
    assert all(name.endswith("-internal.csv") for name in files)


def test_the_table_of_simple_attacks_says_what_each_is_after(payload: dict[str, Any]) -> None:
    attacks = tables(payload)["What simple attacks achieve on this release, at least"]
    assert attacks["columns"] == ["attack", "is after", "right", "of answers", "of all", "score"]
    assert any("the nearest" in row[0] for row in attacks["rows"])
    assert all(row[1] == "the row's person" or "siri" in row[1] for row in attacks["rows"])


def test_tables_of_the_population_and_of_single_records_are_shown(payload: dict[str, Any]) -> None:
    assert any(title.startswith("Log-linear risk on age") for title in tables(payload))
    assert "The ten records at highest risk (internal)" in tables(payload)


def test_chosen_keys_reach_the_numbers_and_outlive_other_pages(small, drawn) -> None:
    keys = small.test.multiselect[0]
    before = drawn[-1]
    keys.set_value(["age"]).run()
    assert small.errors == []
    released = [[tile["released"] for tile in each["tiles"]] for each in (before, drawn[-1])]
    assert released[0][0] == released[1][0]
    assert released[0][1] != released[1][1]
    assert drawn[-1]["summary"]["text"].endswith("keys: age")
    small.visit("tune").visit("risk")
    assert drawn[-1]["summary"]["text"].endswith("keys: age")
    small.test.multiselect[0].set_value([]).run()
    assert "Choose at least one variable" in small.errors[0]


def test_sets_that_were_added_are_tried_beside_the_keys(small, drawn) -> None:
    small.test.multiselect[0].set_value(list(KEYS)).run()

    def sets() -> list[str]:
        rows = orjson.loads(charts(drawn[-1])["true_matches"]["table"])["rows"]
        return [row[0] for row in rows[:2]]

    assert sets()[0] == "age, weight, height"
    small.find("multiselect", "A further set of variables").set_value(["neck", "age"]).run()
    assert small.press("Add this set").errors == []
    assert sets() == ["age, weight, height", "neck, age"]
    small.press("Clear the sets")
    assert sets()[1] != "neck, age", "the pair is tried anyway, but not beside the keys"


def test_halves_that_were_chosen_are_those_of_linkability(small, drawn) -> None:
    def halves(label: str, names: list[str]) -> str:
        small.find("multiselect", f"Linkability: {label}").set_value(names).run()
        rows = [row for table in drawn[-1]["tables"][:3] for row in table["rows"]]
        said = str(next(row[-1] for row in rows if row[0] == "Linkability"))
        return " ".join([*small.errors, said])

    one, other = "one half of the variables", "the other half"
    assert "Halves as stated: age, weight | " in halves(one, ["age", "weight"])
    assert "Halves as stated: age, weight | height, neck." in halves(other, ["height", "neck"])
    assert "must not overlap" in halves(other, ["height", "age"])
    assert "Halves as stated" not in halves(one, [])


def test_a_population_smaller_than_the_file_is_refused(small) -> None:
    small.find("number_input", "People in the population").set_value(5).run()
    assert "at least the file" in small.errors[0]


def test_sliders_and_rounding_are_live(small, drawn) -> None:
    before = drawn[-1]
    page = small.test
    page.slider[1].set_value(25).run()
    assert "k = 25" in drawn[-1]["summary"]["text"]
    # all variables link everybody at either k, the keys do not
    assert drawn[-1]["tiles"][1]["released"] != before["tiles"][1]["released"]
    page.slider[1].set_value(5).run()
    page.select_slider[0].set_value("1 SD").run()
    assert small.errors == []
    exact, rounded = (float(p["tiles"][0]["released"].split()[0]) for p in (before, drawn[-1]))
    assert rounded < exact - 10


def test_a_large_table_is_attacked_by_a_job(open_page, drawn, at_once, monkeypatch) -> None:
    begun: list[dict[str, Any]] = []

    def start(*what: Any, **arguments: Any) -> Any:
        begun.append(arguments)
        return at_once(*what, **arguments)

    monkeypatch.setattr(risk_view, "QUICK_RECORDS", 10)
    monkeypatch.setattr(risk_view, "Job", start)
    screen = open_page("compare")
    screen.visit("risk")
    assert (screen.errors, drawn) == ([], [])
    assert "random sample" in screen.test.caption[0].value
    screen.press("Find the risk of this setting")
    assert screen.errors == []
    assert len(begun) == 1
    found = drawn[-1]["summary"]["text"]
    assert screen.session.words in found
    # the numbers stay those of their own setting, and the page says so
    screen.test.slider[1].set_value(20).run()
    assert drawn[-1]["summary"]["text"] == found
    assert "These numbers are of" in screen.words("info")
    screen.test.slider[1].set_value(5).run()
    assert not screen.test.info
    screen.session.seed += 1  # other numbers, though the words of the setting are the same
    screen.test.run()
    assert "These numbers are of" in screen.words("info")


@pytest.mark.parametrize(
    ("params", "limited"),
    [
        (rwn.SoftRWN(by_prediction=True), "bayes_linkage"),  # not judged by linkage alone
        (rwn.RWN(epsilon=2.0, k=5), "association_loss"),  # a limit on what Tune reads
    ],
)
def test_every_part_of_the_page_says_the_one_verdict(params, limited) -> None:
    data = rwn.load_demo("bodyfat").take(range(60))
    session = Session(name="men", demo=None, data=data.with_slices([KEYS]))
    session.clamp(prepared(session).prepared)
    session.set(replace(session.setting, params=params))
    session.policy = rwn.Policy(limits=(rwn.Limit(measure=limited, at_most=0.3),))
    attack = Attack(keys=("age", "weight"), sampling=Sampling.of_schema(data))
    found = risk_view.live(session, attack)
    now = risk_view.snapshot(session, found)
    payload = risk_view.payload(session, attack, found, now)
    ((*_, state),) = tables(payload)["Limits of the policy"]["rows"]
    assert {"kept": "kept", "broken": "broken"}.get(state, "not judged") == now.verdict.state
    if limited == "association_loss":
        assert payload["verdict"]["text"] == shown(session)["verdict"]["text"]
        assert now.verdict.state != "not judged"
    else:
        assert now.verdict.state == "not judged"
        limits = {tile.get("limit") for tile in payload["tiles"]}
        assert "limit: 30.0 %, not judged" in limits


READ = (
    "bayes_linkage",
    "distance_linkage",
    "extremes",
    "homogeneity",
    "cells_changed",
    "differential_privacy",
    "neighborhood_size",
)


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    values = np.random.default_rng(3).normal(size=(60, 4)).round(3)
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abcd")))


def read(data: rwn.Microdata, params: Any) -> Any:
    made = params.prepare(data).release(rwn.SecretKey.from_seed(5))
    comparison = rwn.Comparison(original=data, masked=made.masked, law=made.law)
    return {key: rwn.MEASURES[key].read(comparison) for key in READ}


def said(params: Any, found: Any, *, digits: bool = True, separate: int = 4) -> str:
    return " ".join(warnings(params, found, digits=digits, separate=separate))


SMALL = rwn.RWN(epsilon=0.1, k=3)


@pytest.fixture(scope="module")
def close(data: rwn.Microdata) -> Any:
    """What is read of a release of exact values from small neighborhoods."""
    return read(data, SMALL)


def test_small_neighborhoods_leave_few_originals(close) -> None:
    linked = close["bayes_linkage"]
    assert linked.detail.row_by_row > 0.8
    assert np.median(linked.detail.candidates) == 1
    assert "leave few originals" in said(SMALL, close)


def test_rows_that_are_found_together_alone_are_warned_of(data) -> None:
    large = rwn.RWN(epsilon=0.1, k=30)
    found = read(data, large)
    linked = found["bayes_linkage"]
    assert linked.detail.row_by_row < 0.2
    assert np.median(linked.detail.candidates) > 10
    # planted: each row alone has many originals, and all together give most of them away
    text = said(large, found | {"bayes_linkage": replace(linked, value=0.75)})
    assert "75 %" in text
    assert "leave few originals" not in text
    assert "source of only one row" in text


def test_a_strong_setting_is_not_warned_of_ordinary_linkage(data) -> None:
    weak = rwn.RWN(epsilon=4.0, k=5)
    assert "Ordinary linkage finds" not in said(weak, read(data, weak))


def test_extreme_values_that_stand_in_the_release_are_counted(close) -> None:
    copies = close["extremes"].detail.released
    there = sum(count > 0 for count in copies)
    assert there
    assert f"Of the {len(copies)} largest and smallest values {there} stand" in said(SMALL, close)
    gone = close | {"extremes": with_parts(close["extremes"], released=[0] * len(copies))}
    text = said(SMALL, gone)
    assert f"None of the {len(copies)} largest and smallest values" in text
    assert "real person's" not in text


def test_variables_from_donors_of_their_own_are_warned_of(data) -> None:
    params = rwn.RWN(epsilon=1.0, k=5)
    found = read(data, params)
    apart = "4 variables take their values from donors of their own"
    assert apart in said(params, found)
    # planted: variables that travel together
    assert "donors of their own" not in said(params, found, separate=0)


def test_whole_rows_are_warned_of_small_groups(data) -> None:
    rows = rwn.METHODS["row_copy"](epsilon=1.0, k=5)
    found = read(data, rows)
    assert "donors of their own" not in said(rows, found)
    assert "Small groups shrink" in said(rows, found)


def test_wide_neighborhoods_are_warned_of_by_how_wide_they_are(data) -> None:
    wide, narrow = rwn.RWN(epsilon=3.2, k=31), rwn.RWN(epsilon=0.1, k=5)
    found = read(data, wide)
    # a neighborhood of 51 % leaves 49 % out
    assert 0.5 < found["neighborhood_size"].value / data.n < 0.95
    assert "may come from most of the other people" in said(wide, found)
    assert "nearly anybody" not in said(wide, found)
    assert "more than half the file" not in said(narrow, read(data, narrow))


def test_digits_are_warned_of_where_some_are_released(session: Session) -> None:
    """Planted: a table whose numbers are all rounded."""
    comparison = current_release(session).comparison
    readings = {key: rwn.MEASURES[key].read(comparison) for key in READ}
    names = [v.name for v in session.data.schema.released if v.kind is rwn.Kind.CONTINUOUS]
    for rounded, warned in (((), True), (names[1:], True), (names, False)):
        attack = Attack(keys=(), precision=tuple((name, 1.0) for name in rounded))
        told: Any = type("Found", (), {"readings": readings})
        rows = risk_view._warnings(session, attack, told)["rows"]
        assert any("all their digits" in row[1] for row in rows) is warned


def test_a_population_is_described_by_what_is_known_of_it() -> None:
    """The interactions of its model, if there is one, and its sample, if it is none itself."""
    both = {name: Sides(1, 1) for name in ("uniques", "alone", "expected")}
    whole = PopulationRisk(names=["age"], population=100.0, **both, check=1.5, z=0.5)

    def caption(detail: PopulationRisk) -> str:
        table = population_risk.model_table(rwn.Reading(value=0.1, detail=detail), 100)
        return str(table["caption"])

    for model, words in (("age × sex", "counts: age × sex;"), ("", "counts: main effects only;")):
        part = caption(replace(whole, population=900.0, model=model))
        assert words in part
        assert "check B of τ2 1.5, 0.5 standard deviations" in part
    assert "taken for the whole population" in caption(whole)
    reading = rwn.Reading(value=0.1, interval=(0.0, 0.2), detail=replace(whole, check=None, z=None))
    own = rwn.MEASURES["loglinear_risk"].sentence
    assert risk_sentences.said("loglinear_risk", reading, 100) == own(reading, 100)
    assert tune_tiles._which_attack("loglinear_risk", reading, 100) == ""


def watched(payloads: Payloads) -> dict[str, Any]:
    found = [each for payload in payloads for each in payload.get("tables", [])]
    return [each for each in found if each["title"] == "Watch list (internal)"][-1]


def test_a_record_is_watched_once_and_the_list_ends_with_its_table(small, drawn) -> None:
    session = small.session
    assert small.press("Watch this record").errors == []
    small.visit("tune").visit("risk")
    assert session.watched == (0,)
    session.watched = tuple(range(watch_list.LONGEST - 1))
    small.press("Watch this record")
    assert len(session.watched) == watch_list.LONGEST - 1
    small.find("number_input", "Record").set_value(60).run()
    assert small.press("Watch this record").errors == []
    assert session.watched[-1] == 59
    odds = follow(session.data, session.params, (59,), seed=session.seed)
    assert watched(drawn)["rows"][-1] == ["record 60", odds_words(odds[59], 80)]
    small.find("number_input", "Record").set_value(61).run()
    small.press("Watch this record")
    assert len(session.watched) == watch_list.LONGEST
    assert "at most 20 records" in small.refusals[0]
    text = scenario_draft(session, "One").to_toml()
    session.watched = ()
    assert scenario_draft(session, "One").to_toml() == text  # no record leaves the table
    session.watched = (3,)
    load(session, session.data, name="again", demo=None)
    assert session.watched == ()


@pytest.mark.parametrize("draws_itself", [True, False])
def test_a_refusal_is_said_again_once_where_the_page_draws_itself_again(
    small, monkeypatch, draws_itself
) -> None:
    """Further draws that end in the run of a press have the page drawn anew."""
    small.session.watched = tuple(range(watch_list.LONGEST))
    small.find("number_input", "Record").set_value(61).run()
    coming = [True] if draws_itself else []
    monkeypatch.setattr(repeated_draws, "are_coming", lambda _: bool(coming))
    monkeypatch.setattr(repeated_draws, "follow_verdict", lambda _: coming.clear())
    small.press("Watch this record")
    (refusal,) = small.refusals
    assert refusal.startswith("The watch list holds at most 20 records")
    assert bool(small.errors) is not draws_itself
    small.test.run()
    assert small.refusals == []


@pytest.mark.usefixtures("whole_demos")
def test_a_meeting_sees_the_list_beside_every_scenario(drawn, open_page) -> None:
    screen = open_page("compare")
    session = screen.session
    session.watched = (38,)
    for name, preset in (("One", "Light"), ("Two", "Strong")):
        session.set(session.setting, prepared(session).prepared, preset)
        screen.find("text_input", "Name").set_value(name)
        assert screen.press("Save scenario").errors == []
    titles = [each["title"] for payload in drawn for each in payload.get("tables", [])]
    assert "Watch list (internal)" not in titles  # only in a meeting
    screen.find("toggle", "Meeting").set_value(True).run()
    assert screen.errors == []
    result = watched(drawn)
    assert result["columns"] == ["", "One", "Two"]
    ((name, light, strong),) = result["rows"]
    assert name == "record 39"
    assert light.startswith(
        "correctly named in 100 of 100 releases like this, in 0 if not in the file"
    )
    assert 0 <= float(strong.split()[3]) <= 100
    assert strong.endswith(f"a guess is correct in {100 / session.data.n:.2g}")
    areas = {area.label: area.value for area in screen.test.text_area}
    assert areas["Watch list, a line each"] == "record 39"
