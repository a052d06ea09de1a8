"""The server's process: no value in its log, no question to outside, an end with its launcher."""

from __future__ import annotations

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
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.formparsers import MultiPartParser
from streamlit import net_util
from streamlit.runtime import Runtime
from streamlit.runtime.runtime import RuntimeState
from streamlit.runtime.state.session_state import SessionState

from rwn_ui.server import given_file, serve, sweeper

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
from streamlit import net_util
from streamlit.runtime.state.session_state import SessionState
from streamlit.web.server import server_util
from rwn_ui.server import serve
asked = []
net_util._make_blocking_http_get = lambda url, **_: asked.append(url)
assert not server_util.is_url_from_allowed_origins("http://evil.example")
print(len(asked))
asked.clear()
serve.stay_inside()
assert not server_util.is_url_from_allowed_origins("http://evil.example")
assert server_util.is_url_from_allowed_origins("http://127.0.0.1:8501")
print(len(asked))
"""

AHEAD = """
import ast, sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from rwn_ui.server import serve
for module in serve._FIRST_PAGE:
    import_module(module)
for page in ("app.py", "pages/tune.py"):
    for node in ast.walk(ast.parse(Path(page).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("rwn_"):
            package = hasattr(sys.modules.get(node.module), "__path__")
            names = [f"{node.module}.{each.name}" for each in node.names] if package else []
            wanted = [node.module, *filter(find_spec, names)]
            print(*(each for each in wanted if each not in sys.modules), end=" ")
"""


@pytest.fixture
def as_before() -> Iterator[None]:
    """What belongs to the process is put back."""
    factory, hooks = logging.getLogRecordFactory(), (sys.excepthook, sys.unraisablehook)
    thread_hook, spool = threading.excepthook, MultiPartParser.spool_max_size
    lookups = net_util.get_external_ip, net_util.get_internal_ip
    with warnings.catch_warnings():
        yield
    logging.setLogRecordFactory(factory)
    (sys.excepthook, sys.unraisablehook), threading.excepthook = hooks, thread_hook
    MultiPartParser.spool_max_size = spool
    net_util.get_external_ip, net_util.get_internal_ip = lookups


def test_a_log_has_the_type_of_an_error_and_not_its_text(
    as_before: None, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
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
    by_itself, inside = run.stdout.split()[-2:]
    assert int(by_itself) > 0  # as Streamlit does
    assert int(inside) == 0


def test_an_upload_stays_off_the_disk(as_before: None) -> None:
    serve.stay_inside()
    assert MultiPartParser.spool_max_size > 10**12


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_the_server_ends_with_its_launcher_however_that_ends(number: int, free_port) -> None:
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER.format(port=free_port())],
        cwd=ROOT,
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


def test_a_session_that_was_left_is_closed_and_one_that_is_open_is_not() -> None:
    active, closed = {"here"}, []
    sessions = [
        SimpleNamespace(id=each, session_state=SessionState(), _fragment_storage={1: SECRET})
        for each in ("here", "gone", "back")
    ]
    for session in sessions:
        session.session_state._new_session_state["table"] = SECRET
        session.session_state._new_widget_state.widget_metadata["a"] = SECRET
    infos = [SimpleNamespace(session=session) for session in sessions]
    manager = SimpleNamespace(
        list_sessions=lambda: [each for each in infos if each.session.id not in closed],
        is_active_session=lambda each: each in active,
    )
    loop = SimpleNamespace(call_soon_threadsafe=lambda call, *given: call(*given))
    instance = SimpleNamespace(
        _session_mgr=manager,
        _get_async_objs=lambda: SimpleNamespace(eventloop=loop),
        close_session=closed.append,
    )
    sweep = sweeper.Sweeper(instance, close=lambda state: None).sweep
    assert sweep(0.0) == []
    active.add("back")
    assert sweep(sweeper.GRACE - 1) == []
    assert sweep(sweeper.GRACE) == ["gone"]
    assert closed == ["gone"]
    # the server may hold a closed one for long
    states = [each.session_state for each in sessions]
    assert [bool(state._new_session_state) for state in states] == [True, False, True]
    described = [bool(state._new_widget_state.widget_metadata) for state in states]
    assert described == [True, False, True]
    assert [bool(each._fragment_storage) for each in sessions] == [True, False, True]
    active.remove("back")
    assert sweep(sweeper.GRACE + 1) == []  # its time begins anew
    assert sweep(2 * sweeper.GRACE + 1) == ["back"]


def test_what_the_first_page_imports_is_read_before_anybody_asks() -> None:
    left = subprocess.run(
        [sys.executable, "-c", AHEAD], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert left.stdout.split() == []


def test_reading_ahead_waits_for_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter([RuntimeState.INITIAL, RuntimeState.NO_SESSIONS_CONNECTED])
    read, waited = [], []
    monkeypatch.setattr(serve, "import_module", read.append)
    monkeypatch.setattr(given_file, "read_given_ahead", lambda: read.append("the given file"))
    monkeypatch.setattr(serve.time, "sleep", lambda _: waited.append(len(read)))
    monkeypatch.setattr(Runtime, "exists", lambda: True)
    monkeypatch.setattr(Runtime, "instance", lambda: SimpleNamespace(state=next(states)))
    serve.read_ahead()
    assert read == ["the given file", *serve._FIRST_PAGE]
    assert waited == [0, 0]
    assert gc.isenabled()
