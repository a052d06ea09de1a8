"""Reloads, links, a second tab and a second person, and a server that has stopped."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

import rwn_core as rwn
from rwn_ui.server import launch
from tests.waiting import HANG_MS

ROWS = [f"{i % 17},{i * i % 31},{'xyz'[i % 3]}" for i in range(60)]
NAME = "sentinel-mine.csv"
SIDEBAR = "stSidebar"


def opened(app: Any, tmp_path: Any) -> Any:
    path = tmp_path / NAME
    path.write_text("a,b,c\n" + "\n".join(ROWS), encoding="utf-8")
    app.open("/").visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(path)
    app.page.get_by_test_id(SIDEBAR).get_by_text(f"{NAME} · 60 × 3").wait_for()
    app.visit("Tune")
    app.press("k", "ArrowRight")
    app.page.wait_for_url(re.compile(r"\*k\*6\*"))
    return app


@pytest.mark.nightly  # the link below is reloaded; tests/ui/test_visit has tables and strangers
def test_a_reload_keeps_table_setting_and_scenarios_and_tells_no_one(
    app, open_app, tmp_path, chromium, server
) -> None:
    opened(app, tmp_path)
    app.page.get_by_role("button", name="Keep this setting").click()
    app.verdict.get_by_text("vs A").wait_for()
    addresses: list[str] = []
    app.page.on("request", lambda r: addresses.append(f"{r.url} {r.headers.get('referer', '')}"))
    for _ in range(2):
        app.page.reload()
        app.wait_for_cards()
        expect(app.page.get_by_test_id(SIDEBAR)).to_contain_text(NAME)
        app.shows("k = 6")
        app.verdict.get_by_text("vs A").wait_for()
    storage = "() => [sessionStorage, localStorage].map((each) => JSON.stringify(each)).join()"
    stored = app.page.evaluate(storage)
    assert NAME not in stored
    token = app.page.evaluate("sessionStorage.getItem('rwn.tab')")
    assert len(token) >= 43
    for text in (*addresses, app.page.url, server.log):
        assert token not in text
        assert NAME not in text
    stranger = chromium.new_context().new_page()
    try:
        stranger.goto(app.page.url, timeout=HANG_MS)
        stranger.locator("[data-stamp]").wait_for(timeout=HANG_MS)
        assert NAME not in stranger.content()
        assert stranger.get_by_role("button", name="Take it over").count() == 0
    finally:
        stranger.context.close()
    second = open_app()
    second.page.goto(second.server.address)
    second.page.get_by_role("button", name="Take it over").click()
    second.page.get_by_test_id(SIDEBAR).get_by_text(NAME).wait_for()
    second.wait_for_cards()
    second.shows("k = 6")
    assert "k = 7" in second.press("k", "ArrowRight")
    assert "k = 6" in app.stamp, "a second tab takes a copy"


@pytest.mark.nightly  # only a browser shows it: no test by day
def test_a_server_that_has_stopped_is_said(visit, free_port) -> None:
    port = free_port()
    with launch.serving(port) as process:
        app = visit(process, port)
        launch._stop(process)
        dialog = app.page.get_by_role("dialog")
        dialog.get_by_text("The program on this machine has stopped.").wait_for()
        words = dialog.inner_text()
        assert "Start it again with rwn app; your description and setting are saved." in words
        assert "internet" not in words
        assert "Streamlit" not in words


def query(app) -> dict[str, list[str]]:
    return parse_qs(urlsplit(app.page.url).query)


def at_k(k: int, page: str = "") -> re.Pattern[str]:
    return re.compile(rf"/{page}\?.*setting=epsilon\*[\d.]+\*k\*{k}\*q")


def test_a_link_opens_table_setting_or_lesson_and_a_reload_keeps_them(app) -> None:
    app.open("/?demo=bodyfat_raw&epsilon=1.5&k=7&q=0.5")
    app.shows("ε = 1.5 · k = 7 · q = 0.5")
    expect(app.page.get_by_test_id("stSidebar")).to_contain_text("bodyfat_raw")
    app.press("k", "ArrowRight")
    app.page.wait_for_url(at_k(8))
    app.page.reload()
    app.wait_for_cards()
    app.shows("k = 8")
    expect(app.page.get_by_test_id("stSidebar")).to_contain_text("bodyfat_raw")
    for name in ("Data", "Compare"):  # pages without sliders
        app.page.get_by_role("link", name=name, exact=True).click()
        app.page.wait_for_url(at_k(8, name.lower()))
        assert query(app)["demo"] == ["bodyfat_raw"]
    app.visit("Tune").shows("k = 8")
    app.page.goto(f"{app.server.address}/sweep?k=7")
    app.page.wait_for_url("**/find?**setting=**k*7**")
    expect(app.page.get_by_role("link", name="Find", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    app.page.goto(f"{app.server.address}/learn?lesson=intruder")
    title = app.page.get_by_role("heading", level=3)
    title.wait_for()
    app.page.wait_for_url("**setting=**lesson=intruder")
    words = title.inner_text()
    app.page.reload()
    title.wait_for()
    expect(title).to_have_text(words)
    for name in ("Compare", "Find"):
        app.page.get_by_role("link", name=name, exact=True).click()
        app.page.wait_for_url(f"**/{name.lower()}?**setting=**")
    for name in ("compare", "learn"):
        app.page.go_back()
        app.page.wait_for_url(f"**/{name}?**")


@pytest.mark.nightly  # tests/journeys and tests/ui/test_session hold bytes and address
def test_a_seed_gives_the_bytes_of_python_and_is_not_in_the_address(app, tmp_path) -> None:
    setting = {"epsilon": 2.5, "k": 6, "q": 0.75}
    app.open("/?epsilon=2.5&k=6&q=0.75")
    app.open_box("The same in a shell")
    before = app.stamp
    field = app.page.get_by_role("spinbutton", name="Seed of the draw")
    field.fill("4711")
    field.press("Enter")
    app.wait_for_change(before)
    assert set(query(app)) == {"setting", "demo"}
    data = rwn.load_demo("bodyfat")
    for k in (6, 7):  # the command of the page follows the sliders
        release = rwn.mask(data, rwn.RWN(**setting | {"k": k}), seed=4711)
        assert app.printed(tmp_path) == release.to_bytes("csv")
        if k == 6:
            app.press("k", "ArrowRight")
    path = tmp_path / "sentinel-name.csv"
    path.write_text("a,b\n" + "\n".join(f"{i},{i * i % 31}" for i in range(40)), encoding="utf-8")
    app.visit("Data")
    app.page.locator("input[type=file]").first.set_input_files(path)
    app.page.get_by_text("sentinel-name.csv · 40 × 2").wait_for()
    app.visit("Tune")
    app.page.wait_for_url("**own=1**")
    assert set(query(app)) == {"setting", "own"}
    assert "4711" not in app.page.url
    app.page.reload()
    app.wait_for_cards()
    assert "sentinel" not in app.page.url
    expect(app.page.get_by_test_id("stSidebar")).to_contain_text("sentinel-name.csv")
    assert set(query(app)) == {"setting", "own"}
