"""The Utility page's payload, without a browser."""

from __future__ import annotations

import json

import orjson
import pytest

import rwn_core as rwn
from rwn_core.evaluation.repeated_draws import ensemble
from rwn_core.evaluation.standard_errors import standard_error_validity
from rwn_ui.features.repeated_draws import keep
from rwn_ui.state.results import current_release, prepared, setting_key
from rwn_ui.state.session import Session
from rwn_ui.tune import tiles
from rwn_ui.tune import view as tune_view
from rwn_ui.utility import view as utility_view
from rwn_ui.utility.results import read


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Session:
    demo = getattr(request, "param", "bodyfat")
    session = Session(name="demo", demo=demo, data=rwn.load_demo(demo))
    session.clamp(prepared(session).prepared)
    released = [variable.name for variable in session.data.schema.released]
    session.variable = released[0]
    session.second_variable = released[1]
    return session


@pytest.mark.parametrize("session", ["pima"], indirect=True)  # numbers and a category
def test_the_payload_is_plain_and_complete(session: Session) -> None:
    payload = utility_view.payload(session, read(session), ())
    text = orjson.dumps(payload)
    assert b"NaN" not in text
    assert len(payload["tiles"]) == 6
    keys = [json.loads(card)["key"] for card in payload["cards"]]
    assert keys == [
        "association", "correlation_change", "expected_curve",
        "regression", "principal_components", "subgroups", "distribution", "two_way", "quantiles",
    ]  # fmt: skip
    assert not [card for card in payload["cards"] if json.loads(card).get("reason")]
    overview = payload["tables"][0]
    titles = [row[0] for row in overview["rows"]]
    measures = [m for m in rwn.MEASURES.values() if m.side == "utility" and m.key != "prediction"]
    assert titles == [measure.title for measure in measures]
    for table in payload["tables"]:
        for row in table["rows"]:
            assert len(row) == len(table["columns"])
    by_title = {table["title"]: table for table in payload["tables"]}
    (score,) = (table for title, table in by_title.items() if title.startswith("Propensity"))
    assert [row[0] for row in score["rows"]] == ["main effects", "all pairs"]
    pmse = read(session).readings["pmse"]
    assert score["rows"][1][3:6] == [
        pmse.value, pmse.detail["standardized"], pmse.detail["specks"],
    ]  # fmt: skip
    response = session.data.schema.question.response
    overlap = by_title[f"Overlap of the 95 % intervals: linear regression of {response}"]
    assert all(row[2] == min(max(row[1], 0.0), 1.0) for row in overlap["rows"])


def test_draws_and_standard_errors_join_the_picture(session: Session) -> None:
    before = utility_view.payload(session, read(session), ())
    draws = ensemble(
        session.data, session.params, repeats=3, seed=1, measures=["association_loss", "ci_overlap"]
    )
    validity = standard_error_validity(session.data, session.params, repeats=10, seed=1)
    keep(setting_key(session), (draws, ()))
    keep(setting_key(session), validity)
    after = utility_view.payload(session, read(session), ())
    assert after["stamp"] != before["stamp"]
    assert after["tiles"][0]["limit"].startswith("9 of 10 draws")
    assert "9 of 10 draws" in after["tables"][0]["columns"]
    errors, means = after["tables"][-2:]
    assert errors["title"].startswith("Are the standard errors")
    assert means["title"] == "What the masking adds to the error of a mean"
    assert [row[0] for row in means["rows"]] == list(session.data.numeric_names)
    session.levers["k"] += 1  # another setting has no draws yet
    other = utility_view.payload(session, read(session), ())
    assert "9 of 10 draws" not in other["tables"][0]["columns"]


def test_the_tune_page_shows_the_draws_too(session: Session) -> None:
    current = current_release(session)
    plain = tune_view.payload(session, current)
    keys = [*(tile.measure for tile in tiles.TILES), *session.policy.measures]
    draws = ensemble(session.data, session.params, repeats=4, seed=1, measures=keys)
    keep(setting_key(session), (draws, ()))
    payload = tune_view.payload(session, current)
    words = [tile.get("limit", "") for tile in payload["tiles"]]
    assert sum(text.startswith("draws") for text in words) >= 5
    names = [trace["name"] for trace in json.loads(payload["cards"][0])["data"]]
    assert "draws" in names
    assert "draws" not in [trace["name"] for trace in json.loads(plain["cards"][0])["data"]]
