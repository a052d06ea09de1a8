"""How the app is opened: a code works once and for a minute, and no other account sees one."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit import config

from rwn_ui.server import opening, visitors
from rwn_ui.server.entry import CODE_LASTS_S, Codes, Entry, ProxySecret, entry_named
from rwn_ui.server.environment import CODE
from rwn_ui.server.peer import account_of
from rwn_ui.server.visitors import OwnVisitors
from tests.ui.app_process import ROOT, code_in, cookie_of, started
from tests.waiting import until

BASE = "http://127.0.0.1:8501"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def status(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """A function that asks the filter of visitors as a client does; its answer's status."""
    names = {"server.allowedHosts": ["127.0.0.1"], "browser.serverAddress": "127.0.0.1"}
    real = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: names.get(name) or real(name))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def asked(
        entry: Entry, query: str = "", cookie: str = "", method: str = "GET", account: int = 0
    ) -> int:
        monkeypatch.setattr(visitors, "account_of", lambda *ends: account)
        headers = [(b"host", b"127.0.0.1:8501"), (b"cookie", cookie.encode())]
        scope = {"type": "http", "method": method, "path": "/", "headers": headers}
        scope |= {"query_string": query.encode(), "server": ("127.0.0.1", 8501)}
        sent = list[Message]()

        async def receive() -> Message:
            raise AssertionError("no body is read")

        async def send(message: Message) -> None:
            sent.append(message)

        visit = OwnVisitors(app, entry)(scope, receive, send)
        with ThreadPoolExecutor(1) as beside:  # a browser's loop may run in this thread
            beside.submit(asyncio.run, visit).result()
        return int(sent[0]["status"])

    return asked


def test_a_code_works_once_and_within_a_minute(status: Callable[..., int]) -> None:
    clock = Clock()
    codes = Codes(clock)
    for code in ("first", "in time", "late"):
        codes.hear(code)
    assert status(codes, f"{CODE}=first") == 200
    assert status(codes, f"{CODE}=first") == 403
    assert status(codes, f"{CODE}=in+time", method="HEAD") == 403  # uses nothing up
    clock.now = CODE_LASTS_S
    assert status(codes, f"{CODE}=in+time") == 200
    clock.now += 0.001
    assert status(codes, f"{CODE}=late") == 403
    clock.now = 0.0
    assert status(codes, f"{CODE}=late") == 403  # it was shown, and is used up
    codes.hear("later")
    clock.now = 1e6
    assert codes.exchange("later", 0) is None


@pytest.mark.parametrize(("looks", "answer"), [(20, 200), (0, 403)])
def test_a_browser_may_be_there_before_its_code(status, monkeypatch, looks, answer) -> None:
    """Where nobody looks again, it is refused, as it once was on a busy machine."""
    monkeypatch.setattr(visitors, "_LOOKS", looks)
    codes = Codes()

    async def told(seconds: float) -> None:
        codes.hear("early")

    monkeypatch.setattr(visitors.asyncio, "sleep", told)
    assert status(codes, f"{CODE}=early") == answer


def test_each_browser_has_a_cookie_of_its_own_which_no_code_is(status) -> None:
    codes = Codes(Clock())
    codes.hear("one")
    codes.hear("two")
    codes.hear("three")
    assert status(codes, cookie="rwn-8501=three") == 403
    cookies = {codes.exchange(code, 0) or "" for code in ("one", "two")}
    assert [len(each) for each in cookies] == [43, 43]  # 256 bits each, and two of them
    for each in cookies:
        assert status(codes, cookie=f"rwn-8501={each}") == 200
        assert status(codes, f"{CODE}={each}") == 403
        assert status(codes, cookie=f"rwn-8501={each}", account=1) == 403  # stolen


def test_nobody_comes_in_before_a_secret_is_heard(status) -> None:
    for name in ("code", "proxy"):
        assert status(entry_named(name)) == 403
    assert not ProxySecret().knows("")
    assert status(entry_named("everyone")) == 200
    with pytest.raises(KeyError):
        entry_named("")


def test_the_account_of_a_connection_is_read_where_the_system_says_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            ends = client.getsockname(), server.getsockname()
            known = Path("/proc/net/tcp").is_file()
            assert account_of(*ends) == (os.getuid() if known else None)
            assert account_of(*ends, tmp_path / "missing") is None
        assert account_of(("127.0.0.1", 1), server.getsockname()) is None
    assert account_of(None, None) is None
    assert account_of(("testclient", 50000), ("::1", 80)) is None


def test_the_page_that_forwards_is_of_this_account_alone_and_goes(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with opening.forwarding(f"{BASE}/?{CODE}=abc") as page:
        assert page.parent.parent == tmp_path
        assert [each.stat().st_mode & 0o777 for each in (page.parent, page)] == [0o700, 0o600]
        assert f'content="0;url={BASE}/?{CODE}=abc"' in page.read_text("utf-8")
    assert not page.parent.exists()
    monkeypatch.setattr(opening, "CODE_LASTS_S", 0.0)
    with opening.forwarding(BASE) as page:
        until(lambda: not page.parent.exists())
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    with opening.forwarding(BASE) as page:
        assert page.parent.parent == Path(tempfile.gettempdir())


@pytest.mark.parametrize("found", [True, False])
def test_a_browser_gets_a_file_and_a_log_no_code(tmp_path, monkeypatch, found: bool) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    told, said, shown = list[str](), list[str](), list[str]()
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False))
    monkeypatch.setattr(webbrowser, "open", lambda what: shown.append(what) or found)
    with opening.opened(BASE, told.append, said.append, browser=True):
        assert shown[0].startswith(tmp_path.as_uri())
        pages = [code_in(page.read_text("utf-8")) for page in tmp_path.glob("*/*.html")]
        assert sorted(pages) == sorted(told)
    assert (len(told), "Open " in said[-1]) == ((1, False) if found else (2, True))
    lines = "\n".join([*said, *shown])
    assert not [code for code in told if code in lines]


ON_A_TERMINAL = """
import sys
from rwn_ui.server.opening import opened
def tell(code):
    with open(sys.argv[1], "a") as stream:
        stream.write(code + "\\n")
def say(line):
    print(line, file=sys.stderr, flush=True)
with opened("http://127.0.0.1:8501", tell, say, browser=False):
    __import__("time").sleep(600)
"""


def test_enter_shows_a_new_code_on_a_terminal(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.touch()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", ON_A_TERMINAL, str(told)])
    said = b""
    try:
        for count, last in ((1, b"Enter shows"), (2, b"once."), (3, b"once.")):
            while said.count(b"Open http") < count or last not in said.rpartition(b"Open http")[2]:
                said += os.read(terminal, 4096)
            codes = told.read_text("utf-8").split()
            assert len(set(codes)) == count
            assert codes[-1].encode() in said
            os.write(terminal, b"\n")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


BROWSER = """#!/bin/sh
echo $$ > "$0.pid"
sleep 600
"""
"""A browser that stays with its arguments, as browsers do."""
SNOOP = r"""
import http.client, json, os, re, sys
port, folder = int(sys.argv[1]), sys.argv[2]
names = ["cmdline", "environ", "comm", "status", "fd/0", "fd/1", "fd/2"]
paths = [os.path.join("/proc", pid, each) for pid in os.listdir("/proc") if pid.isdigit()
         for each in names]
for root, _, files in os.walk(folder):
    paths += [root] + [os.path.join(root, each) for each in files]
seen = b"\0".join(os.fsencode(path) for path in paths)
for path in paths:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            seen += b"\0" + (stream.read(100000) or b"")
    except OSError:
        pass
def status(path, cookie):
    line = http.client.HTTPConnection("127.0.0.1", port)
    line.request("GET", path, headers={"Cookie": "rwn-%d=%s" % (port, cookie)})
    return line.getresponse().status
words = sorted(set(re.findall("[A-Za-z0-9_-]{32,}", seen.decode("latin-1"))))
inside = [word for word in words if {status("/?code=" + word, ""), status("/", word)} != {403}]
print(json.dumps({"open": status("/", ""), "inside": inside, "words": words, "uid": os.getuid(),
                  "browser": b"open-rwn.html" in seen}))
"""


@pytest.fixture
def second_account() -> Iterator[pwd.struct_passwd]:
    """Another account of this machine, for as long as a test runs."""
    if os.geteuid() != 0 or shutil.which("useradd") is None:
        pytest.skip("only root can add an account, with useradd")
    name = f"rwn-{os.getpid()}"
    subprocess.run(["useradd", "--no-create-home", name], check=True)
    try:
        yield pwd.getpwnam(name)
    finally:
        subprocess.run(["userdel", name], check=True)


@pytest.mark.nightly  # codes, cookies, the account of a connection and the page are tested above
def test_another_account_finds_nothing_that_lets_it_in(second_account, free_port) -> None:
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None:
        pytest.skip("no Python that another account can run")

    def snooped(port: int, folder: Path, *, second: bool = True) -> dict[str, Any]:
        line = [python, "-I", "-c", SNOOP, str(port), str(folder)]
        own = pwd.getpwuid(os.getuid())
        who = second_account if second else own
        ids: Any = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        said = subprocess.check_output(line, cwd="/", env={}, **ids)
        document: dict[str, Any] = json.loads(said)
        assert document["uid"] == who.pw_uid
        return document

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        browser = folder / "browser"
        browser.write_text(BROWSER, "utf-8")
        browser.chmod(0o755)
        port = free_port()
        with started(folder, port, browser=True, BROWSER=f"{browser} %s &") as server:
            until(browser.with_name("browser.pid").is_file)
            try:
                page = next(folder.glob("rwn-opens-*/*.html")).read_text("utf-8")
                found = snooped(port, folder)
                assert (found["open"], found["inside"], found["browser"]) == (403, [], True)
                assert code_in(page) not in found["words"]
                cookie = cookie_of(server.get(f"/?{CODE}={code_in(page)}"))
                # the same program sees a secret where one is: in an argument
                value = cookie.partition("=")[2]
                told = subprocess.Popen([python, "-c", "input()", value], stdin=subprocess.PIPE)
                try:
                    stolen, own = snooped(port, folder), snooped(port, folder, second=False)
                finally:
                    told.kill()
                    told.communicate()
                assert value in stolen["words"]
                assert own["inside"] == [value]
                if Path("/proc/net/tcp").is_file():
                    assert stolen["inside"] == [], "a cookie counts for one account"
            finally:
                until(lambda: browser.with_name("browser.pid").read_text("utf-8").strip())
                os.killpg(int(browser.with_name("browser.pid").read_text("utf-8")), signal.SIGKILL)
