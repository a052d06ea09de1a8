"""A quick verdict: whether any strength of a setting can keep a policy on a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps
from rwn_core.data.schema import Schema
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.variable import Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, RWN, SHORT_NAMES, SoftRWN
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import SLOW
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel import clock
from rwn_core.tuning.answer import FoundSetting, SearchAnswer
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import recommend, refusal, without_secrets
from rwn_core.tuning.several_draws import (
    CLEARLY,
    DECISIVE,
    FEW_RELEASES,
    Late,
    further_keys,
    known_draws,
)
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_key
from rwn_core.tuning.strength import (
    MOST_LOST,
    StrengthTrial,
    TableSearch,
    kind,
    several_left,
)
from rwn_core.tuning.verdict import Verdict, not_judged, share_words

WITHIN = 3.0  # seconds
_WEAKER = 8  # parts of a strength: where risk may rise with it, each is looked at
_COARSE = 0.5  # standard deviations of a rounding that is proposed
EVERY = 10_000  # places: each step of a slider
_FEW_RELATIONS = (
    "Even the weakest strength loses nearly all of a part of the use; there may be little to keep."
)
_AT_THE_END = (
    "Every limit is kept only where nearly all of a part of the use is lost. Search for a setting."
)
_STEPS_TIMES = 10  # the seconds of a verdict: what may help is tried for so long
_HELPS = 0.9  # times the share of a limit: what comes no nearer is not named
_PLACES = 32  # parts of a strength that a step is tried with
_USUAL = SoftRWN()
_NAMED = 3  # variables released unmasked, each with steps of its own
_DIFFER = "None is known to keep the policy: releases of those within the limits differ much."
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
    return with_next_steps(found, microdata, setting, policy, within=_STEPS_TIMES * within)


def _answered(
    microdata: Microdata, setting: Setting, policy: Policy, within: float
) -> SearchAnswer:
    """Read the limits once, at the strongest place that leaves some relations."""
    until = clock.processor_seconds() + within
    if why := refusal(microdata, policy, setting.params):
        return SearchAnswer(goal=policy, refused=True, reason=why)
    large = microdata.n > LARGEST_DENSE
    hurried = large and math.isfinite(within)
    judged, apart = (policy, dict[str, str]()) if large else policy.judgeable(microdata)
    if judged is None:
        return _not_judged(policy, apart)
    limits = tuple(x for x in judged.limits if not hurried or MEASURES[x.measure].effort < SLOW)
    judged = replace(judged, limits=limits)
    table = TableSearch(microdata=microdata, policy=judged, until=until, places=EVERY)
    try:
        trial = StrengthTrial(table, setting)
        place = trial.strongest(MOST_LOST)
        if place is None:
            return SearchAnswer(goal=policy, reason=_FEW_RELATIONS)
        # a small table has several releases, a large one the first; weaker places break it, too
        point = None if large else trial.further(place, attack=True)[0]
        verdict = trial.verdict(place)
        if point is not None:
            verdict = judged.judge({key: point.median(key) for key in point.spreads})
        broken = _broken_words(trial, place, verdict)
        if broken and large:  # only where the unmasked file breaks that limit, too
            first = tuple(each for each in judged.limits if each.measure == verdict.first)
            broken = "" if replace(judged, limits=first).judgeable(microdata)[0] is None else broken
        if broken:
            return SearchAnswer(goal=policy, refused=True, reason=broken)
        if hurried:
            return SearchAnswer(goal=policy, reason=_LATER, late=True)
        # one more release keeps every limit that can be judged, and some relations
        judged, apart = policy.judgeable(microdata)
        if judged is None:
            return _not_judged(policy, apart)
        point, losses = point or trial.further(place, attack=True)[0], trial.losses(place)
        verdict = judged.judge(point)
        loss = trial.loss(place)
        found: FoundSetting | None = FoundSetting(
            point=point, verdict=verdict, loss=loss, left=trial.left(place)
        )
        # that one release loses just less than is of use may be luck, as what one uses of a limit:
        # where others lose more or break a limit, the weakest that keeps all is looked for
        if not verdict.kept or fmean(losses) + 2 * stdev(losses) > MOST_LOST:
            again = replace(table, policy=judged, places=_PLACES, over=False)
            again.look(setting, MOST_LOST)
            again.attack()
            found = again.best[0] if again.tried else None
    except Late:
        return SearchAnswer(goal=policy, reason=_LATER, late=True)
    if found is None or not found.kept:
        words = f"At {_strength(point.setting)}: {verdict.sentence} Search for a setting."
        return SearchAnswer(goal=policy, reason=_AT_THE_END if verdict.kept else words)
    return _kept_at(policy, found)


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
    where = f"At {_strength(found.setting)} every limit that can be judged is kept"
    words = f"{where}. {found.left_words}."
    return SearchAnswer(goal=policy, settings=(found,), reached=True, reason=words)


def _not_judged(policy: Policy, apart: Mapping[str, str]) -> SearchAnswer:
    why = next(iter(apart.values()))
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
    return f"No strength up to {_strength(trial.at(place))} keeps this policy: there {what}{where}."


def _strength(setting: Setting) -> str:
    """Write the strength of a setting, such as "ε = 8.2"."""
    params = setting.params
    return f"{SHORT_NAMES[params.strength]} = {getattr(params, params.strength):g}"


def _title(microdata: Microdata, setting: Setting) -> str:
    """Return the words for a button that tries a setting."""
    params = setting.params
    if params.method not in (RWN.method, SoftRWN.method):
        return f"Try {params.title}"
    balance = " with balance" if getattr(params, "balance", 0.0) else ""
    kernel = balance or " soft" * (params.method == SoftRWN.method)
    preset = preset_key(microdata, setting.slices or ())
    return f"Try RWN{kernel}: {PRESETS[preset].title if preset else 'in slices'}"


def with_next_steps(
    found: SearchAnswer,
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: SearchAnswer | None = None,
    *,
    within: float = 20 * WITHIN,
) -> SearchAnswer:
    """Add what helps to a verdict: each step is tried on all records, and says what it gives."""
    until = clock.processor_seconds() + within
    own = _tried(microdata, setting, policy, until, math.inf)
    steps = list[FoundSetting]()
    most = math.inf if own is None else _HELPS * own.interval[1]
    for title, schema, start in _candidates(microdata, setting, policy, advice, within / 3):
        table = microdata if schema is None else microdata.with_schema(schema)
        if not any(variable.masked for variable in table.schema.released):
            continue
        # without the variables that the table no longer releases or masks
        released = {v.name for v in table.schema.released}
        masked = set(masked_names(table))
        slices = start.slices
        if slices is not None:
            left = (tuple(name for name in names if name in masked) for names in slices)
            slices = tuple(names for names in left if len(names) > 1)
        weights = tuple(each for each in start.weights if each[0] in released)
        precision = tuple(each for each in start.precision if each[0] in released)
        fitted = replace(start, slices=slices, weights=weights, precision=precision)
        tried = _tried(table, fitted, policy, until, max(most, 1.0))
        if tried is None or not (tried.kept or tried.interval[1] < most):
            continue
        steps.append(replace(tried, title=title, schema=schema, unread=policy.judgeable(table)[1]))
    # first what is known to keep the limits, then what kept them, each by its loss
    steps.sort(key=lambda each: (not each.kept, max(each.interval[1], 1.0), each.loss or 0.0))
    shares = [each.interval[1] for each in steps]
    caution = "" if any(each.kept for each in steps) else _DIFFER
    if min(shares, default=math.inf) > 1:
        caution = "None of these keeps the policy." if steps else "Nothing that was tried helps."
        shares += [own.interval[1]] if own else []
        if shares and math.isfinite(min(shares)):
            best = share_words(max(min(shares), 1.01))
            caution += f" The best that was found may use {best} a limit."
    return replace(found, next_steps=tuple(steps), caution=caution)


def _tried(
    microdata: Microdata, setting: Setting, policy: Policy, until: float, helps: float
) -> FoundSetting | None:
    """Return what a setting gives at its best strength, on all records."""
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return None
    search = TableSearch(
        microdata=microdata,
        policy=judged,
        until=until,
        places=_PLACES,
        releases=DECISIVE if microdata.n <= QUICK_RECORDS else None,
        helps=helps,
    )
    search.look(setting, MOST_LOST)
    search.attack()
    tried = search.best[0] if search.tried else None
    return tried if tried is not None and tried.releases > 1 else None


def _candidates(
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: SearchAnswer | None,
    within: float,
) -> Iterator[tuple[str, Schema | None, Setting]]:
    """Yield what may help, with its title: first what touches the reason of the verdict."""
    schema = microdata.schema
    rich = sorted(schema.released, key=lambda v: -len(microdata.codes(v.name)[1]))
    coarse = given_steps(microdata, _COARSE) if microdata.numeric_names else {}
    try:
        masked = set(setting.params.masked_names(microdata))
    except ParameterError:
        masked = {variable.name for variable in rich if variable.masked}
    left = [variable for variable in rich if variable.name not in masked]
    yield from _of_unmasked(schema, setting, left, coarse)
    # a secret in the distance chooses its own donors
    secrets = without_secrets(microdata) if setting.params.uses_weights else {}
    if any(not setting.weights or dict(setting.weights).get(name, 1.0) for name in secrets):
        weights = tuple(sorted((dict(setting.weights) | secrets).items()))
        yield f"Weight 0 on {', '.join(secrets)}", None, replace(setting, weights=weights)
    # other kernels, slices and methods
    if advice is None and any(v.masked for v in rich) and not refusal(microdata, policy, _USUAL):
        advice = recommend(microdata, policy, within=within)
    offered = () if advice is None else (*advice.settings[:1], advice.alternative)
    for each in (found.setting for found in offered if found is not None):
        if kind(each.resolved(microdata)) != kind(setting.resolved(microdata)):
            yield _title(microdata, each), None, each
    # less detail, fewer variables
    if coarse and not setting.precision:
        yield "Round the numbers", None, replace(setting, precision=tuple(sorted(coarse.items())))
    keys = [v.name for v in rich if v.role is Role.KEY and v not in left]
    others = [v.name for v in rich if v.role is Role.OTHER and v not in left]
    for name in (*others[:1], *keys[: len(keys) > 1]):
        key = "the key " if name in keys else ""
        yield f"Leave {key}{name} out", _without(schema, name), setting


def _of_unmasked(
    schema: Schema, setting: Setting, left: Sequence[Variable], coarse: Mapping[str, float]
) -> Iterator[tuple[str, Schema | None, Setting]]:
    """Yield what may be done with variables released unmasked: mask, round, leave out."""
    free = [variable.name for variable in left if not variable.masked]
    for names in ([free] if len(free) > 1 else []) + [[name] for name in free[:_NAMED]]:
        changed = schema
        for name in names:
            changed = changed.replace_variable(name, masked=True, group=None)
        yield f"Mask {', '.join(names)}", changed, setting
    for variable in left[:_NAMED]:
        name = variable.name
        if name in coarse and name not in dict(setting.precision):
            steps = tuple(sorted((*setting.precision, (name, coarse[name]))))
            yield f"Round {name} to {coarse[name]:g}", None, replace(setting, precision=steps)
        if variable.role is not Role.CONFIDENTIAL:
            yield f"Leave {name} out", _without(schema, name), setting


def _without(schema: Schema, name: str) -> Schema:
    return schema.replace_variable(name, role=Role.IDENTIFIER, group=None)
