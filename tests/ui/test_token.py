"""Who knows the port but not the token gets nothing; who opened the address goes on."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from rwn_ui.server import launch
from rwn_ui.server.environment import PROXY_HEADER, TOKEN, TOKEN_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
SECRET = "SENTINEL5561"
STARTED = """
import sys
from pathlib import Path
from rwn_ui.server import launch
launch._READY_WITHIN = 300
launch.run(Path(sys.argv[1]), port=int(sys.argv[2]), browser=False, hosts=sys.argv[3:],
           say=lambda text: print(text, flush=True))
"""
PATHS = (
    "/",
    "/data",
    "/_stcore/host-config",
    "/_stcore/upload_file/a/b",
    "/component/rwn_ui.server.messages.plotly/plotly.min.js",
    "/media/any.csv",
    "/rwn/tune",
    "/?token=wrong",
    "/?token=",
)
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


class Answer(NamedTuple):
    """What the server said."""

    status: int
    body: bytes
    headers: dict[str, str]


class Server(NamedTuple):
    """A started app."""

    port: int
    token: str
    said: str
    file: Path

    def get(self, path: str, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(launch.ADDRESS, self.port, timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(connection):
            connection.request("GET", path, headers=sent)
            with connection.getresponse() as answer:
                body = b"" if answer.status == 101 else answer.read()
                return Answer(answer.status, body, {k.lower(): v for k, v in answer.getheaders()})


def started(folder: Path, *hosts: str, token: str = "") -> Iterator[Server]:
    file = folder / f"{SECRET}.csv"
    file.write_text("age,pay\n" + "".join(f"{n},{n * 7}\n" for n in range(30)))
    port = launch.choose_port()
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, str(file), str(port), *hosts],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, TOKEN_VARIABLE: token},
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        said += process.stdout.readline() if hosts else ""
        known = token or said.split(f"{TOKEN}=")[1].split()[0]
        yield Server(port, known, said, file)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("proxied"), "data.example.org", token="t" * 32)


def test_a_second_client_gets_nothing(own: Server) -> None:
    for path in PATHS:
        answer = own.get(path)
        assert (answer.status, answer.body) == (403, b""), path
    assert own.get("/_stcore/stream", **SOCKET).status == 403
    assert own.get("/_stcore/health").status == 200


def test_the_opened_address_becomes_a_cookie(own: Server) -> None:
    opened = own.get(f"/tune?demo=pima&{TOKEN}={own.token}")
    assert (opened.status, opened.headers["location"]) == (303, "?demo=pima")
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    cookie = cookie.split(";")[0]
    page = own.get("/", Cookie=cookie)
    assert page.status == 200
    assert SECRET.encode() not in page.body
    assert "frame-ancestors 'self'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert own.get("/_stcore/stream", Cookie=cookie, **SOCKET).status == 101
    # a cookie of another port's server, a shortened one, and one without a value
    name, _, value = cookie.partition("=")
    for wrong in (f"rwn-1={value}", cookie[:-1], f"{name}=", "=;;"):
        assert own.get("/", Cookie=wrong).status == 403


def test_behind_a_proxy_only_its_header_counts(proxied: Server) -> None:
    assert "t" * 32 not in proxied.said
    assert PROXY_HEADER in proxied.said
    named = {"Host": "data.example.org"}
    assert proxied.get("/", **named).status == 403
    assert proxied.get(f"/?{TOKEN}={proxied.token}", **named).status == 403
    assert proxied.get("/", **named, x_rwn_token=proxied.token).status == 200
    assert proxied.get("/_stcore/stream", **named, **SOCKET).status == 403
    cookie = f"rwn-{proxied.port}={proxied.token}"
    assert proxied.get("/", **named, Cookie=cookie).status == 403


@pytest.mark.skipif(not Path("/proc/self/limits").is_file(), reason="limits are read from /proc")
def test_the_server_writes_no_core(own: Server) -> None:
    limits = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            if launch.START.encode() in line and f"--server.port={own.port}".encode() in line:
                limits.append((folder / "limits").read_text())
        except OSError:
            continue
    assert limits
    assert all("Max core file size        0                    0" in each for each in limits)
