"""One release at each of a few strengths of a setting, read as far as a quick answer needs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TypeVar

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.errors import NotApplicable
from rwn_core.masking import LeverRange, Prepared, at_levers, lever_values
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.slider_range import STORED_PAIRS
from rwn_core.randomness import SecretKey
from rwn_core.tuning.evaluate_settings import ATTACKED, read_safely, spread_over_releases, together
from rwn_core.tuning.point import Point, Setting, released_share, too_few
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.verdict import RAISED, RED_TEAM, Verdict, attacked, with_attacked

PLACES = 16  # parts between the ends of a strength
RELEASES = 6
CLEARLY = 1.5  # times a limit
MOST_LOST = 0.9  # of the relations; a release that loses more is of no use
_ORDER = ("bayes_linkage", "linked_over_half", "true_matches")  # cheap ones before a slow one
_SEED = 1  # of the first release
_HELD = 4  # releases of a trial in memory
_T = TypeVar("_T")


class PreparedTables:
    """Tables that are prepared once for trials of other slices, which change no distance."""

    def __init__(self) -> None:
        self._starts: dict[Hashable, Prepared] = {}
        self._moved: dict[Hashable, Prepared] = {}

    def start(self, table: Microdata, setting: Setting) -> Prepared:
        """Return the table prepared for a setting, with its slices."""
        params, same = setting.params, together(setting)
        if same not in self._starts:
            self._starts[same] = params.prepare(table)
        return _sliced(self._starts[same].with_setting(params), table.schema.slices)

    def moved(self, start: Prepared, setting: Setting) -> Prepared:
        """Return a start at the levers of a setting; the last soft neighborhoods are remembered."""
        levers = lever_values(setting.params)
        if getattr(setting.params, "kernel", "even") == "even":
            return start.with_levers(**levers)
        key = setting.weights, setting.params
        if key not in self._moved:
            if len(self._moved) >= STORED_PAIRS // start.microdata.n**2:
                self._moved.clear()
            self._moved[key] = start.with_levers(**levers)
            assert self._moved[key].exact_law is not None  # its neighborhoods are found
        return _sliced(self._moved[key], start.microdata.schema.slices)


def _sliced(prepared: Prepared, slices: Slices) -> Prepared:
    same = prepared.microdata.schema.slices == slices
    return prepared if same else prepared.with_slices(slices)


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
    tables : PreparedTables, optional
        What trials of other settings of the same table have found.
    """

    def __init__(
        self,
        microdata: Microdata,
        setting: Setting,
        policy: Policy,
        *,
        places: int = PLACES,
        within: LeverRange | None = None,
        tables: PreparedTables | None = None,
    ) -> None:
        self.policy = policy
        setting = setting.resolved(microdata)
        table = setting.applied_to(microdata)
        self._tables = tables or PreparedTables()
        self._start = self._tables.start(table, setting)
        usual = at_levers(setting.params, dict(self._start.presets["Standard"]))
        self._setting = replace(setting, params=usual)
        self._comparison = Comparison(original=table, masked=table)
        self.range: LeverRange = within or self._start.ranges[usual.strength]
        steps = round((self.range.high - self.range.low) / self.range.step)
        self.last = max(min(places, steps), 0)
        self._losses: dict[int, float] = {}
        self._verdicts: dict[int, Verdict] = {}
        self._last: int | None = None  # place of the last release
        self._releases: dict[int, Comparison] = {}  # of the last few places
        self._drawn: tuple[int, list[Comparison]] = -1, []
        self._worst: dict[int, float] = {}  # of further releases at a place
        self.steps = 0  # releases and readings asked for so far

    def at(self, place: int) -> Setting:
        """Return the setting at a place, from 0, the weakest, to `last`."""
        ends, params = self.range, self._setting.params
        steps = round(place * (ends.high - ends.low) / ends.step / max(self.last, 1))
        value = round(ends.low + steps * ends.step, 10)
        return replace(self._setting, params=at_levers(params, {params.strength: value}))

    def _moved(self, place: int) -> Prepared:
        return self._tables.moved(self._start, self.at(place))

    def _compared(self, place: int) -> Comparison:
        """Return the comparison of a place's release; the last few are remembered."""
        if place not in self._releases:
            if len(self._releases) == _HELD:
                del self._releases[next(iter(self._releases))]
            drawn = self._moved(place).release(SecretKey.from_seed(_SEED), threads=1)
            made = drawn.rounded(dict(self._setting.precision))
            self._releases[place] = self._comparison.with_masked(made.masked, made.law)
        return self._releases[place]

    def _remembered(self, place: int, about: object, read: Callable[[Comparison], _T]) -> _T:
        """Read a place's release, once for all trials of a table that come to this setting."""
        if self._last != place:
            self._last, self.steps = place, self.steps + 1
        table = self._comparison.original
        key = ("trial", table.schema, self.at(place), _SEED, about)
        return table.cached(key, lambda: read(self._compared(place)))

    def loss(self, place: int) -> float:
        """Return the share of relations that is lost; 1 where none can be read."""
        if place not in self._losses:
            self._losses[place] = self._remembered(place, None, _loss)
        return self._losses[place]

    def mean_loss(self, place: int, releases: int = 3) -> float:
        """Return the mean loss of a few releases."""
        return fmean([self.loss(place), *self.losses(place, releases - 1)])

    def verdict(self, place: int) -> Verdict:
        """Return the verdict on the limits up to the first that is not kept."""
        if place not in self._verdicts:
            self._verdicts[place] = self._remembered(place, self.policy, self._judged)
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
            none_allowed=verdicts[-1].none_allowed,
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
        """Yield further releases; a small table's are remembered, with what was read of them."""
        if self._drawn[0] != place:
            self._drawn = place, []
        yield from self._drawn[1][:releases]
        small = self._comparison.original.n <= LARGEST_DENSE
        moved = self._moved(place)
        for number in range(len(self._drawn[1]), releases):
            made = moved.release(SecretKey.from_seed(_SEED + 1 + number), threads=1)
            made = made.rounded(dict(self._setting.precision))
            compared = self._comparison.with_masked(made.masked, made.law)
            if small:
                self._drawn[1].append(compared)
            yield compared

    def nearest(self) -> list[tuple[float, Setting]]:
        """Return the place read that comes nearest to all limits, with its share of the worst."""
        read = [(self.share(at), at) for at, v in self._verdicts.items() if v.released is None]
        broken = [each for each in read if 1 < each[0] < math.inf]  # others lose too much
        return [(share, self.at(place)) for share, place in [min(broken)]] if broken else []

    def share(self, place: int) -> float:
        """Return the largest share of a limit that any release read at a place has used."""
        verdict = self.verdict(place)
        first = math.inf if verdict.unread else verdict.largest or 0.0
        return max(first, self._worst.get(place, 0.0))

    def point(self, place: int, releases: int = RELEASES, until: float = math.inf) -> Point | None:
        """Read all limits on more releases, up to the first broken clearly; None if late."""
        setting, table = self.at(place), self._comparison.original
        shown = [released_share(table, each.masked) for each in self._further(place, releases)]
        point = Point(setting=setting, spreads={}, shown=tuple(shown))
        for limit in sorted(self.policy.limits, key=_turn):
            if time.monotonic() > until:
                return None
            key = limit.measure
            readings = [read_safely(key, each) for each in self._further(place, releases)]
            point = _with_spread(point, key, readings)
            if limit.share(point.median(key) or 0.0) >= CLEARLY:
                return point
        if time.monotonic() > until:
            return None
        return with_attacked(point, self._attacked(place, releases, bare=False))

    def used(self, place: int, releases: int = RELEASES) -> float:
        """Return what one more release uses of its worst limit, 9 times in 10, also if attacked.

        It ends at the first limit that is broken; infinite where one has no answer.
        """
        self._worst[place] = self._used(place, releases)
        return self._worst[place]

    def _used(self, place: int, releases: int) -> float:
        setting = self.at(place)
        attacks = self._attacked(place, 1)  # which show most of what more releases would
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
            point = _with_spread(point, limit.measure, readings)
            used.append(self._share(point, limit))
            if used[-1] > 1:
                return used[-1]
        raised = with_attacked(point, self._attacked(place, releases))
        return max(self._share(raised, limit) for limit in self.policy.limits)

    def _attacked(self, place: int, releases: int, *, bare: bool = True) -> Point:
        """Return what simple attacks raise on a few of the further releases at a place."""
        self.steps += 2 * releases
        keys = [key for key in RAISED if key in self.policy.measures]

        def readings(compared: Comparison) -> Mapping[str, Reading | NotApplicable]:
            stated = {key: read_safely(key, compared, bare=bare) for key in keys}
            return attacked({**stated, RED_TEAM: read_safely(RED_TEAM, compared, bare=True)})

        read = [
            each.cached_for_release(("attacked", bare), partial(readings, each))
            for each in self._further(place, min(ATTACKED, releases) if keys else 0)
        ]
        found = Point(setting=self.at(place), spreads={})
        for key in keys:
            found = _with_spread(found, key, [each[key] for each in read])
        return with_attacked(replace(found, spreads={}), found)

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
            verdict = self._judged(each)
            if not verdict.kept:
                self._worst[place] = math.inf if verdict.unread else verdict.largest or 0.0
                return False
        return True


def _loss(compared: Comparison) -> float:
    found = MEASURES[UTILITY].read(compared, bare=True)
    return found.value if isinstance(found, Reading) else 1.0


def _with_spread(point: Point, key: str, readings: Sequence[Reading | NotApplicable]) -> Point:
    """Return a point with the readings of one more measure."""
    return replace(point, spreads={**point.spreads, key: spread_over_releases(key, readings)})


def _turn(limit: Limit) -> int:
    return _ORDER.index(limit.measure) if limit.measure in _ORDER else len(_ORDER)
