"""One release at each of a few strengths of a setting, read as far as a quick answer needs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.ends import unmasked
from rwn_core.masking import LeverRange, Masked, at_levers, lever_values
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey
from rwn_core.tuning.evaluate_settings import Plan, Trials, spread_over_releases, with_red_team
from rwn_core.tuning.point import Point, Setting, too_few
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.verdict import Verdict, with_attacked

PLACES = 16  # parts between the ends of a strength
RELEASES = 6
CLEARLY = 1.5  # times a limit
MOST_LOST = 0.9  # of the relations; a release that loses more is of no use
_ORDER = ("bayes_linkage", "linked_over_half", "true_matches")  # cheap ones before a slow one


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
    within : LeverRange, optional
        Range of the strength; the table's by default.
    seed : int
        Of the release.
    """

    def __init__(
        self,
        microdata: Microdata,
        setting: Setting,
        policy: Policy,
        *,
        places: int = PLACES,
        within: LeverRange | None = None,
        seed: int = 1,
    ) -> None:
        self.policy, self._seed = policy, seed
        setting = setting.resolved(microdata)
        table = setting.applied_to(microdata)
        self._start = setting.params.prepare(table)
        usual = at_levers(setting.params, dict(self._start.presets["Standard"]))
        self._setting = replace(setting, params=usual)
        self._comparison = Comparison(original=table, masked=table)
        self.range: LeverRange = within or self._start.ranges[usual.strength]
        steps = round((self.range.high - self.range.low) / self.range.step)
        self.last = max(min(places, steps), 0)
        self._losses: dict[int, float] = {}
        self._verdicts: dict[int, Verdict] = {}
        self._released: tuple[int, Masked] | None = None
        self.steps = 0  # releases drawn and read so far

    def at(self, place: int) -> Setting:
        """Return the setting at a place, from 0, the weakest, to `last`."""
        ends, params = self.range, self._setting.params
        steps = round(place * (ends.high - ends.low) / ends.step / max(self.last, 1))
        value = round(ends.low + steps * ends.step, 10)
        return replace(self._setting, params=at_levers(params, {params.strength: value}))

    def _compared(self, place: int) -> Comparison:
        """Return the comparison of a place's release; the last one drawn is remembered."""
        if self._released is None or self._released[0] != place:
            moved = self._start.with_levers(**lever_values(self.at(place).params))
            drawn = moved.release(SecretKey.from_seed(self._seed), threads=1)
            self.steps += 1
            self._released = place, drawn.rounded(dict(self._setting.precision))
            made = self._released[1]
            self._comparison = self._comparison.with_masked(made.masked, made.law)
        return self._comparison

    def loss(self, place: int) -> float:
        """Return the share of relations that is lost; 1 where none can be read."""
        if place not in self._losses:
            self._losses[place] = _loss(self._compared(place))
        return self._losses[place]

    def mean_loss(self, place: int, releases: int = 3) -> float:
        """Return the mean loss of a few releases."""
        first, moved = (
            self.loss(place),
            self._start.with_levers(**lever_values(self.at(place).params)),
        )
        losses = [first]
        for seed in range(2, releases + 1):
            made = moved.release(SecretKey.from_seed(seed), threads=1)
            found = MEASURES[UTILITY].read(self._comparison.with_masked(made.masked), bare=True)
            losses.append(found.value if isinstance(found, Reading) else 1.0)
        return fmean(losses)

    def verdict(self, place: int) -> Verdict:
        """Return the verdict on the limits up to the first that is not kept."""
        if place not in self._verdicts:
            self._verdicts[place] = self._judged(self._compared(place))
            self.steps += 1
        return self._verdicts[place]

    def _judged(self, compared: Comparison) -> Verdict:
        few = too_few(self._setting.params, compared.original, compared.masked)
        verdicts = []
        for limit in sorted(self.policy.limits, key=_turn):
            verdicts.append(self._against(limit, compared))
            if (verdicts[-1].largest or 0.0) >= CLEARLY:
                break
        return Verdict(
            shares={key: share for each in verdicts for key, share in each.shares.items()},
            unread={key: why for each in verdicts for key, why in each.unread.items()},
            values={key: value for each in verdicts for key, value in each.values.items()},
            standing={key: words for each in verdicts for key, words in each.standing.items()},
            released=few,
        )

    @staticmethod
    def _against(limit: Limit, compared: Comparison) -> Verdict:
        """Hold one limit; a lower bound that keeps it is read to its upper bound."""
        reading = StrengthTrial._reading(limit, compared)
        return Policy(limits=(limit,)).judge_readings({limit.measure: reading})

    @staticmethod
    def _reading(limit: Limit, compared: Comparison) -> Reading | NotApplicable:
        """Read the measure of a limit: a lower bound that keeps it up to its upper bound."""
        about, policy = MEASURES[limit.measure], Policy(limits=(limit,))
        first = about.read(compared, begin=True, bare=True)
        if isinstance(first, NotApplicable) or policy.judge_readings({limit.measure: first}).shares:
            return first
        return about.read(compared, begin=False, bare=True)

    def keeps(self, place: int) -> bool:
        """True if the release of a place keeps every limit."""
        return self.verdict(place).kept

    def losses(self, place: int, releases: int = RELEASES) -> list[float]:
        """Return the loss of each of a few releases."""
        return [_loss(each) for each in self._further(place, releases)]

    def _further(self, place: int, releases: int) -> Iterator[Comparison]:
        """Yield the comparisons of further releases at a place."""
        moved = self._start.with_levers(**lever_values(self.at(place).params))
        for seed in range(self._seed + 1, self._seed + 1 + releases):
            made = moved.release(SecretKey.from_seed(seed), threads=1)
            made = made.rounded(dict(self._setting.precision))
            yield self._comparison.with_masked(made.masked, made.law)

    def nearest(self) -> list[tuple[float, Setting]]:
        """Return the place read that comes nearest to all limits, with its share of the worst."""
        read = [
            (each.largest, place)
            for place, each in self._verdicts.items()
            if each.largest is not None and not each.unread and each.released is None
        ]
        return [(share, self.at(place)) for share, place in [min(read)]] if read else []

    def point(self, place: int, releases: int = RELEASES, until: float = math.inf) -> Point | None:
        """Read all limits on more releases, up to the first broken clearly; None if late."""
        setting, table = self.at(place), self._comparison.original
        plan = Plan(measures=self.policy.measures, releases=releases, seed=self._seed + 1)
        trials = Trials(table, [setting], plan)
        point = Point(setting=setting, spreads={})
        for limit in sorted(self.policy.limits, key=_turn):
            if time.monotonic() > until:
                return None
            trials.plan = replace(plan, measures=(limit.measure,))
            found = trials.run(setting)
            point = replace(found, spreads={**point.spreads, **found.spreads})
            if limit.share(found.median(limit.measure) or 0.0) >= CLEARLY:
                return point
        if time.monotonic() > until:
            return None
        trials.plan = with_red_team(plan)
        return with_attacked(point, trials.run(setting))

    def used(self, place: int, releases: int = RELEASES) -> float:
        """Return what one more release uses of its worst limit, 9 times in 10, also if attacked.

        It ends at the first limit that is broken; infinite where one has no answer.
        """
        setting = self.at(place)
        attacks = self._attacked(setting, 1)  # which show most of what more releases would
        used = [self._share(attacks, limit) for limit in self._limits(attacks)]
        if max(used, default=0.0) > 1:
            return max(used)
        drawn = list(self._further(place, releases))
        original = self._comparison.original
        if any(too_few(setting.params, original, each.masked) for each in drawn):
            return math.inf
        point = Point(setting=setting, spreads={})
        for limit in sorted(self.policy.limits, key=_turn):
            self.steps += releases
            readings = [self._reading(limit, each) for each in drawn]
            spread = spread_over_releases(limit.measure, readings)
            point = replace(point, spreads={**point.spreads, limit.measure: spread})
            used.append(self._share(point, limit))
            if used[-1] > 1:
                return used[-1]
        raised = with_attacked(point, self._attacked(setting, releases))
        return max(self._share(raised, limit) for limit in self.policy.limits)

    def _attacked(self, setting: Setting, releases: int) -> Point:
        """Return what simple attacks raise on a few releases of a setting."""
        plan = Plan(measures=self.policy.measures, releases=releases, seed=self._seed + 1)
        self.steps += 2 * releases
        trials = Trials(self._comparison.original, [setting], with_red_team(plan))
        return with_attacked(Point(setting=setting, spreads={}), trials.run(setting))

    def _limits(self, point: Point) -> list[Limit]:
        """Return the limits on what a point has."""
        return [each for each in self.policy.limits if each.measure in point.spreads]

    @staticmethod
    def _share(point: Point, limit: Limit) -> float:
        """Return how much of a limit is used at the upper end; infinite without an answer."""
        return Policy(limits=(limit,)).judge_point(point).shares.get(limit.measure, math.inf)

    def confirmed(self, most: float) -> int | None:
        """Find a place near the weakest at which one more release keeps all limits, too."""
        strongest = self.strongest(most)
        if strongest is None:
            return None
        place, step = self.weakest(most), max(1, self.last // PLACES)
        place = strongest if place is None else place
        while place <= strongest:
            if self.used(place) <= 1:
                return place
            place, step = place + step, 2 * step
        return None

    def strongest(self, most: float, until: float = math.inf) -> int | None:
        """Find by halves the strongest place that loses at most so much; None without, or late."""
        if self.loss(self.last) <= most:
            return self.last
        low, high = 0, self.last
        while high - low > 1:
            if time.monotonic() > until:
                return None
            middle = (low + high) // 2
            low, high = (middle, high) if self.loss(middle) <= most else (low, middle)
        return low if self.loss(low) <= most else None

    def weakest(self, most: float = 1.0) -> int | None:
        """Find by halves the weakest place that keeps all limits and loses at most so much."""
        return self.weakest_using(1.0, self.strongest(most))

    def weakest_using(self, share: float, high: int | None = -1) -> int | None:
        """Find by halves the weakest place up to `high` that uses at most a share of each limit."""
        high = self.last if high == -1 else high
        if high is None or not self._uses(high, share):
            return None
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._uses(middle, share) else (middle, high)
        return high

    def _uses(self, place: int, share: float) -> bool:
        """True if each limit is read, and at most a share of it is used."""
        verdict = self.verdict(place)
        used = verdict.largest
        within = used is not None and used <= share and used < CLEARLY
        return within and not verdict.unread and verdict.released is None

    def keeps_again(self, place: int, releases: int = 2) -> bool:
        """True if other releases keep all limits, too."""
        for each in self._further(place, releases):
            self.steps += 2
            if not self._judged(each).kept:
                return False
        return True


def _loss(compared: Comparison) -> float:
    found = MEASURES[UTILITY].read(compared, bare=True)
    return found.value if isinstance(found, Reading) else 1.0


def _turn(limit: Limit) -> int:
    return _ORDER.index(limit.measure) if limit.measure in _ORDER else len(_ORDER)


def judgeable(microdata: Microdata, policy: Policy) -> tuple[Policy | None, dict[str, str]]:
    """Set apart the limits that the unmasked file keeps or that have no answer on this table."""
    masked, law = unmasked(microdata)
    compared = Comparison(original=microdata, masked=masked, law=law)
    apart = {}
    for limit in policy.limits:
        reading = MEASURES[limit.measure].read(compared, begin=True, bare=True)
        if isinstance(reading, NotApplicable):
            apart[limit.measure] = reading.reason
        elif limit.share(reading.value) <= 1:
            apart[limit.measure] = "The unmasked file keeps this limit."
    left = tuple(limit for limit in policy.limits if limit.measure not in apart)
    return (replace(policy, limits=left) if left else None), apart
