"""The Data page: demo tables, files, roles and the regression; every bad file is one sentence."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from playwright.sync_api import TimeoutError

import rwn_core as rwn

SECRET = "SENTINEL7731"  # stands in the bad files' cells and must never be seen again
ROWS = "\n".join(f"{i},{i * i % 17},{SECRET if i == 5 else 'abc'[i % 3]}" for i in range(30))
TABLE = f"a,b,c\n{ROWS}"
BAD_FILES = {
    "ragged.csv": f"{TABLE}\n1,2,{SECRET},4\n".encode(),
    'the "new" 5%.csv': b"",
}  # tests/ui has more
PICTURE = "![x](http://evil.example/p.png)"


def upload(app, path: Path) -> None:
    app.page.locator("input[type=file]").first.set_input_files(path)


def badge(app, text: str) -> None:
    """Wait until the sidebar names this table."""
    app.page.get_by_test_id("stSidebar").get_by_text(text).wait_for()


def by_pointer(app, row: int, role: str) -> None:
    """Choose another role in the table of variables."""
    grid = app.page.get_by_test_id("stDataFrame").last
    option = app.page.locator("#portal").get_by_text(role, exact=True)
    for _ in range(5):  # a list that has just opened may not take a click
        field = app.open_cell(grid, 0.2, row)
        with suppress(TimeoutError):
            option.click(timeout=5000)
            field.wait_for(state="detached", timeout=5000)
            return
        app.page.keyboard.press("Escape")
    raise AssertionError("The list does not close.")


def strip(app) -> list[str]:
    titles = app.page.locator(".rwn-strip i").evaluate_all("bars => bars.map((b) => b.title)")
    return [title.split()[0] for title in titles]


GERMAN = "Survey\n\nname;income;place\nAnna;1234,5;K\u00f6ln\nBert;2,5;Ulm\nCora;3,5;Bonn\n"
GERMAN += "Dora;;Ulm\nSource: the office"


def test_an_identifier_is_in_no_release(opened, tmp_path: Path) -> None:
    app = opened.visit("Data")
    app.settle()
    by_pointer(app, 1, "identifier")
    app.page.get_by_text("age is left out of every release").wait_for()
    _, schema = app.saved(app.page.get_by_role("button", name="Schema (TOML)").click)
    (tmp_path / "schema.toml").write_bytes(schema)
    app.visit("Tune")
    assert "age" not in strip(app)
    header = app.printed(tmp_path).decode("utf-8").splitlines()[0].split(",")
    assert header == [name for name in rwn.load_demo("bodyfat").names if name != "age"]


def test_a_bad_file_is_a_sentence_another_layout_one_click_and_what_is_erased_is_gone(
    opened, tmp_path: Path
) -> None:
    app = opened.visit("Data")
    for name, content in BAD_FILES.items():
        path = tmp_path / name
        path.write_bytes(content)
        upload(app, path)
        app.page.get_by_test_id("stAlertContentError").filter(has_text=name).wait_for()
        (message,) = app.messages()
        assert message.startswith(name), message
        assert message.endswith(".")
        assert message.count(". ") == 0, message
        badge(app, "bodyfat · 241 × 15")
    assert SECRET not in app.page.content()
    assert not any(SECRET.encode() in frame for frame in app.frames if isinstance(frame, bytes))
    assert SECRET not in app.server.log

    path = tmp_path / "picture.csv"  # the name of a column is shown as text
    path.write_text(f"{PICTURE},{PICTURE}\n1,2\n", encoding="utf-8")
    upload(app, path)
    app.page.get_by_test_id("stAlertContentError").filter(has_text="evil.example").wait_for()
    (message,) = app.messages()
    assert PICTURE in message.replace("\u2060", "")  # it keeps the address from being a link
    assert app.page.locator("[data-testid=stAlert] img").count() == 0

    app.visit("Tune")
    assert "k = 6" in app.press("k", "ArrowRight")

    path = tmp_path / "german.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    app.visit("Data")
    upload(app, path)
    app.page.get_by_text("This is what I saw").wait_for()
    app.page.get_by_text("Windows-1252 text; fields separated by semicolons").wait_for()
    app.page.get_by_role("button", name="Open it so").click()
    badge(app, "german.csv \u00b7 4 \u00d7 3")
    app.settle()  # until then the button saves what was described before
    saved = app.saved(app.page.get_by_role("button", name="Schema (TOML)").click)[1].decode()
    assert 'encoding = "cp1252"' in saved
    assert 'separator = ";"' in saved
    assert 'decimal = ","' in saved

    path = tmp_path / "mine.csv"
    path.write_text(TABLE, encoding="utf-8")
    upload(app, path)
    badge(app, "mine.csv \u00b7 30 \u00d7 3")
    app.page.get_by_role("button", name="Erase everything").click()
    app.page.get_by_role("button", name="Erase now").click()
    badge(app, "bodyfat \u00b7 241 \u00d7 15")
