"""Does a task of a run in a process that another program started, and says how it ended.

Schedulers log what their tasks raise and were given. So a task raises nothing, and what it is
given shows nothing when it is printed.
"""

from __future__ import annotations

import pickle
import zlib
from functools import lru_cache
from typing import Any

from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.steps import perform
from rwn_core.errors import InputError, RWNError, describe_fault, log_fault
from rwn_core.parallel.pool import Stopped

LOST = (
    "A worker stopped before its task was done, perhaps for lack of memory; run the same again to "
    "go on from there."
)


class PackedRun:
    """A run as it travels to a worker; it holds the key."""

    def __init__(self, run: Run) -> None:
        self.content = zlib.compress(pickle.dumps(run, protocol=pickle.HIGHEST_PROTOCOL))

    def __repr__(self) -> str:
        """Show nothing of the run."""
        return "<a run>"

    def __call__(self, task: Task) -> dict[str, str]:
        """Do a task."""
        try:
            run = _unpacked(self.content)
            if not run.stage.is_visible:
                raise InputError(
                    "A worker does not see the folder of unfinished work; put input, output and "
                    "stage on a disk that all machines share."
                )
            perform(run, task)
        except RWNError as refusal:
            return {"what": "refused", "text": str(refusal)}
        except Exception as error:
            return {"what": "failed", "text": describe_fault(error)}
        return {"what": "done", "text": ""}


@lru_cache(maxsize=1)
def _unpacked(content: bytes) -> Run:
    """The run, which remembers what the survey has found from one task to the next."""
    run: Run = pickle.loads(zlib.decompress(content))
    return run


def forget() -> None:
    """Keep nothing of a run in this process."""
    _unpacked.cache_clear()


def check_answer(answer: dict[str, Any]) -> None:
    """Raise what a task could not."""
    if answer["what"] == "refused":
        raise RWNError(answer["text"])
    if answer["what"] == "failed":
        number = log_fault(answer["text"])
        raise Stopped(LOST, f"{answer['text'].partition(' ')[0]}, error {number}")
