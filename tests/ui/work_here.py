"""What a page has processes do, done in the process of the test."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import rwn_core as rwn
from rwn_ui.background.job import Job
from rwn_ui.background.measure_worker import Answer, Question
from tests.ui.work_of_processes import once_allowed
from tests.waiting import until


class WorkHere:
    """Work beside the page that is done in this process, when a test waits for its end."""

    def __init__(
        self,
        label: str,
        work: Callable[..., Any],
        *,
        words: str,
        about: object,
        **arguments: object,
    ) -> None:
        self.label = label
        self.words = words
        self.about = about
        self.share = 0.0
        self.running, self.result, self.refusal = True, None, ""
        self.so_far: Any = None
        self._work = partial(work, **arguments, progress=self)

    def __call__(self, share: float) -> None:
        """Take the share done."""

    def found(self, answer: object) -> None:
        self.so_far = answer

    def cancel(self) -> None:
        if self.running:
            self.running, self.refusal = False, "Cancelled."

    def end(self) -> None:
        self.result = self._work()
        self.running = False


class HeldJob(Job):
    """Work in a process that is under way until the test has it end."""

    def __init__(
        self, label: str, work: Callable[..., object], *, folder: Path, **more: object
    ) -> None:
        self._allowed = folder / "allowed"
        self._allowed.unlink(missing_ok=True)
        super().__init__(label, partial(once_allowed, self._allowed, work), **more)

    def end(self) -> None:
        self._allowed.touch()
        until(lambda: not self.running)


class AnswersHere:
    """Stands for the process that answers questions: the same answers, once it is looked again."""

    def __init__(self, data: rwn.Microdata) -> None:
        self.data = data
        self._unmasked = rwn.Comparison(original=data, masked=data)
        self._answers: dict[Question, Answer] = {}

    def ask(self, *questions: Question, drawn: object = None) -> None:
        for question in questions:
            if question not in self._answers:
                self._answers[question] = question.answer(self._unmasked)

    def known(self, question: Question) -> Answer | None:
        return self._answers.get(question)

    def retarget(self, data: rwn.Microdata) -> bool:
        return data is self.data

    def cancel(self) -> None:
        """No process has to end."""

    interrupt = cancel
