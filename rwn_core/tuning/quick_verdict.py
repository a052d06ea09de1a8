"""A quick verdict: whether any strength of a setting can keep a policy on a table."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any, Literal

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps
from rwn_core.data.schema import Schema
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import METHODS, SHORT_NAMES, no_method
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import MEASURES
from rwn_core.measures.sentence import percent
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning.point import Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.recommend import Recommendation, recommend, refusal
from rwn_core.tuning.slice_presets import PRESETS, preset_key
from rwn_core.tuning.strength_trial import CLEARLY, MOST_LOST, StrengthTrial
from rwn_core.tuning.verdict import Verdict

WITHIN = 3.0  # seconds
_WEAKER = 8  # parts of a strength: where risk may rise with it, each is looked at
_COARSE = 0.5  # standard deviations of a rounding that is proposed
EVERY = 10_000  # places: each step of a slider
QUICK_LIMITS = ("bayes_linkage", "linked_over_half", "true_matches")
_FEW_RELATIONS = "Even the weakest strength loses nearly all relations; there may be few to keep."
_AT_THE_END = "Every limit is kept only where nearly all relations are lost. Search for a setting."
_LATER = "Not all limits can be read in time on a table of this size; search for a setting."


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """Hold one thing to try: a setting, or a change of the table's description.

    Attributes
    ----------
    title : str
        A few words, for a button.
    setting : Setting, optional
        Try this one.
    schema : Schema, optional
        Describe the table so.
    known : bool
        True if the setting was found to keep the policy.
    """

    title: str
    setting: Setting | None = None
    schema: Schema | None = None
    known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QuickVerdict(Summarized):
    """Hold what can be said of a setting within a few seconds.

    Attributes
    ----------
    answer : {"can", "cannot", "unknown"}
        "can": a strength was found and read on the whole table. "cannot": the strongest place
        breaks a limit clearly, or what the method leaves as it is does.
    sentence : str
    next_steps : tuple of NextStep
        Empty where the answer is "can".
    setting : Setting, optional
        Where the answer is "can", the setting that keeps all limits.
    """

    answer: Literal["can", "cannot", "unknown"]
    sentence: str
    next_steps: tuple[NextStep, ...] = ()
    setting: Setting | None = None

    @property
    def caution(self) -> str:
        """Say that no next step was found to be enough; empty where one was, or none is named."""
        if not self.next_steps or any(step.known for step in self.next_steps):
            return ""
        return "None of these is known to be enough."

    def _summary(self) -> Summary:
        found = [("setting", self.setting.words)] if self.setting else []
        return Summary(
            title=self.sentence,
            columns=("", ""),
            rows=[("answer", self.answer), *found,
                  *(("next step", each.title) for each in self.next_steps)],
        )  # fmt: skip


@takes_tables
def quick_verdict(
    microdata: Microdata,
    method: str | Any,
    policy: Policy | None = None,
    *,
    within: float = WITHIN,
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
    setting = _setting(method)
    try:
        found = _answered(microdata, setting, policy, within)
    except ParameterError as why:
        found = QuickVerdict(answer="cannot", sentence=str(why))
    if found.answer == "can":
        return found
    masked = any(variable.masked for variable in microdata.schema.released)
    advice = recommend(microdata, policy, whole=False) if masked else None
    return replace(found, next_steps=next_steps(microdata, setting, policy, advice))


def _setting(method: str | Any) -> Setting:
    if isinstance(method, Setting):
        return method
    if isinstance(method, str):
        if method not in METHODS:
            raise ParameterError(no_method(method))
        method = METHODS[method](**neutral_levers(METHODS[method]))
    return Setting(params=method)


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
    trial = StrengthTrial(microdata, setting, replace(policy, limits=limits), places=EVERY)
    place = trial.strongest(MOST_LOST, until)
    if place is None:
        late = time.monotonic() > until
        return QuickVerdict(answer="unknown", sentence=_LATER if late else _FEW_RELATIONS)
    if hurried or microdata.n > LARGEST_DENSE:
        point, verdict = None, trial.verdict(place)  # of one release
    else:
        point = trial.point(place, until=until)
        if point is None:
            return QuickVerdict(answer="unknown", sentence=_LATER)
        verdict = trial.policy.judge({key: point.median(key) for key in point.spreads})
    clear = (verdict.largest or 0.0) >= CLEARLY and _breaks_before(trial, place, until)
    if clear and (not large or _can_break(microdata, policy, verdict)):
        return QuickVerdict(answer="cannot", sentence=_broken_words(trial, place, verdict))
    if hurried:
        return QuickVerdict(answer="unknown", sentence=_LATER)
    return _of_releases(microdata, trial, place, policy, point)


def _not_judged(apart: Mapping[str, str]) -> QuickVerdict:
    why = next(iter(apart.values()))
    return QuickVerdict(answer="unknown", sentence=f"The policy cannot be judged here. {why}")


def _can_break(microdata: Microdata, policy: Policy, verdict: Verdict) -> bool:
    """True if the unmasked file breaks the limit that is most broken, too."""
    limits = tuple(each for each in policy.limits if each.measure == verdict.first)
    return replace(policy, limits=limits).judgeable(microdata)[0] is not None


def _breaks_before(trial: StrengthTrial, place: int, until: float) -> bool:
    """True if weaker places break a limit, too; of neighborhoods these are known to risk more."""
    params = trial.at(place).params
    if hasattr(params, "ball"):
        return True
    weaker = sorted({round(place * part / _WEAKER) for part in range(1, _WEAKER)}, reverse=True)
    for each in weaker:
        if time.monotonic() > until or (trial.verdict(each).largest or 0.0) <= CLEARLY:
            return False
    return True


def _of_releases(
    microdata: Microdata, trial: StrengthTrial, place: int, policy: Policy, point: Point | None
) -> QuickVerdict:
    """Say "can" where one more release keeps every limit that can be judged, and some relations."""
    judged, apart = policy.judgeable(microdata)
    if judged is None:
        return _not_judged(apart)
    verdict = _judged(judged, trial, place, point)
    if verdict.kept:
        inside = _inside(trial, place)
        if inside is None:
            return QuickVerdict(answer="unknown", sentence=_AT_THE_END)
        if inside != place:
            place, verdict = inside, _judged(judged, trial, inside)
    if not verdict.kept:
        words = f"At {_strength(trial.at(place))}: {verdict.sentence} Search for a setting."
        return QuickVerdict(answer="unknown", sentence=words)
    found, lost = trial.at(place), percent(trial.loss(place))
    where = f"At {_strength(found)} every limit that can be judged is kept"
    words = f"{where}; {lost} of the relations are lost."
    return QuickVerdict(answer="can", sentence=words, setting=found)


def _judged(
    policy: Policy, trial: StrengthTrial, place: int, point: Point | None = None
) -> Verdict:
    point = point or trial.point(place)
    assert point is not None  # without a time none is late
    return policy.judge_point(point)


def _inside(trial: StrengthTrial, place: int) -> int | None:
    """Return a place at which other releases, too, lose clearly less than is of use.

    That one release loses just less at a place may be luck: what others lose there, and twice their
    spread, must be less, else a weaker place with a release that loses so much less is taken.
    """
    losses = trial.losses(place)
    end = fmean(losses) + 2 * stdev(losses)
    if end <= MOST_LOST:
        return place
    inside = trial.strongest(trial.loss(place) - (end - MOST_LOST))
    if inside is None:
        return None
    losses = trial.losses(inside)
    return inside if fmean(losses) + stdev(losses) <= MOST_LOST else None


def _broken_words(trial: StrengthTrial, place: int, verdict: Verdict) -> str:
    """Say which limit no strength keeps."""
    first = str(verdict.first)
    least = "at least " if verdict.standing.get(first) else ""
    where = "" if place == trial.last else ", and a stronger one loses nearly all relations"
    what = f"{MEASURES[first].title} uses {least}{verdict.uses(first)} its limit"
    return f"No strength keeps this policy: at {_strength(trial.at(place))} {what}{where}."


def _strength(setting: Setting) -> str:
    """Write the strength of a setting, such as "ε = 8.2"."""
    params = setting.params
    return f"{SHORT_NAMES[params.strength]} = {getattr(params, params.strength):g}"


def _title(microdata: Microdata, setting: Setting) -> str:
    """Return the words for a button that tries a setting."""
    params = setting.params
    if params.method != "rwn":
        return f"Try {params.title}"
    kernel = "" if params.kernel == "even" else " with balance" if params.balance else " soft"
    preset = preset_key(microdata, setting.slices or ())
    slices = PRESETS[preset].title if preset else "in slices"
    return f"Try RWN{kernel}: {slices}"


def next_steps(
    microdata: Microdata, setting: Setting, policy: Policy, advice: Recommendation | None
) -> tuple[NextStep, ...]:
    """Return what to try: recommended settings, rounded values, fewer variables or keys."""
    steps = []
    if advice is not None and advice.kept:
        own = _kind(setting.resolved(microdata))
        for each in (advice.setting, *advice.runners_up):
            if _kind(each.resolved(microdata)) != own:
                known = advice.confirmed and each is advice.setting
                steps.append(NextStep(title=_title(microdata, each), setting=each, known=known))
    steps_by_name = given_steps(microdata, _COARSE) if microdata.numeric_names else {}
    if steps_by_name and not setting.precision and not _refused(microdata, setting, policy):
        coarse = replace(setting, precision=tuple(sorted(steps_by_name.items())))
        steps.append(NextStep(title="Round the numbers", setting=coarse))
    return (*steps, *_fewer(microdata, policy))


def _refused(microdata: Microdata, setting: Setting, policy: Policy) -> bool:
    """True if a method cannot work on a table, however the values are rounded."""
    try:
        return bool(refusal(microdata, policy, setting.params))
    except ParameterError:
        return True


def _kind(setting: Setting) -> tuple[object, ...]:
    """Return what a setting is apart from its strength."""
    params = setting.params
    return params.method, getattr(params, "kernel", ""), setting.slices


def _fewer(microdata: Microdata, policy: Policy) -> list[NextStep]:
    """Return the table without its richest variable, and with one key fewer."""
    schema = microdata.schema
    rich = sorted(schema.released, key=lambda v: -len(microdata.codes(v.name)[1]))
    keys = [v for v in rich if v.role is Role.KEY]
    others = [v for v in rich if v.role is Role.OTHER]
    steps = []
    if others:
        steps.append(_described(schema, others[0].name, Role.IDENTIFIER, "Leave {} out"))
    if len(keys) > 1:
        steps.append(_described(schema, keys[0].name, Role.IDENTIFIER, "Leave the key {} out"))
    return steps


def _described(schema: Schema, name: str, role: Role, title: str) -> NextStep:
    schema = schema.replace_variable(name, role=role, group=None)
    return NextStep(title=title.format(name), schema=schema)
