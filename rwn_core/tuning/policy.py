"""A policy: limits that a release has to keep, all of them, and one verdict on its readings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar

from rwn_core.data.microdata import Microdata
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import NamedParameters, check_forms, kind_words
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.donors import unmasked
from rwn_core.masking import Method
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import UNMASKED, UNRELATED, unsliced
from rwn_core.tuning.point import Point
from rwn_core.tuning.verdict import MISSING, Verdict, attacked, decided, empty_end, spread_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(NamedParameters):
    """The most that is tolerated of one measure.

    Attributes
    ----------
    measure : str
        Key of a measure of which less is better.
    at_most : float
        In the measure's unit; a share is between 0 and 1. At least 0.
    source : str
        Where the number comes from: a law, a handbook, a decision.
    set_by : str
        Person or body that set it.

    Raises
    ------
    ParameterError
        The measure is unknown or less of it is not better, or the number is below 0 or none, or
        above 1 where the measure ends at 1.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.Limit(measure="bayes_linkage", at_most=0.05, source="handbook 3.1").at_most
    0.05
    """

    checks_itself: ClassVar[bool] = True
    measure: str
    at_most: float
    source: str = ""
    set_by: str = ""

    def __post_init__(self) -> None:
        """Check each part."""
        texts = {name: getattr(self, name) for name in ("measure", "source", "set_by")}
        check_forms(texts, dict.fromkeys(texts, str))
        about = MEASURES[self.measure]
        if about.better != "lower":
            raise ParameterError(
                f"Of {about.title} less is not better, so that it cannot have a largest tolerable "
                "value; choose another measure."
            )
        number = isinstance(self.at_most, int | float) and not isinstance(self.at_most, bool)
        if not (number and math.isfinite(self.at_most) and self.at_most >= 0):
            raise ParameterError(f"The limit on {about.title} must be a number of at least 0.")
        if about.bounds[1] == 1 and self.at_most > 1:
            raise ParameterError(
                f"The limit on {about.title} ({self.measure}) must be a fraction from 0 to 1, not "
                "a percentage: write 0.05 for 5 percent."
            )

    @property
    def title(self) -> str:
        """The measure's title."""
        return MEASURES[self.measure].title

    @property
    def origin(self) -> str:
        """Where the number comes from and who set it, in words; never empty."""
        stated = ", ".join(filter(None, (self.source, self.set_by)))
        if stated:
            return stated
        return ORIGIN_OF_DEFAULT if self in DEFAULT else "set here, by whom is not stated"

    def share(self, value: float) -> float:
        """Return the share of the limit that a value uses: 1 is all of it.

        Returns
        -------
        float
            At least 0; a value that is not above 0 uses nothing. Of a limit of 0 any other value
            uses more than all: 1 and as much as it would of a limit of 0.01, so that a search finds
            the way down.
        """
        if value <= 0:
            return 0.0
        return value / self.at_most if self.at_most > 0 else 1 + value / 0.01


ORIGIN_OF_DEFAULT = "a default of this program"
_STATED = [(key, each.usual_limit) for key, each in MEASURES.items()]
_USUAL = [Limit(measure=key, at_most=most) for key, most in _STATED if most is not None]
DEFAULT = tuple(sorted(_USUAL, key=lambda limit: -limit.at_most))
"""What holds until an organization sets limits of its own."""

_OF_A_PREDICTION = ("attribute_gain", "true_matches")
PREDICTION_UNJUDGED = (
    "Slices by prediction keep almost any limit on linkage, whatever they show of other people; "
    "set limits on attribute gain and true matches, too."
)


def _first_reason(*reasons: str | None) -> str:
    """Return the first reason that is known why a limit is not judged."""
    return next(filter(None, reasons), MISSING)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Policy(NamedParameters, Summarized):
    """The limits of an organization; a setting must keep them all.

    Attributes
    ----------
    limits : tuple of Limit
        One for a measure. By default at most 5 % each of worst-case linkage, of attribute gain,
        and of people with a correctly read confidential value; and no record that is linked with a
        probability above one half.

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
        for key, count in Counter(self.measures).items():
            if count > 1:
                raise ParameterError(f"{MEASURES[key].title} has two limits; keep one of them.")

    def _summary(self) -> Summary:
        rows = []
        for each in self.limits:
            most = MEASURES[each.measure].words(each.at_most)
            rows.append((each.measure, each.title, most, each.origin))
        columns = ("measure", "title", "at most", "who set it")
        return Summary(title=f"Policy({len(self.limits)} limits)", columns=columns, rows=rows)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that have a limit."""
        return tuple(map(attrgetter("measure"), self.limits))

    @property
    def needs_own(self) -> bool:
        """True if a limit has an answer only under a soft kernel with own = true."""
        return any(MEASURES[key].needs_own for key in self.measures)

    def limit(self, measure: str) -> Limit | None:
        """The limit on a measure, if there is one."""
        return next((limit for limit in self.limits if limit.measure == measure), None)

    def unjudged(self, params: Method | None) -> str:
        """Return why these limits are not enough to judge a setting; empty where they are."""
        predicted = getattr(params, "by_prediction", False) and not {*_OF_A_PREDICTION} <= {
            *self.measures
        }
        return PREDICTION_UNJUDGED if predicted else ""

    def judge(
        self,
        given: Point | Mapping[str, Any],
        reasons: Mapping[str, str] | None = None,
        *,
        released: float | None = None,
        params: Method | None = None,
    ) -> Verdict:
        """Hold a release, a setting or stated numbers against the limits.

        Parameters
        ----------
        given : Point or mapping of str
            A setting, judged at the upper ends of where one more release falls; or by measure, a
            reading of one release or the reason why there is none, what a scenario states, or a
            number; None, NaN or absent where it could not be read.
        reasons : mapping of str to str, optional
            Why there is no value, such as those of `judgeable`.
        released : float, optional
            The share of the records that is released, where it is too small for anything to be
            kept; a `Point` has its own.
        params : Method, optional
            The method with its parameters; a `Point` has its own. With slices by prediction
            nothing is judged unless attribute gain and true matches have limits.

        Returns
        -------
        Verdict
            A limit on a measure that could not be read is not judged. Of a value known between two
            bounds the lower one, or its estimate, may break a limit, and only the upper one keeps
            it. What the red team achieved counts where it is worse than a reading.
        """
        if isinstance(given, Point):
            released = given.released if given.few else None
            params = given.setting.params
            given = given.spreads
        elif not isinstance(given, dict | Mapping):
            raise ParameterError(f"given must be a Point or a dict, not {kind_words(given)}.")
        given = attacked(given)
        reasons = reasons or {}
        why_unjudged = self.unjudged(params) if getattr(params, "by_prediction", False) else ""
        if why_unjudged:
            given = {}
            reasons = dict.fromkeys(self.measures, why_unjudged)
        held = {key: spread_of(key, given.get(key)) for key in self.measures}
        # each limit against what is known of its measure: kept, broken, or not judged and why
        shares = dict[str, float]()
        values = dict[str, float]()
        standings = dict[str, str]()
        unread = dict[str, str]()
        unreachable = list[str]()
        for each in self.limits:
            key = each.measure
            value, standings[key], why = decided(key, held[key], each.share)
            if value is None:
                unread[key] = _first_reason(why, reasons.get(key), held[key].reason)
            else:
                values[key] = value
                shares[key] = each.share(value)
                of_no_relation = each.share(held[key].ends.get(UNRELATED, 0.0))
                if min(shares[key], of_no_relation) > 1:  # no release is of any help
                    unreachable.append(key)
        return Verdict(
            shares=shares,
            unread=unread,
            values=values,
            bounds=held,
            standings=standings,
            released=released,
            none_allowed=tuple(each.measure for each in self.limits if each.at_most == 0),
            unreachable=tuple(unreachable),
            draws=min([held[key].draws for key in shares], default=0),
        )

    def judgeable(self, original: Microdata) -> tuple[Policy | None, dict[str, str]]:
        """Set apart the limits that say nothing of a table, whatever is released of it.

        Each is read on the unmasked file with its law, which changes no cell.

        Parameters
        ----------
        original : Microdata

        Returns
        -------
        policy : Policy or None
            The other limits; None where there are none.
        reasons : dict of str to str
            By measure, why a limit cannot be judged here: its measure has no answer, or the
            unmasked file keeps the limit (of a loss: a file without any relation).
        """
        table = unsliced(original)  # neither slices nor weights matter to the unmasked file
        apart = original.cached(("judgeable", self, table.schema), lambda: self._apart(table))
        return (self.without(apart) if len(apart) < len(self.limits) else None), dict(apart)

    def _apart(self, original: Microdata) -> dict[str, str]:
        masked, law = unmasked(original)
        itself = Comparison(original=original, masked=masked, law=law)
        apart = {}
        for limit in self.limits:
            about = MEASURES[limit.measure]
            if about.needs_own:  # it is the setting that says whether there is an answer
                continue
            reading = about.read(itself, begin=True, bare=True)
            if isinstance(reading, NotApplicable):
                apart[limit.measure] = reading.reason
                continue
            ends = {UNMASKED: reading.value} if about.side == "risk" else about.ends(itself)
            if why := empty_end(limit.measure, ends, limit.share):
                apart[limit.measure] = why
        return apart

    def without(self, reasons: Mapping[str, str]) -> Policy:
        """The limits but those that cannot be judged, for the given reasons.

        Raises
        ------
        ParameterError
            No limit is left.
        """
        limits = tuple(each for each in self.limits if each.measure not in reasons)
        if reasons and not limits:
            why = next(iter(reasons.values()))
            raise ParameterError(f"No limit can be judged on this table: {why}")
        return replace(self, limits=limits)

    def to_records(self) -> list[dict[str, Any]]:
        """Plain data for a file, without empty texts."""
        plain = map(asdict, self.limits)
        return [{name: value for name, value in one.items() if value != ""} for one in plain]
