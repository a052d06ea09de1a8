"""Recommend a setting to begin with, from the kinds of variables, the size and the policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from itertools import product
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
from rwn_core.masking import METHODS, RWN, CorrelatedNoise, Microaggregation, SoftRWN, at_levers
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
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_slices
from rwn_core.tuning.strength import MOST_LOST, StrengthTrial, TableSearch
from rwn_core.tuning.verdict import RAISED, counted, not_judged, share_words
from rwn_core.tuning.ways import WAYS, in_way, way_of

WITHIN = 60.0  # processor seconds: a bound; what is tried is counted in steps
_PART = 500  # random records that settings of a larger table are ranked on
_PART_TIME = 0.4  # of the seconds, which ranking takes at most
_MOST_TIMES = 4.0  # how far a limit on linkage grows on a part
_STEPS = 400_000  # times records: releases and readings that rank settings on all records
_LEAST_COUNTED = 300  # records; smaller tables get no more releases
CONFIRMED = 3  # settings of a ranking that are tried on all records
FINE = 32  # parts of a strength that is stated
_NEAREST = (5, 20, 50, 100)  # k: where epsilon alone leaves some records with few donors
MORE = 0.1  # of the use, that a setting beyond epsilon and k must leave to be named
_PROMISING = 2  # slices that every kernel is tried with
_NAMED = 3  # variables named in a sentence
_FEW = 30  # records on which a method's law is looked for
_SHOWN = 200  # records on which a method shows whether it keeps kinds
_KERNELS: Mapping[str, Any] = MappingProxyType(
    {"even": RWN(epsilon=0.0, k=5), "soft": SoftRWN(), "balanced": SoftRWN(balance=1.0)}
)
_RELATED_KERNELS = ("soft", "balanced")  # an even one relates no slices
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

    Settings of RWN are tried: as published, with slices apart, tied and chained, with soft and
    balanced kernels, and with confidential variables left out of the distance. Simple attacks are
    tried on the best one only, and on the next where they break it. Up to 1,000 records all of it
    happens on the whole table. Of a larger one 500 random records rank the settings: there a
    soft kernel's bandwidth shrinks with the number of records, and a limit on linkage grows, since
    linkage falls with the number of records. Then the best three are tried on all records, where
    their strength is found anew and several releases are read. Other methods are looked at last, as
    alternatives.

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
    >>> found = recommend(rwn.load_demo("bodyfat"))
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
        safest = safest_of_rwn(slices, policy, soft=not levers, slow_beyond=microdata.n)
        return on_all_records(microdata, policy, found, tuple(safest), left)

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
        ranked.steps = round(_STEPS / max(n, _LEAST_COUNTED))
    look_at_family(ranked, microdata)
    if small:
        ranked.attack()
    # tries the best on all records, or reads what comes nearest as a whole
    until = begin + within
    table = TableSearch(microdata=microdata, policy=judged, until=until, places=FINE, after=after)
    table.stays = stays
    # what a step takes on a part it takes as many times on all records, at least
    table.took = {name: each * n / ranked.microdata.n for name, each in ranked.took.items()}
    known = [each for each in ranked.best if small and each.kept]
    starts = [] if known else _promising(ranked) or _unranked(microdata, usual_kernel)
    for each in starts:
        start = _in_geometry(each, n, n)
        most = None if any(other.kept for other in table.tried) else MOST_LOST
        table.look(start, most, getattr(start.params, start.params.strength))
    table.attack()
    found = known or table.best or (ranked.best if small else [])
    best = found[0] if found else None
    late = table.incomplete or (small and (ranked.over or ranked.skipped))
    other = None if late or levers else _alternative(table, best, unfit_here)
    if best is None:
        wide = [_in_geometry(each.setting, n, n) for each in ranked.best]
        found = [FoundSetting(point=Point(setting=each, spreads={})) for each in wide]
    tried = f"all {n:,} records" if small else f"{_PART:,} of {n:,} records"
    reason = f"{facts}: of {counted(ranked.looked, 'setting')} of RWN tried on {tried}, "
    unread = ranked.unread | table.unread
    reason += (
        f"none has an answer for each limit.{not_judged(unread)}"
        if best is None and unread
        else _reason(best, other, late, f"all {n:,} records", within)
    )
    return SearchAnswer(
        settings=tuple(found[:3]) or (usual,),
        reason=reason + not_judged(apart),
        reached=best is not None and best.kept,
        tried=ranked.looked + table.looked,
        records=n,
        of=n,
        confirmed=best is not None and best.releases > 1 and (best.attacked or not best.kept),
        late=late,
        alternative=other,
        **shared,
    )


def _facts(microdata: Microdata) -> str:
    """Say the kinds and roles of the masked variables."""
    masked = [v for v in microdata.schema.released if v.masked]
    numbers = sum(v.name in microdata.numeric_names for v in masked)
    keys = sum(v.role is Role.KEY for v in masked)
    parts = ((numbers, "number"), (len(masked) - numbers, "category"), (keys, "key"))
    words = ", ".join(counted(count, noun) for count, noun in parts if count)
    return words.replace("categorys", "categories")


def _promising(ranked: TableSearch) -> list[Setting]:
    """Return the settings of a ranking that are tried on all records, the best ones first."""
    # a soft kernel of a large table weighs the nearest only: the best even one is tried, too
    soft = [each for each in ranked.best if each.setting.method == SoftRWN.method]
    even = [each for each in ranked.best if each.setting.method == RWN.method]
    soft = soft[: CONFIRMED - 1]
    mixed = sorted((*soft, *even[: CONFIRMED - len(soft)]), key=lambda each: each.rank)
    return [each.setting for each in mixed]


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
        every = counted(len(best.shares), "limit")
        words = f"this one keeps {every} {read}, and leaves most. {best.left_words}."
    else:
        read = f"on {where}, {counted(best.releases, 'release')}"
        least = "" if best.releases > 1 else "at least "
        # which broken limit is most used, and how much of it
        first = max(best.shares, key=best.shares.__getitem__)
        share = max(best.share, best.shares[first], 1.01)
        used = "more than" if first in best.verdict.none_allowed else share_words(share)
        excess = "has no answer" if math.isinf(share) else f"uses {used} its limit"
        words = (
            f"none keeps the policy and leaves {percent(1 - MOST_LOST)} of each part of the use. "
            f"This one comes nearest: {read}, {least}{MEASURES[first].title} {excess}. "
            f"{best.left_words}."
        )
    if other is None:
        return words
    title = other.setting.params.title
    if best is not None and best.kept:
        words += f" {title} would leave {percent(1 - (other.loss or 0.0))} of each part."
    else:
        every = counted(len(other.shares), "limit")
        words += f" {title} keeps {every} on all records. {other.left_words}."
    if other.setting.params.strength == "size":
        words += " Noise may give impossible values, such as a negative age."
    return words


def _look_at_family(search: TableSearch, table: Microdata) -> None:
    """Try RWN in slices, related in each way, then other kernels and weights of the best."""
    without = tuple(sorted(without_secrets(table).items()))

    def candidate(kernel: str, slices: Any, way: str = "apart") -> Setting:
        params = _KERNELS[kernel]
        weights: tuple[tuple[str, float], ...] = ()
        if way != "apart":
            # a row's own record counts as one of its neighbors, and no secret chooses them: what
            # is known of a person then comes from the relations alone
            params = replace(in_way(params, way), own=True)
            weights = without
        start = Setting(params=params, slices=slices, weights=weights)
        return _in_geometry(start, search.microdata.n, table.n)

    first = "even" if _has_few_numbers(table) and not search.policy.needs_own else "balanced"
    # the promising slices in each way first: where the steps end early, these were tried
    usual = list(dict.fromkeys(preset_slices(table, each) for each in (*OFTEN_BEST, *PRESETS)))
    for way in WAYS:
        if search.policy.unjudged(in_way(SoftRWN(), way)):
            continue
        slow = search.microdata.n > WAYS[way].slow_beyond
        kernel = first if way == "apart" else "balanced"
        for slices in usual[:1] if slow else usual:
            search.look(candidate(kernel, slices, way))
    # then every kernel
    for slices, way in _promising_slices(search):
        related = way != "apart"
        for kernel in _RELATED_KERNELS if related else _KERNELS:
            search.look(candidate(kernel, slices, way))
    search.look(candidate("even", ()))
    for each in search.best[:1] if without else ():
        search.look(replace(each.setting, weights=without))


def _promising_slices(search: TableSearch) -> list[tuple[Slices, str]]:
    """Return the slices that every kernel is tried with, each with its way."""
    found = dict.fromkeys(
        (each.setting.slices or (), way_of(each.setting.params)) for each in search.best
    )
    return list(found)[:_PROMISING]


def _has_few_numbers(table: Microdata) -> bool:
    """True if less than half of the masked variables are numbers."""
    names = masked_names(table)
    return 2 * len(set(names) & set(table.numeric_names)) < len(names)


def _look_at_levers(search: TableSearch, table: Microdata) -> None:
    """Try RWN in slices, related in each way that it has, each with few and with many nearest."""
    known = {each.name for each in fields(RWN)}
    ways = [way for way in WAYS.values() if known.issuperset(way.parameters)]
    slices = dict.fromkeys(preset_slices(table, each) for each in (*OFTEN_BEST, *PRESETS))
    without = tuple(sorted(without_secrets(table).items()))
    for each, way, k in product(slices, ways, _NEAREST):
        params = replace(_KERNELS["even"], k=k, **way.parameters)
        search.look(Setting(params=params, slices=each, weights=without if way.parameters else ()))
    secrets = without_secrets(table)
    for each in search.best[:_PROMISING] if secrets else ():
        search.look(replace(each.setting, weights=tuple(sorted(secrets.items()))))


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


def _new_kind(microdata: Microdata, params: Any) -> str:
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


def refusal(microdata: Microdata, policy: Policy, params: Any) -> str:
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
            return f"{percent(unique)} of the {who} are unique on what stays as it is: {named}."
    few = microdata.take(np.arange(min(microdata.n, _FEW)))
    if at_levers(params, neutral_levers(type(params))).prepare(few).law is None:
        return "It has no exact law, so that worst-case linkage cannot be judged."
    secret = any(v.role is Role.CONFIDENTIAL for v in microdata.schema.released)
    if params.releases_true_rows and secret and policy.limit(TRUE_ROWS):
        return "It copies whole rows, so that a row shows the confidential values of a person."
    return ""
