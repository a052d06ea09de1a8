"""A policy: limits that a release has to keep, all of them, and one verdict on its readings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rwn_core.errors import InputError, NotApplicable, ParameterError
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import Reading
from rwn_core.tuning.point import Point

_MISSING = "It was not read."
_WRONG = (
    "A limit must have a measure and at_most, and may have a source and set_by; correct the limits "
    "of the file."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """State the most that is tolerated of one measure.

    Attributes
    ----------
    measure : str
        Key of a measure of which less is better.
    at_most : float
        In the measure's unit; a share is between 0 and 1. At least 0.
    source : str
        Where the number comes from: a law, a handbook, a decision.
    set_by : str
        Who set it.

    Raises
    ------
    ParameterError
        The measure is unknown or less of it is not better, or the number is below 0 or none.
    """

    measure: str
    at_most: float
    source: str = ""
    set_by: str = ""

    def __post_init__(self) -> None:
        """Check each part."""
        if self.measure not in MEASURES:
            raise ParameterError(
                f"There is no measure {self.measure}; known are: {', '.join(MEASURES)}."
            )
        if MEASURES[self.measure].better != "lower":
            raise ParameterError(
                f"Of {MEASURES[self.measure].title} less is not better, so that it cannot have a "
                "largest tolerable value; choose another measure."
            )
        number = isinstance(self.at_most, int | float) and not isinstance(self.at_most, bool)
        if not (number and math.isfinite(self.at_most) and self.at_most >= 0):
            raise ParameterError(
                f"The limit on {MEASURES[self.measure].title} must be a number of at least 0."
            )

    @property
    def title(self) -> str:
        """The measure's title."""
        return MEASURES[self.measure].title

    def share(self, value: float) -> float:
        """How much of the limit a value uses: 1 is all of it.

        Returns
        -------
        float
            At least 0; a value that is not above 0 uses nothing, and any other infinitely much of
            a limit of 0.
        """
        if value <= 0:
            return 0.0
        return value / self.at_most if self.at_most > 0 else math.inf


_USUAL = ("bayes_linkage", "attribute_gain", "true_matches")
DEFAULT = tuple(Limit(measure=key, at_most=0.05) for key in _USUAL)
"""What holds until an organization sets limits of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Hold what a policy says of some readings.

    Attributes
    ----------
    shares : mapping of str to float
        By measure, how much of its limit is used; 1 is all of it.
    unread : mapping of str to str
        The measures without a number, and why.
    """

    shares: Mapping[str, float]
    unread: Mapping[str, str]

    @property
    def first(self) -> str | None:
        """The measure that is nearest to its limit or furthest beyond; None without a number."""
        return max(self.shares, key=lambda key: self.shares[key], default=None)

    @property
    def largest(self) -> float | None:
        """The largest share of a limit that is used; None without a number."""
        return None if self.first is None else self.shares[self.first]

    @property
    def broken(self) -> tuple[str, ...]:
        """The measures beyond their limits."""
        return tuple(key for key, share in self.shares.items() if share > 1)

    @property
    def kept(self) -> bool:
        """Whether every limit was read and holds; a policy without limits keeps nothing."""
        return bool(self.shares) and not self.broken and not self.unread

    @property
    def sentence(self) -> str:
        """The verdict in words: which limit is nearest or most broken, and what was not judged."""
        if self.first is None and not self.unread:
            return "The policy has no limits, so that nothing is judged."
        parts = []
        if self.first is not None and self.largest is not None:
            what = MEASURES[self.first].title
            count = len(self.shares) + len(self.unread)
            parts.append(
                f"{len(self.broken)} of {count} limits {'is' if len(self.broken) == 1 else 'are'} "
                f"broken, most of all {what}, which uses {share_words(self.largest)} its limit."
                if self.broken
                else f"{'All' if self.kept else 'The judged ones of'} {count} limits are kept; "
                f"nearest is {what}, which uses {share_words(self.largest)} its limit."
            )
        return "".join([*parts, not_judged(self.unread)]).strip()


def not_judged(unread: Mapping[str, str]) -> str:
    """Say which limits could not be judged and why; nothing where all were."""
    each = (f" Not judged: {MEASURES[key].title}. {why}" for key, why in unread.items())
    return "".join(each)


def share_words(share: float) -> str:
    """Write how much of a limit is used, to stand before "its limit".

    Examples
    --------
    >>> share_words(0.8), share_words(2.44), share_words(math.inf)
    ('80 % of', '2.4 times', 'infinitely many times')
    """
    if math.isinf(share):
        return "infinitely many times"
    if share <= 1:
        return f"{100 * share:.0f} % of"
    if share < 1.05:
        return "just over"
    return f"{share:.1f} times" if share < 10 else f"{share:,.0f} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Hold the limits of an organization; a setting is acceptable when it keeps them all.

    Attributes
    ----------
    limits : tuple of Limit
        One for a measure. By default at most 5 % each of worst-case linkage, of attribute gain,
        and of people whose confidential value is read truly.

    Raises
    ------
    ParameterError
        A measure has two limits.

    Examples
    --------
    >>> policy = Policy(limits=(Limit(measure="bayes_linkage", at_most=0.05),))
    >>> verdict = policy.judge({"bayes_linkage": 0.1})
    >>> verdict.first, verdict.largest, verdict.kept
    ('bayes_linkage', 2.0, False)
    """

    limits: tuple[Limit, ...] = DEFAULT

    def __post_init__(self) -> None:
        """Refuse two limits on one measure."""
        twice = [key for key in self.measures if self.measures.count(key) > 1]
        if twice:
            raise ParameterError(f"{MEASURES[twice[0]].title} has two limits; keep one of them.")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that have a limit."""
        return tuple(limit.measure for limit in self.limits)

    def limit(self, measure: str) -> Limit | None:
        """The limit on a measure, if there is one."""
        return next((limit for limit in self.limits if limit.measure == measure), None)

    def judge(
        self, values: Mapping[str, float | None], reasons: Mapping[str, str] | None = None
    ) -> Verdict:
        """Hold values against the limits.

        Parameters
        ----------
        values : mapping of str to float
            By measure; None, NaN or absent where it could not be read.
        reasons : mapping of str to str, optional
            Why there is no value.

        Returns
        -------
        Verdict
            A limit whose measure could not be read is not kept.
        """
        shares, unread = {}, {}
        for limit in self.limits:
            value = values.get(limit.measure)
            if value is None or math.isnan(value):
                unread[limit.measure] = (reasons or {}).get(limit.measure, _MISSING)
            else:
                shares[limit.measure] = limit.share(value)
        return Verdict(shares=shares, unread=unread)

    def judge_readings(self, readings: Mapping[str, Reading | NotApplicable]) -> Verdict:
        """Hold readings against the limits; a reason stands where there is no reading."""
        values = {key: each.value for key, each in readings.items() if isinstance(each, Reading)}
        others = {k: e.reason for k, e in readings.items() if isinstance(e, NotApplicable)}
        return self.judge(values, others)

    def judge_point(self, point: Point) -> Verdict:
        """Hold a setting against the limits, each at the upper end of where one more release falls.

        Parameters
        ----------
        point : Point
            Releases of one setting; a single release is held against the limits by its value.
        """
        ends: dict[str, float | None] = {}
        for key in self.measures:
            spread = point.spreads.get(key)
            if spread is not None and spread.median is not None:
                ends[key] = spread.median if spread.interval is None else spread.interval[1]
        reasons = {key: each.reason for key, each in point.spreads.items() if each.reason}
        return self.judge(ends, reasons)

    def judge_stated(self, readings: Mapping[str, Mapping[str, float]]) -> Verdict:
        """Hold the readings of a scenario against the limits, by the same ends."""
        return self.judge({key: each.get("high", each["median"]) for key, each in readings.items()})

    def to_records(self) -> list[dict[str, Any]]:
        """Plain data for a file, without empty texts."""
        plain = [{each.name: getattr(limit, each.name) for each in fields(limit)}
                 for limit in self.limits]  # fmt: skip
        return [{name: value for name, value in one.items() if value != ""} for one in plain]

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]]) -> Policy:
        """Read what `to_records` made, or somebody wrote by hand.

        Raises
        ------
        InputError
            It is not a list of limits, or a field is missing, unknown or of the wrong kind.
        ParameterError
            A limit is refused.
        """
        if isinstance(records, str) or not isinstance(records, Sequence):
            raise InputError(_WRONG)
        return cls(limits=tuple(_limits(records)))


def _limits(records: Iterable[Mapping[str, Any]]) -> Iterable[Limit]:
    known = {each.name for each in fields(Limit)}
    for record in records:
        fits = isinstance(record, Mapping) and {"measure", "at_most"} <= set(record) <= known
        texts = fits and all(isinstance(record[name], str) for name in set(record) - {"at_most"})
        if not texts:
            raise InputError(_WRONG)
        yield Limit(**record)
