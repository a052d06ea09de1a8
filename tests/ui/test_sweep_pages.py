"""The Sweep page, and variables that travel together: chosen, undone, linked, saved, swept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.reporting import places_on_map
from rwn_core.reporting.scenario import SavedSearch
from rwn_core.tuning import Grid, Plan, Point, Setting, Sweep, SweepRun
from rwn_core.tuning.slice_presets import PRESETS, preset_slices
from rwn_ui.state import address
from rwn_ui.state.change_table import reslice
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Pin, Session
from rwn_ui.sweep import cards as sweep_cards
from rwn_ui.sweep import form, goal_seek
from rwn_ui.sweep import form as sweep_form
from rwn_ui.sweep import pick as sweep_pick
from rwn_ui.sweep import run as sweep_run
from rwn_ui.widgets import slices
from tests.ui.following import until
from tests.ui.one_page import PAGES, field, session_of, work_of

pytestmark = pytest.mark.usefixtures("sweeps_folder")


@pytest.fixture
def sweep_page(sweeps_folder: Path) -> Iterator[AppTest]:
    page = AppTest.from_file(str(PAGES / "sweep.py"), default_timeout=60).run()
    yield page
    work_of(page).end()


def small(page: AppTest) -> None:
    """Fill in a sweep of two settings and start it."""
    field(page, "text_input", "Radius ε (standard deviations)").set_value("2")
    field(page, "text_input", "Minimum neighbors k").set_value("3, 5")
    field(page, "text_input", "Modification probability q").set_value("1")
    field(page, "multiselect", "Release precision of all numbers").set_value(["as is"])
    field(page, "multiselect", "Variables that travel together").set_value([()])
    field(page, "multiselect", "Measures").set_value(["correlation", "distance_linkage"])
    field(page, "number_input", "Releases").set_value(2)
    field(page, "button", "Start sweep").click()
    page.run()


def wait(page: AppTest) -> None:
    run = work_of(page).sweep
    until(lambda: not run.running, 180)
    page.run()


def test_no_map_is_drawn_before_the_first_setting_is_read(sweep_page: AppTest, monkeypatch) -> None:
    """Formerly a lone diamond stood on an axis from .062 to .066 above "0 settings"."""
    maps: list[Sweep] = []
    drawn = sweep_cards.draw_map

    def counted(session: Session, sweep: Sweep, *rest: Any, **more: Any) -> Any:
        maps.append(sweep)
        return drawn(session, sweep, *rest, **more)

    monkeypatch.setattr(sweep_cards, "draw_map", counted)
    with monkeypatch.context() as patch:
        patch.setattr(SweepRun, "sweep", lambda run: Sweep.from_points(run.plan, [], 2))
        patch.setattr(SweepRun, "running", property(lambda run: True))
        small(sweep_page)
        assert not sweep_page.error
        assert maps == []
        waits = "The map appears with the first setting that has been read."
        assert waits in [each.value for each in sweep_page.caption]
    wait(sweep_page)
    assert [len(each) for each in maps][-1:] == [2]
    assert waits not in [each.value for each in sweep_page.caption]


def test_the_first_form_is_a_sweep_within_the_sliders_ranges(sweep_page: AppTest) -> None:
    session = session_of(sweep_page)
    search = sweep_form.first_search(session)
    assert len(search.grid) == 60
    ends = prepared(session).prepared.ranges["epsilon"]
    assert max(search.grid.axes["epsilon"]) <= ends.high + 1e-9
    assert [len(each) for each in search.grid.precision] == [0, len(session.data.numeric_names)]
    alone, together = search.grid.slices
    assert alone == ()
    assert max(map(len, together)) > 1
    assert not sweep_page.error


def check_marks_on_the_map(session: Session, sweep: Sweep) -> None:
    """The present setting is on the map though it was not swept, and so is a pin."""
    session.move(k=4)
    chart = sweep_cards.draw_map(
        session, sweep, "correlation", "distance_linkage", limit=None, along=None
    )
    now = chart["data"][-1]
    reading = current_release(session).readings["distance_linkage"]
    assert (now["name"], now["y"]) == ("now", [reading.value])
    assert "one release" in now["hovertext"][0]
    session.pins["A"] = Pin(text="before", values={"correlation": 0.1, "distance_linkage": 0.2})
    chart = sweep_cards.draw_map(
        session, sweep, "correlation", "distance_linkage", limit=None, along=None
    )
    assert next(t for t in chart["data"] if t["name"] == "A")["x"] == [0.1]


def test_a_sweep_from_the_form_to_its_kept_points(sweep_page: AppTest, sweeps_folder: Path) -> None:
    small(sweep_page)
    wait(sweep_page)
    session = session_of(sweep_page)

    # a click on the map or the table chooses, and loads nothing
    before = session.setting.key
    points = work_of(sweep_page).sweep.sweep().points
    shown = sweep_page.dataframe[0].value
    assert list(shown["setting"]) == [point.setting.words for point in points]
    medians = [point.median("correlation") for point in points]
    assert list(shown["Correlations"]) == pytest.approx(medians, rel=1e-3)
    for point in points:
        sweep_page.session_state["sweep.0.picked"] = None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(st, "session_state", sweep_page.session_state)
            patch.setattr(sweep_pick, "user_work", lambda: work_of(sweep_page))
            sweep_pick.pick(session, point.setting.key)
        sweep_page.run()
        select = next(s for s in sweep_page.selectbox if s.label.startswith("Setting"))
        assert select.value == point.setting.key
        assert session.setting.key == before
        assert not sweep_page.toast
    assert any("range of only 2 releases" in caption.value for caption in sweep_page.caption)

    check_marks_on_the_map(session, work_of(sweep_page).sweep.sweep())

    # a setting is loaded into Tune
    assert work_of(sweep_page).sweep.refusal == ""
    assert len(work_of(sweep_page).sweep.sweep()) == 2
    assert set(work_of(sweep_page).sweep.sweep().references) == {"original", "no data"}
    session.set(session.setting, prepared(session).prepared, "Strong")
    select = next(s for s in sweep_page.selectbox if s.label.startswith("Setting"))
    wanted = next(p for p in work_of(sweep_page).sweep.sweep() if p.setting.params.k == 3)
    select.set_value(wanted.setting.key).run()
    field(sweep_page, "button", "Load into Tune").click().run()
    assert (session.levers["epsilon"], session.levers["k"], session.levers["q"]) == (2.0, 3, 1.0)
    assert session.history.has(-1)
    assert not sweep_page.error

    # a new session finds the kept points, and continues where some are missing
    again = AppTest.from_file(str(PAGES / "sweep.py"), default_timeout=60).run()
    assert any("2 of 2 settings are finished" in text.value for text in again.markdown)
    assert not [button for button in again.button if button.label == "Go on with it"]
    field(again, "button", "Show it").click().run()
    assert len(work_of(again).sweep.sweep()) == 2
    assert not work_of(again).sweep.running
    point = next(
        p for p in sweeps_folder.glob("*/*.json") if p.stem not in ("manifest", "forecast")
    )
    point.unlink()
    again = AppTest.from_file(str(PAGES / "sweep.py"), default_timeout=60).run()
    assert any("1 of 2 settings are finished" in text.value for text in again.markdown)
    assert not [button for button in again.button if button.label == "Show it"]
    field(again, "button", "Go on with it").click().run()
    wait(again)
    assert len(work_of(again).sweep.sweep()) == 2
    assert len(work_of(again).sweep.sweep().references) == 2


def test_methods_are_swept_side_by_side(sweep_page: AppTest) -> None:
    methods = field(sweep_page, "multiselect", "Methods").set_value(["rwn", "nbrs2015"])
    assert methods.options == [method.title for method in rwn.METHODS.values()]
    small(sweep_page)
    field(sweep_page, "text_input", "Radius ε (standard deviations)").set_value("0.5, 1")
    field(sweep_page, "button", "Start sweep").click()
    sweep_page.run()
    wait(sweep_page)
    methods = sorted(point.setting.method for point in work_of(sweep_page).sweep.sweep())
    assert methods == ["nbrs2015"] * 2 + ["rwn"] * 4
    assert not sweep_page.error
    shown = sweep_page.dataframe[0].value  # at these radii the 2015 method loses most records
    few = shown[shown["records released, %"] < 50][["keeps all limits", "on the frontier"]]
    assert set(few.to_numpy().ravel()) == {"no"}
    assert [c.value for c in sweep_page.caption if c.value.startswith("2 settings release fewer")]


def test_a_method_without_a_parameter_has_no_place_on_its_heat_map() -> None:
    settings = [Setting.of("rwn", {"epsilon": e, "k": k}) for e in (1, 2) for k in (3, 5)]
    settings += [Setting.of("nbrs2015", {"epsilon": e, "q": q}) for e in (1, 2) for q in (0.5, 1)]
    assert sweep_cards.slices(settings, "epsilon", "k") == ["q = 1"]
    assert sweep_cards.slices(settings, "epsilon", "q") == ["k = 3", "k = 5", "The 2015 method"]
    assert sweep_cards.slices(settings[4:], "epsilon", "k") == []
    for rest in ("q = 1", ""):
        sweep_cards.draw_surface(
            settings,
            Sweep(points=(), plan=Plan(measures=("correlation",)), wanted=8),
            places_on_map.axis("correlation", 100, risk=False),
            ("epsilon", "k", rest),
            limit=None,
            forecasts={},
        )


def test_the_form_shows_the_search_that_a_scenario_brings(sweep_page: AppTest) -> None:
    session, label = session_of(sweep_page), "Minimum neighbors k"
    sweep_page.session_state["sweep.0.k"] = "7:9:1"
    session.setting = replace(
        session.setting, precision=(("age", 5.0),)
    )  # it changes the first form, not what somebody typed
    sweep_page.run()
    assert field(sweep_page, "text_input", label).value == "7:9:1"
    grid, plan = Grid(axes={"k": (4, 6)}), Plan(measures=("correlation",), releases=3)
    session.search = SavedSearch(grid=grid, plan=plan)
    sweep_page.run()
    assert field(sweep_page, "text_input", label).value == "4, 6"
    assert field(sweep_page, "number_input", "Releases").value == 3
    field(sweep_page, "text_input", label).set_value("2:4:1")
    field(sweep_page, "text_input", "Radius ε (standard deviations)").set_value("2")
    field(sweep_page, "text_input", "Modification probability q").set_value("1")
    field(sweep_page, "button", "Start sweep").click().run()
    assert field(sweep_page, "text_input", label).value == "2:4:1"  # as it was typed
    assert session.search.grid.axes["k"] == (2, 3, 4)


def test_nonsense_in_the_form_is_a_sentence(sweep_page: AppTest) -> None:
    for label, text, word, right in (
        ("Minimum neighbors k", "3,,5", "must be values", "3"),
        ("Minimum neighbors k", "0", "k must be", "3"),
        ("Modification probability q", "2", "q must be", "1"),
    ):
        field(sweep_page, "text_input", label).set_value(text)
        field(sweep_page, "button", "Start sweep").click().run()
        assert any(word in error.value for error in sweep_page.error)
        assert work_of(sweep_page).sweep is None
        field(sweep_page, "text_input", label).set_value(right)


def test_the_folder_is_the_users_own(sweeps_folder: Path) -> None:
    assert sweep_run.sweeps_folder().stat().st_mode & 0o077 == 0


LABEL = "Variables that travel together"


def choose(screen: Any, title: str) -> Any:
    key = next((key for key, each in PRESETS.items() if each.title == title), title)
    field(screen.test, "selectbox", LABEL).set_value(key).run()
    assert screen.errors == []
    return screen


def wanted(session: Any) -> pd.DataFrame:
    """What Python releases for these slices, written as groups of the schema."""
    table = rwn.load_demo(session.name)
    for number, names in enumerate(session.slices):
        schema = table.schema
        for name in names:
            schema = schema.replace_variable(name, group=f"group {number}")
        table = table.with_schema(schema)
    return rwn.mask(table, session.params, seed=session.seed).masked.frame


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Each time that a table is prepared: its neighbors are ranked then."""
    found: list[object] = []
    preview = NeighborhoodMethod.preview

    def counted(self: Any, *args: Any, **more: Any) -> Any:
        found.append(self)
        return preview(self, *args, **more)

    monkeypatch.setattr(NeighborhoodMethod, "preview", counted)
    return found


@pytest.mark.parametrize("method", ["rwn", "nbrs2015"])
def test_a_preset_is_live_and_ranks_nothing_anew(open_page, searches, method) -> None:
    screen = open_page("tune", method=method)
    count, alone = len(searches), current_release(screen.session).masked
    choose(screen, "Keys together | rest")
    session = screen.session
    assert session.slices == preset_slices(session.data, "keys_together")
    shown = current_release(session)
    pd.testing.assert_frame_equal(shown.masked.masked.frame, wanted(session))
    assert not shown.masked.masked.frame.equals(alone.masked.frame)
    assert sorted(map(sorted, shown.masked.law.units())) == sorted(map(sorted, session.slices))
    captions = [each.value for each in screen.test.caption]
    assert any(
        "A row shows abdomen, ankle and 10 more of one person verbatim; who knows three of them "
        "may read the others." in each
        for each in captions
    )
    choose(screen, "Whole rows")
    assert len(searches) == count
    assert session.words.endswith("abdomen + age + 13 more travel together")


def test_own_slices_are_put_together_from_fields(open_page) -> None:
    screen = open_page("tune")
    choose(screen, "own")
    field(screen.test, "multiselect", "Slice 1").set_value(["age", "weight", "hip"]).run()
    assert screen.session.slices == (("age", "hip", "weight"),)
    field(screen.test, "multiselect", "Slice 2").set_value(["knee"]).run()
    assert screen.session.slices == (("age", "hip", "weight"),)  # one alone is no slice
    field(screen.test, "multiselect", "Slice 2").set_value(["knee", "hip"]).run()
    assert screen.session.slices == (("age", "weight"), ("hip", "knee"))
    assert field(screen.test, "multiselect", "Slice 1").value == ["age", "weight"]
    assert screen.errors == []
    field(screen.test, "multiselect", "Slice 1").set_value([]).run()
    assert screen.session.slices == (("hip", "knee"),)
    screen.visit("data").visit("tune")
    assert screen.session.slices == (("hip", "knee"),)
    assert field(screen.test, "multiselect", "Slice 2").value == ["knee", "hip"]


def test_a_link_names_no_variable_and_brings_the_slices(open_page) -> None:
    screen = open_page("tune")
    choose(screen, "Keys together | rest")
    link = screen.panel["address"]
    assert "*slices*" in link["setting"]
    assert not any(
        name in link["setting"].split("*slices*")[1] for name in screen.session.data.names
    )
    other = open_page("tune", **link)
    assert other.session.slices == screen.session.slices


@pytest.mark.parametrize("text", ["1-99", "a-b", "1-1", "1", "1-2_2-3"])
def test_bad_slices_of_a_link_are_a_sentence(text: str) -> None:
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    (sentence,) = address.take_setting(session, {"slices": text})
    assert sentence.startswith("slices of the link must be")
    assert session.slices == ()


def test_a_table_with_groups_keeps_its_own_as_a_choice() -> None:
    table = rwn.load_demo("randhie").take(np.arange(200))
    session = Session(name="some", demo="some", data=table)
    (health,) = table.schema.slices
    assert slices.choices(session)[slices.TABLE] == (health,)
    assert "slices" not in address.address(session)["setting"]
    reslice(session, ())
    assert slices.choices(session)[slices.TABLE] == (health,)
    for link in (address._parts(address.address(session)), {"slices": "_"}):
        other = Session(name="some", demo="some", data=table)
        assert address.take_setting(other, link) == []
        assert other.slices == ()


def test_the_sweep_form_tries_slices(open_page, sweeps_folder) -> None:
    screen = open_page("tune")
    choose(screen, "Keys together | rest")
    session, chosen = screen.session, screen.session.slices
    screen.visit("sweep")
    shown = field(screen.test, "multiselect", LABEL)
    assert shown.value == [chosen]
    assert form.read(session).grid.slices == (chosen,)
    shown.set_value([(), chosen])
    start = screen.find("button", "Start sweep")
    begun: list[Any] = []
    screen.test.session_state["rwn.user"].work.sweep = None
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(form.sweep_run, "begin", lambda *args: begun.append(args))
        start.click().run()
    assert screen.errors == []
    ((_, (grid,), _),) = begun
    assert grid.slices == ((), chosen)


@pytest.mark.parametrize("reached", [True, False])
def test_the_button_searches_slices_and_loads_them(
    open_page, at_once, monkeypatch, reached
) -> None:
    slices_found = (("age", "weight"),)

    def answered(**arguments: Any) -> rwn.SearchAnswer:
        setting = Setting.of("rwn", {"epsilon": 4.0, "k": 5}, slices=slices_found)
        point = Point(setting=setting.resolved(arguments["microdata"]), spreads={})
        return rwn.SearchAnswer.of_point(arguments["policy"], point, reached=reached, tried=1)

    monkeypatch.setattr(goal_seek, "seek_slices", answered)
    monkeypatch.setattr(goal_seek, "Job", at_once)
    screen = open_page("sweep")
    screen.press("Search slices")
    assert screen.errors == []
    said = screen.test.success if reached else screen.test.warning
    assert any("age + weight travel together" in each.value for each in said)
    screen.press("Load it into Tune")
    assert screen.session.slices == slices_found
    assert screen.session.levers["epsilon"] == 4.0
