"""How long after a move of epsilon a verdict is there, and all limits are known.

``python -m benchmarks.limits_follow`` (needs the test extra and a Chromium) presses an arrow key at
nine places of the slider, far apart, on a table of 20,190 records and on one of 5,000, and prints
milliseconds from the key to the picture, to a verdict, to the first number of the worst case (of a
few rows, where all take longer), and to the last limit's number. It exits with 1 where the limits
of the larger table come later than a second after the sliders rest, or where the smaller one has a
verdict, or that number, for fewer than three moves a second.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

from benchmarks.redraw import CHROMIUM, FLAGS, opened, served
from benchmarks.whole_range import file_of
from rwn_ui.features.limit_queue import REST

SIZES: dict[str, tuple[int, int] | None] = {"randhie": None, "5000x10": (5000, 10)}
PLACES = (0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.75, 0.85, 0.95)  # of the slider
AT_REST, READY = 5000, 20_000  # milliseconds between two presses; until the table is searched ahead
MOST = {"randhie": 1000.0 + REST, "5000x10": 1000.0 / 3}

# notes when the tiles change, whether the first of them says something, whether the worst case's
# number is in what they explain, and whether more follows
WATCH = """
() => {
  const tiles = document.querySelector(".rwn-tiles");
  const said = () => [...tiles.querySelectorAll(".rwn-tile")].map((tile) => tile.textContent);
  let last = said().join();
  window.changes = [];
  window.pressed = performance.now();
  window.watcher?.disconnect();
  window.watcher = new MutationObserver(() => {
    const now = said().join();
    if (now === last) return;
    last = now;
    const known = !tiles.querySelector(".rwn-value").textContent.startsWith("…");
    const follows = !known || last.includes("to follow");
    const linked = /(Worst-case linkage|Linkage, at least) [0-9.]+ %/.test(last);
    window.changes.push([performance.now() - window.pressed, known, linked, follows]);
  });
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  window.watcher.observe(tiles, all);
}
"""
MOVE = """
(slider, value) => {
  slider.valueAsNumber = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}
"""


class Move(NamedTuple):
    """Milliseconds from a key press."""

    epsilon: float
    picture: float
    verdict: float
    number: float
    limits: float


def moves(page: Page) -> list[Move]:
    """Press once at each place, from one step before it."""
    slider, found = page.get_by_role("slider").first, []
    most, step = (float(slider.get_attribute(name) or "nan") for name in ("max", "step"))
    for place in PLACES:
        epsilon = round(place * most / step) * step
        slider.evaluate(MOVE, epsilon - step)
        page.wait_for_timeout(AT_REST)
        slider.focus()
        page.evaluate(WATCH)
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(AT_REST)
        changes = page.evaluate("window.changes") or [[math.inf, False, False, True]]
        verdict = next((at for at, known, _, _ in changes if known), math.inf)
        number = next((at for at, _, linked, _ in changes if linked), math.inf)
        last, *_, follows = changes[-1]
        limits = math.inf if follows else last
        found.append(Move(epsilon, changes[0][0], verdict, number, limits))
    return found


def main() -> int:
    """Print the times; exit with 1 if one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="append", choices=list(SIZES), help="default: both")
    missed = False
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        started = stack.enter_context(sync_playwright())
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in parser.parse_args().table or list(SIZES):
            size = SIZES[name]
            file = None if size is None else file_of(folder, name, size)
            address = served(stack, file=file) + (f"/?demo={name}" if file is None else "")
            page = opened(browser, address, "[data-stamp]")
            page.wait_for_timeout(READY)
            sys.stdout.write(f"{name}, milliseconds from the key (the sliders rest after {REST})\n")
            for move in moves(page):
                late = (max(move.verdict, move.number) if size else move.limits) > MOST[name]
                missed |= late
                sys.stdout.write(
                    f"  epsilon {move.epsilon:4.2f}: picture {move.picture:4.0f}, verdict "
                    f"{move.verdict:4.0f}, worst case {move.number:4.0f}, all limits "
                    f"{move.limits:5.0f}{' late' * late}\n"
                )
                sys.stdout.flush()
            page.close()
        browser.close()
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
