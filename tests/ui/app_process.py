"""`rwn app FILE` as a process of its own, its answers, and what it says to open it."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from rwn_ui.server import launch
from rwn_ui.server.environment import CODE
from tests.waiting import HANG_S

ROOT = Path(__file__).resolve().parents[2]
SECRET = "SENTINEL7731"
APP = """
from rwn_cli.main import main
from rwn_ui.server import launch
launch.READY_WITHIN_S = 600  # beside as many others as there may be
main()
"""


class Answer(NamedTuple):
    status: int
    body: bytes
    headers: dict[str, str]


class Server(NamedTuple):
    port: int
    said: str
    cookie: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        """The answer to a request; an underscore in the name of a header is a hyphen."""
        connection = http.client.HTTPConnection(launch.ADDRESS, self.port, timeout=HANG_S)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(connection):
            connection.request("GET", path, headers=sent)
            with connection.getresponse() as answer:
                # a connection that is upgraded to a websocket has no body to wait for
                body = b"" if answer.status == 101 else answer.read()
                return Answer(answer.status, body, {k.lower(): v for k, v in answer.getheaders()})


@contextmanager
def started(
    folder: Path, port: int, *hosts: str, browser: bool = False, **environment: str
) -> Iterator[Server]:
    """`rwn app FILE`, which ends without a word of what went wrong; its home is the folder."""
    file = folder / f"{SECRET}.csv"
    file.write_text("age,pay\n" + "".join(f"{n},{n * 7}\n" for n in range(30)))
    named = [f"--host={host}" for host in hosts]
    words = [str(file), f"--port={port}", *named]
    process = subprocess.Popen(
        [sys.executable, "-c", APP, "app", *words, *([] if browser else ["--no-browser"])],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(folder), **environment},
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests may run behind a &
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith(f"RWN runs at http://127.0.0.1:{port}"), said
        yield Server(port, said if browser else said + process.stderr.readline())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG_S)
        assert process.returncode == 130
        assert "Traceback" not in said
        assert "A fault" not in said
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((launch.ADDRESS, port))
        assert not [*folder.glob("rwn-opens-*")], "what opened the app is gone with it"
    finally:
        process.terminate()
        process.wait(timeout=HANG_S)


def page_in(said: str) -> Path:
    """The page that opens the app, of which a log has the name alone."""
    found = re.search(r"Open (\S+\.html) in a browser of this account", said)
    assert found is not None, said
    return Path(found[1])


def code_in(text: str) -> str:
    found = re.search(rf"{CODE}=([\w-]+)", text)
    assert found is not None, text
    return found[1]


def cookie_of(answer: Answer) -> str:
    """What the browser sends back of the cookie that it was given."""
    return answer.headers["set-cookie"].split(";")[0]
