"""How long the Tune page takes from a key press to painted charts, against a bare page.

Both pages run in this one call, under the same options, in the same Chromium, in turn:
``python -m benchmarks.redraw`` (needs the test extra and a Chromium). ``--whole-range`` walks every
slider over all of its positions; see whole_range.py.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from rwn_ui.server import launch

FLOOR_PAGE = Path(__file__).parent / "floor_page.py"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-background-networking"]
PRESSES = 15
BLOCKS = 3  # the pages take turns, so that a drifting machine hits all alike
WARM_UP = 3
LIMITS = {"bodyfat": 5.0, "slices": 5.0, "randhie": 12.0}
# far enough from the slider's end for all presses
START = {
    "bodyfat": "demo=bodyfat&epsilon=2",
    "slices": "demo=bodyfat&epsilon=2&slices=0-1-2-3_4-5-6-7-8-9_10-11-12-13-14",
    "randhie": "demo=randhie&epsilon=0.4",
}

# resolves with the milliseconds from the key press to the frame after the change
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


# resolves once the first tile, the worst case of a large table, has its number again
FOLLOWED = """
() => {
  const tile = document.querySelector(".rwn-tiles .rwn-value");
  return tile !== null && tile.textContent !== "…";
}
"""
RESTS = 5


class Subject:
    """One page under the clock."""

    def __init__(self, page: Page, selector: str, attribute: str | None, slider: int) -> None:
        self.page, self.watch = page, [selector, attribute]
        self.handle = page.get_by_role("slider").nth(slider)
        self.arrow = "ArrowRight"
        self.times: list[float] = []
        self.waits: list[float] = []

    def run(self, presses: int, *, counted: bool) -> None:
        """Press an arrow key, always on to a setting that was not yet looked at.

        The app remembers its latest looks; a way back would time the memory, not the work.
        """
        self.page.bring_to_front()
        self.handle.focus()
        for _ in range(presses):
            self.page.evaluate(WATCH, self.watch)
            self.page.keyboard.press(self.arrow)
            took = self.page.evaluate("window.painted")
            if counted:
                self.times.append(took)
            self.page.wait_for_timeout(250)

    def rest(self) -> None:
        """Press once and wait for what follows when the slider rests, in milliseconds."""
        self.run(1, counted=False)
        self.page.wait_for_function(FOLLOWED, timeout=60_000)
        self.waits.append(self.page.evaluate("performance.now() - window.pressed"))


def served(stack: ExitStack, script: Path | None = None, file: Path | None = None) -> str:
    """Serve the app, or a script in its place, until the stack ends; its address."""
    port = launch.choose_port()
    stack.enter_context(launch.serving(port, file, script))
    return f"http://{launch.ADDRESS}:{port}"


def opened(browser: Browser, url: str, ready: str) -> Page:
    """A page, drawn and at rest."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script("localStorage.setItem('rwn.tour', '1')")  # no tour of a first visit
    page.goto(url)
    page.wait_for_selector(ready, timeout=120_000)
    page.wait_for_timeout(2000)
    return page


def measure(demos: list[str]) -> dict[str, Subject]:
    """Milliseconds of each press, and of what follows it at rest, by page."""
    with ExitStack() as stack:
        floor, app = served(stack, FLOOR_PAGE), served(stack)
        started = stack.enter_context(sync_playwright())
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        text = "[data-testid=stText]"
        subjects = {"floor": Subject(opened(browser, floor, text), text, None, 0)}
        for demo in demos:
            page = opened(browser, f"{app}/?{START[demo]}", "[data-stamp]")
            subjects[demo] = Subject(page, "[data-stamp]", "stamp", 0)
        for subject in subjects.values():
            subject.run(WARM_UP, counted=False)
        for _ in range(BLOCKS):
            for subject in subjects.values():
                subject.run(PRESSES // BLOCKS, counted=True)
        for demo in demos:
            for _ in range(RESTS + 1):
                subjects[demo].rest()
        browser.close()
    return subjects


def main() -> int:
    """Print medians and ratios; exit with 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--demo", action="append", help="bodyfat, slices (of bodyfat), randhie; default: all"
    )
    parser.add_argument("--table", action="append", help="of --whole-range: 100000x10, 10000x55")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--whole-range", action="store_true", help="each slider from end to end")
    options = parser.parse_args()
    if options.whole_range:
        from benchmarks import whole_range

        return whole_range.main([*(options.demo or []), *(options.table or [])])
    subjects = measure(options.demo or list(LIMITS))
    floor = statistics.median(subjects["floor"].times)
    rows = [
        {
            "page": name,
            "median_ms": round(statistics.median(subject.times), 1),
            "best_ms": round(min(subject.times), 1),
            "worst_ms": round(max(subject.times), 1),
            "ratio": round(statistics.median(subject.times) / floor, 2),
            "limit": LIMITS.get(name),
            # the first wait also holds the start of the process that reads
            "worst_case_ms": round(statistics.median(subject.waits[1:])) if subject.waits else None,
        }
        for name, subject in subjects.items()
    ]
    if options.json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        for row in rows:
            limit = f"   (limit {row['limit']:g})" if row["limit"] else ""
            after = f"   worst case after {row['worst_case_ms']} ms" if limit else ""
            sys.stdout.write(
                f"{row['page']:10} median {row['median_ms']:7} ms   best {row['best_ms']:7}   "
                f"worst {row['worst_ms']:7}   ratio {row['ratio']}{limit}{after}\n"
            )
    return int(any(row["limit"] and row["ratio"] > row["limit"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
