"""Define an engine: it runs small tasks on workers and never touches data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from rwn_core.datasets.run import Run, Task

Finished = Callable[[int], None]
"""Called with the number of newly finished tasks; an exception stops the work."""

Execute = Callable[[Sequence[Task], Finished], None]
"""Has all these tasks done, in any order, and returns when they are."""


class Engine(Protocol):
    """Starts workers for a run, and ends them, whatever happens."""

    def __call__(
        self, run: Run, workers: int, address: str | None
    ) -> AbstractContextManager[Execute]:
        """Start as many workers, or use those of a cluster at an address."""
