"""The server: safe options, whom it answers, what it says and stores, an end without a trace."""

from __future__ import annotations

import ast
import asyncio
import gc
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import tomllib
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import pytest
import streamlit
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.routing import Match
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from rwn_core.errors import ParameterError, RWNError
from rwn_ui.server import given_file, launch, login, private_streamlit, safety, serve, sweeper
from rwn_ui.server.environment import (
    CODE,
    FILE_VARIABLE,
    FORMER_SECRET_VARIABLE,
    PROXY_HEADER,
    SECRET_FILE_VARIABLE,
)
from rwn_ui.server.safety import SAFE_OPTIONS, behind_proxy
from rwn_ui.server.visitors import REFUSED, is_own
from tests.ui.app_process import SECRET, Answer, Server, code_in, cookie_of, page_in, started
from tests.waiting import HANG_S, until

ROOT = Path(__file__).resolve().parents[2]


def test_config_file_and_proxies_differ_from_the_flags_in_nothing_else() -> None:
    document = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    document.pop("theme")
    written = {f"{part}.{name}": x for part, row in document.items() for name, x in row.items()}
    # as Streamlit sees a value after it came as a flag
    safe = {k: list(x) if isinstance(x, tuple) else x for k, x in SAFE_OPTIONS.items()}
    assert written == safe
    alone, behind = behind_proxy(()), behind_proxy(["data.example.org", "b.org"])
    assert alone == SAFE_OPTIONS
    assert {key: value for key, value in behind.items() if alone.get(key) != value} == {
        "browser.serverAddress": "data.example.org",
        "server.address": "0.0.0.0",
        "server.allowedHosts": ("127.0.0.1", "localhost", "data.example.org", "b.org"),
    }
    assert "--server.allowedHosts=b.org" in launch.command(8501, hosts=["a.org", "b.org"])


def test_unsafe_options_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict(SAFE_OPTIONS)
    monkeypatch.setattr(streamlit, "get_option", given.__getitem__)
    assert safety.unsafe_options() == ()
    given |= {"server.address": "0.0.0.0", "server.allowedHosts": ["a.org"]}
    assert safety.unsafe_options() == ()
    said = list[str]()
    for name, value in (
        ("client.showErrorDetails", "full"),
        ("server.enableXsrfProtection", False),
        ("runner.magicEnabled", True),
        ("server.allowedHosts", []),
        ("server.allowedHosts", ["*"]),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(given, name, value)
            assert safety.unsafe_options() == (name,)
            said.clear()
            patch.setattr(streamlit, "error", lambda text, *, icon: said.append(text))
            patch.setattr(streamlit, "stop", lambda: said.append("stopped"))
            safety.require_safe_options()
            assert f"started with {name}, which may let values out" in said[0]
            assert said[1:] == ["stopped"]


def test_nobody_gets_past_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        import streamlit as st

        from rwn_ui.server.login import require_login

        require_login()
        st.markdown("confidential")

    def shown() -> str:
        return " ".join(each.value for each in AppTest.from_function(page).run().markdown)

    assert shown() == "confidential"
    monkeypatch.setenv(login.LOGIN, "1")
    assert "Log in with the account" in shown()
    assert "#### This table is confidential" in shown()
    assert not shown().endswith(" confidential")
    known = SimpleNamespace(to_dict=lambda: {"is_logged_in": True})
    monkeypatch.setattr(login.st, "user", known)
    assert shown() == "confidential"


LOOKS_FOR_PAGES = f"""
import streamlit; streamlit.App.run = lambda *_, **__: None
{launch.START}
import sys
from streamlit.runtime.pages_manager import PagesManager
print(PagesManager(sys.argv[2]).uses_pages_directory)
"""


def test_a_page_opened_by_its_address_first_belongs_to_the_app() -> None:
    # what it sets stays in its process
    command = [sys.executable, "-c", LOOKS_FOR_PAGES, "run", str(launch.app_file())]
    assert subprocess.check_output(command, text=True).strip() == "False"


def test_a_taken_port_is_refused_and_the_packaged_app_comes_first(tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind((launch.ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match="in use"):
            launch.choose_port(port)
    assert launch.choose_port() >= launch.FIRST_PORT
    package = tmp_path / "rwn_ui"
    (package / "app").mkdir(parents=True)
    monkeypatch.setattr(launch, "__file__", str(package / "server" / "launch.py"))
    with pytest.raises(RWNError, match="install"):
        launch.app_file()
    (tmp_path / "app.py").touch()
    assert launch.app_file() == tmp_path / "app.py"
    (package / "app" / "app.py").touch()
    assert launch.app_file() == package / "app" / "app.py"


def test_the_file_and_what_clears_memory_reach_the_app(tmp_path: Path, monkeypatch) -> None:
    seen: dict[str, str] = {}

    class Server:
        returncode = 0
        stdin = None

        def __init__(self, command: list[str], **options: Any) -> None:
            seen.update(options.get("env", {}))

        def poll(self) -> int:
            return 0

        def wait(self, timeout: float | None = None) -> int:
            return 0

    monkeypatch.setattr(subprocess, "Popen", Server)
    monkeypatch.chdir(tmp_path)
    for name in launch.WRITTEN_OVER:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RWNError, match="ended before it was ready"):
        launch.run(Path("table.csv"), browser=False, say=lambda _: None)
    assert seen[FILE_VARIABLE] == str(tmp_path / "table.csv")
    # tables do not stay readable in memory that they have left
    assert launch.WRITTEN_OVER.items() <= seen.items()


PATHS = (
    "/",
    "/data",
    "/rwn/tune",
    "/_stcore/host-config",
    "/_stcore/upload_file/a/b",
    "/media/any.csv",
    "/component/rwn_ui.server.messages.plotly/plotly.min.js",
    f"/?{CODE}=wrong",
    f"/?{CODE}=",
)
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


class Opened(NamedTuple):
    """A server, and how it was opened: its page, that page's code, and the first answer."""

    server: Server
    page_modes: list[int]
    code: str
    answer: Answer


@pytest.fixture(scope="module")
def opened(
    tmp_path_factory: pytest.TempPathFactory, free_port: Callable[[], int]
) -> Iterator[Opened]:
    with started(tmp_path_factory.mktemp("own"), free_port()) as server:
        page = page_in(server.said)
        modes = [each.stat().st_mode & 0o777 for each in (page.parent, page)]
        code = code_in(page.read_text("utf-8"))
        answer = server.get(f"/tune?demo=pima&{CODE}={code}")
        yield Opened(server._replace(cookie=cookie_of(answer)), modes, code, answer)


@pytest.fixture(scope="module")
def own(opened: Opened) -> Server:
    return opened.server


def test_a_code_lets_one_client_in_and_its_cookie_is_another_secret(opened: Opened) -> None:
    server = opened.server
    code = opened.code
    answer = opened.answer
    assert opened.page_modes == [0o700, 0o600]
    assert code not in server.said
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert b'content="0;url=?demo=pima"' in answer.body
    cookie = server.cookie
    assert answer.headers["set-cookie"] == f"{cookie}; HttpOnly; Path=/; SameSite=strict"
    assert code not in cookie


def test_a_code_is_used_once(opened: Opened) -> None:
    """By no other client, and by nobody as a cookie; whoever was let in goes on."""
    server = opened.server
    code = opened.code
    cookies = ({}, {"Cookie": f"rwn-{server.port}={code}"}, {"Cookie": server.cookie})
    again = [server.get(f"/?k=7&{CODE}={code}", **each) for each in cookies]
    assert [each.status for each in again] == [403, 403, 303]
    assert again[-1].headers["location"] == "?k=7"


def test_a_second_client_gets_nothing(own: Server) -> None:
    for path in PATHS:
        answer = own.get(path)
        assert (answer.status, answer.body.decode()) == (403, REFUSED), path
    assert own.get("/_stcore/stream", **SOCKET).status == 403
    assert own.get("/_stcore/health")[:2] == (200, b"ok")
    page = own.get("/", Cookie=own.cookie)
    assert page.status == 200
    assert SECRET.encode() not in page.body
    assert "frame-ancestors 'self'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert own.get("/_stcore/stream", Cookie=own.cookie, **SOCKET).status == 101


def test_a_wrong_cookie_opens_nothing(own: Server) -> None:
    """One of another port's server, a shortened one, and one without a value."""
    name, _, value = own.cookie.partition("=")
    for wrong in (f"rwn-1={value}", own.cookie[:-1], f"{name}=", "=;;"):
        assert own.get("/", Cookie=wrong).status == 403


def test_a_strange_page_is_answered_nothing_and_who_hangs_up_is_no_fault(own: Server) -> None:
    address = f"127.0.0.1:{own.port}"
    known = {"Cookie": own.cookie, "Host": address, "Origin": f"http://{address}"}
    strange = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert not (launch.app_file().parent / "static" / "plotly.min.js").exists()
    assert own.get("/_stcore/stream", **SOCKET, **known).status == 101
    assert own.get("/_stcore/stream", **SOCKET, **(known | strange)).status == 403
    for path in ("/", "/risk", "/_stcore/host-config"):
        assert own.get(path, **known).status == 200
        for headers in (strange, {"Host": "evil.example"}):
            assert own.get(path, **(known | headers)).status == 403
    asked = f"POST /rwn/tune HTTP/1.1\r\nContent-Length: 9\r\nHost: {address}\r\n"
    asked += f"Cookie: {own.cookie}\r\n"
    for origin, status in (("http://evil.example", b"403"), ("null", b"403"),
                           (f"http://127.0.0.1:{own.port + 1}", b"403"),
                           (known["Origin"], b"204")):  # fmt: skip
        with socket.create_connection((launch.ADDRESS, own.port), timeout=HANG_S) as line:
            line.sendall(f'{asked}Origin: {origin}\r\n\r\n{{"a": 1}} '.encode())
            assert line.recv(1000).split()[1] == status
    for _ in range(5):  # finding T10: each client that hangs up was a line of the log
        with socket.create_connection((launch.ADDRESS, own.port), timeout=HANG_S) as line:
            line.sendall(f"{asked}\r\n{{".encode())
    until(lambda: not half_closed(own.port))
    assert own.get("/", **known).status == 200


def half_closed(port: int) -> list[str]:
    """The connections to a port here whose client has hung up, and whose server has not yet."""
    table = Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]
    address = f"0100007F:{port:04X}"  # of 127.0.0.1
    close_wait = "08"
    return [line for line in table if line.split()[1:4:2] == [address, close_wait]]


@pytest.mark.skipif(not Path("/proc/self/limits").is_file(), reason="limits are read from /proc")
def test_the_server_writes_no_core(own: Server) -> None:
    limits = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (folder / "cmdline").read_bytes()
            if launch.START.encode() in line and f"--server.port={own.port}".encode() in line:
                limits.append((folder / "limits").read_text())
    assert limits
    assert all("Max core file size        0                    0" in each for each in limits)


def test_behind_a_proxy_only_its_header_counts(tmp_path: Path, free_port) -> None:
    secret = tmp_path / "secret"
    secret.write_text("t" * 32 + "\n")
    folder = tmp_path / "own"
    folder.mkdir()
    variable = {SECRET_FILE_VARIABLE: str(secret)}
    with started(folder, free_port(), "data.example.org", **variable) as proxied:
        assert "t" * 32 not in proxied.said
        assert PROXY_HEADER in proxied.said
        named = {"Host": "data.example.org"}
        assert proxied.get("/", **named)[:2] == (403, b"")
        assert proxied.get(f"/?{CODE}={'t' * 32}", **named).status == 403
        until(lambda: proxied.get("/", **named, x_rwn_token="t" * 32).status == 200, pause=0.2)
        assert proxied.get("/", **named, x_rwn_token="t" * 31).status == 403
        assert proxied.get("/_stcore/stream", **named, **SOCKET).status == 403
        cookie = f"rwn-{proxied.port}={'t' * 32}"
        assert proxied.get("/", **named, Cookie=cookie).status == 403


def test_the_secret_of_a_proxy_comes_from_a_file_alone(tmp_path: Path, monkeypatch) -> None:
    def refusal() -> str:
        with pytest.raises(ParameterError) as refused:
            launch.proxy_secret()
        assert "sesame" not in str(refused.value)
        return str(refused.value)

    monkeypatch.delenv(SECRET_FILE_VARIABLE, raising=False)
    assert "--host needs the secret" in refusal()
    file = tmp_path / "secret"
    monkeypatch.setenv(SECRET_FILE_VARIABLE, str(file))
    assert "cannot be read" in refusal()
    for text in ("", "sesame", f"sesame {'s' * 32}"):
        file.write_text(text)
        assert "must hold one word of 32 characters" in refusal()
    file.write_text("s" * 32 + "\n")
    assert launch.proxy_secret() == "s" * 32
    monkeypatch.setenv(FORMER_SECRET_VARIABLE, "sesame" * 6)
    assert "write it to a file of mode 600" in refusal()


LAUNCHER = """
import time
from rwn_ui.server import launch
launch.READY_WITHIN_S = 600  # beside as many others as there may be
with launch.serving({port}) as server:
    print(server.pid, flush=True)
    time.sleep(600)
"""


def test_a_server_ends_with_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(launch, "command", lambda *about: waits)
    monkeypatch.setattr(launch, "wait_until_ready", lambda server, port: None)
    with launch.serving(1) as server:
        assert server.poll() is None
    assert server.poll() is not None


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGHUP, marks=pytest.mark.nightly)]
)
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
        ended, _, _ = select.select([process], [], [], HANG_S)
        assert ended
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)
        os.close(process)


@pytest.mark.parametrize(
    ("host", "origin", "own"),
    [
        ("127.0.0.1:8501", None, True),
        ("LOCALHOST:8501", "http://localhost:8501", True),
        ("data.example.org", "https://data.example.org:8443", True),
        ("data.example.org:8443", "https://data.example.org:8443", True),
        ("localhost:8501", "http://localhost:9000", False),
        ("localhost:8501", "http://127.0.0.1:8501", False),
        ("localhost:8501", "null", False),
        ("localhost:8501", "", False),
        ("localhost:8501", "http://localhost:8501@evil.example", False),
        ("localhost:8501", "http://localhost.evil.example:8501", False),
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
    monkeypatch.setattr(config, "get_option", lambda n: given[n] if n in given else real(n))
    assert is_own(host, origin) is own


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
        asyncio.run(OwnVisitors(streamlit_itself, None)(scope, None, send))
assert served == [("http", True), ("websocket", True)], served
assert sent[0]["status"] == 403 and sent[-1]["type"] == "websocket.close", sent
print(len(asked))
"""


def test_a_foreign_origin_makes_nobody_ask_outside() -> None:
    said = subprocess.check_output([sys.executable, "-c", FOREIGN], cwd=ROOT, text=True)
    assert said.split() == ["0"]


@pytest.mark.parametrize("path", ["/tune", "/base/tune"])
def test_the_first_page_is_found_by_its_name(path: str) -> None:
    """It has no address of its own; what the query says arrives."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"k=5", "headers": []}
    scope |= {"server": ("localhost", 80), "scheme": "http"}
    route = next(each for each in serve.first_page() if each.matches(scope)[0] is Match.FULL)
    assert route.endpoint(Request(scope)).headers["location"] == "./?k=5"


@pytest.fixture
def as_before() -> Iterator[None]:
    factory = logging.getLogRecordFactory()
    hooks = (sys.excepthook, sys.unraisablehook)
    thread_hook = threading.excepthook
    spool = MultiPartParser.spool_max_size
    with warnings.catch_warnings():
        yield
    logging.setLogRecordFactory(factory)
    (sys.excepthook, sys.unraisablehook), threading.excepthook = hooks, thread_hook
    MultiPartParser.spool_max_size = spool


def test_a_log_has_the_type_of_an_error_and_no_upload_is_on_disk(as_before, caplog, capsys):
    private_streamlit.prepare()
    assert MultiPartParser.spool_max_size > 10**12
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
    active = {"here"}
    closed = []
    visits = [Visit(each) for each in ("here", "gone", "back")]
    server = SimpleNamespace(is_active_session=active.__contains__, close_session=closed.append)
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
