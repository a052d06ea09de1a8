"""How many pictures a second the Tune page draws while a slider is dragged, and what that costs.

``python -m benchmarks.drag`` (needs the test extra and a Chromium) drags the sliders of epsilon and
of a weight with a real mouse, prints pictures a second, whether the last position was drawn, and by
how much the server has grown after 300 moves.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

from benchmarks.redraw import CHROMIUM, FLAGS, opened
from rwn_ui.server import launch

LEAST = {"bodyfat": 8.0, "randhie": 3.0}  # pictures a second, by the slider of epsilon
SECONDS = 6.0
EVERY = 0.02  # seconds between two movements of the mouse
MOVES = 300
MOST_GROWTH = 20.0  # MB
# the part of the slider that is dragged over: at 20,190 records a third of it is stored
PART = {"bodyfat": (0.1, 0.9), "randhie": (0.05, 0.95)}

WATCH = """
() => {
  window.pictures = [];
  const node = document.querySelector("[data-stamp]");
  window.watcher?.disconnect();
  let last = node.dataset.stamp;
  window.watcher = new MutationObserver(() => {
    if (node.dataset.stamp === last) return;
    last = node.dataset.stamp;
    requestAnimationFrame(() => window.pictures.push(performance.now()));
  });
  window.watcher.observe(node, { attributes: true, attributeFilter: ["data-stamp"] });
}
"""
RESTS = """
(wanted) => document.querySelector(".rwn-parameters").textContent.includes(wanted)
"""


def memory(pid: int) -> float:
    """Resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def drag(page: Page, slider: Locator, part: tuple[float, float], seconds: float) -> int:
    """Drag to and fro; how many movements the mouse made."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    low, high = (box["x"] + 6 + share * (box["width"] - 12) for share in part)
    y, moves, end = box["y"] + box["height"] / 2, 0, time.monotonic() + seconds
    page.mouse.move(low, y)
    page.mouse.down()
    while time.monotonic() < end:
        there = abs((moves * 0.01) % 2 - 1)
        page.mouse.move(high + there * (low - high), y)
        moves += 1
        time.sleep(EVERY)
    page.mouse.up()
    return moves


def pictures_a_second(page: Page, slider: Locator, part: tuple[float, float]) -> float:
    """Pictures that were painted while the slider was dragged, for each second of it."""
    page.evaluate(WATCH)
    start = page.evaluate("performance.now()")
    drag(page, slider, part, SECONDS)
    end = page.evaluate("performance.now()")
    painted = [at for at in page.evaluate("window.pictures") if start <= at <= end]
    return 1000 * len(painted) / (end - start)


def last_position_is_drawn(page: Page, slider: Locator, word: str) -> bool:
    """Whether the parameters come to say where the slider stands."""
    value = float(slider.input_value())
    page.wait_for_function(RESTS, arg=f"{word} = {value:g} ", timeout=30_000)
    return True


def growth(page: Page, slider: Locator, pid: int) -> float:
    """By how many MB the server grows over many moves, after as many have warmed it up."""
    sizes = []
    for _ in range(2):
        page.evaluate(WATCH)
        drawn = 0
        while drawn < MOVES:
            drag(page, slider, (0.1, 0.9), SECONDS)
            drawn = len(page.evaluate("window.pictures"))
        page.wait_for_timeout(2000)
        sizes.append(memory(pid))
    return sizes[1] - sizes[0]


def main() -> int:
    """Print pictures a second; exit with 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", action="append", choices=list(LEAST), help="default: all")
    parser.add_argument("--moves", action="store_true", help="also measure the server's memory")
    options = parser.parse_args()
    missed = False
    with ExitStack() as stack:
        port = launch.choose_port()
        server = stack.enter_context(launch.serving(port))
        started = stack.enter_context(sync_playwright())
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for demo in options.demo or list(LEAST):
            page = opened(browser, f"http://{launch.ADDRESS}:{port}/?demo={demo}", "[data-stamp]")
            page.get_by_test_id("stProgress").wait_for(state="detached")  # all records are ranked
            page.wait_for_timeout(2000)
            lever = page.get_by_role("slider").first
            rate = pictures_a_second(page, lever, PART[demo])
            drawn = last_position_is_drawn(page, lever, "ε")
            page.get_by_test_id("stSidebar").get_by_text("Variable weights").click()
            weight = page.locator(".rwn-sliders").nth(1).get_by_role("slider").first
            weight.wait_for()
            weights = pictures_a_second(page, weight, (0.1, 0.6))
            sys.stdout.write(
                f"{demo:10} {rate:.1f} pictures a second (at least {LEAST[demo]:g}), of a weight "
                f"{weights:.1f}; last position drawn: {drawn}\n"
            )
            missed |= rate < LEAST[demo]
            if options.moves and demo == "bodyfat":
                grown = growth(page, lever, server.pid)
                sys.stdout.write(
                    f"{MOVES} moves: the server grew by {grown:.1f} MB (at most {MOST_GROWTH:g})\n"
                )
                missed |= grown > MOST_GROWTH
            page.close()
        browser.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
