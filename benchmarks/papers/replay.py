"""Published numbers and ours: what a replay is, how it runs, and its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import hypot, inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import toml_document
from rwn_core.errors import ParameterError

ERRORS = 3.0
"""Monte Carlo standard errors within which two numbers agree."""
POWER = 0.1
"""Share of what is at stake that a verdict must be able to detect."""
_CLOSE = 1e-6  # what half a unit of the last digit may be off by


class Verdict(StrEnum):
    """Outcome of comparing a published number with ours."""

    AGREES = "agrees"
    HOLDS = "bound holds"
    DIFFERS = "differs"
    CANNOT_TELL = "cannot tell"
    NOT_REPRODUCIBLE = "not reproducible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Hold a number found here, and how far luck moves it."""

    value: float
    error: float = 0.0  # Monte Carlo standard error of the value; 0 for what no luck moves
    spread: float = 0.0  # standard error of the same number from a single release; 0 likewise
    runs: int = 0  # releases that both were estimated from; 0 where they are known

    @property
    def errors(self) -> float:
        """Number of standard errors allowed: `ERRORS`, or more with few releases."""
        if self.runs < 2:
            return ERRORS
        return float(stdtrit(self.runs - 1, ndtr(ERRORS)))


def mean_number(values: ArrayLike) -> Number:
    """Give the mean over releases with its standard error.

    >>> mean_number([1.0, 3.0]).value
    2.0
    """
    found = np.asarray(values, dtype=np.float64)
    spread = float(found.std(ddof=1))
    error = spread / float(np.sqrt(len(found)))
    return Number(value=float(found.mean()), error=error, spread=spread, runs=len(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Hold a number of a source, as written there."""

    name: str  # what it is
    text: str  # as written in the source
    # low, high: the same number twice; or the ends between which the source says that it lies
    low: float
    high: float
    rounding: float = 0.0  # half a unit of the last digit printed
    source: str = "paper"  # the authority: the paper, or an independent program
    sd: float | None = None  # standard deviation over the source's own releases
    runs: int = 0  # how many releases the source took the mean of; 0 for what no luck moves
    # what the source's statement depends on, such as the largest difference of its table; the
    # number itself by default
    stake: float | None = None

    def holds(self, number: Number) -> bool:
        """True if a number agrees with it, but for rounding and chance."""
        return self._apart(number) <= self.tolerance(number)

    def verdict(self, number: Number) -> Verdict:
        """Compare a number with it."""
        # A bound holds if the number is on its side by more than the tolerance. A number agrees
        # only if another one in its place, `POWER` of the stake away on either side, would differ.
        apart = self._apart(number)
        tolerance = self.tolerance(number)
        if apart > tolerance:
            return Verdict.DIFFERS
        if self.low < self.high:
            clear = min(number.value - self.low, self.high - number.value) >= tolerance
            return Verdict.HOLDS if clear else Verdict.CANNOT_TELL
        stake = abs(self.low) if self.stake is None else self.stake
        detects = apart + tolerance < POWER * stake
        return Verdict.AGREES if detects else Verdict.CANNOT_TELL

    def _apart(self, number: Number) -> float:
        """Return the distance from the number, or from the range, that the source states."""
        if self.low <= number.value <= self.high:
            return 0.0
        if not isfinite(number.value):
            return inf
        return max(self.low - number.value, number.value - self.high)

    def tolerance(self, number: Number) -> float:
        """Return the largest allowed difference: chance of both, and rounding."""
        error = number.error
        if self.sd is not None and number.runs:  # few releases estimate their spread poorly
            error = max(error, self.sd / float(np.sqrt(number.runs)))
        luck = number.errors * hypot(error, self._error(number))
        return luck + self.rounding * (1 + _CLOSE)

    def _error(self, number: Number) -> float:
        """The source's own standard error; of an unknown spread ours stands in."""
        spread = number.spread if self.sd is None else self.sd
        return spread / float(np.sqrt(self.runs)) if self.runs else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Hold another way to read the source, and the number that it gives."""

    words: str  # ends the sentence "The published value comes out"
    number: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Hold a published number and ours."""

    published: Published
    ours: Number | None = None  # None where it cannot be found here
    reason: str = ""  # why it cannot
    attempts: tuple[Attempt, ...] = ()  # other ways to read the source, tried where ours differs

    @property
    def verdict(self) -> Verdict:
        """The outcome of the comparison."""
        if self.ours is None:
            return Verdict.NOT_REPRODUCIBLE
        return self.published.verdict(self.ours)

    @property
    def verdict_words(self) -> str:
        """The verdict in words: a difference with a cause differs because of it."""
        return "differs because" if self.explained else self.verdict.value

    @property
    def cause(self) -> str:
        """Why they differ, as far as another way to read the source gives what it prints."""
        if self.ours is not None and self.verdict is Verdict.CANNOT_TELL:
            return _TOO_WIDE
        if self.verdict is not Verdict.DIFFERS:
            return self.reason
        for attempt in self.attempts:
            if self.published.verdict(attempt.number) is Verdict.AGREES:
                return f"The published value comes out {attempt.words}."
        for attempt in self.attempts:
            if self.published.holds(attempt.number):
                return (
                    f"The published value may come out {attempt.words}: the tolerance is too wide."
                )
        tried = "; ".join(f"{each.words}: {each.number.value:.3g}" for each in self.attempts)
        return f"Nothing that was tried gives it ({tried})." if tried else "The cause is not known."

    @property
    def explained(self) -> bool:
        """True if ours differs and another reading of the source gives its number."""
        found = [self.published.verdict(each.number) for each in self.attempts]
        return self.verdict is Verdict.DIFFERS and Verdict.AGREES in found


_TOO_WIDE = (
    f"A number that is off by {POWER:.0%} of what is at stake would lie within the tolerance."
)
SOURCES = {"paper": "paper", "program": "independent program"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Say how a replay is run."""

    short: bool = False  # fewer repetitions: more numbers of which luck leaves no verdict
    # the paper's own table, where it is not among the demo tables; its schema has the weights and
    # the regression
    data: Microdata | None = None

    def repetitions(self, full: int, short: int) -> int:
        """Return the number of repetitions."""
        return short if self.short else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Hold what came out, by the name of the published number."""

    numbers: Mapping[str, Number | str]  # a text says why there is none
    attempts: Mapping[str, tuple[Attempt, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # how it was done, in sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """State one figure, table or claim of a paper that is run again."""

    key: str
    title: str
    run: Callable[[Request], Found]  # of a Request; gives what was found
    file: str = ""  # which table the user must give, if any


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed(Found):
    """Hold what came out of a replay, with a verdict on each published number."""

    # key, title, where: where the source prints it
    key: str
    title: str
    where: str
    rows: tuple[Row, ...]


def totals(rows: Sequence[Row]) -> tuple[str, ...]:
    """Count in words the rows of each source by verdict."""
    by_source = {name: [r for r in rows if r.published.source == name] for name in SOURCES.values()}
    return tuple(count(name, mine) for name, mine in by_source.items() if mine)


def count(source: str, rows: Sequence[Row]) -> str:
    """Count in words the rows by verdict, after a title."""
    seen = Counter(row.verdict for row in rows)
    explained = sum(row.explained for row in rows)
    return (
        f"{source}: {seen[Verdict.AGREES]} of {len(rows)} agree, "
        f"{seen[Verdict.HOLDS]} bounds hold, "
        f"{seen[Verdict.DIFFERS]} differ ({explained} with a cause), "
        f"{seen[Verdict.CANNOT_TELL]} cannot tell, "
        f"{seen[Verdict.NOT_REPRODUCIBLE]} not reproducible"
    )


def replayed(replay: Replay, request: Request) -> Replayed:
    """Run a replay, and compare each number of the source with ours."""
    if request.data is not None and not replay.file:
        raise ParameterError(f"{replay.key} runs on a table of its own; leave the file out.")
    found = replay.run(request)
    return Replayed(
        key=replay.key,
        title=replay.title,
        where=str(_entry(replay.key)["where"]),
        rows=tuple(_row(each, found) for each in published(replay.key)),
        **{each.name: getattr(found, each.name) for each in fields(found)},
    )


def _row(each: Published, found: Found) -> Row:
    number = found.numbers[each.name]
    if isinstance(number, str):
        return Row(published=each, reason=number)
    return Row(published=each, ours=number, attempts=found.attempts.get(each.name, ()))


@cache
def _facts() -> dict[str, Any]:
    text = (files(__package__) / "published.toml").read_text(encoding="utf-8")
    return toml_document(text, "data file")


def _entry(key: str) -> dict[str, Any]:
    entry: dict[str, Any] = _facts()[key]
    return entry


def published(key: str) -> tuple[Published, ...]:
    """The numbers that the source of a replay prints, in its order."""
    return tuple(_published(name, fact) for name, fact in _entry(key)["values"].items())


def _published(name: str, fact: Mapping[str, Any]) -> Published:
    text = str(fact["value"])
    bound = text.startswith("at least ")
    printed = text.removeprefix("at least ")
    number = float(printed)
    rounding = 0.0
    digits = Decimal(printed).as_tuple().exponent
    if not bound and isinstance(digits, int) and digits < 0:
        rounding = 0.5 * 10.0**digits
    return Published(
        name=name,
        text=text,
        low=number,
        high=float("inf") if bound else number,
        rounding=float(fact.get("rounding", rounding)),
        source=SOURCES[fact.get("from", "paper")],
        sd=fact.get("sd"),
        runs=int(fact.get("runs", 0)),
        stake=fact.get("stake"),
    )
