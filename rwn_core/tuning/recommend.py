"""Recommend a setting to begin with, from the kinds of variables, the size and the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.units import people_in, unit_of
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import masked_columns
from rwn_core.masking import (
    METHODS,
    RWN,
    CorrelatedNoise,
    Method,
    Microaggregation,
    SoftRWN,
    at_levers,
)
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES, TRUE_ROWS
from rwn_core.measures.sentence import percent
from rwn_core.neighbors.kernel import EVEN
from rwn_core.neighbors.soft_lists import LISTED
from rwn_core.parallel import clock
from rwn_core.parallel.pace import Part
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.evaluate import random_records
from rwn_core.tuning.on_all_records import SEARCHED, on_all_records, safest_of_rwn
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.several_draws import CLEARLY, FEW_RELEASES
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_slices
from rwn_core.tuning.strength import MOST_LOST, StrengthTrial, TableSearch
from rwn_core.tuning.verdict import RAISED, counted, not_judged, share_words
from rwn_core.tuning.ways import LATER, WAYS, in_way, later_donors, safer_later_donors, way_of

WITHIN = 90.0  # processor seconds: a bound, also of a busy machine; what is tried is counted
_PART = 500  # random records that settings of a larger table are ranked on
_PART_TIME = 0.4  # of the seconds, which ranking takes at most
_GROWTH = 0.75  # of a step's time with the number of records, as a power: measured .5 to 1
_LOOK_TIME = 0.5  # of the seconds, after which nothing new is tried on a small table
_MOST_TIMES = 4.0  # how far a limit on linkage grows on a part
_STEPS = 400_000  # times records: releases and readings that rank settings on all records
_LEAST_COUNTED = 300  # records; smaller tables get no more releases
CONFIRMED = 3  # settings of a ranking that are tried on all records
_DRAWN = 6  # of which one release of all records is drawn first, to put them in order
FINE = 32  # parts of a strength that is stated
_USUAL_NEAREST = 50  # k: where epsilon alone leaves some records with few donors
_NEAREST = (20, 100, 5)  # tried besides
MORE = 0.1  # of the use, that a setting beyond epsilon and k must leave to be named
_FEW_SLICES = 3  # that are tried where a way takes long
_PROMISING = 2  # slices that every kernel is tried with
_NAMED = 3  # variables named in a sentence
_FEW = 30  # records on which a method's law is looked for
_SHOWN = 200  # records on which a method shows whether it keeps kinds
_KERNELS: Mapping[str, Any] = MappingProxyType(
    {"even": RWN(epsilon=0.0, k=5), "soft": SoftRWN(), "balanced": SoftRWN(balance=1.0)}
)
USED: Mapping[str, float] = MappingProxyType({"Standard": 1.0, "Strong": 0.6})
"""By preset, the share of the worst limit that one more release uses at most, 9 times in 10."""
OFTEN_BEST = (
    "all_but_responses",
    "responses_together",
    "keys_rest_responses",
    "confidential_apart",
    "related_3",
    "related_5",
    "keys_apart",
    "alone",
    "related_2",
)
"""Slices that were best on some table, those first that were best on most."""


@takes_tables
def recommend(
    microdata: Microdata,
    policy: Policy | None = None,
    *,
    within: float = WITHIN,
    levers: bool = False,
    progress: Progress | None = None,
) -> SearchAnswer:
    """Find the setting to begin with: it keeps the limits and leaves most of the use.

    Settings of RWN are tried: as published, with slices apart, tied or by prediction, with soft and
    balanced kernels, and with confidential variables left out of the distance. Simple attacks are
    tried on the best one only, and on the next where they break it. Up to 1,000 records all of it
    happens on the whole table. Of a larger one 500 random records rank the settings: there a soft
    kernel's bandwidth shrinks with the number of records, and a limit on linkage grows, since
    linkage falls with the number of records. Of the best six one release of all records is drawn,
    and the three that lose least there are tried on all records, where their strength is found anew
    and several releases are read. Other methods are looked at last, as alternatives.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy, optional
        The usual one by default.
    within : float
        Seconds of processor time, after which the best so far is the answer. The reason says what
        was confirmed.
    levers : bool
        Stay within the levers of RWN as published, epsilon, k and q, with slices and weights.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with each answer so far.

    Returns
    -------
    SearchAnswer

    Raises
    ------
    ParameterError
        No variable is to be masked.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> table = rwn.load_demo("bodyfat").frame.iloc[:60, :5]
    >>> policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.1),))
    >>> found = recommend(table, policy)
    >>> found.setting.method, found.kept, found.confirmed
    ('soft_rwn', True, True)
    """
    policy = policy or Policy()
    masked_columns(microdata)
    key = ("recommendation", policy, microdata.schema, within, levers)
    family = _look_at_levers if levers else _look_at_family

    def recommended() -> SearchAnswer:
        """Return the answer as it was read on all records."""
        last_moment = clock.processor_seconds() + within
        found = _recommended(microdata, policy, SEARCHED * within, progress, family)
        slices = preset_slices(microdata, OFTEN_BEST[0])
        left = last_moment - clock.processor_seconds()
        safest = safest_of_rwn(slices, policy, records=microdata.n, soft=not levers)
        answer = on_all_records(microdata, policy, found, tuple(safest), left)
        if levers or answer.reached:
            return answer
        # what keeps the policy within epsilon and k is better than what breaks it beyond them
        near = recommend(microdata, policy, within=within, levers=True, progress=progress)
        return replace(near, tried=near.tried + answer.tried) if near.reached else answer

    return microdata.cached(key, recommended)


def suggest(
    microdata: Microdata,
    policy: Policy | None = None,
    *,
    within: float = WITHIN,
    progress: Progress | None = None,
) -> SearchAnswer:
    """Find the setting of a table within epsilon, k and q; name another where it leaves more.

    Returns
    -------
    SearchAnswer
        Its `alternative` is the recommended setting of the whole family, where it leaves at least
        a tenth more of each part of the use, or keeps limits that no radius keeps.
    """
    near = recommend(microdata, policy, within=within, levers=True, progress=progress)
    best = recommend(microdata, policy, within=within)
    if not best.settings or not best.reached:
        return near
    other = best.settings[0]
    if other.setting.method == RWN.method:
        return near
    if near.reached and not leaves_more(1.0 - (near.loss or 0.0), 1.0 - (other.loss or 0.0)):
        return near
    return replace(near, alternative=other)


def leaves_more(left: float, other: float) -> bool:
    """True if another setting leaves at least a tenth of the use more.

    >>> leaves_more(0.87, 0.97), leaves_more(0.9, 0.97)
    (True, False)
    """
    return round(other - left, 10) >= MORE


def policy_presets(microdata: Microdata, setting: Setting, policy: Policy) -> dict[str, Setting]:
    """Return a setting at a weak strength for each share, as several attacked draws say.

    Presets without one are absent.
    """
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return {}
    trial = StrengthTrial(TableSearch(microdata=microdata, policy=judged), setting)
    places = {name: trial.surely_using(share) for name, share in USED.items()}
    return {name: trial.at(place) for name, place in places.items() if place is not None}


def _recommended(
    microdata: Microdata,
    policy: Policy,
    within: float,
    progress: Progress | None,
    look_at_family: Callable[[TableSearch, Microdata], None],
) -> SearchAnswer:
    levers = look_at_family is _look_at_levers
    stays = frozenset({RWN.method} if levers else ())
    unfit_here = unfit(microdata, policy)
    n = microdata.n
    facts = _facts(microdata)
    judged, apart = policy.judgeable(microdata)  # compiles what the limits need, once a machine
    begin = clock.processor_seconds()
    usual_kernel = "even" if levers else "balanced"
    plain = Setting(params=_KERNELS[usual_kernel], slices=())
    usual = FoundSetting(point=Point(setting=plain, spreads={}))
    shared: dict[str, Any] = {"goal": policy, "unfit": unfit_here, "unread": apart}
    shared["refused"] = RWN.method in unfit_here
    if judged is None:
        reason = f"{facts}: nothing was tried.{not_judged(apart)}"
        return SearchAnswer(settings=(usual,), reason=reason, **shared)
    reports = Part(progress)

    def after(search: TableSearch) -> None:
        reports(min((clock.processor_seconds() - begin) / max(within, 1e-9), 1.0))
        reports.found(search.answer(policy, judged, n, so_far=True, unread=apart))

    small = n <= QUICK_RECORDS
    ranked = ranking(microdata, judged, begin, within)
    ranked.after = after
    ranked.stays = stays
    if small:
        _rank_whole(ranked, look_at_family, within)
    else:
        look_at_family(ranked, microdata)
    # tries the best on all records, or reads what comes nearest as a whole
    until = begin + within
    table = TableSearch(microdata=microdata, policy=judged, until=until, places=FINE, after=after)
    table.stays = stays
    known = [each for each in ranked.best if small and each.kept]
    _expect_times(table, ranked)
    starts = [] if known else _starts_of(table, ranked) or _unranked(microdata, usual_kernel)
    _look_at_all(table, starts)
    looked = _Looked(
        ranked=ranked,
        table=table,
        best=known or table.best or (ranked.best if small else []),
        others=not levers,
        unfit=unfit_here,
        within=within,
    )
    return SearchAnswer(
        settings=looked.settings or (usual,),
        reason=f"{facts}: {looked.words}{not_judged(apart)}",
        reached=looked.kept,
        tried=ranked.looked + table.looked,
        records=n,
        of=n,
        confirmed=looked.is_confirmed,
        late=looked.late,
        alternative=looked.alternative,
        **shared,
    )


@dataclass(frozen=True, kw_only=True)
class _Looked:
    """A ranking, on a part of a large table, and what was tried on all records."""

    ranked: TableSearch
    table: TableSearch
    best: list[FoundSetting]  # that were read on all records, the best first
    others: bool  # whether another method is named
    unfit: Mapping[str, str]  # by method: why it is not looked at
    within: float

    @property
    def small(self) -> bool:
        """True if settings were ranked on the whole table."""
        return self.table.microdata.n <= QUICK_RECORDS

    @property
    def first(self) -> FoundSetting | None:
        """The best setting, if one was read on all records."""
        return self.best[0] if self.best else None

    @property
    def settings(self) -> tuple[FoundSetting, ...]:
        """The best few; those of the ranking without readings where nothing else was read."""
        if self.best:
            return tuple(self.best[:3])
        n = self.table.microdata.n
        wide = [_on_all(each.setting, n) for each in self.ranked.best]
        return tuple(FoundSetting(point=Point(setting=e, spreads={})) for e in wide[:3])

    @property
    def kept(self) -> bool:
        """True if the best keeps the policy."""
        return self.first is not None and self.first.kept

    @property
    def is_confirmed(self) -> bool:
        """True if several releases say what the best does, with attacks where it is kept."""
        best = self.first
        return best is not None and best.releases > 1 and (best.attacked or not best.kept)

    @property
    def late(self) -> bool:
        """True if the time was over before all was tried."""
        out_of_time = self.small and (self.ranked.over or self.ranked.skipped)
        return bool(self.table.incomplete or out_of_time)

    @cached_property
    def alternative(self) -> FoundSetting | None:
        """A better setting of another method."""
        if self.late or not self.others:
            return None
        return _alternative(self.table, self.first, self.unfit)

    @property
    def words(self) -> str:
        """Say what was tried, and what the best keeps and loses."""
        n = self.table.microdata.n
        where = f"all {n:,} records"
        tried = where if self.small else f"{_PART:,} of {n:,} records"
        looked = f"of {counted(self.ranked.looked, 'setting')} of RWN tried on {tried}"
        unread = self.ranked.unread | self.table.unread
        if self.first is None and unread:
            return f"{looked}, none has an answer for each limit.{not_judged(unread)}"
        said = _reason(self.first, self.alternative, self.late, where, self.within)
        return f"{looked}, {said}"


def _rank_whole(
    ranked: TableSearch, look_at_family: Callable[[TableSearch, Microdata], None], within: float
) -> None:
    """Rank settings on a whole table; what is left of the time is for the best and for attacks."""
    microdata = ranked.microdata
    until = ranked.until
    ranked.steps = round(_STEPS / max(microdata.n, _LEAST_COUNTED))
    ranked.until = until - within * (1 - _LOOK_TIME)
    look_at_family(ranked, microdata)
    ranked.until = until
    ranked.over = False
    ranked.attack()


def _expect_times(table: TableSearch, ranked: TableSearch) -> None:
    """Know what a step takes on all records, or guess it by what it took on a part of them."""
    if ranked.microdata is table.microdata:
        table.took = dict(ranked.took)
        return
    times = (table.microdata.n / ranked.microdata.n) ** _GROWTH
    table.guessed = {name: each * times for name, each in ranked.took.items()}


def _look_at_all(table: TableSearch, starts: Sequence[Setting]) -> None:
    """Try on all records the settings that a part of them ranked first, and attack the best."""
    for start in starts:
        most = None if any(other.kept for other in table.tried) else MOST_LOST
        table.look(start, most, getattr(start.params, start.params.strength))
    table.attack()


def _facts(microdata: Microdata) -> str:
    """Say the kinds and roles of the masked variables."""
    masked = [v for v in microdata.schema.released if v.masked]
    numbers = sum(v.name in microdata.numeric_names for v in masked)
    keys = sum(v.role is Role.KEY for v in masked)
    parts = ((numbers, "number"), (len(masked) - numbers, "category"), (keys, "key"))
    words = ", ".join(counted(count, noun) for count, noun in parts if count)
    return words.replace("categorys", "categories")


def _starts_of(table: TableSearch, ranked: TableSearch) -> list[Setting]:
    """Return the settings of a ranking as they are tried on all records, the best ones first."""
    n = table.microdata.n
    few = [_on_all(each.setting, n) for each in _promising(ranked, CONFIRMED)]
    kept = [_on_all(each.setting, n) for each in _promising(ranked, _DRAWN) if each.kept]
    if len(kept) < len(few):
        return few  # those that come nearest to the limits
    # what is lost on a part says little of all records: one release of each puts them in order
    return sorted(kept, key=table.lost_near)[: len(few)] if len(kept) > 1 else kept


def _promising(ranked: TableSearch, count: int) -> list[FoundSetting]:
    """Return the best settings of a ranking, at most so many."""
    # a soft kernel of a large table weighs the nearest only: the best even one is tried, too
    soft = [each for each in ranked.best if each.setting.method == SoftRWN.method]
    even = [each for each in ranked.best if each.setting.method == RWN.method]
    soft = soft[: count - 1]
    return sorted((*soft, *even[: count - len(soft)]), key=lambda each: each.rank)


def _unranked(microdata: Microdata, kernel: str) -> list[Setting]:
    """Return the usual start of a large table: its ranking took all of its time."""
    if microdata.n <= QUICK_RECORDS:
        return []
    return [Setting(params=_KERNELS[kernel], slices=preset_slices(microdata, OFTEN_BEST[0]))]


def ranking(microdata: Microdata, judged: Policy, begin: float, within: float) -> TableSearch:
    """Return what ranks settings: of a large table on a part, within a part of the seconds.

    There linkage is as many times as likely, and its limits grow. A limit of 0 on the whole table
    allows a few records of the part.
    """
    if microdata.n <= QUICK_RECORDS:
        return TableSearch(microdata=microdata, policy=judged, until=begin + within)
    times = min(microdata.n / _PART, _MOST_TIMES)
    limits = tuple(
        replace(each, at_most=min((each.at_most or 0.01) * times, 1.0))
        if MEASURES[each.measure].falls
        else each
        for each in judged.limits
    )
    return TableSearch(
        microdata=random_records(microdata, _PART),
        policy=replace(judged, limits=limits),
        until=begin + within * _PART_TIME,
        releases=FEW_RELEASES,
        ranks=True,
    )


def _reason(
    best: FoundSetting | None, other: FoundSetting | None, late: bool, where: str, within: float
) -> str:
    """Say what the best setting keeps and loses, or how near it comes; name another method."""
    if best is None and late:
        words = f"this one is the best; none was tried on {where} within {within:g} seconds."
    elif best is None:
        words = f"none leaves {percent(1 - MOST_LOST)} of the use: there may be little to keep."
    elif best.kept:
        read = f"on {where}, {counted(best.releases, 'release')}"
        every = counted(len(best.verdict.shares), "limit")
        words = f"this one keeps {every} {read}, and leaves most. {best.left_words}."
    else:
        read = f"on {where}, {counted(best.releases, 'release')}"
        least = "" if best.releases > 1 else "at least "
        words = (
            f"none keeps the policy and leaves {percent(1 - MOST_LOST)} of each part of the use. "
            f"This one comes nearest: {read}, {least}{_worst_limit(best)}. "
            f"{best.left_words}."
        )
    if other is None:
        return words
    title = other.setting.params.title
    if best is not None and best.kept:
        words += f" {title} would leave {percent(1 - (other.loss or 0.0))} of each part."
    else:
        every = counted(len(other.verdict.shares), "limit")
        words += f" {title} keeps {every} on all records. {other.left_words}."
    if other.setting.params.strength == "size":
        words += " Noise may give impossible values, such as a negative age."
    return words


def _worst_limit(best: FoundSetting) -> str:
    """Say which limit has no answer, or which is used most and how much of it."""
    verdict = best.verdict
    for unread in verdict.unread:
        return f"{MEASURES[unread].title} has no answer"
    first = max(verdict.shares, key=verdict.shares.__getitem__)
    share = max(best.share, verdict.shares[first], 1.01)
    used = "more than" if first in verdict.none_allowed else share_words(share)
    return f"{MEASURES[first].title} uses {used} its limit"


def _look_at_family(search: TableSearch, table: Microdata) -> None:
    """Try soft and even RWN in slices, related in each way, then other levers of the best."""
    first = "even" if _has_few_numbers(table) and not search.policy.needs_own else "balanced"
    ways = _order(search.microdata.n)
    kernels = {way: "balanced" if WAYS[way].parameters else first for way in ways}
    look_at_ways(search, table, {way: _KERNELS[key] for way, key in kernels.items()})
    for each in _KERNELS:
        for slices in _promising_slices(search, "apart"):
            start = Setting(params=_KERNELS[each], slices=slices)
            search.look(_in_geometry(start, search.microdata.n, table.n))
    for way in ways:
        _look_around(search, way, {**_later_of(search, way), "balance": (0.0,)})
    search.look(Setting(params=_KERNELS["even"], slices=()))
    without = tuple(sorted(without_secrets(table).items()))
    for found in search.best[:1] if without else ():
        search.look(replace(found.setting, weights=without))


def _look_at_levers(search: TableSearch, table: Microdata) -> None:
    """Try RWN in slices, related in each way, then other levers of the best."""
    start = replace(_KERNELS["even"], k=_USUAL_NEAREST)
    ways = _order(search.microdata.n)
    look_at_ways(search, table, dict.fromkeys(ways, start))
    nearest = tuple(k for k in _NEAREST if k < search.microdata.n)
    for way in ways:
        _look_around(search, way, {**_later_of(search, way), "k": nearest, "balance": (1.0,)})
    without = tuple(sorted(without_secrets(table).items()))
    for found in search.best[:_PROMISING] if without else ():
        search.look(replace(found.setting, weights=without))


def _order(records: int) -> tuple[str, ...]:
    """Return the ways, the most promising first.

    What comes later is ruled out by one release where that loses more.
    """
    if records <= WAYS["tied"].few_beyond:
        return ("tied", "predicted", "apart")
    return ("predicted", "tied", "apart")


def look_at_ways(search: TableSearch, table: Microdata, starts: Mapping[str, Any]) -> None:
    """Try the usual slices, related in each way, from the parameters of the way."""
    without = tuple(sorted(without_secrets(table).items()))
    usual = list(dict.fromkeys(preset_slices(table, each) for each in (*OFTEN_BEST, *PRESETS)))
    n = search.microdata.n
    for way, start in starts.items():
        params = in_way(start, way)
        if search.policy.unjudged(params):
            continue
        weights: tuple[tuple[str, float], ...] = ()
        if WAYS[way].parameters:
            # no secret chooses the neighbors: what is known of a person then comes from the
            # relations alone; and a row's own record counts as one of them
            weights = without
            if params.by_prediction:
                params = replace(params, later=later_donors(n, LATER[0]))
                # of many records a balance of later slices takes minutes
                params = replace(params, later_balance=table.n <= WAYS[way].plain_beyond)
            if params.method == SoftRWN.method:
                params = replace(params, own=True)
        if table.n > WAYS[way].never_beyond:
            continue
        for number, slices in enumerate(usual[:_FEW_SLICES] if n > WAYS[way].few_beyond else usual):
            start = Setting(params=params, slices=slices, weights=weights)
            found = search.look(_in_geometry(start, n, table.n))
            if number == 0 and found is not None and way_of(params) == "predicted":
                _look_safer(search, found)


def _look_safer(search: TableSearch, found: FoundSetting) -> None:
    """Try more donors of a later slice, where a setting by prediction just breaks a limit.

    Where a value is rare, half of the records are refused as donors: then as many as lie between.
    """
    if found.kept or found.share > CLEARLY:
        return
    params = found.setting.params
    most = safer_later_donors(search.microdata.n)
    for later in (most, (params.later + most) // 2):
        tried = search.looked
        search.look(replace(found.setting, params=replace(params, later=later)))
        if search.looked > tried:  # it was not refused
            return


def _look_around(search: TableSearch, way: str, values: Mapping[str, Sequence[Any]]) -> None:
    """Try other values of some levers, one after the other, of the best setting of a way."""
    for name, tried in values.items():
        for value in tried:
            found = _worth_most(search, way)
            if found is None:
                return
            params = found.setting.params
            if hasattr(params, name) and getattr(params, name) != value:
                search.look(replace(found.setting, params=replace(params, **{name: value})))


def _worth_most(search: TableSearch, way: str) -> FoundSetting | None:
    """Return the setting of a way from which others are tried; None where none was found.

    The one that leaves most of those that keep the policy; else the one that nearly does.
    """

    def order(found: FoundSetting) -> tuple[bool, float]:
        loss = 1.0 if found.loss is None else found.loss
        return not found.kept, loss if found.share <= CLEARLY else loss + found.share

    of_way = [each for each in search.tried if way_of(each.setting.params) == way]
    return min(of_way, key=order, default=None)


def _later_of(search: TableSearch, way: str) -> dict[str, tuple[int, ...]]:
    """Return how many donors of a later slice are tried; none where none is predicted."""
    if not WAYS[way].parameters.get("by_prediction"):
        return {}
    return {"later": tuple(later_donors(search.microdata.n, parts) for parts in LATER[1:])}


def _promising_slices(search: TableSearch, way: str) -> list[Slices]:
    """Return the best slices of a way, which every kernel is tried with."""
    found = [e.setting.slices or () for e in search.best if way_of(e.setting.params) == way]
    return list(dict.fromkeys(found))[:_PROMISING]


def _has_few_numbers(table: Microdata) -> bool:
    """True if less than half of the masked variables are numbers."""
    names = masked_names(table)
    return 2 * len(set(names) & set(table.numeric_names)) < len(names)


def without_secrets(microdata: Microdata) -> dict[str, float]:
    """Return weights of 0 of the confidential variables in the distance; none if all have it."""
    named = [v.name for v in microdata.schema.released if v.role is Role.CONFIDENTIAL and v.weight]
    left = any(v.weight and v.name not in named for v in microdata.schema.released)
    return dict.fromkeys(named, 0.0) if left else {}


def _alternative(
    table: TableSearch, best: FoundSetting | None, unfit: Mapping[str, str]
) -> FoundSetting | None:
    """Look for another method that keeps a policy and loses less, those first that often do."""
    search = TableSearch(
        microdata=table.microdata,
        policy=table.policy,
        until=table.until,
        steps=round(_STEPS / max(table.microdata.n, _LEAST_COUNTED)),
        took=table.took,
        guessed=table.guessed,
    )
    if best is not None and best.kept and best.loss is not None:
        search.least = best.loss
    for key in dict.fromkeys((CorrelatedNoise.method, Microaggregation.method, *METHODS)):
        if key not in unfit and key not in (RWN.method, SoftRWN.method):
            search.look(Setting(params=METHODS[key](**neutral_levers(METHODS[key]))))
    search.attack()
    return next((each for each in search.best if each.kept), None)


def _in_geometry(setting: Setting, records: int, total: int) -> Setting:
    """Return a setting for some records of a large table, with the bandwidth of the whole table.

    A soft kernel's unit is the distance to the nearest 10 of a small table, and to as large a share
    of the records of a larger one, at most to half as many as the kernel weighs.
    """
    if total <= QUICK_RECORDS or setting.method != SoftRWN.method:
        return setting
    nearest = min(round(EVEN.bandwidth_k * total / _PART), LISTED // 2)
    bandwidth = max(1, round(nearest * records / total))
    return replace(setting, params=replace(setting.params, bandwidth_k=bandwidth))


def _on_all(setting: Setting, records: int) -> Setting:
    """Return a setting that was ranked on a part of a table as it is tried on all records."""
    start = _in_geometry(setting, records, records)
    if not getattr(start.params, "by_prediction", False) or records <= QUICK_RECORDS:
        return start
    later = later_donors(records, LATER[0])
    return replace(start, params=replace(start.params, later=later))


def unfit(microdata: Microdata, policy: Policy) -> dict[str, str]:
    """Return by method why it is no alternative on a table; those that may be are not there."""
    found: dict[str, str] = {}
    for key, method in METHODS.items():
        if key == SoftRWN.method:  # RWN stands for both
            continue
        try:
            params = method(**neutral_levers(method))
            why = refusal(microdata, policy, params) or _new_kind(microdata, params)
        except ParameterError as error:
            why = str(error)
        if why:
            found[key] = why
    return found


def _new_kind(microdata: Microdata, params: Method) -> str:
    """Say which variable of the registered analysis a method turns into another kind, if any.

    Two values stay two values, and whole numbers whole numbers; a release of a few records shows.
    """
    question = microdata.schema.question
    if question is None or params.method == RWN.method:
        return ""
    start = params.prepare(microdata.take(np.arange(min(microdata.n, _SHOWN))))
    moved = start.with_levers(**start.presets["Standard"])
    masked = moved.release(SecretKey.from_seed(0), threads=1).masked
    for name in (question.response, *question.predictors):
        if name not in masked.numeric_names:
            continue
        before, after = (each.frame[name].dropna().to_numpy() for each in (microdata, masked))
        levels = np.unique(before)
        two = len(levels) == 2 and not np.isin(after, levels).all()
        if two or ((before == np.round(before)).all() and (after != np.round(after)).any()):
            kind = "two values" if two else "whole numbers"
            return f"It gives {name} other values than {kind}, which the regression needs."
    return ""


def refusal(microdata: Microdata, policy: Policy, params: Method) -> str:
    """Return why a method cannot keep a policy on a table; empty where that is not known."""
    limit = policy.limit(RAISED[0])
    if limit is None:
        return ""
    unit = unit_of(microdata)
    many = people_in(microdata)
    who = "records" if unit is None else unit.words
    if many * limit.at_most < 1:
        return f"Of {many} {who} one is linked by chance, which is beyond the limit."
    names = params.masked_names(microdata)
    left = [v.name for v in microdata.schema.released if v.name not in names]
    if left:
        codes = np.column_stack([microdata.codes(name)[0] for name in left])
        # a row without an equal one tells its unit
        _, place, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        alone = counts[place.ravel()] == 1
        unique = float(alone.mean()) if unit is None else len(np.unique(unit.numbers[alone])) / many
        if unique > limit.at_most:
            more = len(left) - _NAMED
            named = ", ".join(left[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            return (
                f"{percent(unique)} of the {who} are unique on what is released unmasked: {named}."
            )
    few = microdata.take(np.arange(min(microdata.n, _FEW)))
    if at_levers(params, neutral_levers(type(params))).prepare(few).law is None:
        return "It has no exact law, so that worst-case linkage cannot be judged."
    secret = any(v.role is Role.CONFIDENTIAL for v in microdata.schema.released)
    if params.releases_true_rows and secret and policy.limit(TRUE_ROWS):
        return "It copies whole rows, so that a row shows the confidential values of a person."
    return ""
