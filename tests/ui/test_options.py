"""What a method has beside its sliders: on Tune, in links, with undo."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.masking import PRAM, RankSwapping
from rwn_core.tuning import Setting
from rwn_ui.state.address import address
from rwn_ui.state.load_setting import load
from rwn_ui.state.results import current_release
from rwn_ui.sweep import form
from rwn_ui.sweep.form import first_search


def field(screen, kind: str, name: str):
    """The widget of an option of the method on screen, whose box is opened first."""
    key = f"tune.0.option.{screen.session.method}"
    if not screen.test.session_state[f"{key}.options.box"]:
        screen.test.session_state[f"{key}.options.box"] = True
        screen.test.run()
    return getattr(screen.test, kind)(key=f"{key}.{name}")


def test_an_option_makes_the_release_and_can_be_undone(open_page) -> None:
    screen = open_page("tune", method="additive_noise")
    assert "Variables that travel together" not in [box.label for box in screen.test.selectbox]
    field(screen, "selectbox", "shape").select("laplace").run()
    field(screen, "toggle", "reflected").set_value(True).run()
    assert screen.errors == []
    params = screen.session.params
    assert (params.shape, params.reflected) == ("laplace", True)
    shown = current_release(screen.session).masked.masked
    release = rwn.mask(screen.session.data, params, seed=screen.session.seed)
    assert shown.frame.equals(release.masked.frame)
    assert screen.session.words.endswith("shape = laplace · reflected = yes")
    link = address(screen.session)
    assert (link["shape"], link["reflected"]) == ("laplace", "1")
    screen.edit({"undo": True})
    assert screen.session.params.reflected is False
    assert field(screen, "toggle", "reflected").value is False
    again = open_page("tune", **{name: text for name, text in link.items() if name != "demo"})
    assert again.session.params == params


def test_an_option_that_is_refused_says_why_and_changes_nothing(open_page) -> None:
    screen = open_page("tune")
    chosen = field(screen, "selectbox", "neighbors")
    assert [title[:8] for title in chosen.options[1:]] == ["Method 1", "Method 2", "Method 3"]
    chosen.select("sample").run()
    assert (screen.session.params.neighbors, screen.session.params.m) == ("sample", 120)
    field(screen, "number_input", "m").set_value(0).run()
    assert screen.session.params.m == 120
    (warning,) = screen.test.warning
    assert warning.value == "m must be a whole number of at least 1."
    field(screen, "number_input", "m").set_value(60).run()
    assert not screen.test.warning
    assert (screen.session.params.neighbors, screen.session.params.m) == ("sample", 60)
    field(screen, "selectbox", "neighbors").select("partition").run()
    assert (screen.session.params.m, screen.session.params.u) == (None, 4)
    assert screen.errors == []


def test_a_variable_gives_each_record_its_radius_on_tune_and_in_a_link(open_page) -> None:
    screen = open_page("tune", epsilon="0.05", k="5")
    field(screen, "selectbox", "radius_variable").select("age").run()
    assert screen.errors == []
    session = screen.session
    assert session.params == rwn.RWN(epsilon=0.05, k=5, radius_variable="age")
    shown = current_release(session).masked.masked.frame
    radii = 0.05 * session.data.values("age")
    own = rwn.mask(session.data, rwn.RWN(epsilon=radii, k=5), seed=session.seed).masked.frame
    one = rwn.mask(session.data, rwn.RWN(epsilon=0.05, k=5), seed=session.seed).masked.frame
    assert shown.equals(own)
    assert not shown.equals(one)
    link = address(session)
    assert "age" not in link.values()
    again = open_page("tune", epsilon="0.05", k="5", radius_variable=link["radius_variable"])
    assert again.session.params == session.params
    screen.edit({"undo": True})
    assert screen.session.params.radius_variable is None


def test_chosen_variables_are_numbers_in_a_link_and_matrices_too(open_page) -> None:
    screen = open_page("tune", method="record_swapping")
    field(screen, "multiselect", "variables").set_value(["chest", "hip"]).run()
    assert screen.session.params.variables == ("chest", "hip")
    names = [variable.name for variable in screen.session.data.schema.released]
    numbers = f"{names.index('chest')}-{names.index('hip')}"
    link = address(screen.session)
    assert link["variables"] == numbers
    assert "chest" not in "".join(link.values())
    again = open_page("tune", method="record_swapping", variables=numbers)
    assert again.session.params.variables == ("chest", "hip")


def test_options_of_a_link_that_cannot_be_used_are_said(open_page) -> None:
    screen = open_page("tune", method="pram", spread="odd")
    (warning,) = screen.test.warning
    assert "spread must be one of" in warning.value
    assert screen.session.options == ()
    screen = open_page("tune", method="record_swapping", variables="99")
    (warning,) = screen.test.warning
    assert warning.value.startswith("variables of the link cannot be read")


def test_a_scenario_brings_options_and_their_fields(open_page) -> None:
    screen = open_page("tune")
    setting = Setting(params=PRAM(change=0.3, spread="margins", alpha=0.5))
    load(screen.session, setting)
    screen.test.run()
    assert field(screen, "selectbox", "spread").value == "margins"
    assert field(screen, "number_input", "alpha").value == 0.5
    load(screen.session, Setting(params=RankSwapping(r0=0.9)))
    screen.test.run()
    assert screen.session.levers == {"p": 0.0, "r0": 0.9, "k0": 0.0, "top": 0.0, "bottom": 0.0}
    assert screen.slider("r0").value == 0.9
    assert screen.errors == []


def test_a_sweep_begins_with_the_options_of_tune(open_page) -> None:
    screen = open_page("tune", method="pram", spread="margins", invariant="0")
    screen.visit("sweep")
    assert screen.errors == []
    texts = {area.label: area.value for area in screen.test.text_area}
    assert texts["Other parameters"] == "spread=margins\ninvariant=false"
    axes = form.read(screen.session).grid.axes
    assert (axes["spread"], axes["invariant"]) == (("margins",), (False,))
    assert "Search slices" not in [button.label for button in screen.test.button]


def test_chosen_variables_are_swept_and_levers_that_may_be_off_stay(open_page) -> None:
    screen = open_page("tune", method="random_swapping", variables="0-2")
    screen.visit("sweep")
    texts = {area.label: area for area in screen.test.text_area}
    names = [variable.name for variable in screen.session.data.schema.released]
    assert texts["Other parameters"].value == f"variables={names[0]}+{names[2]}"
    typed = screen.session.key("sweep.others")
    screen.test.session_state[typed] = f"variables={names[0]}+{names[2]}, {names[1]}"
    grid = form.read(screen.session).grid
    assert grid.axes["variables"] == ((names[0], names[2]), (names[1],))
    chosen = {setting.params.variables for setting in grid.settings()}
    assert chosen == {(names[0], names[2]), (names[1],)}
    with pytest.raises(ParameterError, match="variables must be variables with"):
        form._chosen("age+,height", "variables")
    load(screen.session, Setting(params=RankSwapping(r0=0.9)))
    axes = first_search(screen.session).grid.axes
    assert (axes["r0"], axes["k0"]) == ((0.9,), (0.0,))
