"""A reload goes on with its visit, another tab may copy it, and nobody else finds it."""

from __future__ import annotations

from typing import Any

import pytest

import rwn_core as rwn
from rwn_ui.server.sweeper import VISIT
from rwn_ui.state import project_folder, visit
from tests.ui.small_file import table


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


def own_table(open_page, name: str = "mine.csv"):
    """A user who has opened a table, chosen a role and kept a setting."""
    screen = open_page("tune").visit("data").upload(name, table())
    screen.session.scenarios["A"] = rwn.Scenario(name="A", setting=screen.session.setting)
    return screen


def token(screen) -> str:
    return screen.test.session_state[VISIT].token


def test_a_reload_goes_on_with_everything(open_page, browser) -> None:
    first = own_table(open_page)
    before = first.session
    browser["before"] = token(first)
    again = open_page("tune", own="1", epsilon=f"{before.levers['epsilon']:g}")
    assert again.session is before
    assert "A" in again.session.scenarios
    assert not again.work.closed
    assert [w.value for w in again.test.warning] == []
    first.test.session_state[VISIT].close()  # as the sweeper does, ten seconds later
    assert not again.work.closed
    first.test.run()  # a tab that comes back late does not share it
    assert first.session is not before


def test_a_second_reload_before_the_first_has_ended_finds_it_too(open_page, browser) -> None:
    first = own_table(open_page)
    browser["before"] = token(first)
    second = open_page("tune", own="1")
    browser["before"] = token(first)  # the tab has not got its new one
    third = open_page("tune", own="1")
    assert third.session.name == "mine.csv"
    assert second.test.session_state[VISIT].session is None


def test_a_link_of_another_table_opens_it_and_offers_the_one_before(open_page, browser) -> None:
    first = own_table(open_page)
    browser["before"] = token(first)
    again = open_page("tune", demo="pima", k="7")
    assert (again.session.name, again.session.levers["k"]) == ("pima", 7)
    assert any("mine.csv is open in another tab" in m.value for m in again.test.markdown)


def test_another_tab_begins_with_a_copy_and_shares_nothing(open_page, browser) -> None:
    first = own_table(open_page)
    browser["other"] = token(first)
    second = open_page("tune")
    assert second.session.name == "bodyfat"
    (take,) = [b for b in second.test.button if b.label == "Take it over"]
    take.click().run()
    assert second.session.name == "mine.csv"
    assert second.session is not first.session
    assert second.session.data is first.session.data
    second.session.scenarios.clear()
    second.session.move(k=9)
    assert first.session.scenarios
    assert first.session.levers["k"] != 9
    assert "Take it over" not in [b.label for b in second.test.button]


def test_a_visitor_without_the_token_finds_nothing(open_page, browser) -> None:
    first = own_table(open_page)
    browser["browser"] = "of another user"
    for guess in ("", "0", token(first)[:-1], token(first).upper() + "x"):
        browser["before"] = guess
        again = open_page("tune", own="1")
        assert again.session.demo is not None
        assert not any("mine.csv" in each.value for each in again.test.markdown)
    assert len(token(first)) >= 43  # 256 bits
    assert token(first) not in str(first.session)


def test_another_person_in_the_same_tab_finds_nothing(open_page, browser, monkeypatch) -> None:
    first = own_table(open_page)
    monkeypatch.setattr(visit, "person", lambda: ("issuer", "another", None))
    for what in ("before", "other"):
        browser[what], browser["browser"] = token(first), "of another user"
        again = open_page("tune", own="1")
        assert again.session.demo is not None
        assert "Take it over" not in [each.label for each in again.test.button]


def test_what_was_erased_or_swept_is_found_by_no_token(open_page, browser) -> None:
    first = own_table(open_page)
    known = token(first)
    del first.test.session_state[VISIT]
    browser["before"] = known
    again = open_page("tune", own="1")
    assert again.session.demo is not None


def test_the_last_table_is_named_to_its_browser_alone_and_forgotten(
    open_page, browser, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv(project_folder.FOLDER_VARIABLE, str(tmp_path))
    project_folder.remember(project_folder.Last(table="t", name="mine.csv", browser="b"))
    project_folder.forget("another")
    assert project_folder.last("b") is not None
    assert project_folder.last("another browser") is None
    assert '"b"' not in (tmp_path / "last.toml").read_text(encoding="utf-8")
    (tmp_path / "names.key").write_bytes(b"k" * 32)  # other tables have projects, this one none
    project_folder.forget("t")
    assert project_folder.last("b") is None
