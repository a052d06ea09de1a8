"""Settings along their strength, each read as far as needed, and compared on a table.

A place is a number of steps of a strength, from 0, the weakest. One release of each decides where
to look; further releases, attacked, decide what is said.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean, median
from typing import TypeVar

from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import LeverRange, at_levers
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.intervals import prediction_interval
from rwn_core.tuning.answer import FoundSetting
from rwn_core.tuning.evaluate import PreparedTables, evaluate, read_safely
from rwn_core.tuning.point import Point, Setting, too_few
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.verdict import RAISED, RED_TEAM, Verdict, attacked

PLACES = 16  # parts between the ends of a strength
RELEASES, FEW_RELEASES = 6, 3  # that decide on a small table, and on a large one
CLEARLY = 1.5  # times a limit
MOST_LOST = 0.9  # of the relations; a release that loses more is of no use
TURN = {"bayes_linkage": 0, "linked_over_half": 1, "true_matches": 2}  # cheap before slow ones
_SEED = 1  # of the first release
_CHECKS = 6  # places at which further releases are read and attacked
_CLOSER = 0.95  # of the least loss so far: what a candidate must come below to be followed
_T = TypeVar("_T")


def edge(good: int, bad: int, passes: Callable[[int], bool]) -> int:
    """Find by halves the place that passes next to one that does not; the ends are known."""
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if passes(middle) else (good, middle)
    return good


def edge_near(near: int, last: int, passes: Callable[[int], bool]) -> int | None:
    """Find the first place up to the last that passes by growing steps from one, then by halves."""
    place, step, low = near, 1, -1
    if passes(place):
        while place > 0 and passes(max(place - step, 0)):
            place, step = max(place - step, 0), 2 * step
        return edge(place, max(place - step, -1), passes)
    while place < last:
        low, place, step = place, min(place + step, last), 2 * step
        if passes(place):
            return edge(place, low, passes)
    return None


class Late(Exception):
    """The time of a trial is over."""


class StrengthTrial:
    """A setting along its strength: its loss, and its limits up to the first one broken.

    Parameters
    ----------
    microdata : Microdata
    setting : Setting
        Its levers but the strength stand at the usual positions.
    policy : Policy
    places : int
        Parts between the ends of the strength.
    stays : bool
        Whether the other levers stay where the setting has them.
    tables : PreparedTables, optional
        What trials of other settings of the same table have found.

    Attributes
    ----------
    until : float
        Monotonic seconds after which nothing more is drawn or read: `Late` is raised.
    releases : int
        Further releases that decide: a few, by the number of records, or as many as are asked for.
    verdicts : dict of int to Verdict
        By place, on its first release.
    """

    def __init__(
        self,
        microdata: Microdata,
        setting: Setting,
        policy: Policy,
        *,
        places: int = PLACES,
        tables: PreparedTables | None = None,
        stays: bool = False,
    ) -> None:
        self.policy, self.until = policy, math.inf
        self.releases = RELEASES if microdata.n <= QUICK_RECORDS else FEW_RELEASES
        setting = setting.resolved(microdata)
        self._table = setting.applied_to(microdata)
        self._tables = tables or PreparedTables(microdata)
        start = self._tables.start(setting)
        usual = setting.params
        if not stays:
            usual = at_levers(usual, dict(start.presets["Standard"]))
        self._setting = replace(setting, params=usual)
        self.range: LeverRange = start.ranges[usual.strength]
        steps = round((self.range.high - self.range.low) / self.range.step)
        self.last = max(min(places, steps), 0)
        self._losses: dict[int, float] = {}
        self.verdicts: dict[int, Verdict] = {}
        self._last: int | None = None  # place of the last release
        self._drawn = -1, 0  # how many further releases of a small table were drawn at a place
        self._worst: dict[int, float] = {}  # of further releases at a place
        self.steps = 0  # releases and readings asked for so far

    def at(self, place: int) -> Setting:
        """Return the setting at a place, from 0, the weakest, to `last`."""
        ends, params = self.range, self._setting.params
        steps = round(place * (ends.high - ends.low) / ends.step / max(self.last, 1))
        value = round(ends.low + steps * ends.step, 10)
        return replace(self._setting, params=at_levers(params, {params.strength: value}))

    def _remembered(self, place: int, about: object, read: Callable[[Comparison], _T]) -> _T:
        """Read a place's release, once for all trials of a table that come to this setting."""
        self._refuse_late()
        if self._last != place:
            self._last, self.steps = place, self.steps + 1
        key = ("trial", self._table.schema, self.at(place), _SEED, about)
        return self._table.cached(key, lambda: read(self._tables.compared(self.at(place), _SEED)))

    def loss(self, place: int) -> float:
        """Return the share of relations that is lost; 1 where none can be read."""
        if place not in self._losses:
            self._losses[place] = self._remembered(place, None, _loss)
        return self._losses[place]

    def verdict(self, place: int) -> Verdict:
        """Return the verdict on the limits up to the first that is not kept."""
        if place not in self.verdicts:
            self.verdicts[place] = self._remembered(place, self.policy, self._judged)
            self.steps += 1
        return self.verdicts[place]

    def _judged(self, compared: Comparison) -> Verdict:
        """Judge the limits that were read of a release, without simple attacks."""
        read = self._readings(compared, CLEARLY, attack=False)
        limits = tuple(each for each in self.policy.limits if each.measure in read)
        few = too_few(self._setting.params, compared.original, compared.masked)
        return replace(self.policy, limits=limits).judge(read, released=few)

    def losses(self, place: int) -> list[float]:
        """Return the loss of each of the further releases."""
        setting = self.at(place)
        return [_loss(self._tables.compared(setting, key)) for key in self._further(place)]

    def _further(self, place: int) -> Iterator[int]:
        """Yield the seeds of further releases; a small table's releases are remembered."""
        if self._drawn[0] != place:
            self._drawn = place, 0
        # of a large table the one that was read already is not a matter of luck
        first = self.releases < RELEASES
        for number in range(self.releases):
            if number >= max(self._drawn[1], first):  # not drawn before
                if self._drawn[1] >= FEW_RELEASES and time.monotonic() > self.until:
                    return  # those that were drawn in time decide
                self._refuse_late()
                self._drawn = place, 0 if first else number + 1
            yield _SEED + number + (number >= first)

    def _refuse_late(self) -> None:
        if time.monotonic() > self.until:
            raise Late

    def further(self, place: int, stop: float = CLEARLY) -> tuple[Point, list[Verdict]]:
        """Read all limits on further releases, up to one that uses so much of a limit.

        Each is raised by what simple attacks achieve on the same release. Where the time ends,
        those that were read decide if they are not too few.
        """
        verdicts = list[Verdict]()

        def keys() -> Iterator[int]:
            for key in self._further(place):
                yield key
                if (verdicts[-1].largest or 0.0) > stop:
                    return

        def read(compared: Comparison) -> Mapping[str, Reading | NotApplicable] | None:
            try:
                found = self._readings(compared, stop)
            except Late:
                if len(verdicts) < FEW_RELEASES:
                    raise
                return None
            verdicts.append(self.policy.judge(found))
            return found

        setting, measures = self.at(place), self.policy.measures
        return evaluate(self._tables, setting, keys(), measures, read=read), verdicts

    def _readings(
        self, compared: Comparison, stop: float, *, attack: bool = True
    ) -> Mapping[str, Reading | NotApplicable]:
        """Read the limits of a release, cheap ones first, up to one of which too much is used."""

        def reading(limit: Limit | None) -> Reading | NotApplicable:
            """Read a limit, or simple attacks, unless the time is over."""
            self._refuse_late()
            if limit is None:
                return read_safely(RED_TEAM, compared, bare=True)
            about, policy = MEASURES[limit.measure], Policy(limits=(limit,))
            first = about.read(compared, begin=True, bare=True)
            if isinstance(first, NotApplicable) or policy.judge({limit.measure: first}).shares:
                return first  # a lower bound keeps a limit only up to its upper bound
            return about.read(compared, begin=False, bare=True)

        read: dict[str, Reading | NotApplicable] = {}
        remembered = compared.cached_for_release
        for limit in sorted(self.policy.limits, key=lambda each: TURN.get(each.measure, len(TURN))):
            self.steps += 1
            read[limit.measure] = remembered(("limit", limit), partial(reading, limit))
            if (self.policy.judge(read).largest or 0.0) > stop:
                return read
        if attack and not read.keys().isdisjoint(RAISED):
            self.steps += 1
            read[RED_TEAM] = remembered("simple attacks", partial(reading, None))
        return attacked(read)

    def used(self, place: int) -> float:
        """Return what one more release uses of its worst limit, 9 times in 10, also if attacked.

        It ends at the first release that breaks a limit; infinite where one has no answer.
        """
        point, verdicts = self.further(place, stop=1.0)
        used = max(each.largest or 0.0 for each in verdicts)
        if used <= 1:  # of a few releases an interval says nothing yet
            verdict = self.policy.judge(point)
            used = (verdict.largest or 0.0) if verdict.kept or verdict.broken else math.inf
        self._worst[place] = used
        return used

    def nearest(self) -> tuple[float, int] | None:
        """Return the place read that comes nearest to all limits, after its share of the worst."""
        read = [(self.share(at), at) for at, v in self.verdicts.items() if v.released is None]
        broken = [each for each in read if 1 < each[0] < math.inf]  # others lose too much
        return min(broken, default=None)

    def share(self, place: int) -> float:
        """Return the largest share of a limit that any release read at a place has used."""
        verdict = self.verdict(place)
        first = math.inf if verdict.unread else verdict.largest or 0.0
        return max(first, self._worst.get(place, 0.0))

    def strongest(self, most: float) -> int | None:
        """Find the strongest place that loses at most so much; None without one."""

        def loses_less(place: int) -> bool:
            return self.loss(place) <= most

        place = self.last if loses_less(self.last) else edge(0, self.last, loses_less)
        return place if loses_less(place) else None

    def weakest_using(
        self, share: float, high: int | None = -1, near: float | None = None
    ) -> int | None:
        """Find the weakest place up to `high` that uses at most a share of each limit.

        The search goes by halves; with a strength that it is expected near, by growing steps first.
        """
        high = self.last if high == -1 else high
        if high is None:
            return None

        def passes(place: int) -> bool:
            """True if each limit is read, and at most a share of it is used."""
            verdict = self.verdict(place)
            used, open_ = verdict.largest, verdict.unread or verdict.released is not None
            return used is not None and used <= share and used < CLEARLY and not open_

        if near is None:
            return edge(high, -1, passes) if passes(high) else None
        part = (near - self.range.low) / max(self.range.high - self.range.low, 1e-9)
        return edge_near(min(max(round(part * self.last), 0), high), high, passes)


def _loss(compared: Comparison) -> float:
    found = MEASURES[UTILITY].read(compared, bare=True)
    return found.value if isinstance(found, Reading) else 1.0


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
    helps : float
        The share of a limit of which a release that uses more ends the look at a setting, without
        an answer; at least 1.
    within : float, optional
        The share of the relations that a setting may lose: each is read at the strongest place
        that does not lose more, and those that use least of the limits are best.
    stays : frozenset of str
        Methods of which all levers but the strength are kept; their keys.
    after : callable
        Called after each setting that was read.
    looked : int
        Settings tried.
    tried : list of FoundSetting
        Those that kept the policy, and those that came near, with a lower bound of their shares.
    """

    microdata: Microdata
    policy: Policy
    until: float = math.inf
    steps: float = math.inf
    places: int = PLACES
    least: float = MOST_LOST / _CLOSER
    releases: int | None = None
    helps: float = math.inf
    within: float | None = None
    stays: frozenset[str] = frozenset()
    after: Callable[[TableSearch], None] | None = None
    looked: int = 0
    tried: list[FoundSetting] = field(default_factory=list)
    _tables: PreparedTables = field(init=False)
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin with an empty memory."""
        self._tables = PreparedTables(self.microdata)

    @property
    def best(self) -> list[FoundSetting]:
        """The settings tried, sorted by their rank."""
        if self.within is not None:
            return sorted(self.tried, key=lambda each: (each.share, each.rank))
        return sorted(self.tried, key=lambda each: each.rank)

    @property
    def late(self) -> bool:
        """True if nothing more is tried."""
        return self.steps <= 0 or time.monotonic() > self.until

    def look(
        self, candidate: Setting, most: float | None = None, near: float | None = None
    ) -> FoundSetting | None:
        """Try a setting that may lose less than those before; None if it does not.

        With `most` it may lose so much, whatever others lose, and what comes nearest to the limits
        is read as a whole; `near` is the strength that is expected.
        """
        stays = candidate.method in self.stays
        own = *kind(candidate.resolved(self.microdata)), candidate.params if stays else None
        if self.late or (most is None and own in self._seen):
            return None
        self._seen.add(own)
        losses = (each.loss for each in self.tried if each.kept and each.loss is not None)
        least = min(losses, default=self.least)
        try:
            trial = StrengthTrial(
                *(self.microdata, candidate, self.policy),
                places=self.places,
                tables=self._tables,
                stays=stays,
            )
            trial.until, trial.releases = self.until, self.releases or trial.releases
            if self.within is None:
                place = _steady(trial, _CLOSER * least if most is None else most, near)
            else:
                place = trial.strongest(self.within)
            thorough, nearest = place is not None or most is not None, trial.nearest()
            place = nearest[1] if place is None and nearest is not None else place
            found = None
            if place is not None:
                found = self._read(trial, place) if thorough else _of_first(trial, place)
        except ParameterError:
            return None
        except Late:  # the weakest place that kept all is what is known; of no use without its loss
            first = min((at for at, each in trial.verdicts.items() if each.kept), default=None)
            found = None
            with suppress(Late):
                found = None if first is None else _of_first(trial, first)
        self.looked += 1
        self.steps -= trial.steps
        self.tried += [found] if found else []
        if found and self.after:
            self.after(self)
        return found

    def _read(self, trial: StrengthTrial, place: int) -> FoundSetting | None:
        """Read all limits at a place, and state the middle of what its releases use."""
        point, verdicts = trial.further(place, stop=self.helps)
        if (verdicts[-1].largest or 0.0) > self.helps:
            return None
        shares = {}
        for key in self.policy.measures:
            read = [each.shares[key] for each in verdicts if key in each.shares]
            shares[key] = median(read) if len(read) == len(verdicts) else math.inf
        judged = self.policy.judge(point)
        used = [math.inf if each.largest is None else each.largest for each in verdicts]
        high = (judged.largest or 0.0) if judged.kept or judged.broken else math.inf
        low = prediction_interval(used, bounds=(0.0, high))[0] if math.isfinite(max(used)) else 0.0
        return FoundSetting(
            point=point,
            verdict=judged,
            loss=fmean(trial.losses(place)),
            shares=shares,
            share=median(used),
            ends=(float(low), high),
            releases=len(verdicts),
        )


def _of_first(trial: StrengthTrial, place: int) -> FoundSetting:
    """Return what the first release of a place says, and the largest share that others used."""
    verdict = trial.verdict(place)
    return FoundSetting(
        point=Point(setting=trial.at(place), spreads={}),
        verdict=verdict,
        loss=trial.loss(place),
        shares=verdict.shares,
        share=trial.share(place),
        releases=1,
    )


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
