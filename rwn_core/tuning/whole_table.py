"""Settings tried on a table: the strength of each, what it loses and how much of each limit."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES
from rwn_core.measures.statistics.intervals import prediction_interval
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.strength_trial import (
    MOST_LOST,
    PLACES,
    Late,
    PreparedTables,
    StrengthTrial,
)
from rwn_core.tuning.verdict import share_words

_CHECKS = 6  # places at which further releases are read and attacked
_CLOSER = 0.95  # of the least loss so far: what a candidate must come below to be followed


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Hold what a setting gave at the strength that is best for a policy.

    Attributes
    ----------
    setting : Setting
        At that strength.
    loss : float
        Mean share of the relations that its releases lose.
    shares : mapping of str to float
        By measure, how much of its limit a release uses, the middle one of a few.
    share : float
        The largest of them in a release, the middle one of a few; infinite where a limit has no
        answer.
    ends : tuple of float
        Where this share of one more release falls, 9 times in 10, as the policy judges it.
    kept : bool
        Whether one more release keeps all limits, 9 times in 10.
    releases : int
        How many releases were read.
    """

    setting: Setting
    loss: float
    shares: Mapping[str, float]
    share: float
    ends: tuple[float, float]
    kept: bool  # words: public name
    releases: int

    def words(self, policy: Policy) -> str:
        """Say which broken limit is most used, and how much of it."""
        first = max(self.shares, key=self.shares.__getitem__)
        limit, share = policy.limit(first), max(self.share, self.shares[first], 1.01)
        if math.isinf(share):
            return f"{MEASURES[first].title} has no answer"
        used = "more than" if limit and not limit.at_most else share_words(share)
        return f"{MEASURES[first].title} uses {used} its limit"

    @property
    def rank(self) -> tuple[bool, float, float]:
        """Sort key: settings that keep the policy by their loss, then the others by their share."""
        return not self.kept, self.loss if self.kept else self.share, self.loss


@dataclass(slots=True, kw_only=True)
class TableSearch:
    """Try settings on a table, each at its best strength.

    Attributes
    ----------
    microdata : Microdata
    policy : Policy
        Its limits that can be judged.
    until : float
        Monotonic seconds after which nothing more is tried.
    steps : float
        Releases and readings after which nothing more is tried.
    places : int
        Parts of a strength.
    least : float
        The least loss known before.
    releases : int, optional
        Further releases that decide at a place.
    looked : int
        Settings tried.
    tried : list of Tried
        Those that kept the policy, and those that came near, with a lower bound of their shares.
    """

    microdata: Microdata
    policy: Policy
    until: float = math.inf
    steps: float = math.inf
    places: int = PLACES
    least: float = MOST_LOST / _CLOSER
    releases: int | None = None
    looked: int = 0
    tried: list[Tried] = field(default_factory=list)
    _tables: PreparedTables = field(default_factory=PreparedTables)
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def best(self) -> list[Tried]:
        """The settings tried, sorted by their rank."""
        return sorted(self.tried, key=lambda each: each.rank)

    @property
    def late(self) -> bool:
        """True if nothing more is tried."""
        return self.steps <= 0 or time.monotonic() > self.until

    def look(
        self, candidate: Setting, most: float | None = None, near: float | None = None
    ) -> Tried | None:
        """Try a setting that may lose less than those before; None if it does not.

        With `most` it may lose so much, whatever others lose, and what comes nearest to the limits
        is read as a whole; `near` is the strength that is expected.
        """
        own = kind(candidate.resolved(self.microdata))
        if self.late or (most is None and own in self._seen):
            return None
        self._seen.add(own)
        least = min((each.loss for each in self.tried if each.kept), default=self.least)
        try:
            trial = StrengthTrial(
                *(self.microdata, candidate, self.policy),
                places=self.places,
                until=self.until,
                tables=self._tables,
            )
            trial.releases = self.releases or trial.releases
        except ParameterError:
            return None
        try:
            found = self._found(trial, _CLOSER * least if most is None else most, most, near)
        except ParameterError:
            return None
        except Late:
            found = _so_far(trial)
        self.looked += 1
        self.steps -= trial.steps
        self.tried += [found] if found else []
        return found

    def _found(
        self, trial: StrengthTrial, most: float, asked: float | None, near: float | None
    ) -> Tried | None:
        place = _steady(trial, most, near)
        if place is not None:
            return self._read(trial, place)
        nearest = trial.nearest()
        if nearest is None or asked is None:
            return nearest and _of_first(trial, nearest[1], nearest[0])
        return self._read(trial, nearest[1])

    def _read(self, trial: StrengthTrial, place: int) -> Tried:
        """Read all limits at a place, and state the middle of what its releases use."""
        point, verdicts = trial.further(place, stop=math.inf)
        shares = {}
        for key in self.policy.measures:
            read = [each.shares[key] for each in verdicts if key in each.shares]
            shares[key] = median(read) if len(read) == len(verdicts) else math.inf
        judged = self.policy.judge(point)
        used = [math.inf if each.largest is None else each.largest for each in verdicts]
        high = (judged.largest or 0.0) if judged.kept or judged.broken else math.inf
        low = prediction_interval(used, bounds=(0.0, high))[0] if math.isfinite(max(used)) else 0.0
        return Tried(
            setting=trial.at(place),
            loss=trial.mean_loss(place),
            shares=shares,
            share=median(used),
            ends=(float(low), high),
            kept=judged.kept,
            releases=len(verdicts),
        )


def _of_first(trial: StrengthTrial, place: int, share: float) -> Tried:
    """Return what the first release of a place says, and the largest share that others used."""
    verdict = trial.verdict(place)
    return Tried(
        setting=trial.at(place),
        loss=trial.loss(place),
        shares=verdict.shares,
        share=share,
        ends=(0.0, math.inf),
        kept=verdict.kept and share <= 1,
        releases=1,
    )


def _so_far(trial: StrengthTrial) -> Tried | None:
    """Return what is known of a setting when the time is over: the weakest place that kept all."""
    try:
        for place in trial.keeping_places():
            return _of_first(trial, place, trial.share(place))
    except Late:  # without its loss it is of no use
        pass
    return None


def _steady(trial: StrengthTrial, most: float, near: float | None) -> int | None:
    """Return a place near the weakest at which further releases keep all limits, too."""
    strongest = trial.strongest(most)
    place = trial.weakest_using(1.0, strongest, near)
    for _ in range(_CHECKS):
        if place is None or strongest is None or place > strongest:
            return None
        used = trial.used(place)
        if used <= 1:
            return place
        # one release must use so much less of its limits as others used too much
        share = (trial.verdict(place).largest or 0.0) / used
        further = trial.weakest_using(share, strongest) if share > 0 else place
        place = further if further is None else max(further, place + max(1, trial.last // PLACES))
    return None


def kind(setting: Setting) -> tuple[object, ...]:
    """Return what a setting is apart from its strength."""
    params = setting.params
    balanced = getattr(params, "balance", 0.0) > 0
    weights = setting.weights
    return params.method, getattr(params, "kernel", ""), balanced, setting.slices, weights
