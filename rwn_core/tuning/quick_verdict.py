"""A quick verdict: whether any strength of a setting can keep a policy on a table."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any, Literal

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps
from rwn_core.data.schema import Schema
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Role, Variable
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, RWN, SHORT_NAMES, SoftRWN, no_method
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES
from rwn_core.measures.sentence import percent
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import (
    Recommendation,
    recommend,
    refusal,
    without_secrets,
)
from rwn_core.tuning.search import CLEARLY, MOST_LOST, Late, StrengthTrial, TableSearch, Tried, kind
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_key
from rwn_core.tuning.verdict import State, Verdict, not_judged, share_words

WITHIN = 3.0  # seconds
_WEAKER = 8  # parts of a strength: where risk may rise with it, each is looked at
_COARSE = 0.5  # standard deviations of a rounding that is proposed
EVERY = 10_000  # places: each step of a slider
QUICK_LIMITS = ("bayes_linkage", "linked_over_half", "true_matches")
_FEW_RELATIONS = "Even the weakest strength loses nearly all relations; there may be few to keep."
_AT_THE_END = "Every limit is kept only where nearly all relations are lost. Search for a setting."
_STEPS_TIMES = 10  # the seconds of a verdict: what may help is tried for so long
_HELPS = 0.9  # times the share of a limit: what comes no nearer is not named
_PLACES = 32  # parts of a strength that a step is tried with
_RELEASES = 19  # of which the extremes hold one more release, 9 times in 10, however it jumps
_APART = 1.15  # times the middle release: an upper end beyond stands as a range
_USUAL = SoftRWN()
_NAMED = 3  # variables that stay as they are, each with steps of its own
_DIFFER = "None is known to keep the policy: releases of those within the limits differ much."
_LATER = "Not all limits can be read in time on a table of this size; search for a setting."


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """Hold one thing to try: a setting, or a change of the table's description.

    Attributes
    ----------
    title : str
        A few words, for a button.
    setting : Setting, optional
        Take this one.
    schema : Schema, optional
        Describe the table so, before the setting is taken.
    known : bool
        True if one more release keeps all limits that can be judged, 9 times in 10, as several
        releases of all records showed.
    gives : tuple of float, optional
        The largest share of a limit that a release then uses, at the upper end of where one more
        release falls, and the share of the relations that it loses, as read on all records.
    least : float, optional
        The lower end, where releases differ so much that only a range can be stated.
    unread : mapping of str to str
        Limits that cannot be judged on the table after the step, and why.
    """

    title: str
    setting: Setting | None = None
    schema: Schema | None = None
    known: bool = False
    gives: tuple[float, float] | None = None
    least: float | None = None
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The title, and what the step gives."""
        if self.gives is None:
            return self.title
        share, loss = self.gives
        used = "keeps the limits" if self.known else f"{share_words(share, self.least)} a limit"
        if self.unread:
            apart = ", ".join(MEASURES[key].title.lower() for key in self.unread)
            used = f"{used.replace('the', 'the other')} ({apart} not judged)"
        return f"{self.title}: {used}, {percent(loss)} of the relations lost"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QuickVerdict(Summarized):
    """Hold what can be said of a setting within a few seconds.

    Attributes
    ----------
    answer : {"can", "cannot", "unknown"}
        "can": a strength was found and read on the whole table. "cannot": the strongest place
        breaks a limit clearly, or what the method leaves as it is does. "unknown" also where a
        limit cannot be judged and the others are kept.
    sentence : str
    next_steps : tuple of NextStep
        What helps, each tried before it is named; those that keep the policy first, by their loss.
        Empty where a setting was found.
    caution : str
        That no next step keeps the policy, with the best that is attainable.
    setting : Setting, optional
        The setting that keeps all limits that can be judged, where one was found.
    unread : mapping of str to str
        Limits that cannot be judged on this table, and why.
    """

    answer: Literal["can", "cannot", "unknown"]
    sentence: str
    next_steps: tuple[NextStep, ...] = ()
    setting: Setting | None = None
    caution: str = ""
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """State of the policy at any strength: kept, broken, or not judged."""
        states: dict[str, State] = {"can": "kept", "cannot": "broken", "unknown": "not judged"}
        return states[self.answer]

    def _summary(self) -> Summary:
        found = [("setting", self.setting.words)] if self.setting else []
        return Summary(
            title=self.sentence,
            columns=("", ""),
            rows=[("answer", self.answer), *found,
                  *(("next step", each.words) for each in self.next_steps)],
        )  # fmt: skip


@takes_tables
def quick_verdict(
    microdata: Microdata,
    method: str | Any,
    policy: Policy | None = None,
    *,
    within: float = WITHIN,
    steps: bool = True,
) -> QuickVerdict:
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
        Seconds, after which no further limit is read; infinite for an answer that takes as long
        as it needs.
    steps : bool
        Also try what may help where no setting was found, for up to ten times as long.

    Returns
    -------
    QuickVerdict

    Raises
    ------
    ParameterError
        There is no such method.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> quick_verdict(rwn.load_demo("bodyfat"), "sampling").answer
    'cannot'
    """
    policy = policy or Policy()
    if isinstance(method, str):
        if method not in METHODS:
            raise ParameterError(no_method(method))
        method = METHODS[method](**neutral_levers(METHODS[method]))
    setting = method if isinstance(method, Setting) else Setting(params=method)
    try:
        found = _answered(microdata, setting, policy, within)
    except ParameterError as why:
        found = QuickVerdict(answer="cannot", sentence=str(why))
    if found.answer == "can" or microdata.n <= LARGEST_DENSE:
        found = replace(found, unread=policy.judgeable(microdata)[1])
    if found.answer == "can" and found.unread:
        words = found.sentence + not_judged(found.unread)
        found = replace(found, answer="unknown", sentence=words)
    if found.setting is not None or not steps:
        return found
    return with_next_steps(found, microdata, setting, policy, within=_STEPS_TIMES * within)


def _answered(
    microdata: Microdata, setting: Setting, policy: Policy, within: float
) -> QuickVerdict:
    """Read the limits once, at the strongest place that leaves some relations."""
    until = time.monotonic() + within
    why = refusal(microdata, policy, setting.params)
    if why:
        return QuickVerdict(answer="cannot", sentence=why)
    large = microdata.n > LARGEST_DENSE
    hurried = large and math.isfinite(within)
    judged, apart = (policy, dict[str, str]()) if large else policy.judgeable(microdata)
    if judged is None:
        return _not_judged(apart)
    policy = judged
    limits = tuple(each for each in policy.limits if not hurried or each.measure in QUICK_LIMITS)
    trial = StrengthTrial(
        microdata, setting, replace(policy, limits=limits), places=EVERY, until=until
    )
    try:
        place = trial.strongest(MOST_LOST)
        if place is None:
            return QuickVerdict(answer="unknown", sentence=_FEW_RELATIONS)
        point = None
        if large:
            verdict = trial.verdict(place)  # of one release
        else:
            point, _ = trial.further(place)
            verdict = trial.policy.judge({key: point.median(key) for key in point.spreads})
        broken = _broken_words(trial, place, verdict)
        if broken and large:  # only where the unmasked file breaks that limit, too
            first = tuple(each for each in policy.limits if each.measure == verdict.first)
            broken = "" if replace(policy, limits=first).judgeable(microdata)[0] is None else broken
        if broken:
            return QuickVerdict(answer="cannot", sentence=broken)
        if hurried:
            return QuickVerdict(answer="unknown", sentence=_LATER)
        return _of_releases(microdata, trial, place, policy, point)
    except Late:
        return QuickVerdict(answer="unknown", sentence=_LATER)


def _not_judged(apart: Mapping[str, str]) -> QuickVerdict:
    why = next(iter(apart.values()))
    return QuickVerdict(answer="unknown", sentence=f"The policy cannot be judged here. {why}")


def _of_releases(
    microdata: Microdata, trial: StrengthTrial, place: int, policy: Policy, point: Point | None
) -> QuickVerdict:
    """Say "can" where one more release keeps every limit that can be judged, and some relations."""
    judged, apart = policy.judgeable(microdata)
    if judged is None:
        return _not_judged(apart)
    verdict = judged.judge(point or trial.further(place)[0])
    found, lost, losses = trial.at(place), trial.loss(place), trial.losses(place)
    # that one release loses just less than is of use may be luck, as what one uses of a limit:
    # where others lose more or break a limit, the weakest strength that keeps all is looked for
    if not verdict.kept or fmean(losses) + 2 * stdev(losses) > MOST_LOST:
        search = TableSearch(microdata=microdata, policy=judged, until=trial.until, places=_PLACES)
        tried = search.look(found, MOST_LOST)
        if tried is None or not tried.kept:
            words = f"At {_strength(found)}: {verdict.sentence} Search for a setting."
            return QuickVerdict(answer="unknown", sentence=_AT_THE_END if verdict.kept else words)
        found, lost = tried.setting, tried.loss
    where = f"At {_strength(found)} every limit that can be judged is kept"
    words = f"{where}; {percent(lost)} of the relations are lost."
    return QuickVerdict(answer="can", sentence=words, setting=found)


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
    least = "at least " if verdict.standing.get(first) else ""
    where = ", and a stronger one loses nearly all relations" if place < trial.last else ""
    what = f"{MEASURES[first].title} uses {least}{verdict.uses(first)} its limit"
    strength = _strength(trial.at(place))
    return f"No strength up to {strength} keeps this policy: there {what}{where}."


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
    slices = PRESETS[preset].title if preset else "in slices"
    return f"Try RWN{kernel}: {slices}"


def with_next_steps(
    found: QuickVerdict,
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: Recommendation | None = None,
    *,
    within: float = 20 * WITHIN,
) -> QuickVerdict:
    """Add what helps to a verdict: each step is tried on all records, and says what it gives."""
    until = time.monotonic() + within
    own = _tried(microdata, setting, policy, until, math.inf)
    ranked = list[tuple[tuple[bool, bool, float], NextStep]]()
    most = math.inf if own is None else _HELPS * own.ends[1]
    for title, schema, start in _candidates(microdata, setting, policy, advice, within / 3):
        table = microdata if schema is None else microdata.with_schema(schema)
        if not any(variable.masked for variable in table.schema.released):
            continue
        tried = _tried(table, _fitted(start, table), policy, until, max(most, 1.0))
        if tried is None or not (tried.kept or tried.ends[1] < most):
            continue
        low, high = tried.ends
        step = NextStep(
            title=title,
            setting=tried.setting,
            schema=schema,
            known=tried.kept,
            gives=(high, tried.loss),
            least=low if high > _APART * tried.share else None,
            unread=policy.judgeable(table)[1],
        )
        ranked.append(((not tried.kept, high > 1, high if high > 1 else tried.loss), step))
    # first what is known to keep the limits, then what kept them, each by its loss
    steps = [each for _, each in sorted(ranked, key=lambda one: one[0])]
    shares = [each.gives[0] for each in steps if each.gives]
    caution = "" if any(each.known for each in steps) else _DIFFER
    if min(shares, default=math.inf) > 1:
        caution = "None of these keeps the policy." if steps else "Nothing that was tried helps."
        shares += [own.ends[1]] if own else []
        if shares and math.isfinite(min(shares)):
            best = share_words(max(min(shares), 1.01))
            caution += f" The best that was found may use {best} a limit."
    return replace(found, next_steps=tuple(steps), caution=caution)


def _tried(
    microdata: Microdata, setting: Setting, policy: Policy, until: float, helps: float
) -> Tried | None:
    """Return what a setting gives at its best strength, on all records."""
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return None
    search = TableSearch(
        microdata=microdata,
        policy=judged,
        until=until,
        places=_PLACES,
        releases=_RELEASES if microdata.n <= QUICK_RECORDS else None,
        helps=helps,
    )
    tried = search.look(setting, MOST_LOST)
    return tried if tried is not None and tried.releases > 1 else None


def _candidates(
    microdata: Microdata,
    setting: Setting,
    policy: Policy,
    advice: Recommendation | None,
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
    for each in (advice.setting, advice.alternative) if advice is not None else ():
        if each is not None and kind(each.resolved(microdata)) != kind(setting.resolved(microdata)):
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
    """Yield what may be done with variables that stay as they are: mask, round, leave out."""
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


def _fitted(setting: Setting, microdata: Microdata) -> Setting:
    """Return a setting without the variables that a table no longer releases or masks."""
    released, masked = {v.name for v in microdata.schema.released}, set(masked_names(microdata))
    slices = setting.slices
    if slices is not None:
        left = (tuple(name for name in names if name in masked) for names in slices)
        slices = tuple(names for names in left if len(names) > 1)
    return replace(
        setting,
        slices=slices,
        weights=tuple(each for each in setting.weights if each[0] in released),
        precision=tuple(each for each in setting.precision if each[0] in released),
    )
