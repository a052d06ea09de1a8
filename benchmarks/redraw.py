"""Measure the Tune page in a real browser, in multiples of a bare Streamlit page.

``python -m benchmarks.redraw`` (test extra and a Chromium) presses an arrow key and waits for the
painted picture. ``--whole-range`` walks each slider from end to end and opens large tables,
``--drag`` counts pictures a second under a dragging mouse, ``--limits`` times the policy's limits
after a move, ``--fresh`` the first picture where nothing is compiled.
``--demo`` and ``--table`` choose tables. Exit 1 if a limit is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from compileall import compile_dir
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from benchmarks.pages import say
from benchmarks.tables import mixed
from rwn_ui.server import launch

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PANEL, BARE = ("[data-stamp]", "stamp"), ("[data-testid=stText]", None)
SIZES = {"100000x10": (100_000, 10), "10000x55": (10_000, 55), "5000x10": (5_000, 10)}
START = {
    "bodyfat": "?demo=bodyfat&epsilon=2",
    "slices": "?demo=bodyfat&epsilon=2&slices=0-1-2-3_4-5-6-7-8-9_10-11-12-13-14",
    "randhie": "?demo=randhie&epsilon=0.4",
    "bodyfat soft": "?demo=bodyfat&kernel=gaussian&width=1",
    "bodyfat balanced": "?demo=bodyfat&kernel=gaussian&width=1&balance=1",
    "randhie soft": "?demo=randhie&kernel=gaussian&width=1",
    "lesson": "learn?lesson=theorem",
    "paper": "paper?figure=4&demo=bodyfat",
}
"""Addresses; an arrow key is pressed on the first slider, or on that which SLIDERS names."""
SLIDERS = {"lesson": "Radius ε", "paper": "Minimum neighbors k"}
PRESSED = {"bodyfat": 5.0, "slices": 5.0, "randhie": 12.0, "bodyfat soft": 6.5,
           "bodyfat balanced": 6.5, "randhie soft": 15.6,
           "lesson": 5.0, "paper": 17.0}  # fmt: skip
"""Median, in bare pages; of a soft kernel 1.3 times that of the even one."""
WALKED = {"bodyfat": (3.0, 4.0), "bodyfat soft": (3.9, 5.2), "randhie": (8.0, 15.0),
          "cps1988": (8.0, 15.0), "10000x55": (8.0, 15.0),
          "100000x10": (np.inf, np.inf)}  # fmt: skip
"""Median and 95th percentile over all positions, in bare pages; docs/decisions/0041."""
AFTER_WEIGHT = 15.0
OPENED_S = {"10000x55": 5.0}
DRAGGED = {"bodyfat": (8.0, 0.1, 0.9), "randhie": (3.0, 0.05, 0.95)}
"""Pictures a second at least, and the part of the slider that the mouse goes over."""
FRESH_S = {"bodyfat": 6.0, "randhie": 20.0}
LIMITS_MS = {"randhie": 1200.0, "5000x10": 1000.0 / 3}
BLOCKS, PRESSES, POSITIONS, SECONDS, MOST_GROWTH_MB = 3, 5, 24, 6.0, 20.0
PLACES = (0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.75, 0.85, 0.95)

# resolves with the milliseconds from the key press or jump to the frame after the change
WATCH = """
([selector, attribute]) => {
  const read = () => {
    const node = document.querySelector(selector);
    return attribute ? node?.dataset[attribute] : node?.textContent;
  };
  const before = read();
  document.addEventListener("keydown", () => { window.pressed = performance.now(); },
                            { capture: true, once: true });
  window.painted = new Promise((resolve, reject) => {
    const timer = setTimeout(() => { watcher.disconnect(); reject("no change"); }, 60000);
    const watcher = new MutationObserver(() => {
      if (read() === before) return;
      watcher.disconnect();
      clearTimeout(timer);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - window.pressed)));
    });
    watcher.observe(document.body, { subtree: true, childList: true, characterData: true,
                                     attributes: true, attributeFilter: ["data-stamp"] });
  });
}
"""
JUMP = """
(slider, value) => {
  window.pressed = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}
"""
COUNT = """
() => {
  window.pictures = [];
  const node = document.querySelector("[data-stamp]");
  window.counter?.disconnect();
  window.counter = new MutationObserver(() => window.pictures.push(performance.now()));
  window.counter.observe(node, { attributes: true, attributeFilter: ["data-stamp"] });
}
"""
# notes when the tiles or the verdict change, whether the first tile has its number, and whether the
# verdict says that more follows
TILES = """
() => {
  const tiles = document.querySelector(".rwn-tiles");
  const verdict = document.querySelector(".rwn-judged");
  let last = tiles.textContent + verdict.textContent;
  window.changes = [];
  window.pressed = performance.now();
  window.tileWatcher?.disconnect();
  window.tileWatcher = new MutationObserver(() => {
    if (tiles.textContent + verdict.textContent === last) return;
    last = tiles.textContent + verdict.textContent;
    const known = !tiles.querySelector(".rwn-value").textContent.startsWith("…");
    const waits = verdict.textContent.includes("to follow");
    window.changes.push([performance.now() - window.pressed, known, known && !waits]);
  });
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  for (const node of [tiles, verdict]) window.tileWatcher.observe(node, all);
}
"""


# whether every limit of the draw on screen is read
JUDGED = """
() => {
  const verdict = document.querySelector(".rwn-judged")?.textContent || "to follow";
  return !verdict.includes("to follow") && !verdict.includes("…");
}
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser; close it at the end."""
    with sync_playwright() as started:
        flags = ["--no-sandbox", "--disable-background-networking"]
        browser = started.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


def served(stack: ExitStack, script: Path | None = None, file: Path | None = None) -> str:
    """Serve the app, or a script in its place, until the stack ends; return its address."""
    port = launch.choose_port()
    stack.enter_context(launch.serving(port, file, script))
    return f"http://{launch.ADDRESS}:{port}"


def opened(browser: Browser, url: str, ready: str) -> Page:
    """Open a page and wait until it is drawn."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(url)
    page.wait_for_selector(ready, timeout=300_000)
    page.wait_for_timeout(1500)
    return page


def ready(page: Page) -> None:
    """Wait until nothing is being prepared."""
    page.get_by_test_id("stProgress").wait_for(state="detached", timeout=300_000)
    page.wait_for_timeout(1000)


def table_file(folder: Path, name: str) -> Path:
    """Write a table like a census."""
    n, p = SIZES[name]
    path = folder / f"{name}.parquet"
    pd.DataFrame(mixed(n, p).round(4), columns=[f"v{i}" for i in range(p)]).to_parquet(path)
    return path


def address(stack: ExitStack, name: str, query: str) -> str:
    """Serve the app with a demo table, or with a file of a given size."""
    if name not in SIZES:
        return served(stack) + f"/?{query}"
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    return served(stack, file=table_file(folder, name))


def pressed(page: Page, slider: Locator, watched: Sequence[str | None], key: str) -> float:
    """Return the milliseconds from a key press to the painted picture."""
    page.bring_to_front()
    page.wait_for_function("document.hasFocus()")
    slider.focus()
    page.evaluate(WATCH, list(watched))
    page.keyboard.press(key)
    took: float = page.evaluate("window.painted")
    page.wait_for_timeout(150)
    return took


def bare(floor: Page) -> float:
    """Return the milliseconds of a press on the bare page, to and fro around its middle."""
    slider = floor.get_by_role("slider")
    high = float(slider.get_attribute("aria-valuenow") or 0) > 50
    return pressed(floor, slider, BARE, "ArrowLeft" if high else "ArrowRight")


def summary(times: Sequence[float], floor: Sequence[float]) -> np.ndarray:
    """Return median, 95th percentile and largest time in bare pages."""
    return np.quantile(np.array(times) / np.median(floor), (0.5, 0.95, 1.0))


def presses(browser: Browser, floor: Page, names: Sequence[str]) -> bool:
    """Press an arrow key in turn on each page; True if a limit is missed."""
    with ExitStack() as stack:
        app = served(stack)
        pages = {name: opened(browser, f"{app}/{START[name]}", PANEL[0]) for name in names}
        times: dict[str, list[float]] = {name: [] for name in names}
        floors: list[float] = []
        for block in range(BLOCKS + 1):  # the first one warms up
            for name, page in pages.items():
                slider = page.get_by_role("slider", name=SLIDERS.get(name)).first
                some = [pressed(page, slider, PANEL, "ArrowRight") for _ in range(PRESSES)]
                times[name] += some if block else []
            some = [bare(floor) for _ in range(PRESSES)]
            floors += some if block else []
    say(f"bare page {np.median(floors):.1f} ms")
    for name in names:
        ratio = summary(times[name], floors)[0]
        say(
            f"{name:16} median {np.median(times[name]):6.1f} ms, best {min(times[name]):6.1f}, "
            f"ratio {ratio:.2f} (limit {PRESSED[name]:g})"
        )
    return any(summary(times[name], floors)[0] > PRESSED[name] for name in names)


def walk(page: Page, floor: Page, some: int | None) -> tuple[list[float], list[float]]:
    """Jump to positions of all sliders, upwards; return their times and those of the bare page."""
    times: list[float] = []
    floors: list[float] = []
    for slider in page.locator(".rwn-sliders").first.get_by_role("slider").all():
        low, high, step = slider.evaluate("s => [s.min, s.max, s.step].map(Number)")
        last = round((high - low) / step)
        for place in np.unique(np.linspace(0, last, min(some or last, last) + 1).round()):
            value = low + place * step
            if abs(slider.evaluate("s => s.valueAsNumber") - value) < step / 2:
                continue
            page.bring_to_front()
            page.evaluate(WATCH, list(PANEL))
            slider.evaluate(JUMP, value)
            times.append(page.evaluate("window.painted"))
            page.wait_for_timeout(120)
            if len(times) % 6 == 1:
                floors.append(bare(floor))
        page.wait_for_timeout(1000)
    return times, floors


def whole_range(browser: Browser, floor: Page, name: str) -> bool:
    """Open a table, walk its sliders, change a weight; True if a limit is missed."""
    with ExitStack() as stack:
        url = address(stack, name, START.get(name, f"?demo={name}")[1:])
        start = time.perf_counter()
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(url)
        page.wait_for_selector(PANEL[0], timeout=300_000)
        opened_s = time.perf_counter() - start
        page.wait_for_timeout(1000)
        ready(page)
        times, floors = walk(page, floor, None if name.startswith("bodyfat") else POSITIONS)
        weight = first_weight(page)
        first = []
        for _ in range(3):
            first.append(pressed(page, weight, PANEL, "ArrowRight"))
            ready(page)
        page.close()
    reached = summary(times, floors)
    weighed = np.median(first) / np.median(floors)
    say(
        f"{name}: {len(times)} moves, median {reached[0]:.1f}, p95 {reached[1]:.1f}, worst "
        f"{reached[2]:.1f} bare pages of {np.median(floors):.0f} ms; first picture after another "
        f"weight {weighed:.1f}; opened after {opened_s:.1f} s"
    )
    return bool(
        (reached[:2] > WALKED[name]).any()
        or weighed > AFTER_WEIGHT
        or opened_s > OPENED_S.get(name, np.inf)
    )


def first_weight(page: Page) -> Locator:
    """Open the weights and return the first one's slider."""
    slider = page.locator(".rwn-sliders").nth(1).get_by_role("slider").first
    if not slider.is_visible():  # they stand open where a weight is not 1
        page.get_by_test_id("stSidebar").get_by_text("Variable weights").click()
    slider.wait_for()
    page.wait_for_timeout(1000)
    return slider


def drag(page: Page, slider: Locator, low: float, high: float) -> float:
    """Drag a slider to and fro for some seconds; return pictures a second."""
    page.evaluate(COUNT)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    left, right = (box["x"] + 6 + share * (box["width"] - 12) for share in (low, high))
    y = box["y"] + box["height"] / 2
    start = time.monotonic()
    page.mouse.move(left, y)
    page.mouse.down()
    while (seconds := time.monotonic() - start) < SECONDS:
        page.mouse.move(right + abs(seconds % 2 - 1) * (left - right), y)
        time.sleep(0.02)
    page.mouse.up()
    return len(page.evaluate("window.pictures")) / SECONDS


def dragged(browser: Browser, name: str) -> bool:
    """Drag epsilon and a weight; True if pictures, the last one or memory miss a limit."""
    least, low, high = DRAGGED[name]
    with ExitStack() as stack:
        port = launch.choose_port()
        server = stack.enter_context(launch.serving(port))
        page = opened(browser, f"http://{launch.ADDRESS}:{port}/?demo={name}", PANEL[0])
        ready(page)
        slider = page.get_by_role("slider").first
        rate = drag(page, slider, low, high)
        wanted = f"ε = {float(slider.input_value()):g} "
        shown = "wanted => document.querySelector('.rwn-parameters').textContent.includes(wanted)"
        page.wait_for_function(shown, arg=wanted, timeout=30_000)  # the last position is drawn
        sizes = []
        for _ in range(2):
            for _ in range(4):
                drag(page, slider, low, high)
            page.wait_for_timeout(2000)
            status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
            line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
            sizes.append(int(line.split()[1]) / 1024)
        weights = drag(page, first_weight(page), 0.1, 0.6)
        page.close()
    grown = sizes[1] - sizes[0]
    say(
        f"{name}: {rate:.1f} pictures a second (at least {least:g}), of a weight {weights:.1f}; "
        f"last position drawn; the server grew by {grown:.1f} MB (at most {MOST_GROWTH_MB:g})"
    )
    return rate < least or grown > MOST_GROWTH_MB


def limits(browser: Browser, name: str) -> bool:
    """Move epsilon at places far apart; True if a verdict or the last limit comes too late."""
    late = False
    with ExitStack() as stack:
        page = opened(browser, address(stack, name, f"demo={name}"), PANEL[0])
        page.wait_for_timeout(20_000)
        slider = page.get_by_role("slider").first
        most, step = (float(slider.get_attribute(word) or "nan") for word in ("max", "step"))
        for place in PLACES:
            slider.evaluate(JUMP, round(place * most / step) * step - step)
            page.wait_for_timeout(5000)
            slider.focus()
            page.evaluate(TILES)
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(5000)
            changes = page.evaluate("window.changes")
            verdict = next((at for at, known, _ in changes if known), np.inf)
            done = changes[-1][0] if changes and changes[-1][2] else np.inf
            late |= (verdict if name in SIZES else done) > LIMITS_MS[name]
            say(f"{name} at {place:.0%}: verdict {verdict:.0f} ms, all limits {done:.0f} ms")
    return late


def processor_seconds(process: int) -> float:
    """Return the processor seconds of a process, and of all that it has begun."""
    ticks = 0
    parents = {process}
    for path in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda each: int(each.parts[2])):
        with suppress(OSError):  # one that has just ended is counted by its parent
            after_name = path.read_text(encoding="utf-8").rpartition(")")[2].split()
            own = int(path.parts[2])
            if own in parents or int(after_name[1]) in parents:
                parents.add(own)
                ticks += sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def fresh(browser: Browser, name: str) -> bool:
    """Wait for the first picture and its verdict with no machine code kept; True if it is late."""
    with ExitStack() as stack:
        os.environ["NUMBA_CACHE_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        port = launch.choose_port()
        server = stack.enter_context(launch.serving(port))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.monotonic()
        page.goto(f"http://{launch.ADDRESS}:{port}/{START[name]}")
        page.wait_for_selector(PANEL[0], timeout=300_000)
        took = time.monotonic() - start
        drawn = processor_seconds(server.pid)
        page.wait_for_function(JUDGED, timeout=300_000)
        judged_s = time.monotonic() - start
        judged = processor_seconds(server.pid)
        page.close()
    say(
        f"{name}, nothing compiled: first picture after {took:.1f} s (at most {FRESH_S[name]:g}) "
        f"and {drawn:.1f} processor seconds, verdict after {judged_s:.1f} s and {judged:.1f}"
    )
    return took > FRESH_S[name]


def main() -> int:
    """Measure what the options name; return 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", "--table", action="append", dest="names", metavar="NAME")
    for mode in ("whole-range", "drag", "limits", "fresh"):
        parser.add_argument(f"--{mode}", action="store_true")
    given = parser.parse_args()
    for folder in ("rwn_core", "rwn_ui", "pages"):  # byte code, as an installation has it
        compile_dir(HERE.parent / folder, quiet=2)
    if not given.fresh:  # a move reads every limit once the attacks are compiled
        subprocess.run([sys.executable, "-m", "rwn_core.compile_ahead"], check=True)
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        if given.drag:
            return int(sum(dragged(browser, name) for name in given.names or DRAGGED) > 0)
        if given.limits:
            return int(sum(limits(browser, name) for name in given.names or LIMITS_MS) > 0)
        if given.fresh:
            return int(sum(fresh(browser, name) for name in given.names or FRESH_S) > 0)
        floor = opened(browser, served(stack, HERE / "floor_page.py"), BARE[0])
        if given.whole_range:
            names = given.names or list(WALKED)
            return int(sum(whole_range(browser, floor, name) for name in names) > 0)
        return int(presses(browser, floor, given.names or list(START)))


if __name__ == "__main__":
    sys.exit(main())
