"""Every method on every page: its own sliders, cards, numbers, links and undo."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_core.tuning import Setting
from rwn_ui.background import preparation
from rwn_ui.state.address import address
from rwn_ui.state.load_setting import load
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.widgets import sidebar
from tests.ui.large_table import csv


def choose(screen, method: str) -> None:
    """Take a method in the sidebar of Tune."""
    box = next(box for box in screen.test.selectbox if box.label == "Method")
    box.set_value(method).run()


def drawn(screen) -> dict[str, str]:
    """The cards on screen as they were written, by key."""
    return {orjson.loads(card)["key"]: card for card in screen.panel["cards"]}


OF_EVERY_SORT = ("rwn", "nbrs2015", "rank_swapping", "pram", "local_suppression", "cart_synthesis")
"""Methods with neighborhoods and without, for numbers, categories, whole records and models."""


@pytest.mark.parametrize(
    "method",
    [
        # the sliders of the others are those of their record (contracts, test_session)
        name if name in OF_EVERY_SORT else pytest.param(name, marks=pytest.mark.nightly)
        for name in rwn.METHODS
    ],
)
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
    for page in ("utility", "risk", "compare", "sweep"):
        assert screen.visit(page).errors == []
        assert screen.session.words == words
        assert "Minimum neighbors k" not in [slider.label for slider in screen.live_sliders()]


def test_a_lever_that_both_methods_have_stays_where_it_is(open_page) -> None:
    screen = open_page("tune")
    screen.slider("epsilon").set_value(3.3).run()
    choose(screen, "nbrs2015")
    assert screen.session.levers == {"epsilon": 3.3, "q": 1.0}
    assert screen.slider("epsilon").value == 3.3
    screen.edit({"undo": True})
    assert screen.session.method == "rwn"
    assert screen.session.levers["epsilon"] == 3.3
    screen.edit({"redo": True})
    assert screen.session.method == "nbrs2015"


def test_a_link_brings_its_method(open_page) -> None:
    screen = open_page("tune", method="nbrs2015", epsilon="2.5", q="0.5")
    assert screen.session.words == "The 2015 method · ε = 2.5 · q = 0.5"
    assert address(screen.session)["method"] == "nbrs2015"
    assert not screen.test.warning
    screen = open_page("tune", method="swap")
    (warning,) = screen.test.warning
    assert warning.value.startswith("method of the link must be one of: rwn, nbrs2015")


def test_a_setting_from_elsewhere_brings_its_method_and_its_options(open_page) -> None:
    screen = open_page("tune")
    selection = {"epsilon": 2.0, "q": 0.5, "record_selection": "bernoulli"}
    load(screen.session, Setting.of("nbrs2015", selection))
    assert screen.session.params == rwn.NBRS2015(**selection)
    load(screen.session, Setting.of("rwn", {"k": 7, "scale": "range"}))
    assert screen.session.params == rwn.RWN(epsilon=0.0, k=7, scale="range")
    assert "scale = range" in screen.session.words
    load(screen.session, Setting(params=rwn.RWN(epsilon=rwn.Radii([1.0] * 241), k=3)))
    assert screen.session.params == rwn.RWN(epsilon=0.0, k=7, scale="range")
    screen.test.run()
    assert screen.errors == []


def test_another_method_of_a_large_table_is_prepared_in_the_background(
    open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
    with monkeypatch.context() as patch:  # work that only Cancel ends
        patch.setattr(preparation, "_compile", lambda task, levels: task.check(60))
        choose(screen, "nbrs2015")
        assert screen.work.preparation is not None
        assert screen.session.method == "rwn"
        screen.test.run()
        screen.test.button(key="arrival.cancel").click().run()
    box = next(box for box in screen.test.selectbox if box.label == "Method")
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
    monkeypatch.setattr(sidebar, "change_method", lambda _, method: changed.append(method))
    sidebar.method(session)
    sidebar.st.session_state = {drawn["key"]: "pram"}
    drawn["on_change"]()
    assert changed == ["pram"]
    session.method = "nbrs2015"
    drawn["on_change"]()
    assert changed == ["pram"]
