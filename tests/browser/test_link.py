"""The address: it opens a setting, survives a reload, and never holds a secret."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

LINK = "/?demo=pima&epsilon=1.5&k=7&q=0.5"
WORDS = "ε = 1.5 · k = 7 · q = 0.5"


def query(app) -> dict[str, list[str]]:
    return parse_qs(urlsplit(app.page.url).query)


def at_k(k: int, page: str = "") -> re.Pattern[str]:
    """The address of a setting with this k."""
    return re.compile(rf"/{page}\?.*setting=epsilon\*[\d.]+\*k\*{k}\*q")


def test_a_link_opens_its_table_and_setting_and_a_reload_keeps_them(app) -> None:
    app.open(LINK)
    app.shows(WORDS)
    expect(app.page.get_by_test_id("stSidebar")).to_contain_text("pima")
    app.press("k", "ArrowRight")
    app.page.wait_for_url(at_k(8))
    app.page.reload()
    app.wait_for_cards()
    app.shows("k = 8")
    expect(app.page.get_by_test_id("stSidebar")).to_contain_text("pima")
    for name in ("Data", "Compare"):  # pages without sliders
        app.page.get_by_role("link", name=name, exact=True).click()
        app.page.wait_for_url(at_k(8, name.lower()))
        assert query(app)["demo"] == ["pima"]
    app.visit("Tune").shows("k = 8")


def test_the_address_holds_parameters_and_a_demo_name_only(app, tmp_path) -> None:
    app.open("/")
    app.set_seed(4711)
    assert set(query(app)) == {"setting", "demo"}
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


def test_a_link_to_a_lesson_opens_it_and_back_is_one_press_a_page(app) -> None:
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
    app.complaints.clear()  # Streamlit looks for its server below the page's address first
