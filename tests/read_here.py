"""Files are read in this process, where a test is about what is read and not about who reads it.

The process costs 0.4 seconds a file. That it is one of its own, with limits, and answers the same,
is tested in `tests/core/io`, and through commands and pages where `a_process_reads` is asked for.
"""

from __future__ import annotations

import pickle
import warnings
from typing import Any

from rwn_core.errors import RWNError, describe_fault
from rwn_core.io import reading
from rwn_core.io.parse import parse
from rwn_core.parallel.pool import Task


def said_of(name: str, content: bytes, *given: Any) -> str:
    """The refusal of a file, or else all that is said of its table."""
    try:
        return " ".join(parse(name, content, *given).notices)
    except RWNError as refusal:
        return str(refusal)


class Here:
    """Stands for the pool of a reading: the same task and the same plain answer, at once."""

    pids: tuple[int, ...] = ()

    def __init__(self, prepare: Any, work: Any, *_: float, **__: Any) -> None:
        assert (prepare, work) == (reading._limited, reading._read)

    def add(self, task: Task) -> None:
        task.end(*_answered(pickle.loads(task.taken())[0], task))

    def close(self) -> None:
        """Nothing has to end."""

    cancel = close


def _answered(file: reading.FileToRead, task: Task) -> tuple[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "done", reading._read(file, task)
    except RWNError as refusal:
        return "refused", str(refusal)
    except Exception as error:
        return "failed", describe_fault(error)
