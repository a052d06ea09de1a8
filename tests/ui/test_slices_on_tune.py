"""Variables that travel together: chosen on Tune, undone, linked, saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.masking.soft_rwn import CHAINED, TIED
from rwn_core.measures.sentence import percent
from rwn_core.tuning.slice_presets import PRESETS, preset_slices
from rwn_ui.state import address
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.widgets import slices

LABEL = "Variables that travel together"


def choose(screen: Any, title: str) -> Any:
    key = next((key for key, each in PRESETS.items() if each.title == title), title)
    screen.find("selectbox", LABEL).set_value(key).run()
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
    screen.find("multiselect", "Slice 1").set_value(["age", "weight", "hip"]).run()
    assert screen.session.slices == (("age", "hip", "weight"),)
    screen.find("multiselect", "Slice 2").set_value(["knee"]).run()
    assert screen.session.slices == (("age", "hip", "weight"),)  # one alone is no slice
    screen.find("multiselect", "Slice 2").set_value(["knee", "hip"]).run()
    assert screen.session.slices == (("age", "weight"), ("hip", "knee"))
    assert screen.find("multiselect", "Slice 1").value == ["age", "weight"]
    assert screen.errors == []
    screen.find("multiselect", "Slice 1").set_value([]).run()
    assert screen.session.slices == (("hip", "knee"),)
    screen.visit("data").visit("tune")
    assert screen.session.slices == (("hip", "knee"),)
    assert screen.find("multiselect", "Slice 2").value == ["knee", "hip"]


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
    set_setting(session, replace(session.setting, slices=()))
    assert slices.choices(session)[slices.TABLE] == (health,)
    for link in (address._parts(address.address(session)), {"slices": "_"}):
        other = Session(name="some", demo="some", data=table)
        assert address.take_setting(other, link) == []
        assert other.slices == ()


def test_slices_are_chained(open_page) -> None:
    screen = open_page("tune", method="soft_rwn", balance="1")
    choose(screen, "Keys together | rest")
    screen.option("toggle", "chain").set_value(True).run()
    assert screen.errors == []
    params = screen.session.params
    assert params.chain
    assert CHAINED[0] in [each.value for each in screen.test.caption]
    release = current_release(screen.session)
    assert release.masked.masked.frame.equals(wanted(screen.session))
    assert release.masked.law.telling() == [("age", "weight", "height")]
    # what a chain does not take is said, and nothing changes
    screen.slider("q").set_value(0.5).run()
    assert screen.session.params.q == 1
    assert "Chained slices need q = 1" in screen.errors[0]
    screen.find("selectbox", LABEL).set_value("whole").run()
    assert "needs two slices or more" in screen.errors[0]


def test_tied_slices_say_which_share_of_relations_they_keep_at_each_move(open_page) -> None:
    screen = open_page("tune", method="soft_rwn", balance="1")
    choose(screen, "Keys together | rest")
    assert "ties keep" not in screen.panel["changed"]["least"]
    screen.option("toggle", "tie").set_value(True).run()
    assert screen.errors == []
    assert TIED[0] in [each.value for each in screen.test.caption]
    told = []
    for width in (1.0, 2.0):
        screen.slider("width").set_value(width).run()
        kept = current_release(screen.session).masked.law.tied.fitted.kept
        assert f"ties keep {percent(kept)} of what relates" in screen.panel["changed"]["least"]
        told.append(kept)
    assert told[0] != told[1]
