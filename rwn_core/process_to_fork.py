"""What workers are forks of: a process that has imported all they need and read the kernels.

Only that process imports this module (`parallel.processes.fork_workers`). It holds no data: what a
worker works on is sent to it alone.
"""

from __future__ import annotations

import gc
import os
import signal
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from rwn_core.parallel.processes import TO_FORK


def _get_ready(said: Path, imports: list[str]) -> None:
    """Import what workers need, read the kernels, and say so by a file with the own number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that forks
    for name in (*imports, "rwn_core.compile_ahead"):
        module = import_module(name)
    module.read_compiled()
    gc.freeze()  # nothing of it is garbage, and what is looked through is no longer shared
    written = said.with_suffix(".new")
    with suppress(OSError):  # the program has ended meanwhile
        written.write_text(str(os.getpid()))
        written.replace(said)


if TO_FORK in os.environ:
    told, *names = os.environ[TO_FORK].split(os.pathsep)
    _get_ready(Path(told), names)
