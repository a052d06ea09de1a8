"""The browser app as a process: where app.py lies, with which options it runs, when it is ready."""

import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rwn_core.errors import ParameterError, RWNError
from rwn_ui.server.environment import (
    CLASSROOM_VARIABLE,
    FILE_VARIABLE,
    LAUNCHED,
    PROXY_HEADER,
    TOKEN,
    TOKEN_VARIABLE,
)
from rwn_ui.server.safety import ADDRESS as ADDRESS
from rwn_ui.server.safety import behind_proxy

FIRST_PORT = 8501

WRITTEN_OVER = {
    "PYTHONMALLOC": "malloc",
    "MALLOC_PERTURB_": "165",
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""What the server's environment says so that freed memory keeps nothing; docs/decisions/0015."""

READY_WITHIN_S = 60.0  # that a server may take to answer
_STOPPED_WITHIN = 5.0


def app_file() -> Path:
    """Path of app.py: inside the installed package, or at the root of a checkout."""
    root = Path(__file__).resolve().parents[1]
    # the packaged one first: another program's app.py may lie next to an installed package
    for app in (root / "app" / "app.py", root.parent / "app.py"):
        if app.is_file():
            return app
    raise RWNError("The app's files are not there; install the package again.")


START = "from rwn_ui.server.serve import main; main()"
"""What the server's process runs."""


def command(port: int, script: Path | None = None, hosts: Sequence[str] = ()) -> list[str]:
    """The command line that serves the app, or another script, on a port."""
    flags = [f"--server.port={port}"]
    for option, value in behind_proxy(hosts).items():
        for one in value if isinstance(value, tuple) else (value,):
            flags.append(f"--{option}={str(one).lower() if isinstance(one, bool) else one}")
    return [sys.executable, "-c", START, "run", str(script or app_file()), *flags]


def choose_port(port: int | None = None) -> int:
    """The wanted port, or the first free one from 8501 on."""
    if port is not None:
        if not _is_free(port):
            raise ParameterError(f"Port {port} is in use or not allowed; choose another --port.")
        return port
    for candidate in range(FIRST_PORT, FIRST_PORT + 100):
        if _is_free(candidate):
            return candidate
    raise ParameterError("No port from 8501 to 8600 is free; choose one with --port.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((ADDRESS, port))
        except (OSError, OverflowError):
            return False
    return True


def run(
    file: Path | None = None,
    *,
    port: int | None = None,
    browser: bool = True,
    classroom: bool = False,
    hosts: Sequence[str] = (),
    say: Callable[[str], None],
) -> int:
    """Serve the app until it is interrupted."""
    port = choose_port(port)
    # a class shares its address, and holds demo tables alone
    given = os.environ.get(TOKEN_VARIABLE, "")
    token = "" if classroom else given or secrets.token_urlsafe(24)
    address = f"http://{ADDRESS}:{port}"
    if token and not hosts:
        address += f"/?{TOKEN}={token}"
    with _compiling(), serving(port, file, classroom=classroom, hosts=hosts, token=token) as server:
        say(f"RWN runs at {address} (Ctrl-C ends it)")
        if hosts and classroom:
            say(f"note: other machines reach it; let only the proxy of {hosts[0]} do so.")
        elif hosts:
            value = f"the value of {TOKEN_VARIABLE}" if given else token
            say(
                f"note: other machines reach it; let the proxy of {hosts[0]} send the header "
                f"{PROXY_HEADER} with {value}. Without it nobody comes in."
            )
        if browser:
            webbrowser.open(address)
        return server.wait()


@contextmanager
def _compiling() -> Iterator[None]:
    """Compile the search for this machine in another process."""
    nowhere = subprocess.DEVNULL
    line = [sys.executable, "-m", "rwn_core.compile_ahead"]
    folder = app_file().parent  # not the user's: a csv.py there would be imported
    work = subprocess.Popen(line, cwd=folder, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    try:
        yield
    finally:
        _stop(work)


@contextmanager
def serving(
    port: int,
    file: Path | None = None,
    script: Path | None = None,
    *,
    classroom: bool = False,
    hosts: Sequence[str] = (),
    token: str = "",
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the app's server on a free port, ready to answer; it is stopped at the end."""
    ours = {FILE_VARIABLE, CLASSROOM_VARIABLE, TOKEN_VARIABLE}
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    # a slider move is many small matrix products, which threads make slower, not faster
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    environment = WRITTEN_OVER | environment
    environment |= {LAUNCHED: "1", TOKEN_VARIABLE: token}
    if file is not None:
        environment[FILE_VARIABLE] = str(file.resolve())
    if classroom:
        environment[CLASSROOM_VARIABLE] = "1"
    nowhere = subprocess.DEVNULL
    app = app_file()
    with _ending_on_sigterm():
        server = subprocess.Popen(
            command(port, script or app, hosts),
            cwd=app.parent,
            env=environment,
            stdin=subprocess.PIPE,  # it ends with this process, which tells the server
            stdout=nowhere,
        )
        try:
            wait_until_ready(server, port)
            yield server
        finally:
            _stop(server)


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the app as Ctrl-C does; afterwards it does what it did before."""
    earlier = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
    try:
        server.wait(_STOPPED_WITHIN)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if server.stdin is not None:
        server.stdin.close()


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Return when a server answers; raise RWNError where it ends before, or takes too long."""
    end = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RWNError("The app ended before it was ready; its message is above.")
        if _answers(port):
            return
        time.sleep(0.1)
    raise RWNError(f"The app did not answer within {READY_WITHIN_S:.0f} seconds; start it again.")


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=2)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()
