"""How long each lesson takes from a key press to its painted picture, against a bare page.

``python -m benchmarks.lessons``: both pages in one call and one Chromium, in turn, as in redraw.py;
the limit is that of the bodyfat table there.
"""

from __future__ import annotations

import statistics
import sys
from contextlib import ExitStack

from playwright.sync_api import sync_playwright

from benchmarks.redraw import (
    BLOCKS,
    CHROMIUM,
    FLAGS,
    FLOOR_PAGE,
    LIMITS,
    PRESSES,
    WARM_UP,
    Subject,
    opened,
    served,
)
from rwn_ui.learn.lesson import Lesson, Slider
from rwn_ui.learn.lessons import LESSONS

LIMIT = LIMITS["bodyfat"]
PRESSED = {"ArrowLeft": -1, "ArrowRight": 1}
PAINTED = ".rwn-card[data-drawn]"


def longest_way(lesson: Lesson) -> tuple[int, str]:
    """The slider that can be moved furthest from where it starts, and the key that moves it."""
    sliders = [control for control in lesson.controls if isinstance(control, Slider)]
    room = {
        (at, key): ((each.high - each.start) if sign > 0 else (each.start - each.low)) / each.step
        for at, each in enumerate(sliders)
        for key, sign in PRESSED.items()
    }
    return max(room, key=lambda way: room[way])


def measure() -> dict[str, Subject]:
    """Milliseconds of each press of a lesson's longest slider, by lesson."""
    with ExitStack() as stack:
        floor, app = served(stack, FLOOR_PAGE), served(stack)
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=CHROMIUM, args=FLAGS
        )
        text = "[data-testid=stText]"
        subjects = {"floor": Subject(opened(browser, floor, text), text, None, 0)}
        for key, lesson in LESSONS.items():
            page = opened(browser, app, "[data-stamp]")
            page.get_by_role("link", name="Learn", exact=True).click()
            page.get_by_text(lesson.title, exact=True).click()
            page.get_by_role("heading", name=lesson.title.partition(" · ")[2]).wait_for()
            page.wait_for_selector(PAINTED)
            page.wait_for_timeout(2000)
            slider, arrow = longest_way(lesson)
            subjects[key] = Subject(page, "[data-stamp]", "stamp", slider)
            subjects[key].arrow = arrow
        for subject in subjects.values():
            subject.run(WARM_UP, counted=False)
        for _ in range(BLOCKS):
            for subject in subjects.values():
                subject.run(PRESSES // BLOCKS, counted=True)
        browser.close()
    return subjects


def main() -> int:
    """Print medians and ratios; exit with 1 if a lesson is over the limit."""
    subjects = measure()
    floor, over = statistics.median(subjects.pop("floor").times), 0
    sys.stdout.write(f"bare page  {floor:.1f} ms\n")
    for key, subject in subjects.items():
        took = statistics.median(subject.times)
        over += took > LIMIT * floor
        sys.stdout.write(f"{key:16} {took:7.1f} ms   ratio {took / floor:.2f} (limit {LIMIT:g})\n")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
