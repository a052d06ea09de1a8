"""Recommend a setting to begin with, from the kinds of variables, the size and the policy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import masked_columns
from rwn_core.masking import METHODS, RWN, CorrelatedNoise, Microaggregation, at_levers
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.sentence import percent
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.slice_presets import preset_slices
from rwn_core.tuning.strength_trial import StrengthTrial, judgeable
from rwn_core.tuning.verdict import counted, share_words

PART = 250  # decides: random records that candidates are tried on
_PLACES = 8  # parts of a strength
_MOST_TIMES = 4.0  # how far a limit on linkage grows on a part
_NAMED = 3  # variables named in a sentence
_FEW = 30  # records on which a method's law is looked for
_FALLING = ("bayes_linkage", "linked_over_half")  # with the number of records, at equal geometry
_KERNELS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "even": {"epsilon": 0.0, "k": 5},
        "gaussian": {"kernel": "gaussian"},
        "balanced": {"kernel": "gaussian", "balance": 1.0},
    }
)
_TRIED = (
    ("balanced", "confidential_apart"),
    ("even", "related_3"),
    ("gaussian", "keys_apart"),
    ("even", "confidential_apart"),
    ("gaussian", "related_2"),
    ("gaussian", "confidential_apart"),
    ("even", "alone"),
    ("gaussian", "related_5"),
    ("balanced", "related_5"),
)
"""Kernels and slices, those first that were best on most tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Hold the setting to begin with, and why.

    Attributes
    ----------
    setting : Setting
        Method, kernel, slices and a strength. The strength is an estimate.
    reason : str
        Why, in one sentence.
    runners_up : tuple of Setting
        At most two others, the better first.
    unfit : mapping of str to str
        By key of a method that cannot work on this table, why, in one sentence.
    kept : bool
        Whether the setting kept all limits on the records that were tried.
    """

    setting: Setting
    reason: str
    runners_up: tuple[Setting, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A candidate's setting on the whole table, its loss and its largest share of a limit."""

    setting: Setting
    loss: float
    share: float


@takes_tables
def recommend(microdata: Microdata, policy: Policy | None = None) -> Recommendation:
    """Find the setting to begin with.

    Candidates are tried on random records with the geometry of the whole table: a soft kernel's
    bandwidth and the size of a group shrink with the number of records, and a limit on linkage
    grows, since linkage falls with the number of records; a limit on attributes stays.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy, optional
        The usual one by default.

    Returns
    -------
    Recommendation

    Raises
    ------
    ParameterError
        No variable is to be masked.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> recommend(rwn.load_demo("bodyfat")).setting.method
    'rwn'
    """
    policy = policy or Policy()
    masked_columns(microdata)
    key = ("recommendation", policy, microdata.schema)
    return microdata.cached(key, lambda: _recommended(microdata, policy))


def _recommended(microdata: Microdata, policy: Policy) -> Recommendation:
    part, unfit = _part(microdata), _unfit(microdata, policy)
    judged, _ = judgeable(part, _scaled(policy, min(microdata.n / part.n, _MOST_TIMES)))
    every = [each for each in _candidates(microdata) if each.method not in unfit]
    tried = _try(microdata, part, judged or policy, every)
    keeping = sorted((each for each in tried if each.share <= 1), key=lambda each: each.loss)
    ranked = keeping or sorted(tried, key=lambda each: each.share)
    best = ranked[0]
    what = f"{_facts(microdata)}: of {counted(len(every), 'setting')} tried on {part.n:,} records,"
    if keeping:
        words = (
            f"this one keeps the limits expected of them and loses least ({percent(best.loss)})."
        )
    else:
        words = f"none keeps all limits; this one comes nearest, {share_words(best.share)} a limit."
    return Recommendation(
        setting=best.setting,
        reason=f"{what} {words}",
        runners_up=tuple(each.setting for each in ranked[1:3]),
        unfit=unfit,
        kept=bool(keeping),
    )


def _part(microdata: Microdata) -> Microdata:
    """Return random records, the same for a table at each call."""
    if microdata.n <= PART:
        return microdata
    chosen = np.random.default_rng(0).permutation(microdata.n)[:PART]
    return microdata.take(np.sort(chosen))


def _scaled(policy: Policy, times: float) -> Policy:
    """Return a policy for a part of a table: linkage is as many times as likely there."""
    limits = [
        replace(each, at_most=min(each.at_most * times, 1.0)) if each.measure in _FALLING else each
        for each in policy.limits
    ]
    return replace(policy, limits=tuple(limits))


def _candidates(microdata: Microdata) -> list[Setting]:
    """Return the settings to try, without a strength; fewer of a table of many variables."""
    found = [Setting(params=CorrelatedNoise(size=0.0)), Setting(params=Microaggregation(k=2))]
    for kernel, preset in _TRIED:
        slices = preset_slices(microdata, preset)
        found.append(Setting(params=RWN(**_KERNELS[kernel]), slices=slices))
    return list({each.key: each for each in found}.values())


def _try(
    microdata: Microdata, part: Microdata, policy: Policy, candidates: Sequence[Setting]
) -> list[_Tried]:
    """Try candidates; one that cannot lose less than the best so far is left early."""
    best, found = 1.0, list[_Tried]()
    ranges = RWN(epsilon=0.0, k=1).prepare(microdata).ranges["epsilon"]
    for setting in candidates:
        try:
            here = _on_part(setting, part.n / microdata.n)
            ends = ranges if here.params.strength == "epsilon" else None
            trial = StrengthTrial(part, here, policy, places=_PLACES, within=ends)
            place = trial.weakest(best)
        except ParameterError:
            continue
        at = trial.last if place is None else place
        verdict = trial.verdict(at)
        share = math.inf if verdict.unread else verdict.largest or 0.0
        if place is not None:
            best = min(best, trial.loss(at))
        made = _scaled_setting(setting, trial.at(at), microdata.n / part.n)
        found.append(_Tried(setting=made, loss=trial.loss(at), share=share))
    return found


def _on_part(setting: Setting, share: float) -> Setting:
    """Return a candidate with the geometry of the whole table on a share of its records."""
    params = setting.params
    if getattr(params, "kernel", "even") == "even":
        return setting
    unit = max(1, round(params.weights_of_donors.bandwidth_k * share))
    return replace(setting, params=replace(params, bandwidth_k=unit))


def _scaled_setting(candidate: Setting, tried: Setting, times: float) -> Setting:
    """Return a candidate for the whole table, at the strength that it had on a part."""
    params, name = tried.params, tried.params.strength
    value = getattr(params, name)
    if name == "k":
        value = max(2, round(value * times))
    own = {each.name: getattr(params, each.name) for each in params.levers} | {name: value}
    return replace(candidate, params=at_levers(candidate.params, own))


def _facts(microdata: Microdata) -> str:
    """Return the kinds and roles of the masked variables in words."""
    masked = [v for v in microdata.schema.released if v.masked]
    numbers = sum(v.name in microdata.numeric_names for v in masked)
    keys = sum(v.role is Role.KEY for v in masked)
    parts = ((numbers, "number"), (len(masked) - numbers, "category"), (keys, "key"))
    words = [counted(count, noun) for count, noun in parts if count]
    return ", ".join(words).replace("categorys", "categories")


def _unfit(microdata: Microdata, policy: Policy) -> dict[str, str]:
    """Return by method why it cannot keep a policy on a table; those that may are not there."""
    found: dict[str, str] = {}
    for key, method in METHODS.items():
        try:
            why = refusal(microdata, policy, method(**neutral_levers(method)))
        except ParameterError as error:
            why = str(error)
        if why:
            found[key] = why
    return found


def refusal(microdata: Microdata, policy: Policy, params: Any) -> str:
    """Return why a method cannot keep a policy on a table; empty where that is not known."""
    limit = policy.limit("bayes_linkage")
    if limit is None:
        return ""
    names = params.masked_names(microdata)
    left = [v.name for v in microdata.schema.released if v.name not in names]
    unique = _unique(microdata, left) if left else 0.0
    if unique > limit.at_most:
        return f"{percent(unique)} of the records are unique on what stays as it is: {_some(left)}."
    few = microdata.take(np.arange(min(microdata.n, _FEW)))
    if params.prepare(few).law is None:
        return "It has no exact law, so that worst-case linkage cannot be judged."
    secret = any(v.role is Role.CONFIDENTIAL for v in microdata.schema.released)
    if params.releases_true_rows and secret and policy.limit("true_matches"):
        return "It copies whole rows, so that a row shows the confidential values of a person."
    return ""


def _unique(microdata: Microdata, names: Sequence[str]) -> float:
    """Return the share of records that are unique on some variables."""
    codes = np.column_stack([microdata.codes(name)[0] for name in names])
    _, counts = np.unique(codes, axis=0, return_counts=True)
    return float((counts == 1).sum() / microdata.n)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
