"""Progress of the reading of a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rwn_core.parallel.threads import Progress

_LISTENER: ContextVar[Progress | None] = ContextVar("listener", default=None)


@contextmanager
def reporting_to(progress: Progress) -> Iterator[None]:
    """Tell this function what `report` is given inside."""
    before = _LISTENER.set(progress)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def report(share: float) -> None:
    """Say how much is read, from 0 to 1."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(share)
