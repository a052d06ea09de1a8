"""Walks the sliders of the Tune page over their whole range, and states what a position costs.

``python -m benchmarks.redraw --whole-range`` prints median, 95th percentile and worst time from a
move to the painted picture, as multiples of a bare page that is pressed in between; how long a
table takes to its first picture when it is opened; and the first picture after another weight.
``--demo randhie`` or ``--table 10000x55`` looks at that table only. Small tables are looked at in
every position, large ones in some that are spread over the whole range.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from compileall import compile_dir
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.engine_tables import mixed
from benchmarks.redraw import CHROMIUM, FLAGS, FLOOR_PAGE, WATCH, opened, served

TABLES = {
    "bodyfat": None,
    "randhie": None,
    "cps1988": None,
    "100000x10": (100_000, 10),
    "10000x55": (10_000, 55),
}
MEDIAN_AND_P95 = {
    "bodyfat": (2.6, 5.0),
    "randhie": (8.0, 15.0),
    "cps1988": (8.0, 15.0),
    "10000x55": (8.0, 15.0),
}
FIRST_AFTER_WEIGHT = 15.0  # times the bare page
FIRST_OF_WIDE = 5.0  # seconds until 10000x55 shows its first picture
WHOLE_RANGE = "bodyfat"  # whose every position is looked at
SOME = 24  # positions of a slider of the other tables
BETWEEN = 6  # moves between two presses of the bare page
QUIET = 120  # milliseconds after a picture
REWEIGHED = 3
MIDDLE = 50  # of the bare page's slider

PANEL = ["[data-stamp]", "stamp"]
BARE = ["[data-testid=stText]", None]
# as a click on the slider's track
JUMP = """
(slider, value) => {
  window.pressed = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}
"""


def painted(page: Page) -> float:
    """Milliseconds from the move that was made to the painted picture."""
    took: float = page.evaluate("window.painted")
    page.wait_for_timeout(QUIET)
    return took


def pressed(page: Page, watched: Sequence[str | None], key: str) -> float:
    """Milliseconds from a key press on the focused slider to the painted picture."""
    page.evaluate(WATCH, list(watched))
    page.keyboard.press(key)
    return painted(page)


def bare(floor: Page, page: Page) -> float:
    """Milliseconds of a press on the bare page."""
    floor.bring_to_front()
    floor.wait_for_function("document.hasFocus()")  # or the key may go to the page before it
    slider = floor.get_by_role("slider")
    slider.focus()
    # back and forth around the middle, or it would come to its end
    high = float(slider.get_attribute("aria-valuenow") or 0) > MIDDLE
    took = pressed(floor, BARE, "ArrowLeft" if high else "ArrowRight")
    page.bring_to_front()
    return took


def walk(page: Page, floor: Page, some: int | None) -> tuple[dict[str, list[float]], list[float]]:
    """Milliseconds at positions of each slider, upwards, and of the bare page in between."""
    spent: dict[str, list[float]] = {}
    bares: list[float] = []
    page.bring_to_front()
    for slider in page.locator(".rwn-sliders").first.get_by_role("slider").all():
        name = slider.evaluate("slider => slider.labels[0].textContent")
        low, high, step, start = slider.evaluate("s => [s.min, s.max, s.step, s.value].map(Number)")
        last = round((high - low) / step)
        positions = np.unique(np.linspace(0, last, min(some or last, last) + 1).round())
        times = spent[name] = []
        for number, position in enumerate([*positions, round((start - low) / step)]):
            value = low + position * step
            if abs(slider.evaluate("s => s.valueAsNumber") - value) < step / 2:
                continue
            page.evaluate(WATCH, PANEL)
            slider.evaluate(JUMP, value)
            times.append(painted(page))
            if number % BETWEEN == 0:
                bares.append(bare(floor, page))
        page.wait_for_timeout(2000)
    return spent, bares


def reweighed(page: Page, floor: Page) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds to the first picture after another weight, of the bare page, to the whole."""
    page.get_by_test_id("stSidebar").get_by_text("Variable weights").click()
    page.locator(".rwn-sliders").nth(1).wait_for()
    page.wait_for_timeout(1000)
    slider = page.locator(".rwn-sliders").nth(1).get_by_role("slider").first
    first, bares, whole = [], [], []
    for _ in range(REWEIGHED):
        bares.append(bare(floor, page))
        slider.focus()
        first.append(pressed(page, PANEL, "ArrowRight"))
        page_session(page)
        whole.append(page.evaluate("performance.now() - window.pressed"))
        page.wait_for_timeout(500)
    return first, bares, whole


def page_session(page: Page) -> None:
    """Wait until nothing is being prepared."""
    page.get_by_test_id("stProgress").wait_for(state="detached", timeout=300_000)


def line(name: str, times: Sequence[float], bare: float) -> str:
    """Median, 95th percentile and worst, as multiples of the bare page."""
    ratios = np.array(times) / bare
    return (
        f"  {name:34} {len(times):4} moves   median {np.median(ratios):5.1f}   "
        f"p95 {np.quantile(ratios, 0.95):5.1f}   worst {ratios.max():5.1f}\n"
    )


def file_of(folder: Path, name: str, size: tuple[int, int]) -> Path:
    """A table like a census of this size, in a file."""
    n, p = size
    path = folder / f"{name}.parquet"
    pd.DataFrame(mixed(n, p).round(4), columns=[f"v{i}" for i in range(p)]).to_parquet(path)
    return path


def looked_at(stack: ExitStack, browser: Browser, floor: Page, name: str, folder: Path) -> bool:
    """Open a table, walk its sliders, give it other weights; whether a limit is missed."""
    size = TABLES[name]
    if size is None:
        address = served(stack) + f"/?demo={name}"
    else:
        address = served(stack, file=file_of(folder, name, size))
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    begun = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("[data-stamp]", timeout=300_000)
    opened_after = time.perf_counter() - begun
    page.wait_for_timeout(1000)
    page_session(page)
    ready_after = time.perf_counter() - begun
    page.wait_for_timeout(1000)
    spent, bares = walk(page, floor, None if name == WHOLE_RANGE else SOME)
    first, more, whole = reweighed(page, floor)
    floor_ms = float(np.median(bares + more))
    together = [one for times in spent.values() for one in times]
    sys.stdout.write(f"{name}, against a bare page of {floor_ms:.0f} ms\n")
    for slider, times in spent.items():
        sys.stdout.write(line(slider, times, floor_ms))
    sys.stdout.write(line("all", together, floor_ms))
    sys.stdout.write(line("first picture after another weight", first, floor_ms))
    sys.stdout.write(
        f"  whole table after another weight: {np.median(whole) / 1000:.1f} s; "
        f"opened: first picture after {opened_after:.1f} s, whole after {ready_after:.1f} s\n"
    )
    sys.stdout.flush()
    page.close()
    reached = np.quantile(np.array(together) / floor_ms, (0.5, 0.95))
    return bool(
        (reached > MEDIAN_AND_P95.get(name, (np.inf, np.inf))).any()
        or np.median(first) / floor_ms > FIRST_AFTER_WEIGHT
        or (name == "10000x55" and opened_after > FIRST_OF_WIDE)
    )


def as_installed() -> None:
    """Compile the sources to byte code, as an installation does; else each start may do it."""
    here = Path(__file__).parents[1]
    for folder in ("rwn_core", "rwn_ui", "pages"):
        compile_dir(here / folder, quiet=2)


def main(names: Sequence[str]) -> int:
    """Look at the tables, one after another; 1 if a limit is missed."""
    as_installed()
    missed = False
    with ExitStack() as outer:
        folder = Path(outer.enter_context(tempfile.TemporaryDirectory()))
        started = outer.enter_context(sync_playwright())
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        floor = opened(browser, served(outer, FLOOR_PAGE), "[data-testid=stText]")
        for name in names or list(TABLES):
            with ExitStack() as stack:
                missed |= looked_at(stack, browser, floor, name, folder)
        browser.close()
    return int(missed)
