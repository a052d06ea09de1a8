"""The widget: the app's picture, a setting both ways, nothing of the table in a saved notebook."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import orjson
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

import rwn_core as rwn
from rwn_ui.notebook import tune
from rwn_ui.notebook.widget import TuneWidget
from tests.ui.notebook_page import SENT, answered, deliver, kept_messages, taken

SENTINEL = 7731.0625


@pytest.fixture(autouse=True)
def _page(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with kept_messages(monkeypatch):
        yield


@pytest.fixture
def widget() -> Iterator[TuneWidget]:
    made = tune(rwn.load_demo("bodyfat"))
    yield made
    made.close()


def test_a_move_is_the_apps_picture(widget: TuneWidget, open_page) -> None:
    page = open_page("tune")
    page.move(k=9.0)
    shown = answered(widget, edits=[{"levers": {"k": 9.0}, "held": False}])
    for part in ("tiles", "tables", "changed"):
        assert shown[part] == orjson.loads(orjson.dumps(page.panel[part])), part
    whole, bare = (list(map(orjson.loads, each["cards"])) for each in (page.panel, shown))
    assert bare == [card | {"table": "null"} for card in whole]  # until a full view asks
    asked = answered(widget, card=whole[3]["key"])
    assert {part: asked[part] for part in whole[3]} == whole[3]
    assert "address" not in shown
    assert shown["controls"]["levers"]["sliders"][1]["value"] == 9.0
    assert widget.setting == rwn.RWN(epsilon=2.0, k=9, q=1.0)


def test_the_setting_goes_both_ways_and_a_release_is_that_of_mask(widget) -> None:
    seen = []
    widget.observe(lambda change: seen.append(change["new"].k), "setting")
    first = answered(widget, seq=0)
    answered(widget, edits=[{"levers": {"k": 9.0}, "held": True}])
    widget.setting = rwn.RWN(epsilon=1.0, k=3, q=0.5)
    [(content, [picture])] = taken(widget)
    assert "id" not in content  # for every view
    pushed = orjson.loads(picture)
    assert [s["value"] for s in pushed["controls"]["levers"]["sliders"]] == [1.0, 3.0, 0.5]
    assert pushed["seq"] > first["seq"]
    undone = answered(widget, edits=[{"undo": True}])
    assert [s["value"] for s in undone["controls"]["levers"]["sliders"]] == [2.0, 9.0, 1.0]
    assert seen == [9, 3, 9]
    answered(widget, edits=[{"levers": {"k": 7.0}}, {"weights": {"age": 2.0}}])
    data = rwn.load_demo("bodyfat").with_weights({"age": 2.0})
    expected = rwn.mask(data, rwn.RWN(epsilon=2.0, k=7, q=1.0), seed=5)
    pd.testing.assert_frame_equal(widget.mask(seed=5).masked.frame, expected.masked.frame)
    fresh = [widget.mask().masked.frame for _ in range(2)]
    assert not fresh[0].equals(fresh[1])


def test_what_is_refused_changes_nothing_and_says_why_and_a_fault_is_a_number(widget, monkeypatch):
    before = widget.setting
    for given, words in (
        (rwn.RWN(epsilon=500.0, k=3), "epsilon must be from 0 to 82"),
        (rwn.RWN(epsilon=1.0, k=10_000), "k must be from 1 to"),
        (rwn.RWN, "must be a method with its parameters"),
    ):
        with pytest.raises(rwn.ParameterError, match=words):
            widget.setting = given
    assert widget.setting == before
    weights = dict.fromkeys((v.name for v in widget.data.schema.released), 0.0)
    shown = answered(widget, edits=[{"weights": weights}])
    assert "weights are 0 for every variable" in shown["note"]
    assert shown["tiles"]
    assert shown["summary"]["text"].startswith("ε = 2 · k = 5 · q = 1")

    def broken(*_: object) -> bytes:
        raise ValueError(str(SENTINEL))

    monkeypatch.setattr(type(widget._tuned), "answer", broken)
    note = answered(widget, seq=0)
    assert "Unexpected error" in note
    assert str(SENTINEL) not in note


def test_unknown_methods_and_a_missing_package_are_one_sentence(monkeypatch) -> None:
    with pytest.raises(rwn.ParameterError, match="mdav"):
        tune(rwn.load_demo("bodyfat"), "mdav")
    monkeypatch.delitem(sys.modules, "rwn_ui.notebook.widget")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(rwn.RWNError, match=r"pip install 'anywidget>=0\.11,<0\.12'"):
        tune(rwn.load_demo("bodyfat"))


def test_the_regression_is_named_and_two_widgets_share_nothing() -> None:
    data = rwn.load_demo("bodyfat")
    one = tune(data, response="weight", predictors=["height", "age"])
    assert one.data.schema.question == rwn.Question(response="weight", predictors=("height", "age"))
    two = tune(data.frame, rwn.RWN(epsilon=1.0, k=3, q=0.5), response="weight")
    others = tuple(name for name in data.schema.numeric_names if name != "weight")
    assert two.data.schema.question == rwn.Question(response="weight", predictors=others)
    before = two.data.schema
    answered(one, edits=[{"levers": {"k": 9.0}}, {"weights": {"age": 3.0}}])
    assert two.setting == rwn.RWN(epsilon=1.0, k=3, q=0.5)
    assert two.data.schema == before
    assert not answered(two, edits=[{"redo": True}])["note"]
    one.close()
    assert answered(two, seq=0)["summary"]["text"].startswith("ε = 1 · k = 3 · q = 0.5")
    two.close()


def test_a_saved_notebook_holds_no_value_of_the_table() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    frame.loc[7, "a"] = SENTINEL
    made = tune(frame)
    picture = answered(made, seq=0)
    held = SENT.get(made.comm.comm_id, [])
    formatted = DisplayFormatter().format(made)[0]
    stored = [made.get_state(), formatted, made._repr_mimebundle_(), repr(made)]
    stored += [data for data, _ in held if data.get("method") != "custom"]
    assert "7731" in orjson.dumps(picture).decode()  # the messages do hold it
    assert "7731" not in str(stored)
    synced = {name for name in made.keys if not name.startswith("_")}
    assert synced == {"layout", "tabbable", "tooltip"}, "what is synchronized is saved"
    made.close()


def test_processes_end_with_the_last_view_and_with_close(widget: TuneWidget) -> None:
    work = widget._tuned.session.user.work
    seq = answered(widget, seq=0)["seq"]
    deliver(widget, {"id": "two.1", "view": "two", "seq": seq})
    deliver(widget, {"id": "one.2", "view": "one", "seq": seq})
    job = work.advice
    assert job is not None
    deliver(widget, {"left": True, "view": "one"})
    assert work.advice is job
    deliver(widget, {"left": True, "view": "two"})
    assert work.advice is None
    assert not job.running
    seq = answered(widget, seq=0)["seq"]  # shown again
    deliver(widget, {"id": "one.3", "view": "one", "seq": seq})
    assert work.advice is not None
    job = work.advice
    widget.close()
    assert not job.running
    assert not len(widget._tuned.session.user.results.tables)
