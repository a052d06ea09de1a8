"""Readings too slow for a slider, one after another in a process that keeps the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

import rwn_core as rwn
from rwn_core.compile_ahead import warm_for_limits
from rwn_core.masking import Method, Prepared, family, lever_values, unrounded
from rwn_core.measures.measure import parts_of, with_parts
from rwn_core.parallel.pool import Pool, Stopped, Task
from rwn_core.parallel.processes import Handle, be_polite
from rwn_core.parallel.threads import Progress

PATIENCE = 3.0  # seconds that an earlier question may go on before it is given up for a newer one
CACHE_SIZE = 64  # answers
_FAILED = "It could not be read, perhaps for lack of memory; choose a smaller radius or k."

Answer = rwn.Reading | rwn.NotApplicable


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A measure of the release of one setting, or what is known of it sooner."""

    measure: str
    of: tuple[Method, int]  # the release: of which setting, under which seed
    begin: bool = False

    def answer(self, unmasked: rwn.Comparison) -> Answer:
        """Draw the release and read the measure; its numbers only, without its records."""
        try:
            masked = _release(unmasked, self.of)
            reading = rwn.MEASURES[self.measure].read(masked, begin=self.begin)
        except rwn.RWNError as refusal:
            return rwn.NotApplicable(str(refusal))
        if not isinstance(reading, rwn.Reading):
            return reading
        held = parts_of(reading.detail).items()
        # arrays of the records, or of both sides of them, stay here
        arrays = [n for n, part in held if isinstance(getattr(part, "released", part), np.ndarray)]
        return with_parts(reading, **dict.fromkeys(arrays))


class DrawnRelease(NamedTuple):
    """A release that was drawn before its measures are asked for, and what spares a search."""

    masked: rwn.Microdata  # every record
    known: Any  # of its `Prepared`


class _Task(NamedTuple):
    """A question for the process, with its release where that is drawn and not yet there."""

    question: Question
    drawn: DrawnRelease | None


def _release(unmasked: rwn.Comparison, of: tuple[Method, int]) -> rwn.Comparison:
    """The release of a setting; several measures of it are asked for one after another."""
    held = _held(unmasked)
    if of not in held:
        held.clear()
        release = _prepared(unmasked, of[0]).release(rwn.SecretKey.from_seed(of[1]))
        held[of] = unmasked.with_masked(release.masked, release.law)
    return held[of]


def _prepared(unmasked: rwn.Comparison, params: Method) -> Prepared:
    """The table ready for a setting; what no lever changes is found for the first of them."""
    setting, steps = unrounded(params)
    held: dict[object, Prepared] = unmasked.cached_for_original("latest family", dict)
    if family(setting) not in held:
        held.clear()
        held[family(setting)] = setting.prepare(unmasked.original)
    moved = held[family(setting)].with_levers(**lever_values(setting))
    return replace(moved, precision=tuple(steps.items()))


def _hold(unmasked: rwn.Comparison, question: Question, drawn: DrawnRelease) -> None:
    """Take over a release; the law is the setting's own."""
    setting, steps = unrounded(question.of[0])
    law = setting.prepare(unmasked.original).with_search_state(drawn.known).law
    held = _held(unmasked)
    held.clear()
    if law is not None:
        law = law.rounded(steps) if steps else law
        held[question.of] = unmasked.with_masked(drawn.masked, law)


def _held(unmasked: rwn.Comparison) -> dict[object, rwn.Comparison]:
    """The latest release, by its setting and seed."""
    held: dict[object, rwn.Comparison] = unmasked.cached_for_original("latest release", dict)
    return held


def _prepare(data: rwn.Microdata, answer: Callable[[Question, rwn.Comparison], Answer]) -> Handle:
    be_polite()  # a slider that moves meanwhile comes first
    warm_for_limits()
    tables = [rwn.Comparison(original=data, masked=data)]

    def handle(task: _Task | rwn.Schema, progress: Progress) -> Answer | None:
        if isinstance(task, rwn.Schema):
            original = tables.pop().original.with_schema(task)  # if it fails, there is no table
            tables.append(rwn.Comparison(original=original, masked=original))
            return None
        if task.drawn is not None:
            _hold(tables[0], task.question, task.drawn)
        return answer(task.question, tables[0])

    return handle


class _Asked(NamedTuple):
    """A question on its way, and since when."""

    task: Task
    since: float


@dataclass(slots=True, weakref_slot=True, eq=False)
class MeasureWorker:
    """A process that answers questions about one table."""

    data: rwn.Microdata = field(repr=False)
    _answer: Callable[[Question, rwn.Comparison], Answer] = field(repr=False)
    _answers: dict[Question, Answer] = field(default_factory=dict, repr=False)
    _asked: dict[Question, _Asked] = field(default_factory=dict, repr=False)
    _pool: Pool | None = field(default=None, repr=False)
    _latest: tuple[Method, int] | None = field(default=None, repr=False)  # release asked of last

    @classmethod
    def start(
        cls,
        data: rwn.Microdata,
        answer: Callable[[Question, rwn.Comparison], Answer] = Question.answer,
    ) -> MeasureWorker:
        """Begin; it ends with the session that began it."""
        made = cls(data=data, _answer=answer)
        made._begin_process()
        return made

    @property
    def takes_questions(self) -> bool:
        """True if its process is alive."""
        return self._pool is not None and bool(self._pool.pids)

    def retarget(self, data: rwn.Microdata) -> bool:
        """True if it can answer questions under another schema, as it does from now on."""
        self._collect()
        if not self.takes_questions or data.fingerprint != self.data.fingerprint:
            return False
        if not all(asked.task.cancel() for asked in self._asked.values()):
            return False
        assert self._pool is not None
        self._asked.clear()
        self._answers.clear()
        self.data = data
        self._latest = None
        self._pool.submit(data.schema)
        return True

    def ask(
        self,
        *questions: Question,
        drawn: Callable[[Question], DrawnRelease | None] = lambda _: None,
    ) -> None:
        """Have these answered in their order, and no others; one under way may end first."""
        self._collect()
        fresh = [each for each in questions if each not in self._answers]
        self._drop_others(questions, in_hurry=bool(fresh))
        fresh = [each for each in fresh if each not in self._asked]
        if fresh and not self.takes_questions:
            self.cancel()
            self._begin_process()
        for question in fresh:
            assert self._pool is not None
            # the release of a question, unless the one before was of the same
            sent = question.of == self._latest
            self._latest = question.of
            task = self._pool.submit(_Task(question, None if sent else drawn(question)))
            self._asked[question] = _Asked(task, time.monotonic())

    def _drop_others(self, questions: Sequence[Question], *, in_hurry: bool) -> None:
        """Drop the questions that are asked no more; in a hurry, the process that takes long."""
        for question in [each for each in self._asked if each not in questions]:
            if self._asked[question].task.cancel():  # no worker has started it
                del self._asked[question]
            elif in_hurry and time.monotonic() - self._asked[question].since > PATIENCE:
                self.cancel()
                break

    def known(self, question: Question) -> Answer | None:
        """The answer; None while there is none."""
        self._collect()
        return self._answers.get(question)

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left. What was answered stays."""
        if self._pool is not None:
            self._pool.cancel()
        self._pool = None
        self._asked.clear()

    def interrupt(self) -> None:
        """Stop at once where a question is under way; a process that rests may be asked others."""
        self._collect()
        if self._asked:
            self.cancel()

    def _begin_process(self) -> None:
        self._pool = Pool(_prepare, self.data, self._answer, workers=1)
        self._latest = None

    def _collect(self) -> None:
        """Keep what has been answered."""
        while self._asked:
            question, asked = next(iter(self._asked.items()))
            if not asked.task.done():
                return
            del self._asked[question]
            try:
                self._answers[question] = asked.task.result()
            except Stopped as stopped:
                why = f"{_FAILED} ({stopped.fault})" if stopped.fault else _FAILED
                self._answers[question] = rwn.NotApplicable(why)
                if not stopped.fault:  # the process has ended: the others were not looked at
                    self._asked.clear()
            except rwn.RWNError as refusal:
                self._answers[question] = rwn.NotApplicable(str(refusal))
        while len(self._answers) > CACHE_SIZE:
            self._answers.pop(next(iter(self._answers)))
