"""Long work of one session, in a process of its own that ends with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rwn_core.parallel import job
from rwn_ui.background.end_with_session import end_with_the_session


class Job(job.Job):
    """One piece of work under way, finished or cancelled.

    Parameters
    ----------
    label : str
        The setting it belongs to, in words.
    work : callable
        Called in the process with the arguments and `progress`, a function to call with the share
        done.
    words : str
        What is being done, as a person reads it.
    about : tuple, optional
        The choices that it was begun with, for who takes its result.
    **arguments
        What `work` is given.
    """

    def __init__(
        self,
        label: str,
        work: Callable[..., Any],
        *,
        words: str,
        about: tuple[Any, ...] = (),
        **arguments: Any,
    ) -> None:
        super().__init__(work, **arguments)
        self.label, self.words, self.about = label, words, about
        end_with_the_session(self)
