"""Walks every slider of the Tune page over its whole range, and states what a position costs.

``python -m benchmarks.redraw --whole-range`` prints median, 95th percentile and worst time from a
key press to the painted picture, as multiples of a bare page that is pressed in between, on three
demos, a table of 100,000 x 10 and one of 10,000 x 55; with ``--demo`` on those only.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from benchmarks.engine_tables import mixed
from benchmarks.redraw import CHROMIUM, FLAGS, FLOOR_PAGE, WATCH, opened, served

TABLES = {
    "bodyfat": None,
    "randhie": None,
    "cps1988": None,
    "100000x10": (100_000, 10),
    "10000x55": (10_000, 55),
}
MEDIAN_AND_P95 = {"bodyfat": (2.6, 5.0), "randhie": (8.0, 15.0), "cps1988": (8.0, 15.0)}
BETWEEN = 10  # presses between two of the bare page
QUIET = 120  # milliseconds after a picture


def pressed(page: Page, selector: str, attribute: str | None, key: str) -> float:
    """Milliseconds from a key press on the focused slider to the painted picture."""
    page.evaluate(WATCH, [selector, attribute])
    page.keyboard.press(key)
    took: float = page.evaluate("window.painted")
    page.wait_for_timeout(QUIET)
    return took


def walk(page: Page, floor: Page) -> tuple[dict[str, list[float]], list[float]]:
    """Milliseconds at each position of each slider, and of the bare page in between."""
    spent: dict[str, list[float]] = {}
    bare: list[float] = []
    for slider in page.locator(".rwn-sliders").first.get_by_role("slider").all():
        name = slider.evaluate("slider => slider.labels[0].textContent")
        ends = slider.evaluate("s => [s.min, s.max, s.step, s.value].map(Number)")
        low, high, step, start = ends
        page.bring_to_front()
        slider.focus()
        if start != low:
            pressed(page, "[data-stamp]", "stamp", "Home")
        times = spent[name] = []
        for position in range(round((high - low) / step)):
            times.append(pressed(page, "[data-stamp]", "stamp", "ArrowRight"))
            if position % BETWEEN == 0:
                floor.bring_to_front()
                floor.get_by_role("slider").focus()
                bare.append(pressed(floor, "[data-testid=stText]", None, "ArrowRight"))
                page.bring_to_front()
                slider.focus()
        back = round((start - low) / step) - round((high - low) / step)
        for _ in range(-back):
            page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(2000)
    return spent, bare


def line(name: str, times: Sequence[float], bare: float) -> str:
    """Median, 95th percentile and worst, as multiples of the bare page."""
    ratios = np.array(times) / bare
    return (
        f"  {name:34} {len(times):4} positions   median {np.median(ratios):5.1f}   "
        f"p95 {np.quantile(ratios, 0.95):5.1f}   worst {ratios.max():5.1f}\n"
    )


def file_of(folder: Path, name: str, size: tuple[int, int]) -> Path:
    """A table like a census of this size, in a file."""
    n, p = size
    path = folder / f"{name}.parquet"
    pd.DataFrame(mixed(n, p).round(4), columns=[f"v{i}" for i in range(p)]).to_parquet(path)
    return path


def main(names: Sequence[str]) -> int:
    """Walk the tables, one after another; 1 if a limit is missed."""
    missed = False
    with ExitStack() as outer:
        folder = Path(outer.enter_context(tempfile.TemporaryDirectory()))
        started = outer.enter_context(sync_playwright())
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        floor = opened(browser, served(outer, FLOOR_PAGE), "[data-testid=stText]")
        for name in names or list(TABLES):
            size = TABLES[name]
            with ExitStack() as stack:
                if size is None:
                    address = served(stack) + f"/?demo={name}"
                else:
                    address = served(stack, file=file_of(folder, name, size))
                page = opened(browser, address, "[data-stamp]")
                page.get_by_test_id("stProgress").wait_for(state="detached", timeout=300_000)
                page.wait_for_timeout(1000)
                spent, bare = walk(page, floor)
                floor_ms = float(np.median(bare))
                together = [one for times in spent.values() for one in times]
                sys.stdout.write(f"{name}, against a bare page of {floor_ms:.0f} ms\n")
                for slider, times in spent.items():
                    sys.stdout.write(line(slider, times, floor_ms))
                sys.stdout.write(line("all", together, floor_ms))
                sys.stdout.flush()
                most = MEDIAN_AND_P95.get(name)
                if most is not None:
                    reached = np.quantile(np.array(together) / floor_ms, (0.5, 0.95))
                    missed |= bool((reached > most).any())
                page.close()
        browser.close()
    return int(missed)
