"""What makes a setting on Tune: methods, their options, soft kernels, slices, release precision."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_core.data.rounding import given_steps, steps_by_name
from rwn_core.masking import RWN, SoftRWN, method_options
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.masking.sliced_method import PREDICTED, TIED
from rwn_core.measures.sentence import percent
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning.point import short_setting
from rwn_core.tuning.slice_presets import PRESETS, preset_slices
from rwn_ui.background import task as background_task
from rwn_ui.compare.view import take
from rwn_ui.features.scenario_trial import measured, scenario_draft
from rwn_ui.state import results
from rwn_ui.state.change_table import set_setting, toasted
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import KEPT, Session, first_setting
from rwn_ui.tune import view
from rwn_ui.widgets import live_sliders, sidebar
from rwn_ui.widgets import slices as slices_widget
from rwn_ui.widgets.live_sliders import controls
from rwn_ui.widgets.options import names_for
from tests.ui.following import CARDS_OF_TUNE, large_csv, shown

pytestmark = pytest.mark.usefixtures("few_people")


def load(session: Session, setting: rwn.Setting) -> None:
    """Go over to a setting from elsewhere, as the pages do."""
    with toasted(session):
        set_setting(session, setting, undo=True)


def choose(screen: Any, method: str) -> None:
    screen.find("selectbox", "Method").set_value(method).run()
    assert screen.errors == []


def same_as_mask(session: Session) -> bool:
    """True if the release on screen is the one that Python draws of the setting."""
    steps = dict(session.precision)
    release = rwn.mask(session.data, session.params, precision=steps, seed=session.seed)
    return bool(current_release(session).masked.masked.frame.equals(release.masked.frame))


OF_EVERY_SORT = ("rwn", "nbrs2015", "rank_swapping", "pram", "local_suppression", "cart_synthesis")
"""Methods with neighborhoods and without, for numbers, categories, whole records and models."""


def moved_halfway(session: Session, kind: type[rwn.Method]) -> None:
    """Move every slider to its middle, and the strength to the strong preset."""
    ready = prepared(session)
    sliders = live_sliders.controls(session, ready)["levers"]["sliders"]
    half = {
        each["name"]: each["low"] + (each["high"] - each["low"]) // each["step"] // 2 * each["step"]
        for each in sliders
    }
    strong = ready.prepared.presets["Strong"][kind.strength]
    view.apply_edits(session, [{"levers": half | {kind.strength: strong}}])


def cards_by_key(session: Session) -> dict[str, str]:
    return {orjson.loads(card)["key"]: card for card in shown(session)["cards"]}


@pytest.mark.parametrize("method", OF_EVERY_SORT)
def test_a_method_has_its_own_sliders_and_they_move_all_cards(session, method: str) -> None:
    kind = rwn.METHODS[method]
    setting = replace(session.setting, params=first_setting(method))
    set_setting(session, setting, KEPT, "Standard")
    ready = prepared(session)
    sliders = live_sliders.controls(session, ready)["levers"]["sliders"]
    assert [each["title"] for each in sliders] == [lever.title for lever in kind.levers]
    before = cards_by_key(session)
    moved_halfway(session, kind)
    after = cards_by_key(session)
    law = ready.prepared.law
    neighborhoods = None if law is None else law.neighborhoods
    assert len(before) == CARDS_OF_TUNE - ("neighborhood_size" not in before)
    assert ("neighborhood_size" in after) == (neighborhoods is not None)
    # what is said of some variables may be of those that a method leaves alone
    has_neighbors = neighborhoods is not None and neighborhoods.sizes.any()
    same = sum(before[key] == after[key] for key in before)
    assert same <= (0 if has_neighbors else 4)
    assert same_as_mask(session)


@pytest.mark.parametrize("method", OF_EVERY_SORT)
def test_a_card_has_a_reason_in_place_of_a_picture_where_a_column_is_suppressed(
    session, method: str
) -> None:
    kind = rwn.METHODS[method]
    setting = replace(session.setting, params=first_setting(method))
    set_setting(session, setting, KEPT, "Standard")
    moved_halfway(session, kind)
    cards = cards_by_key(session)
    suppressed = current_release(session).masked.masked.frame.isna().all().any()
    assert {key for key, card in cards.items() if "reason" in orjson.loads(card)} == (
        {"mahalanobis", "principal_components"} if suppressed else set()
    )


def test_a_setting_from_elsewhere_brings_its_method_and_its_options(session) -> None:
    selection = {"epsilon": 2.0, "q": 0.5, "record_selection": "bernoulli"}
    load(session, rwn.Setting.of("nbrs2015", selection))
    assert session.params == rwn.NBRS2015(**selection)
    load(session, rwn.Setting.of("rwn", {"k": 7, "scale": "range"}))
    assert session.params == RWN(epsilon=0.0, k=7, scale="range")
    assert "scale = range" in session.words
    load(session, rwn.Setting(params=RWN(epsilon=rwn.Radii([1.0] * 241), k=3)))
    assert session.params == RWN(epsilon=0.0, k=7, scale="range"), "no slider can show it"
    load(session, rwn.Setting(params=SoftRWN(kernel="exponential")))
    assert session.levers == {"width": 1.0, "balance": 0.0, "q": 1.0}


def test_an_option_is_called_by_words_wherever_a_setting_is_shown(session) -> None:
    setting = rwn.Setting(params=SoftRWN(bandwidth_k=80))
    load(session, setting)
    for words in (session.words, setting.words, short_setting(setting)):
        assert "neighbors that set the bandwidth" in words
        assert "bandwidth_k" not in words


def test_another_method_of_a_large_table_is_prepared_in_the_background(open_page, monkeypatch):
    screen = open_page("data").upload("large.csv", large_csv()).wait().visit("tune")
    with monkeypatch.context() as patch:  # work that only Cancel ends
        patch.setattr(background_task, "_compile", lambda task: task.check(60))
        choose(screen, "nbrs2015")
        assert screen.work.preparation is not None
        assert screen.session.method == "rwn"
        screen.test.run()
        screen.test.button(key="arrival.cancel").click().run()
    box = screen.find("selectbox", "Method")
    assert (screen.session.method, box.value) == ("rwn", "rwn")
    choose(screen, "nbrs2015")
    screen.wait()
    assert screen.errors == []
    assert screen.session.method == "nbrs2015"
    assert [*screen.sliders] == ["epsilon", "q"]
    assert same_as_mask(screen.session)


def test_a_list_of_methods_that_has_gone_from_the_page_changes_nothing(session, monkeypatch):
    """A browser may send its value once more, when a link has brought another method."""
    drawn: dict[str, Any] = {}
    changed: list[str] = []
    monkeypatch.setattr(sidebar, "st", SimpleNamespace(selectbox=lambda *_, **k: drawn.update(k)))
    monkeypatch.setattr(sidebar, "set_setting", lambda _, new, *more: changed.append(new.method))
    sidebar.method(session)
    sidebar.st.session_state = {drawn["key"]: "pram"}
    drawn["on_change"]()
    assert changed == ["pram"]
    session.set(rwn.Setting(params=first_setting("nbrs2015")))
    drawn["on_change"]()
    assert changed == ["pram"]


def test_options_make_the_release_and_can_be_undone(open_page) -> None:
    screen = open_page("tune", method="additive_noise")
    session = screen.session
    assert "Variables that travel together" not in [box.label for box in screen.test.selectbox]
    screen.option("selectbox", "shape").select("laplace").run()
    screen.option("toggle", "reflected").set_value(True).run()
    assert screen.errors == []
    assert (session.params.shape, session.params.reflected) == ("laplace", True)
    assert same_as_mask(session)
    assert session.words.endswith("shape = laplace · reflected = yes")
    screen.edit({"undo": True})
    assert screen.option("toggle", "reflected").value is session.params.reflected is False
    choose(screen, "record_swapping")
    screen.option("multiselect", "variables").set_value(["chest", "hip"]).run()
    assert session.params.variables == ("chest", "hip")
    assert same_as_mask(session)
    choose(screen, "rwn")
    screen.move(epsilon=0.05, k=5.0)
    screen.option("selectbox", "radius_variable").select("age").run()
    assert screen.errors == []
    assert session.params == RWN(epsilon=0.05, k=5, radius_variable="age")
    shown = current_release(session).masked.masked.frame
    for radii, is_it in ((0.05 * session.data.values("age"), True), (0.05, False)):
        own = rwn.mask(session.data, RWN(epsilon=radii, k=5), seed=session.seed)
        assert shown.equals(own.masked.frame) is is_it
    screen.edit({"undo": True})
    assert session.params.radius_variable is None


@pytest.mark.usefixtures("whole_demos")
def test_an_option_that_is_refused_says_why_and_changes_nothing(open_page) -> None:
    screen = open_page("tune")
    chosen = screen.option("selectbox", "neighbors")
    assert [title[:8] for title in chosen.options[1:]] == ["Method 1", "Method 2", "Method 3"]
    chosen.select("sample").run()
    assert (screen.session.params.neighbors, screen.session.params.m) == ("sample", 120)
    screen.option("number_input", "m").set_value(0).run()
    assert screen.session.params.m == 120
    assert screen.warnings == ["m must be a whole number of at least 1."]
    screen.option("number_input", "m").set_value(60).run()
    assert screen.warnings == []
    assert (screen.session.params.neighbors, screen.session.params.m) == ("sample", 60)
    screen.option("selectbox", "neighbors").select("partition").run()
    assert (screen.session.params.m, screen.session.params.u) == (None, 4)
    assert screen.errors == []


def test_an_option_names_released_variables_and_a_radius_numbers_that_stay_inside() -> None:
    schema = rwn.load_demo("pima").schema.replace_variable("age", role="identifier")
    for method, name in (("record_swapping", "variables"), ("rwn", "radius_variable")):
        (option,) = (each for each in method_options(rwn.METHODS[method]) if each.name == name)
        found = names_for(option, schema)
        assert ("age" in found) is (method == "rwn")
        assert ("test" in found) is (method != "rwn")
        assert "bmi" in found


def test_hard_to_soft_to_balance_and_back(open_page) -> None:
    screen = open_page("tune", q="0.8")
    session = screen.session
    before = screen.session.levers.copy()
    choose(screen, "soft_rwn")
    assert [*screen.sliders] == ["width", "balance", "q"]
    assert session.levers == {"width": 1.0, "balance": 0.0, "q": 0.8}
    screen.move(balance=1.0)
    screen.move(width=0.7)
    assert session.params == SoftRWN(balance=1.0, width=0.7, q=0.8)
    assert same_as_mask(session)
    size = next(c for c in screen.panel["cards"] if orjson.loads(c)["key"] == "neighborhood_size")
    assert "effective number of donors" in str(size)
    for balance in (1.0, 0.0):
        screen.edit({"undo": True})
        assert (session.method, session.levers["balance"]) == ("soft_rwn", balance)
    screen.edit({"undo": True})
    assert (session.method, session.levers) == ("rwn", before)
    # one click goes over, and one back
    screen.option("button", "Keep totals and spreads").click().run()
    assert session.params == SoftRWN(balance=1.0)
    screen.option("selectbox", "kernel").select("exponential").run()
    assert session.params == SoftRWN(kernel="exponential", balance=1.0)
    screen.option("button", "As published").click().run()
    assert (session.method, screen.errors) == ("rwn", [])
    assert session.levers == session.levers | prepared(session).prepared.presets["Standard"]


@pytest.mark.usefixtures("whole_demos")
@pytest.mark.parametrize("balance", [0.0, 1.0])
def test_some_records_of_a_table_are_shown_with_their_donors_among_all(monkeypatch, balance):
    monkeypatch.setattr(results, "LIVE_RECORDS", 200)
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    set_setting(session, rwn.Setting(params=SoftRWN(width=0.5, balance=balance)))
    view.apply_edits(session, [{"levers": {"width": 0.7}}])
    assert session.params.width == 0.7
    current = current_release(session)
    records = current.prepared.records
    assert len(records) == 200
    release = rwn.mask(session.data, session.params, seed=session.seed)
    np.testing.assert_array_equal(current.exact.donors, release.donors[records])


LABEL = "Variables that travel together"


def slice_by(screen: Any, title: str) -> None:
    key = next((key for key, each in PRESETS.items() if each.title == title), title)
    screen.find("selectbox", LABEL).set_value(key).run()
    assert screen.errors == []


def in_groups(session: Session) -> pd.DataFrame:
    """What Python releases for these slices, written as groups of the schema."""
    table = rwn.load_demo(session.name)
    for number, names in enumerate(session.slices):
        schema = table.schema
        for name in names:
            schema = schema.replace_variable(name, group=f"group {number}")
        table = table.with_schema(schema)
    return rwn.mask(table, session.params, seed=session.seed).masked.frame


def test_a_preset_of_slices_is_live_and_ranks_nothing_anew(open_page, monkeypatch) -> None:
    searches: list[object] = []  # each time that a table is prepared: its neighbors are ranked
    preview = NeighborhoodMethod.preview
    counted = lambda *of, **more: searches.append(of) or preview(*of, **more)  # noqa: E731
    monkeypatch.setattr(NeighborhoodMethod, "preview", counted)
    screen = open_page("tune", method="nbrs2015")
    count = len(searches)
    alone = current_release(screen.session).masked
    slice_by(screen, "Keys together | rest")
    session = screen.session
    assert session.slices == preset_slices(session.data, "keys_together")
    released = current_release(session).masked
    pd.testing.assert_frame_equal(released.masked.frame, in_groups(session))
    assert not released.masked.frame.equals(alone.masked.frame)
    assert sorted(map(sorted, released.law.units())) == sorted(map(sorted, session.slices))
    help_of = {each.value: each.help for each in screen.test.caption}
    shown = help_of[slices_widget._EACH_SLICE]
    told = "A row shows abdomen, ankle and 10 more of one person verbatim; who knows three of them "
    assert f"{told}may read the others." in shown
    assert shown.count("verbatim") == len(session.slices) == 2
    assert screen.words("caption").count("verbatim") == 1
    slice_by(screen, "Whole rows")
    assert len(searches) == count
    words = session.words
    assert words.startswith("The 2015 method · ε = ")
    assert words.endswith("abdomen + age + 13 more travel together")
    for page in ("utility", "risk", "compare", "find"):  # which have no slider of k then
        assert screen.visit(page).errors == []
        assert session.words == words


def test_own_slices_are_put_together_from_fields(open_page) -> None:
    screen = open_page("tune")
    slice_by(screen, "own")
    for field, names, slices in (
        ("Slice 1", ["age", "weight", "hip"], (("age", "hip", "weight"),)),
        ("Slice 2", ["knee"], (("age", "hip", "weight"),)),  # one alone is no slice
        ("Slice 2", ["knee", "hip"], (("age", "weight"), ("hip", "knee"))),
        ("Slice 1", [], (("hip", "knee"),)),
    ):
        screen.find("multiselect", field).set_value(names).run()
        assert screen.errors == []
        assert screen.session.slices == slices
        if len(slices) == 2:
            assert screen.find("multiselect", "Slice 1").value == ["age", "weight"]
    screen.visit("data").visit("tune")
    assert screen.session.slices == (("hip", "knee"),)
    assert screen.find("multiselect", "Slice 2").value == ["knee", "hip"]


def note_of(session: Session, lever: str) -> str:
    """What stands beside a slider."""
    levers = controls(session, prepared(session))["levers"]["sliders"]
    return {each["name"]: each["note"] for each in levers}[lever]


def test_slices_are_tied_or_predicted_and_say_what_that_keeps(open_page) -> None:
    screen = open_page("tune", method="soft_rwn", balance="1")
    session = screen.session
    slice_by(screen, "Keys together | rest")
    assert "ties keep" not in screen.panel["changed"]["least"]
    screen.option("toggle", "tie").set_value(True).run()
    assert screen.errors == []
    assert TIED[0] in screen.words("caption")
    told = []
    for width in (1.0, 2.0):
        screen.move(width=width)
        told.append(current_release(session).masked.law.tied.fitted.kept)
        assert f"ties keep {percent(told[-1])} of what relates" in screen.panel["changed"]["least"]
    assert told[0] != told[1]
    screen.option("toggle", "tie").set_value(False).run()
    screen.option("toggle", "by_prediction").set_value(True).run()
    assert screen.errors == []
    assert session.params.by_prediction
    assert PREDICTED[0] in screen.words("caption")
    release = current_release(session)
    assert release.masked.masked.frame.equals(in_groups(session))
    assert release.masked.law.telling() == [("age", "weight", "height")]
    # what a prediction does not take is said, and nothing changes
    screen.move(q=0.5)
    assert session.params.q == 1
    assert "Slices by prediction need q = 1" in note_of(session, "q")
    screen.find("selectbox", LABEL).set_value("whole").run()
    assert "needs two slices or more" in screen.errors[0]


@pytest.fixture
def tune(open_page) -> Any:
    screen = open_page("tune")
    screen.test.session_state["tune.0.precision.box"] = True
    screen.test.run()
    assert screen.errors == []
    return screen


def worst(screen: Any) -> float:
    nearest: str = screen.panel["verdict"]["nearest"]
    return float(nearest.partition(" %")[0].split()[-1])


@pytest.mark.usefixtures("whole_demos")
def test_one_choice_for_all_numbers_reaches_every_page(tune) -> None:
    session = tune.session
    exact = worst(tune)
    cards = tune.panel["cards"]
    tune.find("select_slider", "Steps for all numbers").set_value("0.5 SD").run()
    assert tune.errors == []
    assert session.precision == steps_by_name(given_steps(session.data, 0.5))
    assert worst(tune) < exact - 5
    assert session.words == "ε = 2 · k = 5 · q = 1 · numbers rounded to about 0.5 SD"
    assert session.words in tune.panel["summary"]["text"]
    assert sum(a != b for a, b in zip(cards, tune.panel["cards"], strict=True)) >= 6
    assert same_as_mask(session)
    precision = session.precision
    for page in ("utility", "risk", "find", "compare", "data"):
        assert tune.visit(page).errors == []
    assert tune.visit("tune").session.precision == precision
    assert worst(tune) < exact - 5


def test_steps_that_are_typed_in_are_the_release_and_survive_other_pages(tune, monkeypatch) -> None:
    typed: dict[str, float | None] = {"age": 5.0, "weight": 10.0}
    editor = st.data_editor
    session = tune.session

    def edited(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
        shown = editor(frame, **options)
        if "step" not in shown:
            return shown
        steps = [typed.get(n, s) for n, s in zip(shown["variable"], shown["step"], strict=True)]
        return shown.assign(step=pd.Series(steps, dtype="float64"))

    monkeypatch.setattr(st, "data_editor", edited)
    tune.test.run()
    assert tune.errors == []
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    assert "age in steps of 5, weight in steps of 10" in tune.panel["summary"]["text"]
    (slider,) = tune.test.select_slider
    assert slider.value == "own steps"
    good = tune.panel
    typed["age"] = -5.0
    tune.test.run()
    (sentence,) = tune.errors
    assert sentence.startswith("The release precision of age must be a number above 0")
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    assert tune.panel["cards"] == good["cards"], "the last good panel stays"
    assert tune.test.button(key="tune.0.keep"), "and so do the controls below"
    typed.clear()
    tune.visit("data").visit("tune")
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    for emptied, left in (({"age": None}, (("weight", 10.0),)), ({"weight": 0.0}, ())):
        typed |= emptied  # as is
        tune.test.session_state["tune.0.precision.box"] = True
        tune.test.run()
        assert session.precision == left


def test_a_scenario_keeps_the_precision_and_brings_it_back(session: Session) -> None:
    exact = measured(session.data, scenario_draft(session, "Exact"))
    coarse = steps_by_name(given_steps(session.data, 1.0))
    set_setting(session, replace(session.setting, precision=coarse))
    scenario = measured(session.data, scenario_draft(session, "Coarse"))
    again = Scenario.from_toml(scenario.to_toml())
    assert again.setting == session.setting
    risk = "bayes_linkage"
    assert scenario.readings[risk]["median"] < exact.readings[risk]["median"]
    set_setting(session, exact.setting)
    take(session, again)
    assert session.precision == coarse
    other = rwn.Setting.of("rwn", {"k": 5}, precision={"nowhere": 1.0})
    take(session, Scenario(setting=other))  # of another table: a toast, and all stays
    assert session.precision == coarse
