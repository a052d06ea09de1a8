"""The server: whom it answers, what it says and stores, and how it ends."""

from __future__ import annotations

import ast
import asyncio
import gc
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from weakref import WeakValueDictionary

import pytest
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.routing import Match
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.state.session_state import SessionState

from rwn_ui.server import given_file, private_streamlit, serve, sweeper
from rwn_ui.server.visitors import is_own

ROOT = Path(__file__).resolve().parents[2]
SECRET = "SENTINEL7731"
LAUNCHER = """
import time
from rwn_ui.server import launch
launch._READY_WITHIN = 300  # beside as many others as there may be
with launch.serving({port}) as server:
    print(server.pid, flush=True)
    time.sleep(600)
"""
FOREIGN = """
import asyncio
from streamlit import config, net_util
from streamlit.web.server import server_util
from rwn_ui.server.visitors import OwnVisitors
asked, served, sent = [], [], []
net_util._make_blocking_http_get = lambda url, **_: asked.append(url)
config.set_option("server.allowedHosts", ["127.0.0.1", "localhost"])

async def streamlit_itself(scope, receive, send):
    origin = dict(scope["headers"])[b"origin"].decode()
    served.append((scope["type"], server_util.is_url_from_allowed_origins(origin)))

async def send(message):
    sent.append(message)

for kind in ("http", "websocket"):
    for origin in (b"http://evil.example", b"http://127.0.0.1:8501"):
        headers = [(b"host", b"127.0.0.1:8501"), (b"origin", origin)]
        scope = {"type": kind, "path": "/any", "headers": headers}
        asyncio.run(OwnVisitors(streamlit_itself)(scope, None, send))
assert served == [("http", True), ("websocket", True)], served
assert sent[0]["status"] == 403 and sent[-1]["type"] == "websocket.close", sent
print(len(asked))
"""


@pytest.fixture
def as_before() -> Iterator[None]:
    """What belongs to the process is put back."""
    factory, hooks = logging.getLogRecordFactory(), (sys.excepthook, sys.unraisablehook)
    thread_hook, spool = threading.excepthook, MultiPartParser.spool_max_size
    with warnings.catch_warnings():
        yield
    logging.setLogRecordFactory(factory)
    (sys.excepthook, sys.unraisablehook), threading.excepthook = hooks, thread_hook
    MultiPartParser.spool_max_size = spool


def test_a_log_has_the_type_of_an_error_and_not_its_text(as_before, caplog, capsys) -> None:
    serve.say_no_values()
    try:
        float(SECRET)
    except ValueError as error:
        logging.getLogger("streamlit.any").exception("Uncaught %s", error)
        logging.getLogger("streamlit.any").warning("it went on", exc_info=error)
    worker = threading.Thread(target=float, args=(SECRET,))
    worker.start()
    worker.join()
    said = caplog.text + capsys.readouterr().err
    assert SECRET not in said
    assert said.count("ValueError at") == 3


def test_a_foreign_origin_makes_nobody_ask_outside() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FOREIGN], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["0"]


def test_an_upload_stays_off_the_disk(as_before: None) -> None:
    private_streamlit.prepare()
    assert MultiPartParser.spool_max_size > 10**12


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_the_server_ends_with_its_launcher_however_that_ends(number: int, free_port) -> None:
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER.format(port=free_port())],
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # tests may run by nohup
        stdout=subprocess.PIPE,
        text=True,
    )
    assert launcher.stdout is not None
    with launcher.stdout as said:
        server = int(said.readline())
    process = os.pidfd_open(server)
    try:
        launcher.send_signal(number)
        launcher.wait()
        ended, _, _ = select.select([process], [], [], 120)  # at once, unless the machine is busy
        assert ended
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)
        os.close(process)


class Visit:
    """A visit with data in all that Streamlit stores for it."""

    def __init__(self, name: str) -> None:
        self.controls = private_streamlit.Controls(name, SessionState(), {1: SECRET})
        self.controls.state._new_session_state["table"] = SECRET
        self.controls.state._new_widget_state.widget_metadata["a"] = SECRET
        sweeper.VISITS[name] = self

    def holds(self) -> list[bool]:
        state = self.controls.state
        stored = state._new_session_state, state._new_widget_state.widget_metadata
        return [bool(each) for each in (*stored, self.controls.fragments)]

    def save(self) -> None: ...

    def close(self) -> None: ...


def test_a_session_that_was_left_is_closed_and_one_that_is_open_is_not(monkeypatch) -> None:
    monkeypatch.setattr(sweeper, "VISITS", WeakValueDictionary())
    active, closed = {"here"}, []
    visits = [Visit(each) for each in ("here", "gone", "back")]
    server = SimpleNamespace(
        is_active_session=lambda each: each in active, close_session=closed.append
    )
    sweep = sweeper.Sweeper(server).sweep
    assert sweep(0.0) == []
    active.add("back")
    assert sweep(sweeper.GRACE - 1) == []
    assert sweep(sweeper.GRACE) == ["gone"]
    assert closed == ["gone"]
    # the server may hold a closed one for long
    assert [visit.holds() for visit in visits] == [[True] * 3, [False] * 3, [True] * 3]
    active.remove("back")
    assert sweep(sweeper.GRACE + 1) == []  # its time begins anew
    assert sweep(2 * sweeper.GRACE + 1) == ["back"]


def test_what_the_first_page_imports_is_read_before_a_user_comes(monkeypatch) -> None:
    read = []
    monkeypatch.setattr(serve, "import_module", read.append)
    monkeypatch.setattr(given_file, "read_given_ahead", lambda: read.append("the given file"))
    serve.read_ahead(ROOT)
    assert read[0] == "the given file"
    assert {"rwn_ui.server.login", "rwn_ui.tune.view", "rwn_ui.widgets.slices"} <= set(read)
    assert gc.isenabled()


def test_a_server_without_a_private_member_ends_with_a_sentence(monkeypatch) -> None:
    private_streamlit.require_members()
    monkeypatch.delattr(PagesManager, "uses_pages_directory")
    monkeypatch.setattr(sys, "argv", ["-c", "run", "app.py"])
    monkeypatch.setattr(serve, "say_no_values", lambda: None)
    with pytest.raises(SystemExit, match=r"lacks PagesManager\.uses_pages_directory"):
        serve.main()


def test_every_table_is_sent_whole() -> None:
    """A table that is sent in parts is held by the server, where nobody erases it."""
    calls = [
        node
        for path in (ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("rwn_ui/**/*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".dataframe")
    ]
    assert len(calls) > 5
    for call in calls:
        given = {each.arg: ast.unparse(each.value) for each in call.keywords}
        assert given.get("lazy") == "False", ast.unparse(call)


@pytest.mark.parametrize("path", ["/tune", "/base/tune"])
def test_the_first_page_is_found_by_its_name(path: str) -> None:
    """It has no address of its own; what the query says arrives."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"k=5", "headers": []}
    scope |= {"server": ("localhost", 80), "scheme": "http"}
    route = next(each for each in serve.first_page() if each.matches(scope)[0] is Match.FULL)
    assert route.endpoint(Request(scope)).headers["location"] == "./?k=5"


@pytest.mark.parametrize(
    ("host", "origin", "own"),
    [
        ("127.0.0.1:8501", None, True),
        ("localhost:8501", "http://localhost:8501", True),
        ("LOCALHOST:8501", "http://localhost:8501", True),
        ("data.example.org", "https://data.example.org", True),
        ("data.example.org", "https://data.example.org:8443", True),
        ("data.example.org:8443", "https://data.example.org:8443", True),
        ("localhost:8501", "http://localhost:9000", False),
        ("localhost:8501", "http://127.0.0.1:8501", False),
        ("localhost:8501", "null", False),
        ("localhost:8501", "", False),
        ("localhost:8501", "http://localhost:8501@evil.example", False),
        ("localhost:8501", "http://localhost.evil.example:8501", False),
        ("data.example.org", "https://evil.example", False),
        ("other.example.org", "https://other.example.org", False),
        ("evil.example", "https://evil.example", False),
        ("evil.example", None, False),
        (None, None, False),
        (None, "http://localhost:8501", False),
    ],
)
def test_only_the_servers_own_pages_are_answered(monkeypatch, host, origin, own) -> None:
    names = ["127.0.0.1", "localhost", "data.example.org", "other.example.org"]
    given = {"server.allowedHosts": names, "browser.serverAddress": "data.example.org"}
    real = config.get_option
    monkeypatch.setattr(
        config, "get_option", lambda name: given[name] if name in given else real(name)
    )
    assert is_own(host, origin) is own


def test_the_sweeper_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[bool]()

    async def keep_swept(server: object) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async def live() -> None:
        async with serve._lifespan(SimpleNamespace(script_path=ROOT / "app.py")):
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert ended == [True]

    monkeypatch.setattr(sweeper, "keep_swept", keep_swept)
    monkeypatch.setattr(serve, "read_ahead", lambda folder: None)
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: None)
    with ThreadPoolExecutor() as beside:  # a browser of other tests has a loop in this thread
        beside.submit(lambda: asyncio.run(live())).result()
