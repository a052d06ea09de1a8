"""A running app and a real Chromium for the browser tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

from rwn_core.parallel.kernel_cache import is_ready
from rwn_ui.server import launch
from rwn_ui.server.environment import ENTRY_VARIABLE, EVERYONE
from rwn_ui.state.project_folder import FOLDER_VARIABLE as PROJECTS
from tests.before_workers import KERNELS
from tests.browser.app_tab import App, Server
from tests.waiting import HANG_S

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
REQUIRED = os.environ.get("RWN_REQUIRE_BROWSER") == "1"
CALM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # such a list takes the place of Playwright's: what it names that asks outside or changes an
    # address, and two pages that Chromium loads in every window for an address bar nobody sees
    "--disable-features=AimEnabled,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,LensOverlay,"
    "MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,PreconnectToSearch,"
    "WebUIOmniboxAimPopup,WebUIOmniboxPopup",
)
COMPILE = "from rwn_core.compile_ahead import warm, warm_for_limits; warm(); warm_for_limits()"
WINDOW = {
    "viewport": {"width": 1440, "height": 900},
    "accept_downloads": True,
    "reduced_motion": "reduce",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder; skip them with a reason where there is no browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None and not REQUIRED:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="session", autouse=True)
def _server_that_starts_beside_others() -> Iterator[None]:
    """A new server reads its libraries first, however long that takes on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "READY_WITHIN_S", HANG_S)
        yield


@pytest.fixture(scope="session")
def server(tmp_path_factory, free_port) -> Iterator[Server]:
    # a first large table would wait for the compiler, which is not what these tests ask
    if not is_ready(KERNELS):  # else the controller of the workers has compiled them
        subprocess.run([sys.executable, "-c", COMPILE], check=True)
    port = free_port()
    folder = launch.app_file().parent
    folder_of_log = tmp_path_factory.mktemp("server")
    log = folder_of_log / "log.txt"
    with log.open("wb") as sink:
        streams = {"stdin": subprocess.DEVNULL, "stdout": sink, "stderr": sink}
        projects = str(folder_of_log / PROJECTS)
        env = {**os.environ, ENTRY_VARIABLE: EVERYONE, PROJECTS: projects}
        process = subprocess.Popen(launch.command(port), cwd=folder, env=env, **streams)
        try:
            launch.wait_until_ready(process, port)
            yield Server(f"http://{launch.ADDRESS}:{port}", process, log)
        finally:
            launch._stop(process)
    # Streamlit would put what a callback draws on top of the page
    for words in ("a callback that displays one or more elements", "ScriptRunContext", "Traceback"):
        assert words not in log.read_text("utf-8")


@pytest.fixture(scope="session")
def playwright_session() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(playwright_session: Playwright) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail("RWN_REQUIRE_BROWSER=1, but this machine has no Chromium; install one.")
    browser = playwright_session.chromium.launch(executable_path=CHROMIUM, args=[*CALM])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(**WINDOW)
    yield context
    context.close()


@contextmanager
def _tab(window: BrowserContext, server: Server) -> Iterator[App]:
    if not window.pages:  # one tab stays, and with it the process that has read the app's scripts
        window.new_page().goto(f"{server.address}/_stcore/health")
    window.pages[0].evaluate("localStorage.clear()")  # the last table is another test's
    with window.expect_page() as waiting:
        window.pages[0].evaluate("window.open('about:blank')")
    made = App(waiting.value, server)
    try:
        yield made
    finally:
        made.page.close()
    assert made.complaints == []
    assert made.foreign == []


@pytest.fixture
def app(window: BrowserContext, server: Server) -> Iterator[App]:
    """A tab of its own; a test fails on any complaint or foreign request."""
    with _tab(window, server) as made:
        yield made


@pytest.fixture(scope="module")
def opened(window: BrowserContext, server: Server) -> Iterator[App]:
    """The Tune page in a tab that a file's tests share, and leave as they found it."""
    with _tab(window, server) as made:
        yield made.open("/")


@pytest.fixture
def visit(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., App]]:
    """A function that opens the app of another server, which may be killed under it."""
    with ExitStack() as stack:

        def opened(process: subprocess.Popen[bytes], port: int) -> App:
            address = f"http://{launch.ADDRESS}:{port}"
            context = stack.enter_context(chromium.new_context())
            made = App(context.new_page(), Server(address, process, tmp_path / "log.txt"))
            return made.open("/")

        yield opened


@pytest.fixture
def open_app(window: BrowserContext, server: Server) -> Iterator[Callable[..., App]]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(_tab(window, server))
