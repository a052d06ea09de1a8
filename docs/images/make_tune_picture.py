"""Makes tune.png: the Tune page on the bodyfat data, as a browser shows it at 1440 x 900.

Run ``python docs/images/make_tune_picture.py`` (needs the test extra and a Chromium).
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from rwn_ui import launch

PICTURE = Path(__file__).with_name("tune.png")
SETTING = "epsilon=3&k=8&q=1"


def main() -> None:
    """Start the app, open it, take the picture."""
    port = launch.choose_port()
    with launch.serving(port), sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"http://{launch.ADDRESS}:{port}/?demo=bodyfat&{SETTING}")
        page.wait_for_selector("[data-stamp]", timeout=60_000)
        page.wait_for_timeout(2000)  # Streamlit's own fade-in
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
