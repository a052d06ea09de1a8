"""Recommend a setting to begin with, from the kinds of variables, the size and the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.laws.donors import masked_columns
from rwn_core.masking import (
    METHODS,
    RWN,
    CorrelatedNoise,
    LeverRange,
    Microaggregation,
    at_levers,
    fixed_options,
)
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.sentence import percent
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_slices
from rwn_core.tuning.strength_trial import MOST_LOST, PreparedTables, StrengthTrial
from rwn_core.tuning.verdict import counted, share_words
from rwn_core.tuning.whole_table import WholeTable, look_at

_PART = 250  # random records that candidates are tried on
_PLACES = 8  # parts of a strength
_MOST_TIMES = 4.0  # how far a limit on linkage grows on a part
_STEPS = 400_000  # times records: releases and readings on all records
_LEAST_COUNTED = 300  # records; smaller tables get no more releases
_PART_FIRST = 3  # settings that kept the policy on a part, tried first on all records
_PROMISING = 2  # slices that every kernel is tried with on all records
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
_SLICES = ("confidential_apart", "related_3", "related_5", "keys_apart", "alone", "related_2")
"""Slices that were best on some table, those first that were best on most."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recommendation(Summarized):
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
    confirmed : bool
        Whether that was all records, and several releases.
    """

    setting: Setting
    reason: str
    runners_up: tuple[Setting, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    kept: bool = True  # words: public name
    confirmed: bool = False

    def _summary(self) -> Summary:
        return Summary(
            title=f"Recommended: {self.setting.words}. {self.reason}",
            columns=("", ""),
            rows=[
                *(("runner-up", each.words) for each in self.runners_up),
                *((f"unfit: {key}", why) for key, why in self.unfit.items()),
            ],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A candidate's setting on the whole table, its loss and its largest share of a limit."""

    setting: Setting
    loss: float
    share: float
    met: bool


@takes_tables
def recommend(
    microdata: Microdata,
    policy: Policy | None = None,
    *,
    whole: bool = True,  # words: public name
) -> Recommendation:
    """Find the setting to begin with.

    Candidates are tried on random records with the geometry of the whole table: a soft kernel's
    bandwidth and the size of a group shrink with the number of records, and a limit on linkage
    grows, since linkage falls with the number of records; a limit on attributes stays. What kept
    the policy there is then tried on all records of a table of up to 2,000, with the other methods,
    the usual slices and kernels; most of these end after one release, as they cannot lose less.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy, optional
        The usual one by default.
    whole : bool
        Also try candidates on all records, which may take a minute. Without it the answer comes
        within seconds.

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
    found = microdata.cached(key, lambda: _recommended(microdata, policy))
    if not whole or microdata.n > LARGEST_DENSE:
        return found.recommendation
    return microdata.cached((*key, "whole"), lambda: _on_all_records(microdata, policy, found))


def tuned(microdata: Microdata, setting: Setting, policy: Policy | None = None) -> Setting | None:
    """Return the weakest strength at which further releases keep all limits, in a small table."""
    judged, _ = (policy or Policy()).judgeable(microdata)
    if judged is None or microdata.n > LARGEST_DENSE:
        return None
    trial = StrengthTrial(microdata, setting, judged)
    place = trial.confirmed(1.0)
    return None if place is None else trial.at(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnPart:
    """A recommendation by a part of the records, and all settings that it was chosen from."""

    recommendation: Recommendation
    keeping: tuple[Setting, ...]
    others: tuple[Setting, ...]


def _recommended(microdata: Microdata, policy: Policy) -> _OnPart:
    part, unfit = _part(microdata), _unfit(microdata, policy)
    times = min(microdata.n / part.n, _MOST_TIMES)
    judged, _ = _scaled(policy, times).judgeable(part)
    ranges = {"epsilon": RWN(epsilon=0.0, k=1).prepare(microdata).ranges["epsilon"]}
    trials = _Trials(microdata=microdata, part=part, policy=judged or policy, ranges=ranges)
    _look_at_all(trials, unfit)
    tried = trials.tried
    keeping = sorted((each for each in tried if each.met), key=lambda each: each.loss)
    others = [each for each in tried if not each.met]
    others.sort(key=lambda each: (each.share <= 1, each.share))  # which loses too much, last
    ranked = keeping or others
    best = ranked[0]
    where = f"{part.n:,}{f' of {microdata.n:,}' if part.n < microdata.n else ''} records"
    found = Recommendation(
        setting=best.setting,
        reason=_reason(
            microdata, where, len(tried), best.setting, best.loss if keeping else None, best.share
        ),
        runners_up=tuple(each.setting for each in ranked[1:3]),
        unfit=unfit,
        kept=bool(keeping),
    )
    return _OnPart(
        recommendation=found,
        keeping=tuple(each.setting for each in keeping),
        others=tuple(each.setting for each in others),
    )


def _reason(
    microdata: Microdata, where: str, tried: int, best: Setting, loss: float | None, share: float
) -> str:
    """Say what was tried and why this one is the best; without a loss none keeps the policy."""
    what = f"{_facts(microdata)}: of {counted(tried, 'setting')} tried on {where},"
    if loss is None:
        near = f"none keeps the policy and loses at most {percent(MOST_LOST)}; this one"
        if share <= 1:
            return f"{what} {near} keeps the limits, but loses more."
        return f"{what} {near} comes nearest, {share_words(share)} a limit."
    words = f"this one keeps the policy there and loses least: {percent(loss)}."
    if best.params.strength == "size":
        words += " Noise may give impossible values, such as a negative age."
    return f"{what} {words}"


def _on_all_records(microdata: Microdata, policy: Policy, found: _OnPart) -> Recommendation:
    """Hold what a part of the records showed against all of them, and try what else there is."""
    advice = found.recommendation
    judged, _ = policy.judgeable(microdata)
    if judged is None:
        return advice
    steps = round(_STEPS / max(microdata.n, _LEAST_COUNTED))
    search = WholeTable(microdata=microdata, policy=judged, steps=steps)
    first = "balanced"
    look_at(search, found.keeping[:1])
    look_at(search, _other_methods(advice.unfit))  # most of which end after one release
    look_at(search, found.keeping[1:_PART_FIRST])
    names = dict.fromkeys((*_SLICES, *PRESETS))
    slices = list(dict.fromkeys(preset_slices(microdata, each) for each in names))
    best = look_at(search, (Setting(params=RWN(**_KERNELS[first]), slices=s) for s in slices))
    near = [best] if best else []
    near += [each for each in (*found.keeping, *found.others) if each.method == "rwn"]
    promising = list(dict.fromkeys(each.slices or () for each in near))[:_PROMISING]
    for kernel in _KERNELS:
        look_at(search, (Setting(params=RWN(**_KERNELS[kernel]), slices=s) for s in promising))
    where = f"all {microdata.n:,} records"
    keeping = list(search.best())
    if not keeping:
        share, setting = min(search.nearest, key=lambda each: each[0], default=(0.0, None))
        if setting is None:
            return replace(advice, kept=False)
        return replace(
            advice,
            setting=setting,
            reason=_reason(microdata, where, search.looked, setting, None, share),
            runners_up=(),
            kept=False,
            confirmed=True,
        )
    loss, setting = keeping[0]
    reason = _reason(microdata, where, search.looked, setting, loss, 1.0)
    return Recommendation(
        setting=setting,
        reason=reason,
        runners_up=tuple(each for _, each in keeping[1:3]),
        unfit=advice.unfit,
        confirmed=True,
    )


def _other_methods(unfit: Mapping[str, str]) -> Iterator[Setting]:
    """Yield every method that may keep the policy but RWN, those first that lose least often."""
    names = dict.fromkeys((CorrelatedNoise.method, Microaggregation.method, *METHODS))
    for key in names:
        if key not in unfit and key != RWN.method:
            yield Setting(params=METHODS[key](**neutral_levers(METHODS[key])))


def _part(microdata: Microdata) -> Microdata:
    """Return random records, the same for a table at each call."""
    if microdata.n <= _PART:
        return microdata
    chosen = np.random.default_rng(0).permutation(microdata.n)[:_PART]
    return microdata.take(np.sort(chosen))


def _scaled(policy: Policy, times: float) -> Policy:
    """Return a policy for a part of a table: linkage is as many times as likely there."""
    # a limit of 0 on the whole table is not 0 on a part of it
    limits = [
        replace(each, at_most=min((each.at_most or 0.01) * times, 1.0))
        if each.measure in _FALLING and times > 1
        else each
        for each in policy.limits
    ]
    return replace(policy, limits=tuple(limits))


@dataclass(slots=True, kw_only=True)
class _Trials:
    """Candidates on random records of a table; one that cannot lose less is left early."""

    microdata: Microdata
    part: Microdata
    policy: Policy
    ranges: Mapping[str, LeverRange]
    best: float = MOST_LOST
    tried: list[_Tried] = field(default_factory=list)
    _tables: PreparedTables = field(default_factory=PreparedTables)

    def look(self, candidate: Setting) -> bool:
        """Try a candidate; True if it keeps all limits and loses less than those before."""
        share = self.part.n / self.microdata.n
        on_part = _on_part(candidate, share)
        ends = self.ranges.get(on_part.params.strength)
        try:
            trial = StrengthTrial(
                self.part, on_part, self.policy, places=_PLACES, within=ends, tables=self._tables
            )
            place = trial.weakest(self.best)
        except ParameterError:
            return False
        met = place is not None and trial.keeps_again(place)
        if place is not None and not met and place < trial.last:  # that was luck: one stronger
            place += 1
            met = trial.loss(place) <= self.best and trial.keeps(place)
            met = met and trial.keeps_again(place)
        at = trial.last if place is None else place
        loss = trial.mean_loss(at) if met else 1.0
        made = _scaled_setting(candidate, trial.at(at), 1.0 / share)
        self.tried.append(_Tried(setting=made, loss=loss, share=trial.share(at), met=met))
        if not met or loss >= self.best:
            return False
        self.best = loss
        return True


def _look_at_all(trials: _Trials, unfit: Mapping[str, str]) -> None:
    """Try methods for numbers, then slices with one kernel, then the best slices with others."""
    for params in (CorrelatedNoise(size=0.0), Microaggregation(k=2)):
        if params.method not in unfit:
            trials.look(Setting(params=params))
    table = trials.microdata
    names = masked_names(table)
    few = 2 * len(set(names) & set(table.numeric_names)) < len(names)
    first = "even" if few else "balanced"
    best, *others = dict.fromkeys(preset_slices(table, each) for each in _SLICES)
    for slices in (best, *others):
        if trials.look(Setting(params=RWN(**_KERNELS[first]), slices=slices)):
            best = slices
    for kernel in _KERNELS:
        if kernel != first:
            trials.look(Setting(params=RWN(**_KERNELS[kernel]), slices=best))


def _on_part(setting: Setting, share: float) -> Setting:
    """Return a candidate with the geometry of the whole table on a share of its records."""
    params = setting.params
    if share == 1 or getattr(params, "kernel", "even") == "even":
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
    if microdata.n * limit.at_most < 1:
        return f"Of {microdata.n} records one is linked by chance, which is beyond the limit."
    names = params.masked_names(microdata)
    left = [v.name for v in microdata.schema.released if v.name not in names]
    unique = _unique(microdata, left) if left else 0.0
    if unique > limit.at_most:
        return f"{percent(unique)} of the records are unique on what stays as it is: {_some(left)}."
    few = microdata.take(np.arange(min(microdata.n, _FEW)))
    neutral = neutral_levers(type(params), fixed_options(params))
    if at_levers(params, neutral).prepare(few).law is None:
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
