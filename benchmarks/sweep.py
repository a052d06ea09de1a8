"""How long a sweep takes, whether goal seek keeps its word, and what a sweep costs the sliders.

``python benchmarks/sweep.py`` (needs the test extra; ``--sliders`` also a Chromium).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import rwn_core as rwn
from rwn_core.tuning import USUAL, Goal, Grid, Plan, Trials, seek, sweep

SECONDS = {"bodyfat": 15.0, "randhie": 300.0}
EPSILON = {"bodyfat": (0.0, 1.0, 2.0, 3.0, 4.0), "randhie": (0.0, 0.1, 0.2, 0.3, 0.4)}
TARGETS = (0.02, 0.05, 0.1)
FRESH = 50
SLOWER = 1.5
PRESSES = 12


def timed(demo: str) -> dict[str, object]:
    """Sixty settings, eight releases each, six measures, in one process a processor."""
    data = rwn.load_demo(demo)
    grid = Grid(axes={"epsilon": EPSILON[demo], "k": (3, 5, 10, 20), "q": (0.25, 0.5, 1.0)})
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    found = sweep(data, grid, plan=Plan(measures=USUAL, releases=8))
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text = (
        f"{len(found)} settings x 8 releases x {len(USUAL)} measures, {data.n:,} records "
        f"({worked:.0f} CPU seconds)"
    )
    return {
        "what": text,
        "value": round(took, 1),
        "unit": "s",
        "limit": SECONDS[demo],
        "kept": took <= SECONDS[demo],
    }


def goals() -> Iterator[dict[str, object]]:
    """Goal seek on bodyfat: its answers on fifty releases that it has never seen."""
    data = rwn.load_demo("bodyfat")
    plan = Plan(measures=("distance_linkage", "correlation"))
    grid = Grid(
        axes={
            "epsilon": (1.0, 2.0, 3.0, 4.0, 6.0),
            "k": (3, 5, 10, 20),
            "q": (0.25, 0.5, 0.75, 1.0),
        }
    )
    points = sweep(data, grid, plan=plan).points
    for target in TARGETS:
        goal = Goal(keep="distance_linkage", limit=target, best="correlation")
        found = seek(data, points, goal, plan=plan)
        setting = found.point.setting
        fresh = replace(plan, measures=("distance_linkage",), releases=FRESH, seed=4_000_000)
        values = Trials(data, [setting], fresh).run(setting).spreads["distance_linkage"].values
        low, high = found.point.spreads["distance_linkage"].interval or (0.0, 0.0)
        inside = sum(low <= value <= high for value in values)
        over = sum(value > target for value in values)
        yield {
            "what": f"at most {target:.0%} linkage: {setting.words}; stated {low:.1%} to "
            f"{high:.1%}; {inside} of {FRESH} fresh releases inside, {over} above the target; "
            "their median",
            "value": round(statistics.median(values), 4),
            "unit": "",
            "limit": target,
            "kept": found.reached and statistics.median(values) <= target and inside >= 37,
        }


@contextmanager
def served() -> Iterator[str]:
    """The app, with a folder of its own for sweeps; its address."""
    from rwn_ui import launch

    with tempfile.TemporaryDirectory() as place:
        os.environ["RWN_SWEEPS"] = place
        port = launch.choose_port()
        with launch.serving(port):
            yield f"http://{launch.ADDRESS}:{port}"


def sliders() -> dict[str, object]:
    """A slider move while a sweep runs, against one without: medians from key press to picture."""
    from playwright.sync_api import Page, sync_playwright
    from redraw import Subject, opened

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")

    def block(page: Page) -> list[float]:
        subject = Subject(page, "[data-stamp]", "stamp", 0)
        subject.run(3, counted=False)
        subject.run(PRESSES, counted=True)
        return subject.times

    with served() as address, sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        page = opened(browser, f"{address}/?epsilon=2", "[data-stamp]")
        idle = block(page)
        page.get_by_role("link", name="Sweep", exact=True).click()
        radius = page.get_by_role("textbox", name="Radius ε (standard deviations)")
        radius.fill("0:8:0.02")
        page.get_by_role("button", name="Start sweep").click()
        page.get_by_text("s left").or_(page.get_by_text("min left")).first.wait_for(timeout=90_000)
        page.get_by_role("link", name="Tune", exact=True).click()
        page.wait_for_timeout(3000)
        busy = block(page)
        page.get_by_role("link", name="Sweep", exact=True).click()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_timeout(1500)
        browser.close()
    ratio = statistics.median(busy) / statistics.median(idle)
    return {
        "what": f"slider move during a sweep {statistics.median(busy):.0f} ms, without "
        f"{statistics.median(idle):.0f} ms; ratio",
        "value": round(ratio, 2),
        "unit": "",
        "limit": SLOWER,
        "kept": ratio <= SLOWER,
    }


def main() -> int:
    """Print a line each; exit with 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("bodyfat", "randhie", "goals", "sliders"):
        parser.add_argument(f"--{name}", action="store_true", help="only what is named")
    parser.add_argument("--json", action="store_true")
    options = vars(parser.parse_args())
    chosen = [n for n in ("bodyfat", "randhie", "goals", "sliders") if options[n]]
    rows: list[dict[str, object]] = []
    for name in chosen or ["bodyfat", "randhie", "goals"]:
        if name in SECONDS:
            rows.append(timed(name))
        else:
            rows += goals() if name == "goals" else [sliders()]
    if options["json"]:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    for row in rows if not options["json"] else []:
        mark = "kept" if row["kept"] else "MISSED"
        sys.stdout.write(
            f"{row['what']}: {row['value']} {row['unit']} (limit {row['limit']}) {mark}\n"
        )
    return int(not all(row["kept"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
