"""One release at each of a few strengths of a setting, read as far as a quick answer needs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TypeVar

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.errors import NotApplicable
from rwn_core.masking import LeverRange, Prepared, at_levers, lever_values
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors.slider_range import STORED_PAIRS
from rwn_core.randomness import SecretKey
from rwn_core.tuning.evaluate_settings import read_safely, spread_over_releases, together
from rwn_core.tuning.point import Point, Setting, released_share, too_few
from rwn_core.tuning.policy import Limit, Policy
from rwn_core.tuning.verdict import RAISED, RED_TEAM, Verdict, attacked

PLACES = 16  # parts between the ends of a strength
RELEASES, FEW_RELEASES = 6, 3  # that decide on a small table, and on a large one
CLEARLY = 1.5  # times a limit
MOST_LOST = 0.9  # of the relations; a release that loses more is of no use
_ORDER = ("bayes_linkage", "linked_over_half", "true_matches")  # cheap ones before a slow one
_SEED = 1  # of the first release
_HELD = 4  # releases of a trial in memory
_T = TypeVar("_T")


class Late(Exception):
    """The time of a trial is over."""


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
    until : float
        Monotonic seconds after which nothing more is drawn or read: `Late` is raised.
    tables : PreparedTables, optional
        What trials of other settings of the same table have found.

    Attributes
    ----------
    releases : int
        Further releases that decide: a few, by the number of records, or as many as are asked for.
    """

    def __init__(
        self,
        microdata: Microdata,
        setting: Setting,
        policy: Policy,
        *,
        places: int = PLACES,
        until: float = math.inf,
        tables: PreparedTables | None = None,
    ) -> None:
        self.policy, self.until = policy, until
        self.releases = RELEASES if microdata.n <= QUICK_RECORDS else FEW_RELEASES
        setting = setting.resolved(microdata)
        table = setting.applied_to(microdata)
        self._tables = tables or PreparedTables()
        self._start = self._tables.start(table, setting)
        usual = at_levers(setting.params, dict(self._start.presets["Standard"]))
        self._setting = replace(setting, params=usual)
        self._comparison = Comparison(original=table, masked=table)
        self.range: LeverRange = self._start.ranges[usual.strength]
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
        self._refuse_late()
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

    def mean_loss(self, place: int) -> float:
        """Return the mean loss of the further releases."""
        return fmean(self.losses(place))

    def verdict(self, place: int) -> Verdict:
        """Return the verdict on the limits up to the first that is not kept."""
        if place not in self._verdicts:
            self._verdicts[place] = self._remembered(place, self.policy, self._judged)
            self.steps += 1
        return self._verdicts[place]

    def _judged(self, compared: Comparison) -> Verdict:
        """Judge the limits that were read of a release, without simple attacks."""
        read = self._readings(compared, CLEARLY, attack=False)
        limits = tuple(each for each in self.policy.limits if each.measure in read)
        few = too_few(self._setting.params, compared.original, compared.masked)
        return replace(self.policy, limits=limits).judge(read, released=few)

    @staticmethod
    def _reading(limit: Limit, compared: Comparison) -> Reading | NotApplicable:
        """Read the measure of a limit: a lower bound that keeps it up to its upper bound."""
        about, policy = MEASURES[limit.measure], Policy(limits=(limit,))
        first = about.read(compared, begin=True, bare=True)
        if isinstance(first, NotApplicable) or policy.judge({limit.measure: first}).shares:
            return first
        return about.read(compared, begin=False, bare=True)

    def losses(self, place: int) -> list[float]:
        """Return the loss of each of the further releases."""
        return [_loss(each) for each in self._further(place)]

    def _further(self, place: int) -> Iterator[Comparison]:
        """Yield further releases; a small table's are remembered, with what was read of them."""
        if self._drawn[0] != place:
            self._drawn = place, []
        yield from self._drawn[1]
        first = self.releases < RELEASES
        if first:  # of a large table the one that was read already is not a matter of luck
            yield self._compared(place)
        moved = self._moved(place)
        for number in range(len(self._drawn[1]) + first, self.releases):
            if len(self._drawn[1]) >= FEW_RELEASES and self._late:
                return  # those that were drawn in time decide
            self._refuse_late()
            made = moved.release(SecretKey.from_seed(_SEED + 1 + number), threads=1)
            made = made.rounded(dict(self._setting.precision))
            compared = self._comparison.with_masked(made.masked, made.law)
            if not first:
                self._drawn[1].append(compared)
            yield compared

    @property
    def _late(self) -> bool:
        return time.monotonic() > self.until

    def _refuse_late(self) -> None:
        if self._late:
            raise Late

    def _in_time(self, read: Callable[[], _T]) -> _T:
        """Read what was not read before, unless the time is over."""
        self._refuse_late()
        return read()

    def further(self, place: int, stop: float = CLEARLY) -> tuple[Point, list[Verdict]]:
        """Read all limits on further releases, up to one that uses so much of a limit.

        Each is raised by what simple attacks achieve on the same release. Where the time ends,
        those that were read decide if they are not too few.
        """
        read, shown, verdicts = [], [], list[Verdict]()
        for compared in self._further(place):
            try:
                read.append(self._readings(compared, stop))
            except Late:
                if len(verdicts) < FEW_RELEASES:
                    raise
                break
            shown.append(released_share(self._comparison.original, compared.masked))
            verdicts.append(self.policy.judge(read[-1]))
            if (verdicts[-1].largest or 0.0) > stop:
                break
        spreads = {
            key: spread_over_releases(key, [each[key] for each in read if key in each])
            for key in self.policy.measures
            if any(key in each for each in read)
        }
        return Point(setting=self.at(place), spreads=spreads, shown=tuple(shown)), verdicts

    def _readings(
        self, compared: Comparison, stop: float, *, attack: bool = True
    ) -> Mapping[str, Reading | NotApplicable]:
        """Read the limits of a release, cheap ones first, up to one of which too much is used."""
        read: dict[str, Reading | NotApplicable] = {}
        for limit in sorted(self.policy.limits, key=_turn):
            self.steps += 1
            about = partial(self._reading, limit, compared)
            read[limit.measure] = compared.cached_for_release(
                ("limit", limit), partial(self._in_time, about)
            )
            if (self.policy.judge(read).largest or 0.0) > stop:
                return read
        if attack and RAISED.keys() & read.keys():
            self.steps += 1
            tried = partial(read_safely, RED_TEAM, compared, bare=True)
            read[RED_TEAM] = compared.cached_for_release(
                "simple attacks", partial(self._in_time, tried)
            )
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

    def keeping_places(self) -> list[int]:
        """Return the places of which the first release keeps all limits, ascending."""
        return sorted(place for place, verdict in self._verdicts.items() if verdict.kept)

    def nearest(self) -> tuple[float, int] | None:
        """Return the place read that comes nearest to all limits, after its share of the worst."""
        read = [(self.share(at), at) for at, v in self._verdicts.items() if v.released is None]
        broken = [each for each in read if 1 < each[0] < math.inf]  # others lose too much
        return min(broken, default=None)

    def share(self, place: int) -> float:
        """Return the largest share of a limit that any release read at a place has used."""
        verdict = self.verdict(place)
        first = math.inf if verdict.unread else verdict.largest or 0.0
        return max(first, self._worst.get(place, 0.0))

    def strongest(self, most: float) -> int | None:
        """Find by halves the strongest place that loses at most so much; None without one."""
        if self.loss(self.last) <= most:
            return self.last
        low, high = 0, self.last
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.loss(middle) <= most else (low, middle)
        return low if self.loss(low) <= most else None

    def weakest(self, most: float = 1.0) -> int | None:
        """Find by halves the weakest place that keeps all limits and loses at most so much."""
        return self.weakest_using(1.0, self.strongest(most))

    def weakest_using(
        self, share: float, high: int | None = -1, near: float | None = None
    ) -> int | None:
        """Find the weakest place up to `high` that uses at most a share of each limit.

        The search goes by halves; with a strength that it is expected near, by growing steps first.
        """
        high = self.last if high == -1 else high
        low, known = -1, False
        if high is not None and near is not None:
            part = (near - self.range.low) / max(self.range.high - self.range.low, 1e-9)
            place, step = min(max(round(part * self.last), 0), high), 1
            if self._uses(place, share):
                while place > 0 and self._uses(max(place - step, 0), share):
                    place, step = max(place - step, 0), 2 * step
                low, high, known = max(place - step, -1), place, True
            else:
                while place < high and not known:
                    low, place = place, min(place + step, high)
                    step, known = 2 * step, self._uses(place, share)
                high = place
        if high is None or not (known or self._uses(high, share)):
            return None
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


def _loss(compared: Comparison) -> float:
    found = MEASURES[UTILITY].read(compared, bare=True)
    return found.value if isinstance(found, Reading) else 1.0


def _turn(limit: Limit) -> int:
    return _ORDER.index(limit.measure) if limit.measure in _ORDER else len(_ORDER)
