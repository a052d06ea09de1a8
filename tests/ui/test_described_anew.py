"""Another description of the same records: setting, pins, undo and place stay."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_ui.data.describe import describe_anew
from rwn_ui.state.results import current_release, release_key
from rwn_ui.state.session import Session
from rwn_ui.tune import view as tune_view
from tests.ui.following import followed


def described(session: Session, name: str, *, by_grid: bool = True, **fields: object) -> None:
    """Change one variable, as the Data page does, without the page itself."""
    schema = session.data.schema.replace_variable(name, **fields)
    describe_anew(session, session.data.with_schema(schema), by_grid=by_grid)


@pytest.fixture
def session(open_page, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr("rwn_ui.data.describe.st.rerun", lambda: None)
    session: Session = open_page("tune").session
    session.levers["epsilon"], session.levers["k"] = 1.5, 7
    session.precision = (("age", 5.0),)
    session.pins["A"] = tune_view.pin(session, current_release(session))
    session.record_undo()
    session.levers["k"] = 9
    session.record_undo()
    return session


def test_another_role_keeps_the_setting_and_reads_the_pin_anew(session: Session) -> None:
    grid, undo, before = session.grid_version, session.history, session.pins["A"]
    described(session, "age", role=rwn.Role.CONFIDENTIAL)
    assert session.data.schema.variable("age").role is rwn.Role.CONFIDENTIAL
    assert session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    assert session.precision == (("age", 5.0),)
    assert session.history is undo
    assert session.grid_version == grid  # the grid keeps its place
    pinned = session.pins["A"]
    assert pinned.pending == session.policy.measures
    assert pinned.values.items() <= before.values.items()
    followed(session)
    pinned = session.pins["A"]
    assert pinned.pending == ()
    assert {*pinned.values} >= {*session.policy.measures}
    assert pinned.about[:2] == release_key(session)[:2]


def test_an_answer_outside_of_the_grid_draws_it_anew(session: Session) -> None:
    grid = session.grid_version
    described(session, "age", by_grid=False, role=rwn.Role.KEY)
    assert session.grid_version == grid + 1
    assert session.levers["k"] == 9


def test_what_names_a_variable_that_is_gone_goes_with_it(session: Session) -> None:
    session.variable = "age"
    described(session, "age", role=rwn.Role.IDENTIFIER)
    assert session.precision == ()
    assert session.variable != "age"
    assert session.levers["k"] == 9
    assert session.history.choices == []
    assert "A" in session.pins
