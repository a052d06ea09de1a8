"""Another description of the same records: setting, pins, undo and place stay."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core.io.write import table_bytes
from rwn_ui.data.describe import describe_anew
from rwn_ui.state.results import current_release, release_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.tune import view as tune_view
from tests.core.data.test_role_guesses import survey
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
    user_work().worker.cancel()


def test_what_names_a_variable_that_is_gone_goes_with_it(session: Session) -> None:
    session.variable = "age"
    described(session, "age", role=rwn.Role.IDENTIFIER)
    assert session.precision == ()
    assert session.variable != "age"
    assert session.levers["k"] == 9
    assert session.history.choices == []
    assert "A" in session.pins


def test_one_click_gives_all_roles(open_page) -> None:
    data = survey()
    screen = open_page("data").upload("s.csv", table_bytes(data.frame, "csv", data.schema))
    assert screen.errors == []
    asked = [each.label for each in screen.test.multiselect]
    assert any(label.startswith("Who could be recognized?") for label in asked)
    (use,) = (each for each in screen.test.button if each.label == "Use these answers")
    use.click().run()
    roles = {v.name: str(v.role) for v in screen.session.data.schema.variables}
    assert roles == {
        "hid": "household",
        "design_weight": "sampling weight",
        "Geschlecht": "key",
        "age": "key",
        "hhIncome": "confidential",
        "Krankheit": "confidential",
        "opinion3": "other",
    }
    assert all(each.label != "Use these answers" for each in screen.test.button)
    assert any("is masked as other variables are" in each.value for each in screen.test.markdown)


def test_questions_of_the_last_table_are_not_shown_below_a_file_that_fails(open_page) -> None:
    screen = open_page("data").upload("t.csv", b"a;b\n1;2\n")
    assert len(screen.errors) == 1
    assert not screen.test.multiselect
    assert any("show bodyfat still" in each.value for each in screen.test.caption)
