"""Readings too slow for a slider, one after another in a process that keeps the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import rwn_core as rwn
from rwn_core.errors import RWNError
from rwn_core.masking import Method
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.parallel.pool import Pool, Stopped, Task
from rwn_core.parallel.processes import Handle, be_polite
from rwn_core.parallel.threads import Progress
from rwn_ui.background.end_with_session import end_with_the_session

PATIENCE = 3.0  # seconds that an earlier question may go on before it is given up for a newer one
KEPT = 64  # answers
_FAILED = "It could not be read, perhaps for lack of memory; choose a smaller radius or k."

Answer = Reading | rwn.NotApplicable
_SAID = {
    *("names", "row_by_row", "at_once", "attack", "standing", "estimate", "top5", "rows", "of"),
    *("at_most", "told"),
}
"""Of the detail of a linkage, what its sentence is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A measure of the release of one setting."""

    measure: str
    params: Method
    seed: int

    def answer(self, unmasked: Comparison) -> Answer:
        """Draw the release and read the measure; its numbers only, without its records."""
        try:
            masked = _release(unmasked, self.params, self.seed)
            reading = rwn.MEASURES[self.measure].read(masked)
        except RWNError as refusal:
            return rwn.NotApplicable(str(refusal))
        if not isinstance(reading, Reading):
            return reading
        said = {name: part for name, part in reading.detail.items() if name in _SAID}
        return replace(reading, detail=said)


def _release(unmasked: Comparison, params: Method, seed: int) -> Comparison:
    """The release of a setting; several measures of it are asked for one after another."""
    held: dict[object, Comparison] = unmasked.once("latest release", dict)
    if (params, seed) not in held:
        held.clear()
        release = rwn.mask(unmasked.original, params, seed=seed)
        held[params, seed] = unmasked.with_masked(release.masked, release.law)
    return held[params, seed]


def _prepare(data: rwn.Microdata, answer: Callable[[Question, Comparison], Answer]) -> Handle:
    be_polite()  # a slider that moves meanwhile comes first
    unmasked = Comparison(original=data, masked=data)

    def handle(question: Question, progress: Progress) -> Answer:
        return answer(question, unmasked)

    return handle


@dataclass(slots=True, weakref_slot=True, eq=False)
class OnDemand:
    """A process that answers questions about one table.

    Attributes
    ----------
    data : Microdata
    """

    data: rwn.Microdata = field(repr=False)
    _answer: Callable[[Question, Comparison], Answer] = field(repr=False)
    _answers: dict[Question, Answer] = field(default_factory=dict, repr=False)
    _asked: Question | None = None
    _since: float = 0.0
    _pool: Pool | None = field(default=None, repr=False)
    _task: Task | None = field(default=None, repr=False)

    @classmethod
    def start(
        cls,
        data: rwn.Microdata,
        answer: Callable[[Question, Comparison], Answer] = Question.answer,
    ) -> OnDemand:
        """Begin; it ends with the session that began it."""
        made = cls(data=data, _answer=answer)
        made._begin()
        return made

    @property
    def running(self) -> bool:
        """Whether it can be asked."""
        return self._pool is not None and bool(self._pool.pids)

    def ask(self, question: Question) -> None:
        """Have a question answered, unless it is; one about an earlier setting may end first."""
        if self.known(question) is not None or question == self._asked:
            return
        late = self._asked is not None and time.monotonic() - self._since > PATIENCE
        if self._asked is not None and not late:
            return
        if late or not self.running:
            self.cancel()
            self._begin()
        assert self._pool is not None
        self._asked, self._since = question, time.monotonic()
        self._task = self._pool.submit(question)

    def known(self, question: Question) -> Answer | None:
        """The answer; None while there is none."""
        if self._task is not None and self._task.done():
            self._keep(_answer_of(self._task))
        return self._answers.get(question)

    def waited(self, question: Question) -> float | None:
        """Seconds since it was asked; None while it is not being answered."""
        return time.monotonic() - self._since if question == self._asked else None

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left. What was answered stays."""
        if self._pool is not None:
            self._pool.cancel()
        self._pool = self._task = self._asked = None

    def _begin(self) -> None:
        self._pool = Pool(_prepare, self.data, self._answer, workers=1)
        end_with_the_session(self)

    def _keep(self, answer: Answer) -> None:
        assert self._asked is not None
        self._answers[self._asked] = answer
        self._asked = self._task = None
        while len(self._answers) > KEPT:
            self._answers.pop(next(iter(self._answers)))


def _answer_of(task: Task) -> Answer:
    """What a task answered, or why it did not."""
    try:
        answer: Answer = task.result()
    except Stopped as stopped:
        return rwn.NotApplicable(f"{_FAILED} ({stopped.fault})" if stopped.fault else _FAILED)
    except RWNError as refusal:
        return rwn.NotApplicable(str(refusal))
    return answer
