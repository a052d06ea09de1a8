"""Meeting in a browser: six candidates on one screen, by keyboard, with other limits for once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import expect

import rwn_core as rwn
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

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
        ["▲ breaks 4 of 4"] * 2 + ["▲ breaks 1 of 4"] + ["✓ keeps all limits"] * 3
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
    expect(
        page.get_by_text(re.compile("WHAT IF other limits held: Linked over one half"))
    ).to_be_visible()
    third = page.locator(".rwn-candidate-verdict").nth(2)
    expect(third).to_have_text("✓ keeps all limits")
    page.keyboard.press("Escape")
    page.get_by_text("Meeting", exact=True).click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
