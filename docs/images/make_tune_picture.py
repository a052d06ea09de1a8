"""Makes the pictures of the Tune page: bodyfat, as a browser shows it at 1440 x 900.

Run ``python docs/images/make_tune_picture.py`` (needs the test extra and a Chromium).
"""

import shutil
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from rwn_ui.server import launch

HERE = Path(__file__).parent
SETTING = "demo=bodyfat&epsilon=3&k=8&q=1"


def take(browser: Browser, address: str, name: str, scheme: Literal["light", "dark"]) -> None:
    """Open the page and keep what it shows."""
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page.goto(address)
    page.wait_for_selector("[data-stamp]", timeout=60_000)
    page.wait_for_timeout(2000)  # Streamlit's own fade-in
    page.screenshot(path=HERE / name)
    page.close()


def main() -> None:
    """Light, dark, and for a meeting room."""
    port = launch.choose_port()
    address = f"http://{launch.ADDRESS}:{port}/?{SETTING}"
    with launch.serving(port), sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        take(browser, address, "tune.png", "light")
        take(browser, address, "tune-dark.png", "dark")
        take(browser, f"{address}&projector=1", "tune-projector.png", "light")
        browser.close()


if __name__ == "__main__":
    main()
