"""Sweep and Compare in a browser: the whole walk, by keyboard once, and what survives."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from rwn_core.reporting.scenario import Scenario
from rwn_ui.server import launch
from rwn_ui.sweep import run as sweep_run

FIELDS = {
    "Radius ε (standard deviations)": "2, 3",
    "Minimum neighbors k": "3, 5",
    "Modification probability q": "1",
    "Releases": "2",
}
LONG = {**FIELDS, "Radius ε (standard deviations)": "0:4:0.02", "Releases": "6"}
ONE_PRECISION = "/?rounding=1-5&slices=1-2"
"""A setting with steps and slices of its own, so that a sweep tries no others."""
POINTS = """() => {
  const graph = document.querySelector('.rwn-card .js-plotly-plot');
  if (!graph?._fullLayout) return null;
  const { _size: size, xaxis, yaxis } = graph._fullLayout;
  const box = graph.getBoundingClientRect();
  return graph.data.filter((t) => t.customdata).flatMap((t) => t.customdata.map((key, i) =>
    [key, box.x + size.l + xaxis.d2p(t.x[i]), box.y + size.t + yaxis.d2p(t.y[i])]));
}"""
STYLE = "() => getComputedStyle(document.querySelector('.stMainBlockContainer')).padding"


def go(app, name: str) -> None:
    """Another page, by keyboard."""
    app.page.get_by_role("link", name=name, exact=True).press("Enter")


def fill(app, label: str, text: str) -> None:
    """Type into a field, by keyboard."""
    box = app.page.get_by_label(label, exact=True)
    box.focus()
    box.press("ControlOrMeta+a")
    app.page.keyboard.type(text)
    app.page.keyboard.press("Tab")


def press(app, name: str) -> None:
    """A button, by keyboard."""
    app.page.get_by_role("button", name=name, exact=True).press("Enter")


def settings(app) -> str:
    """The note of the map: how many settings are there."""
    return app.card("Risk–utility map of the sweep").locator(".rwn-note").inner_text()


def sweep(app, fields: dict[str, str] | None = None) -> None:
    """Start a sweep on the Sweep page."""
    go(app, "Sweep")
    app.page.get_by_role("button", name="Start sweep").wait_for()
    for label, text in (fields or FIELDS).items():
        fill(app, label, text)
    press(app, "Start sweep")


def more_than(app, settings: int) -> None:
    """Wait until so many settings are on the map."""
    app.until(
        "n => parseInt(document.querySelector('.rwn-note')?.textContent) > n",
        settings,
        timeout=90_000,
    )


def gone(pids: list[int]) -> bool:
    """Whether the processes end by themselves."""
    end = time.monotonic() + 120
    while any(alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(alive(pid) for pid in pids)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def finished(app) -> None:
    """Wait until the sweep is done and drawn."""
    app.page.get_by_role("button", name="Load into Tune").wait_for(timeout=90_000)
    app.page.get_by_role("button", name="Cancel").wait_for(state="detached", timeout=90_000)
    app.settle()


def clicks_choose_and_load_nothing(app) -> None:
    """A click on the map chooses a setting, and leaves the page as it is."""
    page, style = app.page, app.page.evaluate(STYLE)
    chosen = page.get_by_role("combobox", name="Setting (")
    now = page.locator(".rwn-parameters").inner_text()
    app.card("Risk–utility map of the sweep").locator(".rwn-plot").hover()
    app.until(f"() => ({POINTS})() !== null")
    lines = set()
    for _, x, y in page.evaluate(POINTS)[:3]:
        page.mouse.move(x - 2, y)
        page.mouse.move(x, y)
        page.locator(".hovertext").first.wait_for()
        page.mouse.click(x, y)
        app.settle()
        lines.add(chosen.input_value())
        assert page.evaluate(STYLE) == style
    assert len(lines) > 1, "each click chooses its own"
    assert page.locator(".rwn-parameters").inner_text() == now, "nothing is loaded"
    assert page.get_by_text("Loaded into Tune").count() == 0
    assert "fragment rerun was triggered" not in app.server.log


def test_the_whole_walk_by_keyboard(app, open_app, tmp_path) -> None:
    app.open(ONE_PRECISION)
    sweep(app)
    finished(app)
    assert settings(app).startswith("4 settings")
    clicks_choose_and_load_nothing(app)
    app.card("Relations lost over ε and k").wait_for()
    app.page.get_by_role("combobox", name="Up: risk").focus()
    app.page.keyboard.type("Worst-case linkage")
    app.page.keyboard.press("Enter")
    # a button that is drawn again loses the key
    app.page.get_by_role("button", name="with the best Worst-case linkage").wait_for()
    toast = app.page.get_by_text(re.compile("Loaded into Tune")).first
    for _ in range(5):
        app.settle()
        press(app, "Load into Tune")
        app.page.wait_for_timeout(1_000)
        if toast.is_visible():
            break
    loaded = toast.inner_text()
    go(app, "Tune")
    app.wait_for_cards()
    tiles, chosen = app.values(), app.stamp
    assert chosen.startswith(loaded.partition(": ")[2])
    press(app, "Pin A")
    app.verdict.get_by_text("vs A").wait_for()
    go(app, "Compare")
    fill(app, "Name", "Careful")
    fill(app, "Note", "For the March file")
    press(app, "Save scenario")
    app.page.get_by_role("button", name="TOML").wait_for()
    chip = app.page.locator("[data-tag] [title=Careful]")  # alone, and not cut
    assert chip.evaluate("(words) => words.scrollWidth <= words.clientWidth")
    name, content = app.saved(lambda: press(app, "TOML"))
    assert name == "scenario.toml"
    scenario = Scenario.from_toml(content.decode("utf-8"))
    assert (scenario.name, scenario.note) == ("Careful", "For the March file")
    picture = app.card("Risk–utility map").locator(".rwn-plot").get_attribute("aria-label")

    other = open_app()
    other.open("/?epsilon=1&k=9&q=0.5")
    assert other.stamp != chosen
    other.page.get_by_role("link", name="Compare", exact=True).click()
    path = tmp_path / "scenario.toml"
    path.write_bytes(content)
    # the page that is left has files of its own to open
    uploader = other.page.get_by_test_id("stFileUploader").filter(has_text="Scenario or decision")
    uploader.locator("input[type=file]").set_input_files(path)
    other.page.get_by_text(re.compile("Loaded into Tune")).first.wait_for()
    again = other.card("Risk–utility map").locator(".rwn-plot")
    again.wait_for()
    expect(again).to_have_attribute("aria-label", picture)
    other.page.get_by_role("link", name="Tune", exact=True).click()
    other.wait_for_cards()
    assert other.values() == tiles


def test_a_sweep_goes_on_beside_other_pages_and_survives_a_closed_tab(open_app, server) -> None:
    one, before = open_app(), server.children()
    one.open(ONE_PRECISION)
    sweep(one, LONG)
    one.page.get_by_text(re.compile(r"of 402 settings")).wait_for()
    go(one, "Tune")
    one.wait_for_cards()
    one.press("k", "ArrowRight")
    go(one, "Sweep")
    more_than(one, 4)
    assert set(server.children()) - set(before)
    one.page.close()
    # data of a session that is gone stays in no process
    assert server.ends_what_began_since(before)
    two = open_app()
    two.open(ONE_PRECISION)
    go(two, "Sweep")
    two.page.get_by_text(re.compile("A sweep of this table is kept")).wait_for()
    press(two, "Go on with it")
    more_than(two, 4)
    workers = list(set(server.children()) - set(before))
    assert workers
    press(two, "Cancel")
    assert gone(workers)
    two.page.get_by_text(re.compile("Cancelled;")).wait_for()


@pytest.mark.nightly  # test_workers kills workers and their parent; the test above goes on
def test_killed_workers_and_a_killed_server_lose_no_finished_point(
    visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_port
) -> None:
    monkeypatch.setenv(sweep_run.FOLDER_VARIABLE, str(tmp_path / "jobs"))
    port = free_port()

    def finished_points() -> set[str]:
        return {path.name for path in tmp_path.glob("jobs/*/*.json")} - {"manifest.json"}

    with launch.serving(port) as process:
        one = visit(process, port)
        sweep(one, LONG)
        more_than(one, 5)
        first, *others = one.server.children()
        os.kill(first, signal.SIGKILL)
        if others:  # a machine with one processor has one worker
            more_than(one, int(settings(one).split()[0]) + 3)
        for pid in one.server.children():
            os.kill(pid, signal.SIGKILL)
        one.page.get_by_text(re.compile("start it again to go on")).wait_for()
        press(one, "Go on")
        more_than(one, int(settings(one).split()[0]) + 3)
        before, workers = finished_points(), one.server.children()
        assert workers
        process.kill()
        process.wait()
        assert gone(workers), "data of a server that is gone stays in no process"
    assert before <= finished_points()
    with launch.serving(port) as process:
        two = visit(process, port)
        go(two, "Sweep")
        kept = two.page.get_by_text(re.compile("A sweep of this table is kept")).inner_text()
        # the two ends of the map are no settings
        assert int(kept.partition("kept: ")[2].split()[0]) >= len(before) - 2
        press(two, "Go on with it")
        more_than(two, len(before) - 3)
        press(two, "Cancel")
        two.page.get_by_text(re.compile("Cancelled;")).wait_for()
        assert two.server.ends_what_began_since([])
        assert two.complaints == []
