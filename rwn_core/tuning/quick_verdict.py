"""A quick verdict: whether any strength of a setting can keep a policy on a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import SLOW
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel import clock
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import refusal
from rwn_core.tuning.releases_left import several_left
from rwn_core.tuning.remedies import strength_words, with_remedies
from rwn_core.tuning.several_draws import (
    CLEARLY,
    FEW_RELEASES,
    Late,
    further_keys,
    known_draws,
)
from rwn_core.tuning.strength import (
    MOST_LOST,
    StrengthTrial,
    TableSearch,
)
from rwn_core.tuning.verdict import Verdict, not_judged

WITHIN = 3.0  # seconds
_WEAKER = 8  # parts of a strength: where risk may rise with it, each is looked at
EVERY = 10_000  # places: each step of a slider
_FEW_RELATIONS = (
    "Even the weakest strength loses nearly all of a part of the use; there may be little to keep."
)
_AT_THE_END = (
    "Every limit is kept only where nearly all of a part of the use is lost. Search for a setting."
)
_STEPS_TIMES = 10  # the seconds of a verdict: what may help is tried for so long
_PLACES = 32  # parts of a strength that a step is tried with
_LATER = (
    "Whether any strength keeps the limits was not read in time on a table of this size; search "
    "for a setting."
)


@takes_tables
def quick_verdict(
    microdata: Microdata,
    method: str | Any,
    policy: Policy | None = None,
    *,
    within: float = WITHIN,
    steps: bool = True,
) -> SearchAnswer:
    """Judge whether any strength of a setting can keep a policy and some relations.

    Parameters
    ----------
    microdata : Microdata
    method : str, Setting or object
        Key of a method, its parameters, or a setting. Only the strength is moved; the other levers
        stand where the preset Standard has them, and slices and options stay.
    policy : Policy, optional
        The usual one by default.
    within : float
        Seconds of processor time, after which no further limit is read; infinite for an answer
        that takes as long as it needs.
    steps : bool
        Also try what may help where no setting was found, for up to ten times as long.

    Returns
    -------
    SearchAnswer

    Raises
    ------
    ParameterError
        There is no such method.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> quick_verdict(rwn.load_demo("bodyfat"), "sampling", steps=False).answer
    'cannot'
    """
    policy = policy or Policy()
    if isinstance(method, str) or not hasattr(getattr(method, "params", method), "prepare"):
        method = METHODS[method](**neutral_levers(METHODS[method]))
    setting = method if isinstance(method, Setting) else Setting(params=method)
    try:
        found = _answered(microdata, setting, policy, within)
    except ParameterError as why:
        found = SearchAnswer(goal=policy, refused=True, reason=str(why))
    if not found.reached and microdata.n <= LARGEST_DENSE:
        found = _as_given(microdata, setting, policy) or found
    if found.reached or microdata.n <= LARGEST_DENSE:
        found = replace(found, unread=policy.judgeable(microdata)[1])
    if found.reached:
        found = replace(found, reason=found.reason + not_judged(found.unread))
    if found.reached or not steps:
        return found
    return with_remedies(found, microdata, setting, policy, within=_STEPS_TIMES * within)


def _answered(
    microdata: Microdata, setting: Setting, policy: Policy, within: float
) -> SearchAnswer:
    """Read the limits once, at the strongest place that leaves some relations."""
    until = clock.processor_seconds() + within
    if why := refusal(microdata, policy, setting.params):
        return SearchAnswer(goal=policy, refused=True, reason=why)
    large = microdata.n > LARGEST_DENSE
    hurried = large and math.isfinite(within)
    judged = policy
    if not large:
        reachable, apart = policy.judgeable(microdata)
        if reachable is None:
            return _not_judged(policy, apart)
        judged = reachable
    if hurried:
        judged = _without_slow_limits(policy)
    table = TableSearch(microdata=microdata, policy=judged, until=until, places=EVERY)
    try:
        trial = StrengthTrial(table, setting)
        place = trial.strongest(MOST_LOST)
        if place is None:
            return SearchAnswer(goal=policy, reason=_FEW_RELATIONS)
        # a small table has several releases, a large one the first; weaker places break it, too
        point = None if large else trial.further(place, attack=True)[0]
        if broken := _broken_at(trial, place, point, table, large=large):
            return SearchAnswer(goal=policy, refused=True, reason=broken)
        if hurried:
            return SearchAnswer(goal=policy, reason=_LATER, late=True)
        # one more release keeps every limit that can be judged, and some relations
        reachable, apart = policy.judgeable(microdata)
        if reachable is None:
            return _not_judged(policy, apart)
        judged = reachable
        point = point or trial.further(place, attack=True)[0]
        found = _found_at(trial, place, point, setting, replace(table, policy=judged))
    except Late:
        return SearchAnswer(goal=policy, reason=_LATER, late=True)
    if found is not None and found.kept:
        return _kept_at(policy, found)
    verdict = judged.judge(point)
    words = f"At {strength_words(point.setting)}: {verdict.sentence} Search for a setting."
    return SearchAnswer(goal=policy, reason=_AT_THE_END if verdict.kept else words)


def _without_slow_limits(policy: Policy) -> Policy:
    """Return a policy without the limits on measures that take long to read."""
    quick = tuple(x for x in policy.limits if MEASURES[x.measure].effort < SLOW)
    return replace(policy, limits=quick)


def _broken_at(
    trial: StrengthTrial, place: int, point: Point | None, table: TableSearch, *, large: bool
) -> str:
    """Say which limit is broken at a place; nothing where none is."""
    verdict = trial.verdict(place)
    if point is not None:
        verdict = table.policy.judge({key: point.median(key) for key in point.spreads})
    broken = _broken_words(trial, place, verdict)
    if not broken or not large:
        return broken
    # of a large table only where the unmasked file breaks that limit, too
    first = tuple(each for each in table.policy.limits if each.measure == verdict.first)
    reachable = replace(table.policy, limits=first).judgeable(table.microdata)[0]
    return "" if reachable is None else broken


def _found_at(
    trial: StrengthTrial, place: int, point: Point, setting: Setting, table: TableSearch
) -> FoundSetting | None:
    """Return the strongest place by one more release, or the weakest that keeps all.

    That one release loses just less than is of use may be luck, as what one uses of a limit: where
    others lose more or break a limit, the weakest that keeps all is looked for.
    """
    losses = trial.losses(place)
    verdict = table.policy.judge(point)
    if verdict.kept and fmean(losses) + 2 * stdev(losses) <= MOST_LOST:
        loss = trial.loss(place)
        return FoundSetting(point=point, verdict=verdict, loss=loss, left=trial.left(place))
    again = replace(table, places=_PLACES, over=False)
    again.look(setting, MOST_LOST)
    again.attack()
    return again.best[0] if again.tried else None


def _as_given(microdata: Microdata, setting: Setting, policy: Policy) -> SearchAnswer | None:
    """Answer by the setting as it was given, where a search has read that it keeps the policy."""
    judged, _ = policy.judgeable(microdata)
    point = None if judged is None else known_draws(microdata, judged, setting)
    if judged is None or point is None or not judged.judge(point).kept:
        return None
    left = several_left(PreparedTables(microdata), point.setting, further_keys(FEW_RELEASES))
    found = FoundSetting(
        point=point,
        verdict=judged.judge(point),
        loss=None if left is None or left.least is None else 1.0 - left.least,
        left=left,
        attacked=True,
        confirmed=True,
    )
    return _kept_at(policy, found)


def _kept_at(policy: Policy, found: FoundSetting) -> SearchAnswer:
    where = f"At {strength_words(found.setting)} every limit that can be judged is kept"
    words = f"{where}. {found.left_words}."
    return SearchAnswer(goal=policy, settings=(found,), reached=True, reason=words)


def _not_judged(policy: Policy, apart: Mapping[str, str]) -> SearchAnswer:
    why = next(iter(apart.values()), "It has no limits.")
    return SearchAnswer(goal=policy, reason=f"The policy cannot be judged here. {why}")


def _broken_words(trial: StrengthTrial, place: int, verdict: Verdict) -> str:
    """Say which limit no strength keeps; nothing where that is not clear."""
    weaker = sorted({round(place * part / _WEAKER) for part in range(1, _WEAKER)}, reverse=True)
    if (verdict.largest or 0.0) < CLEARLY:
        return ""
    # weaker places break a limit, too: of neighborhoods these are known to risk more
    known = hasattr(trial.at(place).params, "ball")
    if not known and any((trial.verdict(each).largest or 0.0) <= CLEARLY for each in weaker):
        return ""
    first = str(verdict.first)
    least = "at least " if verdict.standings[first] else ""
    where = ", and a stronger one loses nearly all of the use" if place < trial.last else ""
    what = f"{MEASURES[first].title} uses {least}{verdict.uses(first)} its limit"
    end = strength_words(trial.at(place))
    return f"No strength up to {end} keeps this policy: there {what}{where}."
