"""A reload goes on with its visit, and a saved project is taken up; nobody else finds either."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.reporting.scenario import Decision
from rwn_ui.features import project
from rwn_ui.server.sweeper import VISIT
from rwn_ui.state import project_folder, visit
from tests.ui.following import small_csv

SECRET = "Zebrastreifen"
CONTENT = small_csv(mark=SECRET)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the tab of the next page says: the token it had before, or that of another tab."""
    says: dict[str, str] = {}

    def tab(names: dict[str, str], **given: Any) -> None:
        if given["waits"]:
            given["on_answer"](says.pop("before", ""), says.get("browser", "browser"))
        if "other" in says:
            given["on_other"](says.pop("other"))

    monkeypatch.setattr(visit, "tab", tab)
    monkeypatch.setattr(visit.Visit, "connected", False)
    return says


@pytest.fixture
def first(open_page: Any) -> Any:
    """A user who has opened a table, chosen a role and kept a setting."""
    screen = open_page("tune").visit("data").upload("mine.csv", CONTENT)
    screen.session.scenarios["A"] = rwn.Scenario(name="A", setting=screen.session.setting)
    return screen


def token(screen: Any) -> str:
    return str(screen.test.session_state[VISIT].token)


def buttons(screen: Any) -> dict[str, Any]:
    return {each.label: each for each in screen.test.button}


def test_a_reload_goes_on_with_everything(open_page, browser, first) -> None:
    before = first.session
    browser["before"] = token(first)
    again = open_page("tune", own="1", epsilon=f"{before.levers['epsilon']:g}")
    assert again.session is before
    assert "A" in again.session.scenarios
    assert again.warnings == []
    first.test.session_state[VISIT].close()  # as the sweeper does, ten seconds later
    assert not again.work.closed
    # a second reload finds it too, though the tab has not got its new token
    browser["before"] = token(first)
    third = open_page("tune", own="1")
    assert third.session is before
    assert again.test.session_state[VISIT].session is None
    first.test.run()  # a tab that comes back late does not share it
    assert first.session is not before
    # what was erased or swept is found by no token
    browser["before"] = token(third)
    del third.test.session_state[VISIT]
    assert open_page("tune", own="1").session.demo is not None


def test_another_tab_is_offered_the_table_and_begins_with_a_copy(open_page, browser, first) -> None:
    browser["before"] = token(first)
    again = open_page("tune", demo="pima", k="7")
    assert (again.session.name, again.session.levers["k"]) == ("pima", 7)
    assert "mine.csv is open in another tab" in again.words("markdown")
    browser["other"] = token(first)
    second = open_page("tune")
    assert second.session.name == "bodyfat"
    second.press("Take it over")
    assert second.session.name == "mine.csv"
    assert second.session is not first.session
    assert second.session.data is first.session.data
    second.session.scenarios.clear()
    second.session.move(k=9)
    assert first.session.scenarios
    assert first.session.levers["k"] != 9
    assert "Take it over" not in buttons(second)


def test_a_visitor_without_the_token_or_of_another_name_finds_nothing(
    open_page, browser, first, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser["browser"] = "of another user"
    known = token(first)
    assert len(known) >= 43  # 256 bits
    assert known not in str(first.session)

    def nothing(**says: str) -> None:
        browser.update(says)
        again = open_page("tune", own="1")
        assert again.session.demo is not None
        assert "mine.csv" not in again.words("markdown")
        assert "Take it over" not in buttons(again)

    for guess in ("", known[:-1], known.upper() + "x"):
        nothing(before=guess)
    monkeypatch.setattr(visit, "person", lambda: ("issuer", "another", None))
    nothing(before=known)  # in the same tab
    nothing(other=known)


def test_the_last_table_is_named_to_its_browser_alone_and_forgotten(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(project_folder.FOLDER_VARIABLE, str(tmp_path))
    project_folder.remember(project_folder.Last(table="t", name="mine.csv", browser="b"))
    project_folder.forget("another")
    assert project_folder.last("b") is not None
    assert project_folder.last("another browser") is None
    assert '"b"' not in (tmp_path / "last.toml").read_text(encoding="utf-8")
    (tmp_path / "names.key").write_bytes(b"k" * 32)  # other tables have projects, this one none
    project_folder.forget("t")
    assert project_folder.last("b") is None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(project, "on_own_machine", lambda: True)
    return tmp_path / "projects"


def chosen(screen: Any) -> None:
    """A user who changes everything that a project keeps, and saves it."""
    session = screen.session
    schema = session.data.schema.replace_variable("neck", role="key")
    session.data = session.data.with_schema(schema)
    setting = replace(session.setting, weights=(("age", 2.5),), precision=(("age", 5.0),))
    session.set(setting)
    session.seed = 7
    session.policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.1),))
    mild = rwn.Scenario(name="mild", table=session.data.fingerprint, setting=session.setting)
    session.scenarios["mild"] = mild
    session.decisions.append(Decision(scenarios=(mild,), chosen="mild", date="2026-03-31"))
    project_folder.save(project.current_project(session))


def test_a_saved_project_is_offered_with_its_table_and_brings_everything_back(open_page, folder):
    first = open_page("tune", k="9")
    assert "Take it up" not in buttons(first)
    chosen(first)
    kept = first.session
    assert "lovelace" not in str(list(folder.iterdir())).lower()
    again = open_page("tune").press("Take it up")
    assert again.errors == []
    session = again.session
    assert session.setting == kept.setting
    assert session.data.schema == kept.data.schema
    assert (session.seed, session.policy, session.scenarios) == (7, kept.policy, kept.scenarios)
    assert [each.chosen for each in session.decisions] == ["mild"]
    assert "Take it up" not in buttons(again)
    assert not again.session.history.has(1)
    assert "Take it up" not in buttons(open_page("tune", demo="pima"))
    # who does not want it is not asked again
    other = open_page("tune").press("Start anew")
    assert other.session.seed == 1
    for screen in (other, other.visit("release")):
        assert "Take it up" not in buttons(screen)


def test_a_project_is_offered_to_nobody_else(open_page, folder: Path, monkeypatch) -> None:
    screen = open_page("data")
    chosen(screen)
    table = screen.session.data.fingerprint
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    assert not any(table[:8] in name or "bodyfat" in name for name in names)
    assert (folder / "names.key").stat().st_mode & 0o077 == 0
    with monkeypatch.context() as patch:
        patch.setattr(project, "on_own_machine", lambda: False)
        assert not {"Take it up", "Save for this table"} & set(buttons(open_page("data")))
    assert "Take it up" in buttons(open_page("data"))
    (file,) = folder.glob("*.toml")
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")  # damaged
    assert "Take it up" not in buttons(open_page("data"))
    assert project_folder.find(table) is None
    (folder / "names.key").write_bytes(b"k" * 32)  # names tell nothing without the key
    assert project_folder.find(table) is None


def test_an_own_table_is_saved_by_itself_and_without_its_values(open_page, folder: Path) -> None:
    screen = open_page("data").upload("mine.csv", CONTENT).visit("data")
    assert [each.name for each in folder.iterdir()] == ["last.toml"]  # nothing was chosen yet
    session = screen.session
    session.seed = 7
    session.watched = (3,)
    screen.test.session_state[VISIT].save()  # as the sweeper does
    written = "".join(each.read_text(encoding="latin-1") for each in folder.iterdir())
    assert "mine.csv" in written
    assert SECRET not in written
    again = open_page("data").upload("mine.csv", CONTENT)
    assert again.session.seed == 1
    again.press("Take it up")
    assert (again.session.name, again.session.seed) == ("mine.csv", 7)


def test_the_last_file_is_offered_by_its_path_and_opens_with_its_choices(
    open_page, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(CONTENT)
    monkeypatch.setenv("RWN_FILE", str(path))
    first = open_page("tune")
    first.session.seed = 7
    first.test.session_state[VISIT].save()
    monkeypatch.delenv("RWN_FILE")
    for content, seed in ((CONTENT, 7), (CONTENT[:-8], 1)):
        path.write_bytes(content)
        again = open_page("tune")
        assert again.session.name == "bodyfat"
        assert "Open again" in buttons(again)
        project.open_again(again.session, Path(project_folder.last("browser").path))
        again.visit("data")
        said = [each.value for each in again.test.toast]
        assert any("has changed since" in each for each in said) is (seed == 1)
        again.visit("data")
        assert again.errors == []
        session = again.session
        assert (session.name, session.seed, session.path) == ("mine.csv", seed, str(path))
