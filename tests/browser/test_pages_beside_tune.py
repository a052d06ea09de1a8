"""Pages beside Tune in a browser: Data, Find, a meeting, lessons, and a release that leaves."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, TimeoutError, expect

import rwn_core as rwn
from rwn_cli import main
from rwn_core import Scenario, Setting
from rwn_core.io.write import table_bytes
from rwn_core.reporting import read_record
from rwn_core.reporting.ledger import read_entries
from tests.browser.app_tab import ALERTS
from tests.tables import table
from tests.waiting import until

POINTS = """() => {
  const graph = document.querySelector('.rwn-card .js-plotly-plot');
  if (!graph?._fullLayout) return null;
  const { _size: size, xaxis, yaxis } = graph._fullLayout;
  const box = graph.getBoundingClientRect();
  return graph.data.filter((t) => t.customdata).flatMap((t) => t.customdata.map((key, i) =>
    [key, box.x + size.l + xaxis.d2p(t.x[i]), box.y + size.t + yaxis.d2p(t.y[i])]));
}"""
POINTED_AT = """([x, y]) => {
  const graph = document.querySelector('.rwn-card .js-plotly-plot');
  const { _size: size, xaxis, yaxis } = graph._fullLayout;
  const box = graph.getBoundingClientRect();
  return (graph._hoverdata ?? []).some((point) => Math.hypot(
    box.x + size.l + xaxis.d2p(point.x) - x, box.y + size.t + yaxis.d2p(point.y) - y) < 8);
}"""
"""Whether Plotly has seen the pointer at a place, and not only where it was before."""


@pytest.mark.nightly  # tests/ui/test_searches begins, cancels and uses a search
def test_a_setting_is_found_by_keyboard_chosen_on_the_map_and_used_on_tune(app) -> None:
    before = app.server.children()
    page = app.page
    app.open("/")
    shown = app.stamp
    page.get_by_role("link", name="Find", exact=True).press("Enter")
    find, cancel = (
        page.get_by_role("button", name=each, exact=True) for each in ("Find", "Cancel")
    )
    find.focus()
    page.keyboard.press("Enter")
    cancel.wait_for()
    expect(find).to_be_disabled()
    listed = page.get_by_role("radiogroup", name="Settings found")
    longer = page.get_by_role("button", name="Go on for 5 minutes")

    def three_are_listed() -> bool:
        if longer.is_visible():  # a minute was not enough beside other work
            longer.click()
            app.settle()
        page.wait_for_timeout(50)
        return listed.get_by_role("radio").count() > 2

    until(three_are_listed, pause=0.0)
    page.get_by_role("link", name="Tune", exact=True).click()
    app.wait_for_cards()
    assert "k = 6" in app.press("k", "ArrowRight"), "the sliders answer meanwhile"
    page.get_by_role("link", name="Find", exact=True).click()
    if cancel.is_visible():  # else the search has come to its end
        cancel.click()
        page.get_by_text("Search: Cancelled.").wait_for()
        page.get_by_role("button", name="Go on for 5 minutes").wait_for()
    app.server.wait_for_the_end_of_what_began_since(before)
    app.settle()

    def second_is_chosen() -> bool:
        listed.get_by_role("radio").first.press("ArrowDown")  # a list drawn anew has no focus
        app.settle()
        return listed.get_by_role("radio").nth(1).is_checked()

    until(second_is_chosen)
    app.settle()
    plot = app.card("Risk–utility map of what was tried").locator(".rwn-plot")
    plot.scroll_into_view_if_needed()
    plot.hover()
    app.until(f"() => ({POINTS})()?.length > 1")
    chosen = set()
    for place in range(3):
        point_at(page, place)
        app.settle()
        chosen.add(listed.locator("input:checked").get_attribute("value"))
    assert len(chosen) > 1, "each click chooses its own"
    assert page.url.partition("?")[0].endswith("/find"), "nothing is loaded"
    page.get_by_role("button", name="Use on Tune").press("Enter")
    app.wait_for_cards()
    assert app.stamp != shown


def point_at(page: Page, place: int) -> None:
    """Click a point of the map, once Plotly has seen the pointer there."""
    moves = count()

    def has_seen() -> bool:
        _, x, y = page.evaluate(POINTS)[place]  # the page may have moved since
        page.mouse.move(x - 2 + next(moves) % 3, y)
        page.wait_for_timeout(50)  # Plotly looks at the pointer only now and then
        if not page.evaluate(POINTED_AT, [x, y]):
            return False
        page.mouse.click(x, y)
        return True

    until(has_seen, pause=0.0)


NAMES = ("Light masking", "Strong", "Slices of size and age", "Whole rows, careful",
         "Microaggregation ten", "Additive noise as in 2015")  # fmt: skip
CUT = """() => [...document.querySelectorAll('.rwn-candidates *')]
  .filter((node) => node.clientWidth && node.scrollWidth > node.clientWidth + 1)
  .map((node) => node.textContent)"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll('.rwn-row-limit td > span')]
  .map((node) => parseFloat(getComputedStyle(node).fontSize)))"""
LOWEST = """() => Math.max(...[...document.querySelectorAll('.rwn-candidates, .rwn-card')]
  .map((node) => node.getBoundingClientRect().bottom))"""


def scenarios(folder: Path) -> Iterator[Path]:
    """Six scenarios of the demo, the last three of which keep all limits."""
    table = rwn.load_demo("bodyfat").fingerprint
    for number, name in enumerate(NAMES):
        high = 0.6 / 4**number
        reading = {"median": high, "low": high / 2, "high": high}
        readings = dict.fromkeys(rwn.Policy().measures, reading)
        if number > 2:  # nobody is linked above one half
            readings["linked_over_half"] = dict.fromkeys(reading, 0.0)
        readings["association_loss"] = {"median": 0.05 + 0.1 * number}
        setting = Setting.of("rwn", {"epsilon": 1.0 + number, "k": 5})
        made = Scenario(name=name, table=table, setting=setting, readings=readings)
        path = folder / f"{number}.toml"
        path.write_text(made.to_toml(), encoding="utf-8")
        yield path


@pytest.mark.nightly  # tests/js/candidates draws and chooses, tests/ui/test_release_page keeps
def test_six_candidates_fit_one_screen_and_are_chosen_by_keyboard(app, tmp_path) -> None:
    page = app.page
    app.open("/")
    page.get_by_role("link", name="Compare", exact=True).click()
    uploader = page.get_by_test_id("stFileUploader").filter(has_text="Scenario or decision")
    heads = page.locator(".rwn-candidate")
    for number, path in enumerate(scenarios(tmp_path), start=1):
        uploader.locator("input[type=file]").set_input_files(path)
        expect(heads).to_have_count(number)
        app.settle()
    page.get_by_text("Meeting", exact=True).click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    for width, height in ((1280, 720), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        app.until("(height) => document.querySelector('.rwn-card').getBoundingClientRect().bottom "
                  "<= height", height)  # fmt: skip
        assert page.evaluate(LOWEST) <= height
        assert page.evaluate(CUT) == []
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALLEST) >= 19
    expect(page.locator(".rwn-candidate-verdict")).to_have_text(
        ["▲ Breaks 4 of 4 limits"] * 2 + ["▲ Breaks 1 of 4 limits"] + ["✓ Keeps all 4 limits"] * 3
    )
    heads.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(heads.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(heads.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("combobox", name="Decision")).to_have_value(NAMES[2])
    # "What if the limit were 4 %?"
    page.get_by_role("button", name="What if").click()
    field = page.get_by_role("spinbutton", name="Linked over one half, records at most")
    field.fill("10")
    field.press("Enter")
    told = re.compile("WHAT IF other limits held: Linked over one half")
    expect(page.get_by_text(told)).to_be_visible()
    third = page.locator(".rwn-candidate-verdict").nth(2)
    expect(third).to_have_text("✓ Keeps all 4 limits")
    page.keyboard.press("Escape")
    page.get_by_text("Meeting", exact=True).click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


PIXELS = "() => document.querySelector('.rwn-card canvas').toDataURL()"
LESSONS = {
    "0 · What is disclosure?": ("The released rows", "Modification probability"),
    "1 · The theorem": ("Points and one release", "Radius ε"),
    "2 · The intruder": ("Who could have made this row", "Neighbors k"),
    "3 · k nearest and ε": ("One record and its neighborhood", "Minimum neighbors k"),
    "4 · Standard errors": ("95 % intervals", "Modification probability"),
    "5 · Choose a setting": ("Risk and loss over the radius", "Radius ε"),
    "6 · Sampling and privacy": ("Risk of a sample unique", "Key drawn anew"),
    "7 · Edges and balance": ("Donors of one record", "Reach"),
    "8 · What ties a row together": ("Risk and loss over the width", "Width of the kernel"),
}
ROUND = """title => {
  const card = document.querySelector('.rwn-card'), canvas = card?.querySelector('canvas');
  return card?.querySelector('b').textContent.startsWith(title) && canvas.width > 300;
}"""
REACH = """() => {
  const canvas = document.querySelector('.rwn-card canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const xs = [], ys = [];
  for (let i = 0; i < data.length; i += 4)
    if (data.slice(i, i + 4).join() === '178,24,43,255') {
      xs.push((i / 4) % canvas.width);
      ys.push(Math.floor(i / 4 / canvas.width));
    }
  return [xs, ys].map((all) => Math.max(...all) - Math.min(...all));
}"""
"""How far the pixels of the theorem's circle are apart, across and up and down."""


def choose(app, title: str, card: str) -> None:
    option = app.page.get_by_role("radio", name=title)
    if not option.is_checked():
        app.page.locator("[data-testid=stRadio] input:checked").press("ArrowDown")
    app.until(ROUND, card)


@pytest.mark.nightly  # tests/ui/test_learn_page moves every lesson
def test_every_lesson_s_picture_moves_and_its_address_opens_it_again(app, open_app) -> None:
    app.open("/")
    app.page.get_by_role("link", name="Learn", exact=True).click()
    for title, (card, slider) in LESSONS.items():
        choose(app, title, card)
        before = app.stamp
        pixels = app.page.evaluate(PIXELS)
        app.page.get_by_role("slider", name=slider).press("End")
        app.wait_for_change(before)
        assert app.page.evaluate(PIXELS) != pixels, title
        if title == "1 · The theorem":
            look_into_the_theorem(app, open_app)
    app.page.get_by_role("button", name="Open this on Tune").click()
    app.wait_for_cards()


def look_into_the_theorem(app, open_app) -> None:
    """Its ball is round, its code has the number on screen, and its address is followed."""
    slider = app.page.get_by_role("slider", name="Radius ε")
    code = app.page.locator("summary", has_text="The code")
    code.click()
    for key, radius in (("Home", "0.05"), ("PageUp", "0.35"), ("ArrowRight", "0.4")):
        before = app.stamp
        slider.press(key)
        stamp = app.wait_for_change(before)
        app.page.get_by_text(f"epsilon={radius}").wait_for()  # still open, with the new number
    across, up = app.page.evaluate(REACH)
    assert up == pytest.approx(across, abs=3)
    assert up > 30
    app.page.wait_for_url("**lesson=theorem&lesson-epsilon=0.4")
    other = open_app()
    other.page.goto(app.page.url)
    other.until("old => document.querySelector('[data-stamp]')?.dataset.stamp === old", stamp)
    other.page.get_by_role("button", name="Next: 2").click()
    other.page.wait_for_url("**lesson=intruder")
    app.page.bring_to_front()  # a page in the background paints nothing


def open_spss(app, folder: Path) -> None:
    path = folder / "people.sav"
    data = table("bodyfat", n=100)
    path.write_bytes(table_bytes(data.frame, "spss", data.schema))
    path.with_suffix(".toml").write_text(data.schema.to_toml(), "utf-8")
    app.open("/").visit("Data")
    files = app.page.locator("input[type=file]")
    files.nth(1).set_input_files(path.with_suffix(".toml"))
    app.settle()
    files.first.set_input_files(path)
    app.page.get_by_test_id("stSidebar").get_by_text("people.sav · 100 × 15").wait_for()
    app.settle()


def press(app, name: str) -> None:
    app.page.get_by_role("button", name=name, exact=True).click()
    app.settle()


def fill(app, label: str, text: str) -> None:
    field = app.page.get_by_role("textbox", name=label)
    field.fill(text)
    field.press("Tab")
    app.settle()


def refused(app, words: str) -> None:
    app.page.locator(ALERTS).filter(has_text=words).first.wait_for()


def press_until_refused(app, name: str, words: str) -> None:
    """Press again where a page that is just written anew has not heard it, as a person does."""
    said = app.page.locator(ALERTS).filter(has_text=words).first
    for patience in range(5_000, 60_000, 5_000):
        press(app, name)
        with suppress(TimeoutError):
            said.wait_for(timeout=patience)
            return
    said.wait_for()


def walk(app, tmp_path: Path) -> Path:
    app.page.get_by_role("link", name="Release", exact=True).click()
    app.page.get_by_role("heading", name="Look at the kind and the role").wait_for()
    app.settle()
    press(app, "I have looked at every variable: kinds and roles are right")
    app.page.get_by_role("radio", name="spss", exact=True).click()
    app.settle()
    fill(app, "New file on this machine", str(tmp_path / "sealed.key"))
    press(app, "Draw the release and judge it")
    app.page.get_by_text("SHA-256 of the file").wait_for()
    app.settle()
    refused(app, "Refused. ")
    refused(app, "Breaks ")
    app.page.get_by_text("Or answer for an exception").click()
    press_until_refused(app, "Record", "Nobody answers for the release; give a name.")
    fill(app, "Name of the person", "Ada Lovelace")
    press(app, "Record")
    refused(app, "give the reason for which it leaves all the same.")
    fill(app, "Reason, where", "A lesson for students")
    press(app, "Record")
    app.page.get_by_text("Ada Lovelace answers").wait_for()
    fill(app, "What the data are called", "Body fat of 87.3 at most")
    press(app, "Make the files")
    refused(app, "The public file would hold")
    fill(app, "What the data are called", "Body measurements")
    press(app, "Make the files")
    app.page.get_by_text("SHA256SUMS has").wait_for()
    fill(app, "Or a folder on this machine", str(tmp_path / "nowhere"))
    press(app, "Write")
    refused(app, "does not exist; create it first.")
    fill(app, "Or a folder on this machine", str(tmp_path))
    press(app, "Write")
    app.page.get_by_text("The files lie in").wait_for()
    fill(app, "Ledger on this machine", str(tmp_path / "ledger.txt"))
    refused(app, "end in .jsonl.")
    fill(app, "Ledger on this machine", str(tmp_path / "ledger.jsonl"))
    press(app, "Sign as Ada Lovelace")
    app.page.get_by_text("Entry 1, signed by Ada Lovelace").wait_for()
    (folder,) = tmp_path.glob("release-*")
    return folder


def holds_sums(folder: Path) -> None:
    """Hold that the folder has each file that its list of sums names, and no other."""
    sums = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    for line in sums:
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    written = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert written == {line.split("  ")[1] for line in sums} | {"SHA256SUMS"}


def holds_record(record, file: Path) -> None:
    """Hold that the record is of the file, and names who answers for its exception."""
    assert rwn.read(file).names == rwn.load_demo("bodyfat").names
    assert record["file"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    given = {"by": "Ada Lovelace", "reason": "A lesson for students", "exception": True}
    assert record["approval"] == given
    assert record["verdict"]["kept"] is False


def holds_entry(entry, record, folder: Path) -> None:
    """Hold that the entry of the ledger is of this release, and says that a limit is broken."""
    assert entry["release"] == record["release"]["id"]
    assert entry["release"] in folder.name
    assert (entry["by"], entry["kept"]) == ("Ada Lovelace", False)


def holds_that_the_key_alone_gives_the_file_again(record, folder: Path, file: Path) -> None:
    """Hold that the key and the original give the file again, and the trial's seed does not."""
    key, original = (str(folder.parent / name) for name in ("sealed.key", "people.sav"))
    assert main.run(["reproduce", str(folder), "--key", key, "--original", original]) == 0
    data = table("bodyfat", n=100)
    setting = Setting.from_dict(record["setting"])
    trial = rwn.mask(setting.applied_to(data), setting.params, seed=1)
    assert not np.array_equal(rwn.read(file).frame, trial.published().frame)


def holds_that_users_get_what_is_for_users(app, entry, folder: Path) -> None:
    """Hold that a download has the files for users of the folder, and names no original."""
    app.page.get_by_text("4 · Files written").click()
    name, content = app.saved(app.page.get_by_role("button", name="Download (for users)").click)
    assert "people" not in name
    assert entry["release"] in name
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert all(inside.startswith("for-users/") for inside in archive.namelist())
        for inside in archive.namelist():
            assert archive.read(inside) == (folder / inside).read_bytes()


def test_the_walk_ends_with_a_file_a_notice_and_a_signed_ledger(app, tmp_path) -> None:
    open_spss(app, tmp_path)
    folder = walk(app, tmp_path)
    holds_sums(folder)
    record = read_record((folder / "internal" / "internal-record.toml").read_text("utf-8"))
    (file,) = (folder / "for-users").glob("release-*.sav")
    holds_record(record, file)
    (entry,) = read_entries((folder.parent / "ledger.jsonl").read_bytes())
    holds_entry(entry, record, folder)
    holds_that_the_key_alone_gives_the_file_again(record, folder, file)
    holds_that_users_get_what_is_for_users(app, entry, folder)


SECRET = "SENTINEL7731"  # stands in the bad files' cells and must never be seen again
ROWS = "\n".join(f"{i},{i * i % 17},{SECRET if i == 5 else 'abc'[i % 3]}" for i in range(30))
BAD_FILES = {"ragged.csv": f"a,b,c\n{ROWS}\n1,2,{SECRET},4\n", 'the "new" 5%.csv': ""}
"""Two of them; tests/ui has more."""
PICTURE = "![x](http://evil.example/p.png)"


def upload(app, path: Path) -> None:
    app.page.locator("input[type=file]").first.set_input_files(path)


def badge(app, text: str) -> None:
    app.page.get_by_test_id("stSidebar").get_by_text(text).wait_for()


def by_pointer(app, row: int, role: str) -> None:
    grid = app.page.get_by_test_id("stDataFrame").last
    field = app.page.locator("#portal input, #portal textarea").first
    option = app.page.locator("#portal").get_by_text(role, exact=True)
    for patience in range(1000, 40_000, 1000):
        # a grid that still unfolds does not listen, nor does a list just opened
        width = grid.bounding_box()["width"]
        down = 35 * row + 52
        # the first column cannot be edited; a second click on one cell would open it
        grid.click(position={"x": 0.05 * width, "y": down})
        grid.click(position={"x": 0.2 * width, "y": down})
        app.page.keyboard.press("Enter")
        with suppress(TimeoutError):
            field.wait_for(timeout=patience)
            option.click(timeout=5 * patience)
            field.wait_for(state="detached", timeout=5 * patience)
            return
        app.page.keyboard.press("Escape")
    raise AssertionError("The cell does not open, or its list does not close.")


@pytest.mark.nightly  # tests/ui/test_files has the sentences, tests/js the texts
def test_a_bad_file_is_a_sentence_without_a_value_of_it(app, tmp_path: Path) -> None:
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


@pytest.mark.nightly  # tests/ui/test_files has the sentences, tests/js the texts
def test_the_name_of_a_column_is_shown_as_text(app, tmp_path: Path) -> None:
    app.open("/").visit("Data")
    path = tmp_path / "picture.csv"
    path.write_text(f"{PICTURE},{PICTURE}\n1,2\n", encoding="utf-8")
    upload(app, path)
    app.page.get_by_test_id("stAlertContentError").filter(has_text="evil.example").wait_for()
    (message,) = app.messages()
    assert PICTURE in message.replace("\u2060", "")  # it keeps the address from being a link
    assert app.page.locator("[data-testid=stAlert] img").count() == 0
    app.visit("Tune")
    assert "k = 6" in app.press("k", "ArrowRight")


@pytest.mark.nightly  # tests/ui/test_files has the sentences, tests/js the texts
def test_no_text_of_a_file_is_markup_in_a_full_view(app, tmp_path: Path) -> None:
    path = tmp_path / "markup.csv"
    names = "<b>x</b>,<img src=x onerror=boom()>,=1+1,a&b"
    lines = [names, *(f"{i},{i * 7 % 11},{i * i % 13},{i % 3}" for i in range(40))]
    path.write_text("\n".join(lines), encoding="utf-8")
    app.open("/").visit("Data")
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


@pytest.mark.nightly  # tests/ui/test_files answers the same forms
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
