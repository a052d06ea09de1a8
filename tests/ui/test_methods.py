"""Methods, their options and soft kernels on the pages: sliders, links, undo, other pages."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest

import rwn_core as rwn
from rwn_core.masking import RWN, SoftRWN, method_options
from rwn_core.reporting.project import Project
from rwn_ui.background import task as background_task
from rwn_ui.features.project import current_project
from rwn_ui.state import results
from rwn_ui.state.address import _parts, address
from rwn_ui.state.change_table import set_setting, toasted
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session, first_setting
from rwn_ui.widgets import sidebar
from rwn_ui.widgets.options import names_for
from tests.ui.large_table import csv


def load(session: Session, setting: rwn.Setting) -> None:
    """Go over to a setting from elsewhere, as the pages do."""
    with toasted(session):
        set_setting(session, setting, undo=True)


def choose(screen, method: str) -> None:
    """Take a method in the sidebar of Tune."""
    box = screen.find("selectbox", "Method")
    box.set_value(method).run()


def drawn(screen) -> dict[str, str]:
    """The cards on screen as they were written, by key."""
    return {orjson.loads(card)["key"]: card for card in screen.panel["cards"]}


OF_EVERY_SORT = ("rwn", "nbrs2015", "rank_swapping", "pram", "local_suppression", "cart_synthesis")
"""Methods with neighborhoods and without, for numbers, categories, whole records and models."""


@pytest.mark.parametrize("method", OF_EVERY_SORT)
def test_a_method_has_its_own_sliders_and_they_move_all_cards(open_page, method: str) -> None:
    screen = open_page("tune")
    if method != screen.session.method:
        choose(screen, method)
    levers = rwn.METHODS[method].levers
    titles = [slider.label for slider in screen.live_sliders()]
    assert titles == [lever.title for lever in levers]
    assert screen.errors == []
    before = drawn(screen)
    assert len(before) == 8 + ("neighborhood_size" in before)
    strength = screen.slider(rwn.METHODS[method].strength)
    strong = prepared(screen.session).prepared.presets["Strong"]
    strength.set_value(strong[rwn.METHODS[method].strength]).run()
    for lever in levers:
        if lever.name != rwn.METHODS[method].strength:
            slider = screen.slider(lever.name)
            steps = (slider.max - slider.min) // slider.step
            slider.set_value(slider.min + slider.step * (steps // 2))
            slider.run()
    after = drawn(screen)
    same = {key for key in before if before[key] == after[key]}
    reasons = {key for key, card in after.items() if "reason" in orjson.loads(card)}
    law = prepared(screen.session).prepared.law
    neighborhoods = None if law is None else law.neighborhoods
    wanted = set()
    assert ("neighborhood_size" in after) == (neighborhoods is not None)
    if current_release(screen.session).masked.masked.frame.isna().all().any():
        wanted |= {"mahalanobis", "principal_components"}  # a key was suppressed altogether
    assert reasons == wanted
    # what is said of some variables may be of those that a method leaves alone
    has_neighbors = neighborhoods is not None and neighborhoods.sizes.any()
    assert len(same) <= (0 if has_neighbors else 4)
    release = rwn.mask(screen.session.data, screen.session.params, seed=screen.session.seed)
    shown = current_release(screen.session).masked.masked
    assert shown.frame.equals(release.masked.frame)


def test_the_2015_method_on_the_other_pages(open_page) -> None:
    screen = open_page("tune")
    choose(screen, "nbrs2015")
    words = screen.session.words
    assert words.startswith("The 2015 method · ε = ")
    for page in ("utility", "risk", "compare", "find"):
        assert screen.visit(page).errors == []
        assert screen.session.words == words
        assert "Minimum neighbors k" not in [slider.label for slider in screen.live_sliders()]


def test_a_link_brings_its_method(open_page) -> None:
    screen = open_page("tune", method="nbrs2015", epsilon="2.5", q="0.5")
    assert screen.session.words == "The 2015 method · ε = 2.5 · q = 0.5"
    assert parts(screen.session)["method"] == "nbrs2015"
    screen.session.set(replace(screen.session.setting, weights=(("age", 2.0),)))
    assert "weight" in parts(screen.session)
    screen.session.set(replace(screen.session.setting, params=first_setting("pram")))
    assert "weight" not in parts(screen.session), "it has no use for them"
    assert not screen.test.warning
    screen = open_page("tune", method="swap")
    (warning,) = screen.test.warning
    assert warning.value.startswith("method of the link must be one of: rwn, soft")


def test_a_setting_from_elsewhere_brings_its_method_and_its_options(open_page) -> None:
    screen = open_page("tune")
    selection = {"epsilon": 2.0, "q": 0.5, "record_selection": "bernoulli"}
    load(screen.session, rwn.Setting.of("nbrs2015", selection))
    assert screen.session.params == rwn.NBRS2015(**selection)
    load(screen.session, rwn.Setting.of("rwn", {"k": 7, "scale": "range"}))
    assert screen.session.params == rwn.RWN(epsilon=0.0, k=7, scale="range")
    assert "scale = range" in screen.session.words
    load(screen.session, rwn.Setting(params=rwn.RWN(epsilon=rwn.Radii([1.0] * 241), k=3)))
    assert screen.session.params == rwn.RWN(epsilon=0.0, k=7, scale="range")
    screen.test.run()
    assert screen.errors == []


def test_another_method_of_a_large_table_is_prepared_in_the_background(open_page, monkeypatch):
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
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
    assert [slider.label for slider in screen.live_sliders()] == [
        lever.title for lever in rwn.NBRS2015.levers
    ]
    key = rwn.SecretKey.from_seed(screen.session.seed)
    release = rwn.mask(screen.session.data, screen.session.params, seed=key)
    shown = current_release(screen.session).masked
    assert (shown.donors == release.donors).all()


def test_a_list_of_methods_that_has_gone_from_the_page_changes_nothing(monkeypatch) -> None:
    """A browser may send its value once more, when a link has brought another method."""
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    drawn: dict[str, Any] = {}
    changed: list[str] = []
    monkeypatch.setattr(sidebar, "st", SimpleNamespace(selectbox=lambda *_, **k: drawn.update(k)))
    monkeypatch.setattr(
        sidebar, "set_setting", lambda _, setting, *more: changed.append(setting.method)
    )
    sidebar.method(session)
    sidebar.st.session_state = {drawn["key"]: "pram"}
    drawn["on_change"]()
    assert changed == ["pram"]
    session.set(rwn.Setting(params=first_setting("nbrs2015")))
    drawn["on_change"]()
    assert changed == ["pram"]


def parts(session: Session) -> dict[str, str]:
    """What the address of a session says, by name."""
    return _parts(address(session))


def test_an_option_makes_the_release_and_can_be_undone(open_page) -> None:
    screen = open_page("tune", method="additive_noise")
    assert "Variables that travel together" not in [box.label for box in screen.test.selectbox]
    screen.option("selectbox", "shape").select("laplace").run()
    screen.option("toggle", "reflected").set_value(True).run()
    assert screen.errors == []
    params = screen.session.params
    assert (params.shape, params.reflected) == ("laplace", True)
    shown = current_release(screen.session).masked.masked
    release = rwn.mask(screen.session.data, params, seed=screen.session.seed)
    assert shown.frame.equals(release.masked.frame)
    assert screen.session.words.endswith("shape = laplace · reflected = yes")
    link = address(screen.session)
    assert link.keys() == {"demo", "setting"}
    assert "*shape*laplace*reflected*1" in link["setting"]
    screen.edit({"undo": True})
    assert screen.session.params.reflected is False
    assert screen.option("toggle", "reflected").value is False
    again = open_page("tune", **{name: text for name, text in link.items() if name != "demo"})
    assert again.session.params == params


def test_an_option_that_is_refused_says_why_and_changes_nothing(open_page) -> None:
    screen = open_page("tune")
    chosen = screen.option("selectbox", "neighbors")
    assert [title[:8] for title in chosen.options[1:]] == ["Method 1", "Method 2", "Method 3"]
    chosen.select("sample").run()
    assert (screen.session.params.neighbors, screen.session.params.m) == ("sample", 120)
    screen.option("number_input", "m").set_value(0).run()
    assert screen.session.params.m == 120
    (warning,) = screen.test.warning
    assert warning.value == "m must be a whole number of at least 1."
    screen.option("number_input", "m").set_value(60).run()
    assert not screen.test.warning
    assert (screen.session.params.neighbors, screen.session.params.m) == ("sample", 60)
    screen.option("selectbox", "neighbors").select("partition").run()
    assert (screen.session.params.m, screen.session.params.u) == (None, 4)
    assert screen.errors == []


def test_a_variable_gives_each_record_its_radius_on_tune_and_in_a_link(open_page) -> None:
    screen = open_page("tune", epsilon="0.05", k="5")
    screen.option("selectbox", "radius_variable").select("age").run()
    assert screen.errors == []
    session = screen.session
    assert session.params == rwn.RWN(epsilon=0.05, k=5, radius_variable="age")
    shown = current_release(session).masked.masked.frame
    radii = 0.05 * session.data.values("age")
    own = rwn.mask(session.data, rwn.RWN(epsilon=radii, k=5), seed=session.seed).masked.frame
    one = rwn.mask(session.data, rwn.RWN(epsilon=0.05, k=5), seed=session.seed).masked.frame
    assert shown.equals(own)
    assert not shown.equals(one)
    link = parts(session)
    assert "age" not in link.values()
    again = open_page("tune", epsilon="0.05", k="5", radius_variable=link["radius_variable"])
    assert again.session.params == session.params
    screen.edit({"undo": True})
    assert screen.session.params.radius_variable is None


def test_chosen_variables_are_numbers_in_a_link_and_matrices_too(open_page) -> None:
    screen = open_page("tune", method="record_swapping")
    screen.option("multiselect", "variables").set_value(["chest", "hip"]).run()
    assert screen.session.params.variables == ("chest", "hip")
    names = [variable.name for variable in screen.session.data.schema.released]
    numbers = f"{names.index('chest')}-{names.index('hip')}"
    link = parts(screen.session)
    assert link["variables"] == numbers
    assert "chest" not in "".join(link.values())
    again = open_page("tune", method="record_swapping", variables=numbers)
    assert again.session.params.variables == ("chest", "hip")


def test_an_option_names_released_variables_and_a_radius_numbers_that_stay_inside() -> None:
    schema = rwn.load_demo("pima").schema.replace_variable("age", role="identifier")
    for method, name in (("record_swapping", "variables"), ("rwn", "radius_variable")):
        (option,) = (each for each in method_options(rwn.METHODS[method]) if each.name == name)
        found = names_for(option, schema)
        assert ("age" in found) is (method == "rwn")
        assert ("test" in found) is (method != "rwn")
        assert "bmi" in found


def test_options_of_a_link_that_cannot_be_used_are_said(open_page) -> None:
    screen = open_page("tune", method="pram", spread="odd")
    (warning,) = screen.test.warning
    assert "spread must be one of" in warning.value
    assert screen.session.options == ()
    screen = open_page("tune", method="record_swapping", variables="99")
    (warning,) = screen.test.warning
    assert warning.value.startswith("variables of the link cannot be read")


def sliders(screen) -> list[str]:
    return [each.name for each in screen.live_sliders()]


def test_hard_to_soft_to_balance_and_back(open_page) -> None:
    screen = open_page("tune", q="0.8")
    before = screen.session.levers.copy()
    choose(screen, "soft_rwn")
    assert screen.errors == []
    assert sliders(screen) == ["width", "balance", "q"]
    assert screen.session.levers == {"width": 1.0, "balance": 0.0, "q": 0.8}
    screen.slider("balance").set_value(1.0).run()
    screen.slider("width").set_value(0.7).run()
    params = screen.session.params
    assert params == SoftRWN(balance=1.0, width=0.7, q=0.8)
    shown = current_release(screen.session).masked.masked
    release = rwn.mask(screen.session.data, params, seed=screen.session.seed)
    assert shown.frame.equals(release.masked.frame)
    size = next(c for c in screen.panel["cards"] if orjson.loads(c)["key"] == "neighborhood_size")
    assert "effective number of donors" in str(size)
    for balance in (1.0, 0.0):
        screen.edit({"undo": True})
        assert screen.session.method == "soft_rwn"
        assert screen.session.levers["balance"] == balance
    screen.edit({"undo": True})
    assert screen.session.method == "rwn"
    assert screen.session.levers == before
    assert screen.errors == []


def test_one_click_goes_over_to_soft_neighborhoods_and_one_back(open_page) -> None:
    screen = open_page("tune", q="0.5")
    screen.option("button", "Keep totals and spreads").click().run()
    assert screen.session.params == SoftRWN(balance=1.0)
    screen.option("selectbox", "kernel").select("exponential").run()
    assert screen.session.params == SoftRWN(kernel="exponential", balance=1.0)
    screen.option("button", "As published").click().run()
    assert screen.session.method == "rwn"
    assert screen.preset == "Standard"
    assert screen.errors == []


def test_a_link_a_project_and_a_scenario_bring_a_soft_setting_back(open_page) -> None:
    asked = {"kernel": "gaussian", "balance": "1", "cap": "0.2", "width": "0.65", "q": "0.9"}
    asked |= {"own_donors": "1"}  # own is whose table it is
    screen = open_page("tune", **asked)  # as links were written before the method had a name
    assert not screen.test.warning
    params = SoftRWN(balance=1.0, cap=0.2, own=True, width=0.65, q=0.9)
    assert screen.session.params == params
    link = address(screen.session)
    del asked["kernel"]
    assert parts(screen.session) == asked | {"method": "soft_rwn"} | link
    again = open_page("tune", **link)
    assert again.session.params == params
    assert open_page("tune", method="rwn", kernel="even", k="7").session.params.k == 7
    project = Project.from_toml(current_project(screen.session).to_toml())
    assert project.present.setting.params == params
    load(screen.session, rwn.Setting(params=RWN(k=7, epsilon=0.5)))
    assert screen.session.params == RWN(k=7, epsilon=0.5)
    load(screen.session, project.present.setting)
    assert screen.session.params == params
    load(screen.session, rwn.Setting(params=SoftRWN(kernel="exponential")))
    assert screen.session.levers == {"width": 1.0, "balance": 0.0, "q": 1.0}


@pytest.mark.parametrize("balance", ["0", "1"])
def test_some_records_of_a_table_are_shown_with_their_donors_among_all(
    open_page, monkeypatch, balance: str
) -> None:
    monkeypatch.setattr(results, "LIVE_RECORDS", 200)
    screen = open_page("tune", kernel="gaussian", width="0.5", balance=balance)
    assert not screen.test.warning
    screen.slider("width").set_value(0.7).run()
    assert screen.errors == []
    shown = current_release(screen.session)
    records = shown.prepared.records
    release = rwn.mask(screen.session.data, screen.session.params, seed=screen.session.seed)
    assert len(records) == 200
    np.testing.assert_array_equal(shown.exact.donors, release.donors[records])
    assert screen.session.params.width == 0.7
