"""The search of the built site, opened from a file as the documentation says."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

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
    expect(first).to_contain_text("Rank swapping")
    first.click()
    expect(page.locator("h1").first).to_have_text("Rank swapping")
    assert page.url.startswith((tmp_path / "site").as_uri())
    page.go_back()
    page.locator("#mkdocs-search-query").fill("xyzzy")
    page.get_by_text("No page has these words.").wait_for()
    assert wrong == []
    page.close()
