"""The launcher: safe options that take effect, a server that answers, an end without a trace."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from rwn_core.errors import ParameterError, RWNError
from rwn_ui.server import environment, launch, login, safety
from rwn_ui.server.safety import SAFE_OPTIONS, behind_proxy

ROOT = Path(__file__).resolve().parents[2]
UNSERVED = "import streamlit; streamlit.App.run = lambda *_, **__: None"
LOOKS_FOR_PAGES = """
import sys
from streamlit.runtime.pages_manager import PagesManager
print(PagesManager(sys.argv[2]).uses_pages_directory)
"""


def as_flags_read(value: Any) -> Any:
    """A value as Streamlit sees it after it came as a flag."""
    return list(value) if isinstance(value, tuple) else value


def test_config_file_says_what_the_flags_say() -> None:
    document = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    document.pop("theme")
    written = {
        f"{section}.{name}": value
        for section, row in document.items()
        for name, value in row.items()
    }
    assert written == {key: as_flags_read(value) for key, value in SAFE_OPTIONS.items()}


def test_behind_a_proxy_only_the_names_and_the_address_differ() -> None:
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

    refused = safety.unsafe_options
    assert refused() == ()
    given |= {"server.address": "0.0.0.0", "server.allowedHosts": ["a.org"]}
    assert refused() == ()
    for name, value in (
        ("client.showErrorDetails", "full"),
        ("server.enableXsrfProtection", False),
        ("runner.magicEnabled", True),
        ("server.allowedHosts", []),
        ("server.allowedHosts", ["*"]),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(given, name, value)
            assert refused() == (name,)


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


def test_a_page_opened_by_its_address_first_belongs_to_the_app() -> None:
    first = f"{UNSERVED}\n{launch.START}\n{LOOKS_FOR_PAGES}"  # what it sets stays in its process
    command = [sys.executable, "-c", first, "run", str(launch.app_file())]
    assert subprocess.check_output(command, text=True).strip() == "False"


def test_a_taken_port_is_refused_or_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind((launch.ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match="in use"):
            launch.choose_port(port)
    assert launch.choose_port() >= launch.FIRST_PORT


def test_the_packaged_app_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "rwn_ui"
    (package / "app").mkdir(parents=True)
    monkeypatch.setattr(launch, "__file__", str(package / "server" / "launch.py"))
    with pytest.raises(RWNError, match="install"):
        launch.app_file()
    (tmp_path / "app.py").touch()
    assert launch.app_file() == tmp_path / "app.py"
    (package / "app" / "app.py").touch()
    assert launch.app_file() == package / "app" / "app.py"


@contextmanager
def running_app(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`rwn app` as a process, and its port; it is gone afterwards."""
    command = [sys.executable, "-c", "from rwn_cli.main import main; main()", "app", "--no-browser"]
    process = subprocess.Popen(
        [*command, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, environment.TOKEN_VARIABLE: KNOWN},
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests may run behind a &
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("RWN runs at http://127.0.0.1:"), line
        yield process, int(re.findall(r"127.0.0.1:(\d+)", line)[0])
    finally:
        process.terminate()
        process.communicate(timeout=20)


def answer(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    """Status and body of one request."""
    connection = http.client.HTTPConnection(launch.ADDRESS, port, timeout=10)
    known = {"Cookie": f"rwn-{port}={KNOWN}", environment.PROXY_HEADER: KNOWN}
    try:
        connection.request("GET", path, headers={**known, **headers})
        response = connection.getresponse()
        # a connection that is upgraded to a websocket has no body to wait for
        return response.status, b"" if response.status == 101 else response.read()
    finally:
        connection.close()


KNOWN = "token-of-these-tests"
WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "cndpdGhpbiByYW5kb20gbg==",
}


def test_the_app_answers_this_machine_and_ends_cleanly(free_port: Callable[[], int]) -> None:
    with running_app("--port", str(free_port())) as (process, port):
        assert answer(port, "/_stcore/health") == (200, b"ok")
        assert not (launch.app_file().parent / "static" / "plotly.min.js").exists()
        own = {"Host": f"127.0.0.1:{port}", "Origin": f"http://127.0.0.1:{port}"}
        assert answer(port, "/_stcore/stream", **WEBSOCKET, **own)[0] == 101
        strange = {"Host": "evil.example", "Origin": "http://evil.example"}
        assert answer(port, "/_stcore/stream", **WEBSOCKET, **strange)[0] == 403
        for path in ("/", "/risk", "/_stcore/host-config"):
            assert answer(port, path, **own)[0] == 200
            assert answer(port, path)[0] == 200
            for headers in (strange, {**own, "Host": "evil.example"}):
                assert answer(port, path, **headers)[0] == 403
        asked = f"POST /rwn/tune HTTP/1.1\r\nContent-Length: 9\r\nHost: 127.0.0.1:{port}\r\n"
        asked += f"Cookie: rwn-{port}={KNOWN}\r\n"
        for origin, status in (("http://evil.example", b"403"), ("null", b"403"),
                               (f"http://127.0.0.1:{port + 1}", b"403"),
                               (own["Origin"], b"204")):  # fmt: skip
            with socket.create_connection((launch.ADDRESS, port), timeout=10) as line:
                line.sendall(f'{asked}Origin: {origin}\r\n\r\n{{"a": 1}} '.encode())
                assert line.recv(1000).split()[1] == status
        for _ in range(5):  # finding T10: each client that hangs up was a line of the log
            with socket.create_connection((launch.ADDRESS, port), timeout=10) as line:
                line.sendall(f"{asked}\r\n{{".encode())
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "Traceback" not in said
        assert "A fault" not in said
        with pytest.raises(ConnectionRefusedError):
            answer(port, "/_stcore/health")


def test_the_file_and_what_clears_memory_reach_the_app(tmp_path: Path, monkeypatch) -> None:
    seen = {}

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
    assert seen[environment.FILE_VARIABLE] == str(tmp_path / "table.csv")
    # tables do not stay readable in memory that they have left
    assert launch.WRITTEN_OVER.items() <= seen.items()
