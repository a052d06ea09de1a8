"""Settings along their strength, each read as far as needed, and compared on a table.

A place is a number of steps of a strength, from 0, the weakest. One release of each decides where
to look; further releases, attacked, decide what is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any, TypeVar

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.masking import SoftRWN
from rwn_core.measures import USE, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.use_left import UseLeft
from rwn_core.parallel import clock
from rwn_core.parallel.deadline import Deadline
from rwn_core.parallel.threads import Cancelled, work
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.disclosed_within_slices import is_disclosed_within_slices
from rwn_core.tuning.evaluate import PreparedTables, evaluate
from rwn_core.tuning.first_place import first_that
from rwn_core.tuning.least_width import narrowest
from rwn_core.tuning.point import Point, Setting, Spread, also_read, too_few
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.releases_left import lost, middle, relations_lost, use_left
from rwn_core.tuning.several_draws import (
    CLEARLY,
    DECISIVE,
    FEW_RELEASES,
    FIRST,
    RELEASES,
    Late,
    draws_of,
    further_keys,
    note_draws,
    read_limits,
    where_one_falls,
)
from rwn_core.tuning.verdict import RAISED, Verdict
from rwn_core.tuning.ways import kind, way_of

PLACES = 16  # parts between the ends of a strength
MOST_LOST = 0.9  # of a part of the use; a release that loses more is of no use
_BETWEEN = (0.25, 0.5, 0.75)  # of the way from the weakest place to the strongest
_CANDIDATE = 0.4  # of the time that is left, which one setting may take
_FIRST_CANDIDATE = 0.8  # the same, as long as nothing is found
_CHECKS = 6  # places at which further releases are read and attacked
_ATTACKED = 3  # settings that simple attacks are tried on before the best one is masked more
_CLOSER = 0.95  # of the least loss so far: what a candidate must come below to be followed
_T = TypeVar("_T")


@dataclass(slots=True, kw_only=True)
class TableSearch:
    """A search that tries settings on a table, each at its best strength, within some seconds.

    Attributes
    ----------
    microdata : Microdata
    policy : Policy
        Its limits that can be judged.
    until : float
        Processor seconds (`clock.processor_seconds`) after which nothing more is tried, nor what
        would end later by the time that the same took before with settings of this kind.
    steps : float
        Releases and readings after which nothing more is tried.
    tries : float
        Places read after which nothing more is tried.
    places : int
        Parts of a strength.
    values : mapping of str to sequence of float
        By name of a strength the values that are tried, weakest first.
    least : float
        The least loss known before.
    closer : float
        The part of the least loss so far that a setting must come below.
    releases : int, optional
        Further releases that decide at a place; by default by the number of records.
    ranks : bool
        Whether further releases only rank settings, by the worst of them: on a part of a table,
        where one more release of all records is not what is asked.
    helps : float
        The share of a limit of which a release that uses more ends the look at a setting, without
        an answer; at least 1.
    within : float, optional
        The share of the use that a setting may lose: each is read at the strongest place that
        does not lose more, and those that use least of the limits are best.
    stays : frozenset of str
        Methods of which all levers but the strength are kept; their keys.
    after : callable
        Called after each setting that was read.
    took, guessed : dict of str to float
        The processor seconds that a step took last, by its name and the kind of setting; those
        guessed from other records rule nothing out before a setting is found.
    over : bool
        Whether a step did not end for lack of time.
    skipped : bool
        Whether a setting was left out because its next step would end too late.
    looked, read : int
        Settings tried, without those of which nothing was read in time; and their places at which
        further releases were read, or one that broke a limit.
    tried : list of FoundSetting
        Those that kept the policy, and those that came near, with a lower bound of their shares.
    seen : set
        Settings that are not tried again.
    unread : dict of str to str
        By measure, why a limit had no answer at a setting that was not found.
    trials : dict
        By setting that was found, its trial and place.
    passed : dict of str to float
        By kind of setting the strength from which a first release of the last one kept all limits:
        the next one is read near it first.
    candidate_until : float
        Processor seconds after which the setting that is looked at is left.
    tables : PreparedTables
        What trials of other settings have found.
    """

    microdata: Microdata
    policy: Policy
    until: float = math.inf
    steps: float = math.inf
    tries: float = math.inf
    places: int = PLACES
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    least: float = MOST_LOST / _CLOSER
    closer: float = _CLOSER
    releases: int | None = None
    ranks: bool = False
    helps: float = math.inf
    within: float | None = None
    stays: frozenset[str] = frozenset()
    after: Callable[[TableSearch], None] = lambda table: None
    took: dict[str, float] = field(default_factory=dict)
    guessed: dict[str, float] = field(default_factory=dict)
    over: bool = False
    skipped: bool = False
    looked: int = 0
    read: int = 0
    tried: list[FoundSetting] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    unread: dict[str, str] = field(default_factory=dict)
    trials: dict[Setting, tuple[StrengthTrial, int]] = field(default_factory=dict)
    passed: dict[str, float] = field(default_factory=dict)
    candidate_until: float = math.inf
    tables: PreparedTables = field(init=False)

    def __post_init__(self) -> None:
        """Begin with an empty memory, and as many releases as the table is small."""
        self.tables = PreparedTables(self.microdata)
        self.releases = self.releases or draws_of(self.microdata.n)

    @property
    def best(self) -> list[FoundSetting]:
        """The settings tried, sorted by their rank."""
        if self.within is not None:
            return sorted(self.tried, key=lambda each: (each.share, each.rank))
        return sorted(self.tried, key=lambda each: each.rank)

    @property
    def late(self) -> bool:
        """True if nothing more is tried."""
        done = self.steps <= 0 or self.read >= self.tries
        return done or self.over or clock.processor_seconds() > self.until

    @property
    def incomplete(self) -> bool:
        """True if something was left out for lack of time."""
        return self.late or self.skipped

    def answer(self, goal: Policy, judged: Policy, of: int, **more: object) -> SearchAnswer:
        """Return the answer so far, as a policy itself judges what wider limits found."""
        found = self.best
        if self.policy != judged:
            found = [replace(each, verdict=judged.judge(each.point)) for each in found]
            found.sort(key=lambda each: each.rank)
        if self.microdata.n < of:
            found = [replace(each, whole=False) for each in found]
        known: dict[str, Any] = {
            "settings": tuple(found),
            "reached": found[0].kept,
            "confirmed": found[0].releases > 1 and (found[0].attacked or not found[0].kept),
            "tried": self.looked,
            "records": self.microdata.n,
            "of": of,
        }
        return SearchAnswer(goal=goal, **(known | more))

    def expected(self, setting: Setting, values: Sequence[float]) -> Floats | None:
        """Return what is lost at each strength at least, shape (m,); None where releases tell."""
        return None

    def timed(self, what: str, do: Callable[[], _T]) -> _T:
        """Do a step, unless it would end too late by the time that it took last; raise `Late`.

        What it is begins with its name; then comes the kind of setting. A kind that did not have
        the step yet is expected to take as long as the quickest other one.
        """
        name = what.partition(" ")[0]
        known = {**self.guessed, **self.took} if self.tried else self.took
        others = [each for key, each in known.items() if key.partition(" ")[0] == name]
        expected = known.get(what, min(others, default=0.0))
        begin = clock.processor_seconds()
        until = min(self.until, self.candidate_until)
        if self.over or begin + expected > until:
            self.skipped = True
            raise Late
        try:
            with work(cancel=Deadline(until)):
                return do()
        except Cancelled:
            self.over = clock.processor_seconds() > self.until
            if clock.processor_seconds() > until:
                self.skipped = True
                raise Late from None
            raise
        finally:
            self.took[what] = clock.processor_seconds() - begin

    def look(
        self, candidate: Setting, most: float | None = None, near: float | None = None
    ) -> FoundSetting | None:
        """Try a setting that may lose less than those before.

        None if it does not, if it was tried before, is refused on this table, discloses values
        within its slices, or if the time is over.

        With `most` it may lose so much, whatever others lose, and what comes nearest to the limits
        is read as a whole; `near` is the strength that is expected.
        """
        new = self._new(candidate, may_lose=most is not None)
        if new is None:
            return None
        candidate = new
        self.candidate_until = self._end_of_candidate(may_lose=most is not None)
        trial = found = None
        try:
            trial = StrengthTrial(self, candidate)
            found = self._found_along(trial, most, near)
        except ParameterError:
            return None
        except Late:
            found = self._found_late(trial)
            was_read = trial is not None and trial.was_read
            if found is None and not was_read:  # it was not tried
                return None
        finally:
            self.candidate_until = math.inf
        self.looked += 1
        self.read += 0 if trial is None else max(len(trial.worst), 1)
        if found:
            self.tried.append(found)
            self.after(self)
        elif trial is not None:
            for verdict in trial.verdicts.values():
                self.unread |= verdict.unread
        return found

    def _new(self, candidate: Setting, *, may_lose: bool) -> Setting | None:
        """Return a setting as it is tried; None if it is not, as `look` says."""
        stays = candidate.method in self.stays
        if self.policy.needs_own and candidate.method == SoftRWN.method and not stays:
            candidate = replace(candidate, params=replace(candidate.params, own=True))
        kept = kind(candidate.resolved(self.microdata), levers=stays)
        if self.late or (not may_lose and kept in self.seen):
            return None
        self.seen.add(kept)
        if not may_lose and is_disclosed_within_slices(self.microdata, self.policy, candidate):
            return None
        return candidate

    def lost_near(self, candidate: Setting) -> float:
        """Return what one release of a setting loses near its own strength.

        The whole use where it is refused; nothing where there is no time to draw it.
        """
        try:
            trial = StrengthTrial(self, candidate)
            params = candidate.params
            return trial.loss(trial.place_near(getattr(params, params.strength)))
        except ParameterError:
            return 1.0
        except Late:
            return 0.0

    def _end_of_candidate(self, *, may_lose: bool) -> float:
        """Return until when a setting is tried: all of the time where it may lose what it likes."""
        now = clock.processor_seconds()
        if may_lose:
            return self.until
        share = _CANDIDATE if self.tried else _FIRST_CANDIDATE
        return now + share * (self.until - now)

    def _found_along(
        self, trial: StrengthTrial, most: float | None, near: float | None
    ) -> FoundSetting | None:
        """Return the best place along the strength of a setting, or what comes nearest."""
        if self.within is None:
            place = trial.steady(self._least_known if most is None else most, near)
        else:
            place = trial.strongest(self.within)
        thorough = place is not None or most is not None
        nearest = trial.nearest()
        if place is None and nearest is not None:
            place = nearest[1]
        if place is None:
            return None
        found = trial.found(place) if thorough else trial.first_found(place)
        self.trials[trial.at(place)] = trial, place
        return found

    @property
    def _least_known(self) -> float:
        """What a setting must lose less than, by those that keep the limits."""
        losses = (each.loss for each in self.tried if each.kept and each.loss is not None)
        return self.closer * min(losses, default=self.least)

    def _found_late(self, trial: StrengthTrial | None) -> FoundSetting | None:
        """Return the weakest place that kept all when the time was over.

        It is of no use without its loss, nor where several releases keep a setting that was found
        before.
        """
        sure = any(each.kept and each.releases > 1 for each in self.tried)
        if trial is None or sure:
            return None
        places = [place for place, verdict in trial.verdicts.items() if verdict.kept]
        if not places:
            return None
        with suppress(Late):
            found = trial.first_found(min(places))
            self.trials[trial.at(min(places))] = trial, min(places)
            return found
        return None

    def attack(self) -> None:
        """Try simple attacks on the releases of the best setting, and of the next where they break.

        Interim winners are compared without them. Where they break the first few, the best of
        these is masked more until it holds against them, too.
        """
        if RAISED[0] not in self.policy.measures and RAISED[1] not in self.policy.measures:
            self.tried = [replace(each, attacked=True) for each in self.tried]
            return
        broken: list[FoundSetting] = []
        self.candidate_until = self.until
        with suppress(Late):
            while len(broken) < _ATTACKED:
                best = self.best[0] if self.tried else None
                if best is None or best.attacked or not best.kept:
                    return
                trial, place = self.trials[best.setting]
                # the best of many settings was also lucky on the releases that chose it
                trial.decide(place)
                tried = trial.found(place, attack=True)
                if tried is None:
                    return
                self.tried[self.tried.index(best)] = tried
                if self.best[0] is tried and tried.kept:
                    return
                if not tried.kept:
                    broken.append(best)
            self._mask_more(broken[0].setting)

    def _mask_more(self, setting: Setting) -> None:
        """Find a setting that breaks under simple attacks again, where it holds against them."""
        trial, _ = self.trials[setting]
        near = getattr(setting.params, setting.params.strength)
        place = trial.steady(MOST_LOST, near, attack=True)
        harder = None if place is None else trial.found(place, attack=True)
        if place is not None and harder is not None:
            self.tried.append(harder)
            self.trials[trial.at(place)] = trial, place


class StrengthTrial:
    """A setting along its strength: its loss, and its limits up to the first one broken.

    Parameters
    ----------
    table : TableSearch
        The table, the policy, and the budget.
    setting : Setting
        Its levers but the strength stand at the usual positions, unless they stay.

    Attributes
    ----------
    values : sequence of float
        Of the strength, by place.
    verdicts : dict of int to Verdict
        By place, on its first release.
    worst : dict of int to float
        By place, the largest share of a limit that further releases used.
    was_read : bool
        Whether anything was read of a release.
    """

    was_read: bool = False

    def __init__(self, table: TableSearch, setting: Setting) -> None:
        setting = setting.resolved(table.microdata)
        self._kind = f"{setting.method} {way_of(setting.params)}"
        start = table.timed(f"ready {self._kind}", partial(table.tables.start, setting))
        if setting.method not in table.stays:
            setting = setting.at_levers(dict(start.presets["Standard"]))
        self._table, self._setting = table, setting
        self._described = setting.applied_to(table.microdata)
        ends = start.ranges[setting.params.strength]
        steps = round((ends.high - ends.low) / ends.step)
        places = np.linspace(0, steps, max(min(table.places, steps), 0) + 1).round()
        usual_values = [round(ends.low + float(place) * ends.step, 10) for place in places]
        if setting.params.strength == "width":
            floor = narrowest(table.tables, setting, usual_values)
            usual_values = [value for value in usual_values if value >= floor]
        self.values = table.values.get(setting.params.strength, usual_values)
        self.last = len(self.values) - 1
        self._at_least = table.expected(setting, self.values)
        self.verdicts: dict[int, Verdict] = {}
        self.worst: dict[int, float] = {}
        self._decisive = set[int]()
        self._halved = set[Setting | None]()

    def decide(self, place: int) -> None:
        """Read so many further releases at a place of a small table that no law is assumed."""
        if self._table.releases == RELEASES:
            self._decisive.add(place)

    def at(self, place: int) -> Setting:
        """Return the setting at a place, from 0, the weakest, to `last`."""
        return self._setting.at_levers({self._setting.params.strength: self.values[place]})

    def _release(self, place: int, seed: int) -> Comparison:
        """Return a release, drawn unless that was done before or would take too long."""
        tables = self._table.tables
        setting = self.at(place)
        if (setting, seed) in tables.releases:
            return tables.compared(setting, seed)
        name = f"release {self._kind}"
        return self._table.timed(name, partial(tables.compared, setting, seed))

    def _remembered(self, place: int, about: object, read: Callable[[Comparison], _T]) -> _T:
        """Read a place's release, once for all trials of a table that come to this setting."""
        self._table.steps -= 1
        key = ("trial", self._described.schema, self.at(place), FIRST, about)
        known = self._described.cached(key, lambda: read(self._release(place, FIRST)))
        self.was_read = True
        return known

    def left(self, place: int) -> UseLeft | None:
        """Return what the first release leaves of the use; None where nothing can be read."""
        return self._remembered(place, None, use_left)

    def loss(self, place: int) -> float:
        """Return 1 less the least share that is left; 1 where none can be read."""
        return lost(self.left(place))

    def at_least_lost(self, place: int) -> float:
        """Return what is lost at least: as is expected, or on the first release."""
        if self._at_least is not None:
            return float(self._at_least[place])
        return self.loss(place)

    def verdict(self, place: int) -> Verdict:
        """Return the verdict on the limits up to the first that is not kept."""
        policy = self._table.policy

        def judged(compared: Comparison) -> Verdict:
            """Judge the limits that were read of a release, without simple attacks."""
            read = self._readings(compared, CLEARLY)
            limits = tuple(each for each in policy.limits if each.measure in read)
            few = too_few(self._setting.params, compared.original, compared.masked)
            return replace(policy, limits=limits).judge(read, released=few)

        if place not in self.verdicts:
            self.verdicts[place] = self._remembered(place, policy, judged)
        return self.verdicts[place]

    def _further(self, place: int) -> Iterator[int]:
        """Yield the seeds of further releases; if not too few are drawn in time, these decide."""
        releases = DECISIVE if place in self._decisive else self._table.releases or RELEASES
        for number, seed in enumerate(further_keys(releases)):
            try:
                self._release(place, seed)
            except Late:
                if number >= FEW_RELEASES:
                    return
                raise
            yield seed

    def several_left(self, place: int) -> list[UseLeft | None]:
        """Return what each of the further releases leaves of the use."""
        return [use_left(self._release(place, seed)) for seed in self._further(place)]

    def losses(self, place: int) -> list[float]:
        """Return the loss of each of the further releases."""
        return [lost(each) for each in self.several_left(place)]

    def further(
        self, place: int, stop: float = CLEARLY, *, attack: bool = False
    ) -> tuple[Point, list[Verdict]]:
        """Read all limits on further releases, up to one that uses so much of a limit.

        With `attack` each is raised by what simple attacks achieve on the same release. Where the
        time ends, those that were read decide if they are not too few.
        """
        verdicts = list[Verdict]()
        policy = self._table.policy

        def keys() -> Iterator[int]:
            for key in self._further(place):
                yield key
                if (verdicts[-1].largest or 0.0) > stop:
                    return

        def read(compared: Comparison) -> Mapping[str, Reading | NotApplicable] | None:
            try:
                found = self._readings(compared, stop, self.at(place) if attack else None)
            except Late:
                if len(verdicts) < FEW_RELEASES:
                    raise
                return None
            verdicts.append(policy.judge(found))
            return found

        point = evaluate(self._table.tables, self.at(place), keys(), policy.measures, read=read)
        return point, verdicts

    def _readings(
        self, compared: Comparison, stop: float, attacked: Setting | None = None
    ) -> Mapping[str, Reading | NotApplicable]:
        """Read the limits of a release, cheap ones first, up to one of which too much is used.

        With the setting that made it they are raised by what simple attacks achieve.
        """
        own = None if attacked is None else attacked.resolved(self._table.microdata)

        def timed(name: str, do: Callable[[], Any]) -> Any:
            """Do a step; names are tried outside on halves that one setting's releases share."""
            again = name == "outside" and own in self._halved
            done = self._table.timed(f"{'shared_' if again else ''}{name} {self._kind}", do)
            if name == "outside":
                self._halved.add(own)
            return done

        def remembered(about: object, name: str, do: Callable[[], Any]) -> Any:
            self._table.steps -= 1
            return compared.cached_for_release(about, partial(timed, name, do))

        return read_limits(
            compared, self._table.policy, own, stop=stop, remembered=remembered, timed=timed
        )

    def used(self, place: int, *, attack: bool = False) -> float:
        """Return what one more release uses of its worst limit, 9 times in 10.

        It ends at the first release that breaks a limit; infinite where one has no answer.
        """
        point, verdicts = self.further(place, stop=1.0, attack=attack)
        used = max(each.largest or 0.0 for each in verdicts)
        if self._table.ranks:
            self.worst[place] = used
            return used
        if used <= 1 < (self._table.policy.judge(point).largest or 0.0) <= CLEARLY:
            # a few releases kept all limits, and more may say that one more does
            self.decide(place)
            point, verdicts = self.further(place, stop=1.0, attack=attack)
            used = max(each.largest or 0.0 for each in verdicts)
        if used <= 1:  # of a few releases an interval says nothing yet
            verdict = self._table.policy.judge(point)
            used = (verdict.largest or 0.0) if verdict.kept or verdict.broken else math.inf
        self.worst[place] = used
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
        return max(first, self.worst.get(place, 0.0))

    def strongest(self, most: float) -> int | None:
        """Find the strongest place that loses at most so much; None without one."""
        if most < MOST_LOST and self.at_least_lost(0) > most:  # mostly one release rules it out
            return None
        if self.at_least_lost(self.last) <= most:
            return self.last
        back = first_that(lambda each: self.at_least_lost(self.last - each) <= most, self.last)
        return None if back is None else self.last - back

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
            """True if the place uses at most the share."""
            return self._uses_at_most(place, share)

        return first_that(passes, high, None if near is None else min(self.place_near(near), high))

    def _uses_at_most(self, place: int, share: float) -> bool:
        """True if each limit is read at a place, and at most a share of it is used."""
        verdict = self.verdict(place)
        used = verdict.largest
        open_ = verdict.unread or verdict.released is not None
        return used is not None and used <= share and used < CLEARLY and not open_

    def place_near(self, value: float) -> int:
        """Return the place whose strength is nearest to a value."""
        return int(np.abs(np.subtract(self.values, value)).argmin())

    def surely_using(self, share: float) -> int | None:
        """Return a place near the weakest where one more release uses at most a share of a limit.

        It is read on all draws of a verdict, with simple attacks.
        """
        place = self.weakest_using(share)
        for _ in range(_CHECKS):
            if place is None or place > self.last:
                return None
            self.decide(place)
            used = self.used(place, attack=True)
            if used <= share:
                return place
            further = self._less_used(place, self.last, used / share)
            place = max(further or 0, place + max(1, self.last // PLACES))
        return None

    def steady(self, most: float, near: float | None, *, attack: bool = False) -> int | None:
        """Return a place near the weakest at which further releases keep all limits, too.

        With `attack` also against what simple attacks achieve on them.
        """
        strongest = self.strongest(most)
        place = self._weakest_kept(strongest, near)
        broken = -1
        for _ in range(_CHECKS):
            if place is None or strongest is None:
                return None
            if place > strongest:  # which keeps all limits, since it was read after the first
                return None if broken < 0 else strongest
            if self._at_least is not None and self.loss(place) > most:
                return None  # more than was expected at least; stronger places lose more
            used = self.used(place, attack=attack)
            if used <= 1:
                return self._weakest_between(broken, place, attack=attack)
            if broken < 0 and self.used(strongest, attack=attack) > 1:
                return self._between(place, strongest, attack=attack)
            broken = place
            further = self._less_used(place, strongest, used)
            if further is None:
                return strongest
            place = max(further, place + max(1, self.last // PLACES))
        return strongest

    def _weakest_kept(self, strongest: int | None, near: float | None) -> int | None:
        """Return the weakest place whose first release keeps all limits, up to the strongest."""
        passed = self._table.passed
        # where even the strongest place breaks a limit, others that are read say nothing more
        if near is None and strongest is not None and self._uses_at_most(strongest, 1.0):
            near = passed.get(self._kind)
        place = self.weakest_using(1.0, strongest, near)
        if place is not None:
            passed[self._kind] = self.values[place]
        return place

    def _weakest_between(self, broken: int, place: int, *, attack: bool) -> int:
        """Return the weakest place beyond a broken one that keeps all limits, as `place` does."""
        if broken < 0 or self._table.closer < 1:
            return place

        # where any gain counts, also what lies between
        def keeps(each: int) -> bool:
            return self.used(broken + each, attack=attack) <= 1

        return broken + (first_that(keeps, place - broken) or 0)

    def _less_used(self, place: int, strongest: int, used: float) -> int | None:
        """Return a place that uses so much less as `place` used too much; None without one."""
        # one release must use so much less of its limits as others used too much
        share = (self.verdict(place).largest or 0.0) / used
        if share <= 0:
            return place
        return self.weakest_using(share, strongest, self.values[place])

    def _between(self, weakest: int, strongest: int, *, attack: bool) -> int | None:
        """Return a place that keeps all limits between two that break one; None without one."""
        # what several releases use of a limit by luck need not fall with the strength: related
        # slices keep relations at any strength
        if self.worst[strongest] > CLEARLY:
            return None  # the strongest place is what breaks least
        for part in _BETWEEN:
            place = weakest + round(part * (strongest - weakest))
            if self.used(place, attack=attack) <= 1:
                return place
        return None

    def found(self, place: int, *, attack: bool = False) -> FoundSetting | None:
        """Read all limits at a place, and state the middle of what its releases use."""
        policy, helps = self._table.policy, self._table.helps
        point, verdicts = self.further(place, stop=helps, attack=attack)
        if (verdicts[-1].largest or 0.0) > helps:
            return None
        used = [math.inf if each.largest is None else each.largest for each in verdicts]
        judged = self._judged(point, verdicts)
        if attack and self._are_all(len(verdicts)):
            note_draws(self._described, policy, point)
        seconds = max(point.seconds, len(verdicts) * self._seconds_a_draw())
        left = self.several_left(place)
        mean = middle(left)
        relations = [relations_lost(self._release(place, seed)) for seed in self._further(place)]
        least = [None if each is None else each.least for each in left]
        point = also_read(point, USE, least)
        point = also_read(point, UTILITY, relations)
        return FoundSetting(
            point=replace(point, seconds=seconds),
            verdict=judged,
            loss=lost(mean),
            left=mean,
            attacked=attack,
            share=median(used),
            interval=where_one_falls(judged, used),
            releases=len(verdicts),
        )

    def _judged(self, point: Point, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the verdict on one more release, or the worst of those read, to rank settings."""
        if self._table.ranks:
            return max(verdicts, key=lambda each: each.largest or 0.0)
        return self._table.policy.judge(point)

    def _are_all(self, releases: int) -> bool:
        """True if so many releases are those that a verdict on a setting of the table rests on."""
        small = draws_of(self._table.microdata.n) == RELEASES
        return releases == (DECISIVE if small else FEW_RELEASES)

    def _seconds_a_draw(self) -> float:
        """Return what a release of this kind with its limits took last, in processor seconds."""
        return sum(each for name, each in self._table.took.items() if name.endswith(self._kind))

    def first_found(self, place: int) -> FoundSetting:
        """Return what the first release of a place says, and the largest share others used."""
        verdict = self.verdict(place)
        spreads = {}
        for key, value in verdict.values.items():
            bound = verdict.standings[key] == "at least"
            ends = verdict.bounds[key].ends
            spreads[key] = Spread(measure=key, values=(value,), is_bound=bound, ends=ends)
        relations = self._remembered(place, UTILITY, relations_lost)
        if relations is not None:
            spreads[UTILITY] = Spread(measure=UTILITY, values=(relations,))
        return FoundSetting(
            point=Point(setting=self.at(place), spreads=spreads, seconds=self._seconds_a_draw()),
            verdict=verdict,
            loss=self.loss(place),
            left=self.left(place),
            share=self.share(place),
            releases=1,
        )
