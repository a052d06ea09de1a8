"""A project is saved on request, offered with its own table alone, and taken up as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_ui.features import project
from rwn_ui.server.sweeper import VISIT
from rwn_ui.state import project_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(project_folder.FOLDER_VARIABLE, str(tmp_path / "projects"))
    monkeypatch.setattr(project, "on_own_machine", lambda: True)
    return tmp_path / "projects"


def buttons(screen) -> dict[str, object]:
    return {each.label: each for each in screen.test.button}


def chosen(screen) -> None:
    """A user who changes everything that a project keeps, and saves it."""
    session = screen.session
    schema = session.data.schema.replace_variable("neck", role="key")
    session.data = session.data.with_schema(schema)
    setting = replace(session.setting, weights=(("age", 2.5),), precision=(("age", 5.0),))
    session.set(setting)
    session.seed = 7
    session.policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.1),))
    session.scenarios["mild"] = rwn.Scenario(name="mild", table=session.data.fingerprint)
    project_folder.save(project.current_project(session))


def test_a_saved_project_is_offered_with_its_table_and_brings_everything_back(open_page, folder):
    first = open_page("tune", k="9")
    assert "Take it up" not in buttons(first)
    chosen(first)
    kept = first.session
    again = open_page("tune")
    assert "lovelace" not in str(list(folder.iterdir())).lower()
    buttons(again)["Take it up"].click().run()
    assert again.errors == []
    session = again.session
    assert session.setting == kept.setting
    assert session.data.schema == kept.data.schema
    assert (session.seed, session.policy, session.scenarios) == (7, kept.policy, kept.scenarios)
    assert "Take it up" not in buttons(again)
    assert not (again.session.history.has(1))
    other = open_page("tune", demo="pima")
    assert "Take it up" not in buttons(other)


def test_who_does_not_want_it_is_not_asked_again(open_page) -> None:
    chosen(open_page("tune"))
    again = open_page("tune")
    buttons(again)["Start anew"].click().run()
    assert "Take it up" not in buttons(again)
    assert again.session.seed == 1
    assert "Take it up" not in buttons(again.visit("release"))


SECRET = "Zebrastreifen"


def own_file() -> bytes:
    lines = [f"{i % 17},{i * i % 31},{(SECRET, 'b', 'c')[i % 3]}" for i in range(60)]
    return ("x,y,g\n" + "\n".join(lines) + "\n").encode()


def test_an_own_table_is_saved_by_itself_and_without_its_values(open_page, folder: Path) -> None:
    screen = open_page("tune").visit("data").upload("mine.csv", own_file()).visit("tune")
    assert [each.name for each in folder.iterdir()] == ["last.toml"]  # nothing was chosen yet
    session = screen.session
    session.seed = 7
    session.watched = (3,)
    screen.test.session_state[VISIT].save()  # as the sweeper does
    written = "".join(each.read_text(encoding="latin-1") for each in folder.iterdir())
    assert "mine.csv" in written
    assert SECRET not in written
    again = open_page("tune").visit("data").upload("mine.csv", own_file())
    assert again.session.seed == 1
    buttons(again)["Take it up"].click().run()
    assert (again.session.name, again.session.seed) == ("mine.csv", 7)


def test_the_last_file_is_offered_by_its_path_and_opens_with_its_choices(
    open_page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(own_file())
    monkeypatch.setenv("RWN_FILE", str(path))
    first = open_page("tune")
    first.session.seed = 7
    first.test.session_state[VISIT].save()
    monkeypatch.delenv("RWN_FILE")
    again = open_page("tune")
    assert again.session.name == "bodyfat"
    assert "Open again" in buttons(again)
    project.open_again(again.session, Path(project_folder.last("browser").path))
    again.visit("data").visit("data")
    assert again.errors == []
    assert (again.session.name, again.session.seed) == ("mine.csv", 7)
    assert again.session.path == str(path)
    path.write_bytes(own_file()[:-8])
    changed = open_page("tune")
    project.open_again(changed.session, Path(project_folder.last("browser").path))
    changed.visit("data")
    assert (changed.session.name, changed.session.seed) == ("mine.csv", 1)
    assert any("has changed since" in each.value for each in changed.test.toast)


def test_names_of_files_tell_nothing_without_the_key(open_page, folder: Path) -> None:
    screen = open_page("tune")
    chosen(screen)
    table = screen.session.data.fingerprint
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    assert not any(table[:8] in name or "bodyfat" in name for name in names)
    assert (folder / "names.key").stat().st_mode & 0o077 == 0
    (folder / "names.key").write_bytes(b"k" * 32)
    assert project_folder.find(table) is None


def test_a_damaged_project_is_offered_to_nobody(open_page, folder: Path) -> None:
    screen = open_page("tune")
    chosen(screen)
    (file,) = folder.glob("*.toml")
    file.write_text(file.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    assert "Take it up" not in buttons(open_page("tune"))


def test_another_machines_user_is_offered_nothing(open_page, monkeypatch) -> None:
    chosen(open_page("tune"))
    monkeypatch.setattr(project, "on_own_machine", lambda: False)
    again = open_page("tune")
    assert not {"Take it up", "Save for this table"} & set(buttons(again))
