"""How a file lies, chosen on the Data page: rows around a sheet, the notation of dates."""

from __future__ import annotations

from tests.core.io.test_ugly_workbook import SEEN, ugly


def test_a_workbook_with_a_title_is_one_click_away(open_page, titled_workbook: bytes) -> None:
    screen = open_page("data").upload("t.xlsx", titled_workbook)
    assert any("row 1: column 2 has no name" in error for error in screen.errors)
    words = [each.value for each in screen.test.markdown]
    assert "Names in row 3; 2 rows above the table; 1 row below it." in words
    screen.test.button(key="data.layout.open").click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    assert screen.errors == []
    assert screen.session.data.n == 60
    assert screen.session.data.names == ("age", "pay", "place")


def test_ambiguous_dates_are_chosen_by_the_user(open_page) -> None:
    rows = [f"{1 + i % 12:02d}/{1 + i % 11:02d}/19{50 + i % 40},{i}.5" for i in range(60)]
    content = "\n".join(["born,x", *rows, ""]).encode()
    screen = open_page("data").upload("t.csv", content)
    assert any("all fit DD/MM/YYYY and MM/DD/YYYY" in error for error in screen.errors)
    (dates,) = (each for each in screen.test.selectbox if each.label == "Dates")
    assert dates.value == "YYYY-MM-DD"
    dates.set_value("MM/DD/YYYY").run()
    screen.test.button(key="data.layout.open").click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    assert screen.errors == []
    assert screen.session.data.schema.variable("born").notation == "MM/DD/YYYY"
    assert screen.session.data.frame["born"].dt.month[11] == 12


def test_an_ugly_workbook_is_one_click_away(open_page) -> None:
    screen = open_page("data").upload("t.xlsx", ugly())
    assert len(screen.errors) == 1
    words = " ".join(each.value for each in screen.test.markdown)
    assert "4 rows above the table; 1 row below it; texts with a decimal comma are numbers" in words
    assert "missing values as k.A.; merged cells have the value of their area." in words
    screen.test.button(key="data.layout.open").click().run()
    while screen.work.opening.reading is not None:
        screen.test.run()
    assert screen.errors == []
    assert screen.session.data.schema.file == SEEN
    assert screen.session.data.schema.variable("wage").kind == "continuous"
