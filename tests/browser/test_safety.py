"""The running server works under its safe options; the site needs none."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from docs.site import write
from rwn_ui.server import launch
from rwn_ui.server.environment import CODE, ENTRY_VARIABLE, EVERYONE
from rwn_ui.server.opening import forwarding
from rwn_ui.server.safety import SAFE_OPTIONS
from tests.waiting import HANG_MS

SCRIPT = """import json
import streamlit as st
from streamlit import config
st.text(json.dumps({key: config.get_option(key) for key in json.loads('KEYS')}, default=str))
"""


def test_every_safe_option_is_in_force_in_the_running_server(chromium, tmp_path, free_port) -> None:
    script = tmp_path / "options.py"
    script.write_text(SCRIPT.replace("KEYS", json.dumps([*SAFE_OPTIONS])), encoding="utf-8")
    port = free_port()
    line = [
        str(script) if each == str(launch.app_file()) else each for each in launch.command(port)
    ]
    # away from the checkout, whose own configuration file says the same
    env = {**os.environ, ENTRY_VARIABLE: EVERYONE}
    server = subprocess.Popen(line, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL)
    try:
        launch.wait_until_ready(server, port)
        page = chromium.new_page()
        page.goto(f"http://{launch.ADDRESS}:{port}")
        result = json.loads(page.get_by_test_id("stText").inner_text())
        page.close()
    finally:
        launch._stop(server)
    # the one option whose flag is read as a text
    result["client.showErrorLinks"] = str(result["client.showErrorLinks"]).lower() == "true"
    wanted = {k: list(v) if isinstance(v, tuple) else v for k, v in SAFE_OPTIONS.items()}
    assert result == wanted


@pytest.mark.nightly  # tests/ui/test_launch has code and cookie, test_opening browsers and the page
def test_a_page_on_the_disk_opens_the_app_for_this_browser_alone(
    chromium: Browser, tmp_path: Path, monkeypatch, free_port
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    port = free_port()
    base = f"http://{launch.ADDRESS}:{port}"
    with launch.serving(port, entry=CODE) as server, forwarding(f"{base}/?{CODE}=any") as page:
        launch.tell(server, "any")
        window, other = chromium.new_context(), chromium.new_context()
        try:
            # the page of a file forwards, as that of another site would: the cookie is strict
            tab = window.new_page()
            second = window.new_page()
            stranger = other.new_page()
            tab.goto(page.as_uri())
            tab.locator("[data-stamp]").wait_for(timeout=HANG_MS)
            (cookie,) = (each for each in window.cookies() if each["name"] == f"rwn-{port}")
            assert (cookie["sameSite"], cookie["httpOnly"]) == ("Strict", True)
            second.goto(f"{base}/")  # a second tab, which sends the cookie as a reload does
            second.locator("[data-stamp]").wait_for(timeout=HANG_MS)
            assert f"{CODE}=" not in second.url
            for address in (base, f"{base}/?{CODE}=any", page.as_uri()):
                stranger.goto(address)
                stranger.get_by_text("This browser was not let in.").wait_for(timeout=HANG_MS)
        finally:
            window.close()
            other.close()


def test_the_search_finds_pages_without_a_server(chromium: Browser, tmp_path: Path) -> None:
    write(tmp_path / "site")
    page = chromium.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    box = page.get_by_role("textbox", name="Search docs")
    box.fill("rank swapping")
    box.press("Enter")
    first = page.locator("#mkdocs-search-results article a").first
    expect(first).to_contain_text("Rank swapping")
    first.click()
    expect(page.locator("h1").first).to_have_text("Rank swapping")
    assert page.url.startswith((tmp_path / "site").as_uri())
    page.go_back()
    page.locator("#mkdocs-search-query").fill("xyzzy")
    page.get_by_text("No page has these words.").wait_for()
    assert wrong == []
    page.close()
