"""How long a sweep and its cancel take, whether goal seek keeps its word, what sliders pay.

``python benchmarks/sweep.py`` (needs the test extra; ``--sliders`` also a Chromium).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
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
from pathlib import Path

import rwn_core as rwn
from rwn_core.tuning import (
    USUAL,
    Goal,
    Grid,
    JobFolder,
    Plan,
    SweepRun,
    Trials,
    prepared,
    seek,
    sweep,
)

SECONDS = {"bodyfat": 15.0, "randhie": 300.0}
EPSILON = {"bodyfat": (0.0, 1.0, 2.0, 3.0, 4.0), "randhie": (0.0, 0.1, 0.2, 0.3, 0.4)}
TARGETS = (0.02, 0.05, 0.1)
SEARCHES = 4
FRESH = 50
CANCELS = 5
CANCELLED = 1.0
SLOWER = 1.5
PRESSES = 12


def timed(demo: str) -> dict[str, object]:
    """Sixty settings, eight releases each, six measures, in one process a processor."""
    data = rwn.load_demo(demo)
    grid = Grid(axes={"epsilon": EPSILON[demo], "k": (3, 5, 10, 20), "q": (0.25, 0.5, 1.0)})
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    points = sweep(data, grid, plan=Plan(measures=USUAL, releases=8))
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text = (
        f"{len(points)} settings x 8 releases x {len(USUAL)} measures, {data.n:,} records "
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
    """Goal seek on bodyfat: the answers of several searches on fifty releases each, all fresh."""
    data = rwn.load_demo("bodyfat")
    grid = Grid(
        axes={
            "epsilon": (1.0, 2.0, 3.0, 4.0, 6.0, 8.0),
            "k": (3, 5, 10, 20),
            "q": (0.25, 0.5, 0.75, 1.0),
        }
    )
    sweeps = []
    for number in range(SEARCHES):
        plan = Plan(measures=("distance_linkage", "correlation"), seed=1 + 10_000 * number)
        sweeps.append((plan, sweep(data, grid, plan=plan).points))
    for target in TARGETS:
        goal = Goal(keep="distance_linkage", limit=target, best="correlation")
        over = inside = low_medians = 0
        for plan, points in sweeps:
            sought = seek(data, points, goal, plan=plan)
            setting = sought.point.setting
            fresh = replace(
                plan, measures=("distance_linkage",), releases=FRESH, seed=90_000_000 + plan.seed
            )
            values = Trials(data, [setting], fresh).run(setting).spreads["distance_linkage"].values
            low, high = sought.point.spreads["distance_linkage"].interval or (0.0, 0.0)
            inside += sum(low <= value <= high for value in values)
            over += sum(value > target for value in values)
            low_medians += sought.reached and statistics.median(values) <= target
        total = SEARCHES * FRESH
        # the shares that are promised, and two standard errors of a count
        most = 0.05 + 2 * (0.05 * 0.95 / total) ** 0.5
        least = 0.9 - 2 * (0.9 * 0.1 / total) ** 0.5
        yield {
            "what": f"at most {target:.0%} linkage: median of {FRESH} fresh releases kept by "
            f"{low_medians} of {SEARCHES} answers, {inside / total:.1%} inside the stated "
            f"intervals (at least {least:.1%}); above the target",
            "value": round(over / total, 4),
            "unit": "",
            "limit": round(most, 4),
            "kept": low_medians == SEARCHES and over <= most * total and inside >= least * total,
        }


def cancelled() -> dict[str, object]:
    """From asking two busy workers to end until neither is there; the slowest of several."""
    data, plan = rwn.load_demo("bodyfat"), Plan(measures=USUAL)
    grid = Grid(axes={"epsilon": [n / 50 for n in range(100)], "k": range(1, 51)})
    settings = prepared(data, grid, references=False)
    slowest = 0.0
    for _ in range(CANCELS):
        with tempfile.TemporaryDirectory() as scratch:
            folder = JobFolder.open(Path(scratch) / "job", data, plan, settings)
            run = SweepRun(data, settings, plan, folder, workers=2)
            while not len(run.sweep()):
                time.sleep(0.05)
            start = time.perf_counter()
            run.cancel()
            while multiprocessing.active_children():
                time.sleep(0.005)
            slowest = max(slowest, time.perf_counter() - start)
    return _cancel_row("a sweep cancelled in Python", slowest)


def _cancel_row(what: str, seconds: float) -> dict[str, object]:
    return {
        "what": f"{what}: no process left after",
        "value": round(seconds, 2),
        "unit": "s",
        "limit": CANCELLED,
        "kept": seconds <= CANCELLED,
    }


def _children(parent: int) -> list[int]:
    """Processes that another one has started, but for the one that tidies up."""
    processes = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue  # it has just ended
        if int(fields[1]) == parent and b"resource_tracker" not in line and fields[0] != "Z":
            processes.append(int(entry.name))
    return processes


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """The app, with a folder of its own for sweeps: its address and the number of its process."""
    from rwn_ui.server import launch

    with tempfile.TemporaryDirectory() as scratch:
        os.environ["RWN_SWEEPS"] = scratch
        port = launch.choose_port()
        with launch.serving(port) as process:
            yield f"http://{launch.ADDRESS}:{port}", process.pid


def sliders() -> Iterator[dict[str, object]]:
    """A slider move beside a sweep against one without, from key press to picture; and Cancel."""
    from playwright.sync_api import Page, sync_playwright
    from redraw import Subject, opened

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")

    def block(page: Page) -> list[float]:
        subject = Subject(page, "[data-stamp]", "stamp", 0)
        subject.run(3, counted=False)
        subject.run(PRESSES, counted=True)
        return subject.times

    with served() as (address, server), sync_playwright() as started:
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
        button = page.get_by_role("button", name="Cancel")
        button.wait_for()
        start = time.perf_counter()
        button.click()
        while _children(server):
            time.sleep(0.01)
        gone = time.perf_counter() - start
        browser.close()
    yield _cancel_row("a sweep cancelled by the button of the page", gone)
    ratio = statistics.median(busy) / statistics.median(idle)
    yield {
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
    works = {
        "bodyfat": lambda: [timed("bodyfat")],
        "randhie": lambda: [timed("randhie")],
        "goals": goals,
        "cancel": lambda: [cancelled()],
        "sliders": sliders,
    }
    for name in works:
        parser.add_argument(f"--{name}", action="store_true", help="only what is named")
    parser.add_argument("--json", action="store_true")
    options = vars(parser.parse_args())
    chosen = [n for n in works if options[n]] or [n for n in works if n != "sliders"]
    rows: list[dict[str, object]] = []
    for name in chosen:
        rows += works[name]()
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
