"""What a table begins with: the recommended setting, while nothing was moved, and its price."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.parallel import kernel_cache
from rwn_core.tuning import SearchAnswer
from rwn_core.tuning.answer import FoundSetting
from rwn_core.tuning.point import Point
from rwn_ui.features import limit_queue
from rwn_ui.state.change_table import redescribe
from rwn_ui.state.results import current_release, memo, prepared, start_key
from rwn_ui.state.session import Session

BETTER = rwn.Setting(params=rwn.RWN(epsilon=0.5, k=9), slices=())


def people(n: int = 150) -> pd.DataFrame:
    """Write people of two numbers that hang together, and a number that somebody gave out."""
    rng = np.random.default_rng(11)
    size = rng.normal(170, 10, n).round()
    weight = (size - 100 + rng.normal(0, 8, n)).round()
    return pd.DataFrame({"number": rng.permutation(n) * 7.0, "size": size, "weight": weight})


def known(screen: Any, **found: Any) -> None:
    """Plant a recommendation, and draw the page with it."""
    point = FoundSetting(point=Point(setting=BETTER, spreads={}))
    answer = SearchAnswer(goal=rwn.Policy(), settings=(point,), reason="Planted.", **found)
    memo(screen.session, "starts", 4).keep(start_key(screen.session), answer)
    screen.test.run()
    assert screen.errors == []


@pytest.fixture
def own(open_page: Any) -> Any:
    """A page with a table of one's own."""
    screen = open_page("data").upload("own.csv", people().to_csv(index=False).encode())
    return screen.visit("tune")


@pytest.mark.parametrize("demo", ["bodyfat", "bodyfat_raw", "pima"])
def test_a_demo_begins_at_its_recommended_setting_which_keeps_the_policy(
    open_page: Any, recommended_demo: None, demo: str
) -> None:
    screen = open_page("tune", demo=demo)
    start = rwn.Setting.from_dict(rwn.DEMOS[demo].start)
    assert screen.session.setting == start.resolved(screen.session.data)
    readings = limit_queue.readings(screen.session, current_release(screen.session))
    assert screen.session.policy.judge(readings).kept
    assert screen.panel["verdict"]["state"] == "kept"
    screen.edit({"preset": "Strong"})
    screen.edit({"undo": True})
    assert screen.session.setting == start.resolved(screen.session.data)


def test_a_link_has_a_setting_of_its_own(open_page: Any, recommended_demo: None) -> None:
    screen = open_page("tune", demo="bodyfat", setting="epsilon*1.5*k*7*q*1")
    assert screen.session.method == "rwn"
    assert screen.session.levers == {"epsilon": 1.5, "k": 7, "q": 1.0}
    assert screen.session.setting.weights == screen.session.slices == ()


@pytest.mark.nightly  # minutes: each recommendation is looked for anew
@pytest.mark.parametrize("demo", ["bodyfat", "bodyfat_raw", "pima"])
def test_the_written_start_of_a_demo_is_what_is_recommended(demo: str) -> None:
    found = rwn.recommend(rwn.load_demo(demo), within=600.0).setting
    assert found == rwn.Setting.from_dict(rwn.DEMOS[demo].start)


def test_an_untouched_start_is_computed_anew_when_a_column_turns_out_to_be_a_number(own) -> None:
    session: Session = own.session
    assert session.is_untouched
    schema = session.data.schema.replace_variable("number", role=rwn.Role.IDENTIFIER)
    redescribe(session, session.data.with_schema(schema), by_grid=False)
    standard = prepared(session).prepared.presets["Standard"]
    assert session.levers == session.levers | dict(standard)
    own.test.run()
    known(own, reached=True)
    assert session.levers["epsilon"] == 0.5
    again = session.data.schema.replace_variable("weight", role=rwn.Role.CONFIDENTIAL)
    redescribe(session, session.data.with_schema(again), by_grid=False)
    own.test.run()
    assert session.is_untouched, "the start was taken by itself, and so is the next one"


def test_a_soft_start_is_followed_by_the_next_and_its_method_by_no_other_table(own, monkeypatch):
    soft = rwn.Setting(params=rwn.SoftRWN(width=1.5), slices=())
    monkeypatch.setitem(globals(), "BETTER", soft)
    known(own, reached=True)
    session: Session = own.session
    assert session.method == "soft_rwn"
    schema = session.data.schema.replace_variable("number", role=rwn.Role.IDENTIFIER)
    redescribe(session, session.data.with_schema(schema), by_grid=False)
    own.test.run()
    assert session.is_untouched
    monkeypatch.setitem(globals(), "BETTER", rwn.Setting(params=rwn.SoftRWN(width=0.8), slices=()))
    known(own, reached=True)
    assert session.levers["width"] == 0.8
    own.visit("data").upload("next.csv", people(90).to_csv(index=False).encode()).visit("tune")
    assert session.method == "rwn"


def test_what_was_moved_stays_also_when_it_was_moved_back(own: Any) -> None:
    session: Session = own.session
    before = session.levers["k"]
    own.move("levers", {"k": before + 1})
    own.move("levers", {"k": before})
    known(own, reached=True)
    assert session.levers["k"] == before
    assert session.levers["epsilon"] != 0.5


def test_the_best_that_is_attainable_is_the_start_where_no_setting_keeps_the_policy(own) -> None:
    known(own, reached=False, confirmed=True)
    assert own.session.levers["epsilon"] == 0.5


def test_nothing_that_was_not_read_on_all_records_is_a_start(own: Any) -> None:
    known(own, reached=False, confirmed=False)
    assert own.session.levers["epsilon"] != 0.5


def with_loss(session: Session, loss: float, share: float = 0.5) -> dict[str, Any]:
    """Return the verdict of a release with a planted loss and planted shares of its limits."""
    policy, readings = session.policy, limit_queue.readings(session, current_release(session))
    for limit in policy.limits:
        value = share * (limit.at_most or 0.0)
        readings[limit.measure] = replace(readings[limit.measure], value=value)
    readings[UTILITY] = replace(readings[UTILITY], value=loss)
    return limit_queue.draw_verdict(policy, readings, policy.judge(readings))


def test_the_headline_has_its_price_and_says_a_wreck_in_the_same_line(session: Session) -> None:
    fair, wreck = with_loss(session, 0.16), with_loss(session, 0.96)
    assert (fair["text"], fair["price"]) == ("Keeps all 4 limits", "84 % of the relations are left")
    assert wreck["text"] == "Keeps all 4 limits, but only 4 % of the relations are left"
    assert with_loss(session, 0.96, share=2.0)["state"] == "over"


def test_the_page_says_what_is_made_before_there_is_a_picture(open_page, monkeypatch) -> None:
    said = list[tuple[float, str]]()
    drawn = DeltaGenerator.progress

    def progress(place: Any, share: float, text: str) -> Any:
        said.append((share, text))
        return drawn(place, share, text=text)

    monkeypatch.setattr(DeltaGenerator, "progress", progress)
    monkeypatch.setattr(kernel_cache, "is_ready", lambda *_: False)
    screen = open_page("tune")
    assert [share for share, _ in said] == [0.1, 0.4, 0.7]
    assert all("of 241 records of bodyfat" in text for _, text in said)
    assert said[0][1].endswith("The program is compiled for this machine, once")
    assert screen.test.get("progress") == [], "it goes when the picture stands"
    said.clear()
    screen.test.run()
    assert said == []
