"""Progress of work under way, with a button that cancels it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeGuard

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rwn_core.io.reading import FileReading
from rwn_ui.background.job import Job
from rwn_ui.background.task import Task
from rwn_ui.server.messages import escaped, informed, redraw

POLL_SECONDS = 0.7  # between two drawings of work under way
PATIENCE = 0.4  # seconds before a search is shown


Work = Job | Task | FileReading
"""Work in the background, with words, the share done and a way to cancel it."""


def polled(part: Callable[[], None], *, again: bool = True) -> None:
    """Draw a part of the page, and draw it again and again, without the page around it."""
    st.fragment(run_every=POLL_SECONDS if again else None)(part)()


def bar(
    work: Work, key: str, *, wide: bool = False, cancel: Callable[[], None] | None = None
) -> None:
    """Draw the progress of some work, with a button that cancels it."""
    # side by side where there is room for both, else the button below
    place = st.container(horizontal=wide, vertical_alignment="center")
    place.progress(min(work.share, 1.0), text=escaped(work.words))
    # as a callback it is called before anything is drawn
    place.button("Cancel", key=key, on_click=cancel or work.cancel)


def wait_for(work: Work, key: str, below: Callable[[], None] = lambda: None) -> None:
    """Draw the progress of some work, and more below it, until it ends; then the whole page."""

    def watch() -> None:
        if not work.running:
            redraw()
        bar(work, key)
        below()

    polled(watch)


def is_done(
    job: Job | None,
    key: str,
    *,
    below: Callable[[Job], None] = lambda job: None,
    before: str | None = None,
) -> TypeGuard[Job]:
    """True if a job has a result; if not, draws its progress, or why there is none."""
    # `before` begins the reason, in place of the job's label.
    if job is None:
        return False
    if job.running:
        wait_for(job, key, partial(below, job))
        return False
    if not job.refusal:
        return True
    informed(f"{f'{job.label}: ' if before is None else before}{job.refusal}")
    below(job)
    return False


def taken(jobs: dict[str, Job], name: str, key: str, **more: Any) -> Job | None:
    """Return a job that has a result, once; else draw its progress, or why there is none."""
    return jobs.pop(name) if is_done(jobs.get(name), key, **more) else None


@contextmanager
def searching(slot: DeltaGenerator | None) -> Iterator[Callable[[float], None] | None]:
    """Show the progress of a search in `slot`, once it has taken a while."""
    # Another move of a slider stops the search: Streamlit looks for one at each step of the bar.
    if slot is None:
        yield None
        return
    started = time.monotonic()
    shown = False

    def show(share: float) -> None:
        nonlocal shown
        if shown or time.monotonic() - started > PATIENCE:
            shown = True
            slot.progress(min(share, 1.0), text="Searching beyond the stored neighbors")

    try:
        yield show
    finally:
        if shown:
            slot.empty()
