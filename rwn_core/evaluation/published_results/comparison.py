"""Holds a published number against the one found here; the verdict follows from both."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import hypot, isfinite

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

ERRORS = 3.0
"""Monte Carlo standard errors within which two numbers agree."""
_CLOSE = 1e-6  # what half a unit of the last digit may be off by


class Verdict(StrEnum):
    """Outcome of comparing a published number with ours."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_REPRODUCIBLE = "not reproducible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Hold a number found here, and how far luck moves it.

    Attributes
    ----------
    value : float
    error : float
        Monte Carlo standard error of the value; 0 for what no luck moves.
    spread : float
        Standard error of the same number from a single release; 0 likewise.
    runs : int
        Releases that both were estimated from; 0 where they are known.
    """

    value: float
    error: float = 0.0
    spread: float = 0.0
    runs: int = 0

    @property
    def errors(self) -> float:
        """Number of standard errors allowed: `ERRORS`, or more with few releases."""
        if self.runs < 2:
            return ERRORS
        return float(stdtrit(self.runs - 1, ndtr(ERRORS)))

    @property
    def reach(self) -> float:
        """Largest difference that chance explains."""
        return self.errors * self.error


def mean_number(values: ArrayLike) -> Number:
    """Give the mean over releases with its standard error.

    Examples
    --------
    >>> mean_number([1.0, 3.0]).value
    2.0
    """
    found = np.asarray(values, dtype=np.float64)
    spread = float(found.std(ddof=1))
    error = spread / float(np.sqrt(len(found)))
    return Number(value=float(found.mean()), error=error, spread=spread, runs=len(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Hold a number as its source prints it.

    Attributes
    ----------
    name : str
        What it is.
    text : str
        As printed.
    low, high : float
        The same number twice; or the ends between which the source says that it lies.
    rounding : float
        Half a unit of the last digit printed.
    source : str
        Who says so: the paper, or an independent program.
    unit : str
        Numbers of one unit can stand on one axis.
    sd : float, optional
        Standard deviation over the source's own releases.
    runs : int
        How many releases the source took the mean of; 0 for what no luck moves.
    """

    name: str
    text: str
    low: float
    high: float
    rounding: float = 0.0
    source: str = "paper"
    unit: str = ""
    sd: float | None = None
    runs: int = 0

    def holds(self, number: Number) -> bool:
        """True if a number agrees with it, but for rounding and chance."""
        if self.low <= number.value <= self.high:
            return True
        if not isfinite(number.value):
            return False
        apart = max(self.low - number.value, number.value - self.high)
        return apart <= self.tolerance(number)

    def tolerance(self, number: Number) -> float:
        """Return the largest allowed difference: chance of both, and rounding."""
        luck = hypot(number.reach, number.errors * self._error(number))
        return luck + self.rounding * (1 + _CLOSE)

    def _error(self, number: Number) -> float:
        """The source's own standard error; of an unknown spread ours stands in."""
        spread = number.spread if self.sd is None else self.sd
        return spread / float(np.sqrt(self.runs)) if self.runs else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Hold another way to read the source, and the number that it gives.

    Attributes
    ----------
    words : str
        Ends the sentence "The published value comes out".
    number : Number
    """

    words: str
    number: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Hold a published number and ours.

    Attributes
    ----------
    published : Published
    ours : Number, optional
        None where it cannot be found here.
    reason : str
        Why it cannot.
    attempts : tuple of Attempt
        Other ways to read the source, tried where ours differs.
    """

    published: Published
    ours: Number | None = None
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The outcome of the comparison."""
        if self.ours is None:
            return Verdict.NOT_REPRODUCIBLE
        return Verdict.AGREES if self.published.holds(self.ours) else Verdict.DIFFERS

    @property
    def cause(self) -> str:
        """Why they differ, as far as another way to read the source gives what it prints."""
        if self.verdict is not Verdict.DIFFERS:
            return self.reason
        for attempt in self.attempts:
            if self.published.holds(attempt.number):
                return f"The published value comes out {attempt.words}."
        tried = "; ".join(f"{each.words}: {each.number.value:.3g}" for each in self.attempts)
        return f"Nothing that was tried gives it ({tried})." if tried else "The cause is not known."

    @property
    def explained(self) -> bool:
        """True if ours differs and another reading of the source gives its number."""
        differs = self.verdict is Verdict.DIFFERS
        return differs and any(self.published.holds(each.number) for each in self.attempts)
