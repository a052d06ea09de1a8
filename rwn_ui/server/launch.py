"""The browser app as a process: where app.py lies, with which options it runs, when it is ready."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from rwn_core.errors import ParameterError, RWNError
from rwn_ui.server.environment import (
    CLASSROOM_VARIABLE,
    CODE,
    ENTRY_VARIABLE,
    EVERYONE,
    FILE_VARIABLE,
    FORMER_SECRET_VARIABLE,
    LAUNCHED,
    PROXY,
    PROXY_HEADER,
    SECRET_FILE_VARIABLE,
)
from rwn_ui.server.opening import opened
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

SHORTEST_SECRET = 32
"""Characters of the secret that a proxy sends."""
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
    address = f"http://{ADDRESS}:{port}"
    entry = _entry(classroom=classroom, hosts=hosts)
    secret = proxy_secret() if entry == PROXY else ""
    with _compiling(), serving(port, file, classroom=classroom, hosts=hosts, entry=entry) as server:
        tell_server = partial(tell, server)
        if entry == CODE:
            with opened(address, tell_server, say, browser=browser):
                return server.wait()
        say(f"RWN runs at {address} (Ctrl-C ends it)")
        if entry == PROXY:
            tell_server(secret)
            say(
                f"note: other machines reach it; let the proxy of {hosts[0]} send the header "
                f"{PROXY_HEADER} with the secret of {SECRET_FILE_VARIABLE}. Without it nobody "
                "comes in."
            )
        elif hosts:
            say(f"note: other machines reach it; let only the proxy of {hosts[0]} do so.")
        if browser:
            webbrowser.open(address)
        return server.wait()


def _entry(*, classroom: bool, hosts: Sequence[str]) -> str:
    if classroom:  # it shares its address, and holds demo tables alone
        return EVERYONE
    return PROXY if hosts else CODE


def proxy_secret() -> str:
    """Read the secret that a proxy sends from the file that the environment names."""
    if os.environ.get(FORMER_SECRET_VARIABLE):
        raise ParameterError(
            f"{FORMER_SECRET_VARIABLE} would hand the secret to every process that is started; "
            f"write it to a file of mode 600 and name the file in {SECRET_FILE_VARIABLE}."
        )
    name = os.environ.get(SECRET_FILE_VARIABLE)
    if not name:
        raise ParameterError(
            f"--host needs the secret that the proxy sends; name a file that holds it in "
            f"{SECRET_FILE_VARIABLE}."
        )
    try:
        secret = Path(name).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise ParameterError(
            f"The file of {SECRET_FILE_VARIABLE} cannot be read as text; name one that this "
            "account can read."
        ) from None
    if len(secret) < SHORTEST_SECRET or len(secret.split()) != 1:
        raise ParameterError(
            f"The file of {SECRET_FILE_VARIABLE} must hold one word of {SHORTEST_SECRET} "
            "characters or more; write a random one."
        )
    return secret


def tell(server: subprocess.Popen[bytes], secret: str) -> None:
    """Write a secret to the server's standard input, which no other account can read."""
    assert server.stdin is not None
    with suppress(OSError):  # it has just ended, which the caller waits for
        os.write(server.stdin.fileno(), f"{secret}\n".encode())


@contextmanager
def _compiling() -> Iterator[None]:
    """Compile the attacks and the search for this machine in another process."""
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
    entry: str = EVERYONE,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the app's server on a free port, ready to answer; it is stopped at the end.

    The codes or the secret of its `entry` are written to the server's standard input.
    """
    ours = {FILE_VARIABLE, CLASSROOM_VARIABLE, FORMER_SECRET_VARIABLE, SECRET_FILE_VARIABLE}
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    # a slider move is many small matrix products, which threads make slower, not faster
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    environment = WRITTEN_OVER | environment
    environment |= {LAUNCHED: "1", ENTRY_VARIABLE: entry}
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
