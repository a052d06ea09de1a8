"""The app in one browser tab, and the server that it runs on."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Download, Locator, Page, TimeoutError, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import rwn_core as rwn
from rwn_cli import main
from tests.waiting import HANG_MS, until

expect.set_options(timeout=HANG_MS)


# the panel says when it has drawn, and each card how often it was drawn
DRAWN = "() => [...document.querySelectorAll('.rwn-card')].map((c) => Number(c.dataset.drawn))"
ALL_DRAWN = f"""([cards, least]) => {{
  const drawn = ({DRAWN})();
  return drawn.length >= cards && drawn.every((count, i) => count > (least[i] ?? 0));
}}"""
SAID = "[data-testid=stAlertContent{}] [data-testid=stMarkdownContainer]"
ALERTS = f"{SAID.format('Error')}, {SAID.format('Warning')}"
STAMP = "document.querySelector('[data-stamp]')?.dataset.stamp"
"""What the panel last drew: the setting in words, and a hash of its readings."""


class Server:
    """A running app: its address, its process, and what it has logged."""

    def __init__(self, address: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.address = address
        self.process = process
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def children(self) -> list[int]:
        """Worker processes that the app has started and that are still there."""
        workers = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                line = (process / "cmdline").read_bytes()
            except OSError:
                continue  # it has just ended
            if int(fields[1]) == self.process.pid and b"resource_tracker" not in line:
                workers.append(int(process.name))
        return workers

    def wait_for_the_end_of_what_began_since(self, before: list[int]) -> None:
        """Wait until no worker is left but those that were there before."""
        until(lambda: not set(self.children()) - set(before))


class App:
    def __init__(self, page: Page, server: Server) -> None:
        self.server = server
        self.page = page
        self.page.set_default_timeout(HANG_MS)
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.frames: list[bytes] = []
        self._run_to_begin = False  # the page has asked for a run that has not begun
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._logged)
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("websocket", self._connected)

    def _logged(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} {message.location.get('url', '')}")

    def _asked(self, url: str) -> None:
        own = (self.server.address, self.server.address.replace("http", "ws", 1), "data:", "blob:")
        if not url.startswith(own):
            self.foreign.append(url)

    def _connected(self, socket: Any) -> None:
        self._asked(socket.url)
        self._run_to_begin = False
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, frame: bytes | str) -> None:
        message = BackMsg.FromString(frame) if isinstance(frame, bytes) else BackMsg()
        # a fragment that has left the page is run no more
        if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.fragment_id:
            self._run_to_begin = True

    def _received(self, frame: bytes | str) -> None:
        if not isinstance(frame, bytes):
            return
        self.frames.append(frame)
        if ForwardMsg.FromString(frame).WhichOneof("type") == "new_session":
            self._run_to_begin = False

    def open(self, path: str = "/", *, recommended: bool = False) -> App:
        """Go to the Tune page and wait until all cards are drawn.

        A demo without a setting in its address opens with RWN as published, whose sliders tests
        move, or with its recommended setting.
        """
        if not recommended and path in ("/", *(f"/?demo={name}" for name in rwn.DEMOS)):
            path += "&method=rwn" if "?" in path else "?method=rwn"
        self.page.goto(self.server.address + path)
        return self.wait_for_cards()

    def wait_for_cards(self, beyond: list[int] | None = None) -> App:
        """Wait until all cards are drawn, each more often than stated."""
        self.until(ALL_DRAWN, [8, beyond or []])  # nine with that of neighborhood sizes
        return self

    def visit(self, name: str) -> App:
        self.page.get_by_role("link", name=name, exact=True).click()
        if name == "Data":
            self.page.get_by_text("Its variables, and what the file is for").wait_for()
            return self
        return self.wait_for_cards()

    @property
    def stamp(self) -> str:
        panel = self.page.locator("[data-stamp]")
        expect(panel).to_have_count(1)
        return panel.get_attribute("data-stamp") or ""

    @property
    def drawn(self) -> list[int]:
        counts: list[int] = self.page.evaluate(DRAWN)
        return counts

    def slider(self, name: str) -> Locator:
        starts = {"epsilon": "Radius", "k": "Minimum", "q": "Modif"}
        return self.page.get_by_role("slider", name=starts.get(name, name))

    def press(self, name: str, key: str) -> str:
        """Press a key on a slider; the new stamp, once the new setting is drawn."""
        before = self.stamp.rpartition(" ")[0]  # a reading that follows changes only the rest
        self.slider(name).press(key)
        self.until(f"old => ![undefined, old].includes({STAMP}?.replace(/ [^ ]*$/, ''))", before)
        return self.stamp

    def shows(self, words: str) -> str:
        self.until(f"words => {STAMP}?.includes(words)", words)
        return self.stamp

    def wait_for_change(self, stamp: str) -> str:
        self.until(f"old => {STAMP} !== old", stamp)
        return self.stamp

    def until(self, holds: str, arg: Any = None) -> None:
        """Wait until a function of the page holds, without asking for a picture at each try."""
        self.page.wait_for_function(holds, arg=arg, polling=50)

    def open_more(self) -> None:
        drawer = self.page.locator("summary").filter(has=self.page.get_by_text("More", exact=True))
        if drawer.evaluate("node => !node.parentElement.open"):
            drawer.click()
        self.page.get_by_text("The same in a shell").wait_for()

    def open_box(self, title: str) -> None:
        self.open_more()
        box = self.page.locator("summary").filter(has=self.page.get_by_text(title, exact=True))
        if box.evaluate("node => !node.parentElement.open"):
            box.click()
            self.settle()

    def printed(self, folder: Path) -> bytes:
        """Run the command that the page prints for the table on screen, and read what it writes."""
        title = "The same in a shell"
        self.open_box(title)
        for _ in range(2):  # it says what was on screen when it was opened
            self.page.locator("summary").filter(has_text=title).click()
            self.settle()
        self.open_box(title)  # a click while the page is drawn may be lost
        line = self.page.locator("code").filter(has_text="rwn mask").inner_text()
        here = ("masked.csv", "schema.toml")
        words = [str(folder / each) if each in here else each for each in shlex.split(line)]
        assert main.run(words[1:]) == 0
        content = (folder / "masked.csv").read_bytes()
        (folder / "masked.csv").unlink()
        return content

    def settle(self, *, begun: bool = False) -> None:
        """Wait for the end of a run that changes nothing one could wait for."""
        if not begun:  # one that the page asks for a little later; a short one may be over
            with suppress(TimeoutError):
                self.page.locator("[data-test-script-state=running]").wait_for(timeout=500)
        until(self._has_begun, pause=0.0)
        self.page.locator("[data-test-script-state=notRunning]").wait_for()

    def _has_begun(self) -> bool:
        """Whether the server, however busy, has begun each run that it was asked for."""
        self.page.wait_for_timeout(10)  # what the page sends and gets is heard meanwhile
        return not self._run_to_begin

    def card(self, title: str) -> Locator:
        return self.page.locator(".rwn-card").filter(
            has=self.page.locator(f"figcaption b:text-matches('^{title}')")
        )

    @property
    def verdict(self) -> Locator:
        return self.page.locator(".rwn-judged")

    def judged(self) -> str:
        """The verdict and its worst limit, once all limits are read."""
        line = self.verdict.locator(".rwn-judged-line")
        expect(line).not_to_contain_text("to follow")
        return f"{line.inner_text()}; {self.verdict.locator('.rwn-nearest').inner_text()}"

    def values(self) -> list[str]:
        self.judged()
        self.until("() => ![...document.querySelectorAll('.rwn-value')]"
                   ".some((each) => each.textContent.includes('…'))")  # fmt: skip
        return self.page.locator(".rwn-value").all_inner_texts()

    def tile(self, label: str) -> Locator:
        return self.page.locator(".rwn-tile").filter(has_text=label)

    def messages(self) -> list[str]:
        shown = self.page.locator(ALERTS)
        shown.first.wait_for()
        return shown.all_inner_texts()

    def saved(self, click: Callable[[], None]) -> tuple[str, bytes]:
        with self.page.expect_download() as waiting:
            click()
        download: Download = waiting.value
        return download.suggested_filename, Path(download.path()).read_bytes()
