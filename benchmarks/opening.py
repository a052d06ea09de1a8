"""Words and numbers that each page shows on opening: ``python -m benchmarks opening``.

Each of the nine pages is opened by its address, in a window of 1440 x 900, with the demo table that
everybody begins with (test extra and a Chromium). A line counts what stands in the window once the
page is at rest, in its texts and fields and in its pictures and tables of records; ``--texts``
prints the texts, too.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from contextlib import ExitStack

from playwright.sync_api import Browser, ViewportSize

from benchmarks.pages import say
from benchmarks.redraw import chromium, served
from tests.browser.test_accessibility import PAGES
from tests.browser.test_text_boxes import AT_REST, SCRIPT

WINDOW: ViewportSize = {"width": 1440, "height": 900}
AT_LEAST_MS = 3000  # in which a page that opens asks for what follows
RUNNING = "[data-test-script-state=running]"
WORD = re.compile(r"[^\W\d_][\w'’-]*")
NUMBER = re.compile(r"(?<!\w)[−-]?\d[\d.,]*|(?<![\w.])\.\d+")


def counted(texts: Iterable[str]) -> tuple[int, int]:
    """Return how many words and numbers texts have.

    >>> counted(["Linked over one half 4.3 %, limit 5 %", "ε = 2", "k5"])
    (7, 3)
    """
    all_of_them = " ".join(texts)
    return len(WORD.findall(all_of_them)), len(NUMBER.findall(all_of_them))


def texts_of(browser: Browser, url: str) -> dict[str, list[str]]:
    """Return what a reader finds in the window of a page that has just opened."""
    context = browser.new_context(viewport=WINDOW, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(SCRIPT)
    page.goto(url)
    page.get_by_role("link", name="Tune", exact=True).wait_for()
    page.wait_for_timeout(AT_LEAST_MS)
    page.locator(RUNNING).wait_for(state="detached")
    page.wait_for_function(AT_REST)
    texts: dict[str, list[str]] = page.evaluate("textsInWindow()")
    context.close()
    return texts


def main() -> int:
    """Open each page and print its line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(filter(None, PAGES)))
    given = parser.parse_args()
    with ExitStack() as stack:
        url = served(stack)
        browser = stack.enter_context(chromium())
        for name in given.pages or PAGES:
            path = "" if name == "tune" else name
            texts = texts_of(browser, f"{url}/{path}")
            words, numbers = counted(texts["page"])
            in_pictures = counted(texts["pictures"])
            say(
                f"{path or 'tune'}: {words} words, {numbers} numbers; in pictures and tables of "
                f"records {in_pictures[0]} words, {in_pictures[1]} numbers"
            )
            if given.texts:
                say("\n".join(f"  {text}" for text in texts["page"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
