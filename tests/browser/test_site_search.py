"""The search of the built site, opened from a file as the documentation says."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from docs.site import write


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
    assert "Rank swapping" in first.inner_text()
    first.click()
    assert page.url.startswith((tmp_path / "site").as_uri())
    assert page.locator("h1").first.inner_text() == "Rank swapping"
    page.go_back()
    page.locator("#mkdocs-search-query").fill("xyzzy")
    assert page.get_by_text("No page has these words.").is_visible()
    assert wrong == []
    page.close()
