"""This user's state, apart from every other user's, and its work in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from rwn_core.reporting.judged_release import Approval, JudgedRelease
from rwn_core.tuning import SweepRun
from rwn_ui.background.job import Job
from rwn_ui.background.measure_worker import MeasureWorker
from rwn_ui.background.opening import Opening
from rwn_ui.background.preparation import Preparation
from rwn_ui.server.endpoint import STATE_KEY, Endpoint
from rwn_ui.server.sweeper import WORK

_T = TypeVar("_T")
_P = ParamSpec("_P")
_USER: ContextVar[Mapping[str, Any] | None] = ContextVar("rwn.user", default=None)


def user_state(name: str, make: Callable[[], _T]) -> _T:
    """Per-user state, created once per browser session."""
    given = _USER.get()
    if given is not None:
        stored: _T = given[name]
        return stored
    found: _T | None = st.session_state.get(name)
    if found is None:
        found = st.session_state[name] = make()
    return found


@contextmanager
def as_user(state: Mapping[str, Any]) -> Iterator[None]:
    """Let `user_state` return this state: outside of a run Streamlit does not know its user."""
    token = _USER.set(state)
    try:
        yield
    finally:
        _USER.reset(token)


def user_endpoint() -> Endpoint:
    """Endpoint of this user's page."""
    return user_state(STATE_KEY, Endpoint)


def paused(change: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function change choices while the endpoint answers nothing."""

    @wraps(change)
    def alone(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with user_endpoint().paused():
            return change(*args, **kwargs)

    return alone


@dataclass(slots=True, kw_only=True)
class Drawn:
    """A release that was drawn to leave the house, and what became of it."""

    judged: JudgedRelease = field(repr=False)
    about: tuple[Any, ...] = field(repr=False)  # the choices that it was drawn under
    number: int  # how many were drawn under them, this one included
    approval: Approval | None = None  # the responsible person
    # all its files, once they are made
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    left: str = ""  # how the files left this program, in words
    place: str = ""  # where its file was written on this machine; empty where it was downloaded
    # what the ledger will say of it, behind the choices that this was asked for
    foreseen: tuple[Any, list[str]] | None = field(default=None, repr=False)
    entry: dict[str, Any] | None = field(default=None, repr=False)  # its entry in the ledger


@dataclass(slots=True)
class Work:
    """Background work of one user, and its results."""

    opening: Opening | None = None  # of the file that was chosen last
    # by the feature that began it; a job that has ended stays until its result is taken
    jobs: dict[str, Job] = field(default_factory=dict)
    sweep: SweepRun | None = None
    worker: MeasureWorker | None = None  # reads what no slider can wait for
    advice: Job | None = None  # looks for a start; it keeps nothing else from running
    # of a table, or of other weights, that will replace this one
    preparation: Preparation | None = None
    first: bool = False  # whether that is the table which the user came with
    notice: str = ""  # why the last one is not there
    drawn: Drawn | None = None  # the release that was drawn last on the Release page
    # how many were drawn there, by the choices that they were drawn under
    draws: dict[tuple[Any, ...], int] = field(default_factory=dict)
    closed: bool = False  # whether the session has ended

    @property
    def busy(self) -> bool:
        """True while a job is running: one at a time."""
        sweeping = self.sweep is not None and self.sweep.running
        return sweeping or any(job.running for job in self.jobs.values())

    def end(self) -> None:
        """Cancel all that is about a table which is given up, and forget what it has brought."""
        for job in (*self.jobs.values(), self.sweep, self.worker, self.advice):
            if job is not None:
                job.cancel()
        self.jobs.clear()
        self.sweep = self.worker = self.advice = self.drawn = None

    def close(self) -> None:
        """Cancel all work when the session is closed."""
        self.closed = True
        if self.preparation is not None:
            self.preparation.task.cancel()
        if self.opening is not None:
            self.opening.give_up("Its user has left.")
        self.end()


user_work: Callable[[], Work] = partial(user_state, WORK, Work)
"""Return this user's work."""
