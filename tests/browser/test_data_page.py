"""The Data page: demo tables, files, roles and the regression; every bad file is one sentence."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from playwright.sync_api import TimeoutError

import rwn_core as rwn

SECRET = "SENTINEL7731"  # stands in the bad files' cells and must never be seen again
ROWS = "\n".join(f"{i},{i * i % 17},{SECRET if i == 5 else 'abc'[i % 3]}" for i in range(30))
BAD_FILES = {"ragged.csv": f"a,b,c\n{ROWS}\n1,2,{SECRET},4\n", 'the "new" 5%.csv': ""}
"""Two of them; tests/ui has more."""
PICTURE = "![x](http://evil.example/p.png)"


def upload(app, path: Path) -> None:
    app.page.locator("input[type=file]").first.set_input_files(path)


def badge(app, text: str) -> None:
    """Wait until the sidebar names this table."""
    app.page.get_by_test_id("stSidebar").get_by_text(text).wait_for()


def by_pointer(app, row: int, role: str) -> None:
    """Choose another role in the table of variables."""
    grid = app.page.get_by_test_id("stDataFrame").last
    field = app.page.locator("#portal input, #portal textarea").first
    option = app.page.locator("#portal").get_by_text(role, exact=True)
    for _ in range(30):  # a grid that still unfolds does not listen, nor does a list just opened
        width, down = grid.bounding_box()["width"], 35 * row + 52
        # the first column cannot be edited; a second click on one cell would open it
        grid.click(position={"x": 0.05 * width, "y": down})
        grid.click(position={"x": 0.2 * width, "y": down})
        app.page.keyboard.press("Enter")
        with suppress(TimeoutError):
            field.wait_for(timeout=1000)
            option.click(timeout=5000)
            field.wait_for(state="detached", timeout=5000)
            return
        app.page.keyboard.press("Escape")
    raise AssertionError("The cell does not open, or its list does not close.")


def test_a_bad_file_is_a_sentence_and_no_text_of_a_file_is_markup(app, tmp_path: Path) -> None:
    app.open("/").visit("Data")
    for name, content in BAD_FILES.items():
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
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

    path = tmp_path / "markup.csv"
    names = "<b>x</b>,<img src=x onerror=boom()>,=1+1,a&b"
    lines = [names, *(f"{i},{i * 7 % 11},{i * i % 13},{i % 3}" for i in range(40))]
    path.write_text("\n".join(lines), encoding="utf-8")
    app.visit("Data")
    upload(app, path)
    badge(app, "markup.csv · 40 × 4")
    app.visit("Tune")
    for title in ("Distribution", "Correlations"):
        app.card(title).get_by_role("button").click()
        view = app.page.locator("dialog[open]")
        view.locator(".main-svg").first.wait_for()
        assert view.locator("img, td b").count() == 0
        _, content = app.saved(view.get_by_role("button", name="CSV").click)
        app.page.keyboard.press("Escape")
    assert "'=1+1" in content.decode("utf-8")


def test_an_identifier_is_in_no_release_another_layout_one_click_away_and_erasing_final(
    app, tmp_path: Path
) -> None:
    app.open("/").visit("Data")
    app.settle()
    by_pointer(app, 1, "identifier")
    app.page.get_by_text("age is left out of every release").wait_for()
    _, schema = app.saved(app.page.get_by_role("button", name="Schema (TOML)").click)
    (tmp_path / "schema.toml").write_bytes(schema)
    app.visit("Tune")
    shown = app.page.locator(".rwn-strip i").evaluate_all("bars => bars.map((b) => b.title)")
    assert "age" not in {title.split()[0] for title in shown}
    header = app.printed(tmp_path).decode("utf-8").splitlines()[0].split(",")
    assert header == [name for name in rwn.load_demo("bodyfat").names if name != "age"]

    app.visit("Data")
    path = tmp_path / "german.csv"
    lines = ["Survey\n", "name;income;place", "Anna;1234,5;Köln", "Bert;2,5;Ulm", "Cora;3,5;Bonn"]
    path.write_bytes("\n".join([*lines, "Dora;;Ulm", "Source: the office"]).encode("cp1252"))
    upload(app, path)
    app.page.get_by_text("This is what I saw").wait_for()
    app.page.get_by_text("Windows-1252 text; fields separated by semicolons").wait_for()
    app.page.get_by_role("button", name="Open it so").click()
    badge(app, "german.csv · 4 × 3")
    app.settle()  # until then the button saves what was described before
    saved = app.saved(app.page.get_by_role("button", name="Schema (TOML)").click)[1].decode()
    for line in ('encoding = "cp1252"', 'separator = ";"', 'decimal = ","'):
        assert line in saved
    app.page.get_by_role("button", name="Erase everything").click()
    app.page.get_by_role("button", name="Erase now").click()
    badge(app, "bodyfat · 241 × 15")
