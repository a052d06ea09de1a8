"""A soft kernel in the app: options, sliders, undo, links, projects, the sweep, large tables."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

import rwn_core as rwn
from rwn_core.masking import RWN
from rwn_core.reporting.project import Project
from rwn_core.tuning import Setting
from rwn_ui.features.project import current_project
from rwn_ui.state import results
from rwn_ui.state.address import address
from rwn_ui.state.load_setting import load
from rwn_ui.state.results import current_release
from tests.ui.test_methods import field

SOFT = {"kernel": "gaussian", "balance": 1.0}
KEY = "tune.0.option.rwn"


def sliders(screen) -> list[str]:
    return [each.name for each in screen.live_sliders()]


def test_even_to_gaussian_to_balance_and_back(open_page) -> None:
    screen = open_page("tune", q="0.8")
    before = screen.session.levers.copy()
    field(screen, "selectbox", "kernel").select("gaussian").run()
    assert screen.errors == []
    assert sliders(screen) == ["width", "balance", "q"]
    assert screen.test.session_state[f"{KEY}.options.box"]  # though its title has changed
    assert screen.session.levers == {"width": 1.0, "balance": 0.0, "q": 0.8}
    screen.slider("balance").set_value(1.0).run()
    screen.slider("width").set_value(0.7).run()
    params = screen.session.params
    assert params == RWN(**SOFT, width=0.7, q=0.8)
    shown = current_release(screen.session).masked.masked
    release = rwn.mask(screen.session.data, params, seed=screen.session.seed)
    assert shown.frame.equals(release.masked.frame)
    size = next(c for c in screen.panel["cards"] if orjson.loads(c)["key"] == "neighborhood_size")
    assert "effective number of donors" in str(size)
    for kernel, balance in (("gaussian", 1.0), ("gaussian", 0.0)):
        screen.edit({"undo": True})
        assert screen.session.options == (("kernel", kernel),)
        assert screen.session.levers["balance"] == balance
    screen.edit({"undo": True})
    assert screen.session.options == ()
    assert screen.session.levers == before
    assert field(screen, "selectbox", "kernel").value == "even"
    assert screen.errors == []


def test_presets_choose_the_kernel_and_its_sliders(open_page) -> None:
    screen = open_page("tune", q="0.5")
    field(screen, "button", "Keep totals and spreads").click().run()
    assert screen.session.params == RWN(**SOFT, width=1.0, q=1.0)
    field(screen, "button", "As published").click().run()
    assert screen.session.params.kernel == "even"
    assert screen.preset == "Standard"
    assert screen.errors == []


def test_a_link_a_project_and_a_scenario_bring_a_soft_setting_back(open_page) -> None:
    asked = {"kernel": "gaussian", "balance": "1", "cap": "0.2", "width": "0.65", "q": "0.9"}
    asked |= {"own_donors": "1"}  # own is whose table it is
    screen = open_page("tune", **asked)
    assert not screen.test.warning
    params = RWN(**SOFT, cap=0.2, own=True, width=0.65, q=0.9)
    assert screen.session.params == params
    link = address(screen.session)
    assert link == asked | {"demo": "bodyfat"}
    project = Project.from_toml(current_project(screen.session).to_toml())
    assert project.present.setting.params == params
    load(screen.session, Setting(params=RWN(k=7, epsilon=0.5)))
    assert screen.session.params == RWN(k=7, epsilon=0.5)
    load(screen.session, project.present.setting)
    assert screen.session.params == params
    load(screen.session, Setting(params=RWN(kernel="exponential")))
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
