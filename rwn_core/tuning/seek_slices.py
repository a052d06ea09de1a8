"""Slice search: which variables should travel together, and how strongly to mask then.

Slices are compared by their expected loss and tried on common seeds. What is promised about the
answer comes from fresh releases, which had no part in choosing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.data.slices import Slices
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN, at_levers
from rwn_core.parallel.threads import thread_count
from rwn_core.tuning.attacked import with_attacked
from rwn_core.tuning.evaluate_settings import Plan, with_red_team
from rwn_core.tuning.point import Point
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.search_pace import Pace
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.setting_pool import SettingPool
from rwn_core.tuning.slice_answer import LOSS, SliceAnswer
from rwn_core.tuning.slice_loss import SliceLoss
from rwn_core.tuning.slice_presets import PRESETS, masked_names, preset_slices
from rwn_core.tuning.slice_search import FRESH, SliceSearch
from rwn_core.tuning.slice_steps import Choice, Found, Weights

LARGEST_SEARCHED = 1_000  # records; more take minutes, and linkage is known between bounds only
STRENGTHS = 40  # between the ends of the slider
_RELEASES = 6  # of a trial
_STATED = 59  # releases behind the stated interval: from the third smallest to the third largest
_ATTEMPTS = 8  # slices checked on fresh releases before the search gives up

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRanges:
    """Say where a slice search looks.

    Attributes
    ----------
    starts : sequence of Slices, optional
        Slices to begin with; the usual ones of `PRESETS` by default.
    only_starts : bool
        Whether no other slices are tried: the best of some given ones.
    weights : bool
        Whether weights are halved and doubled, too, where table and setting give every variable
        the same; whoever gave others meant them.
    strengths : sequence of float, optional
        Values of the method's strength, weakest first; forty between the ends of its slider by
        default.
    records : int
        Of a table with more than so many, random ones are searched.
    tries : int
        Slices and strengths that are tried at most, but for a few more with each variable alone.
    seed : int
        Of the first trial release, a teaching seed.
    """

    starts: Sequence[Slices] | None = None
    only_starts: bool = False
    weights: bool = True
    strengths: Sequence[float] | None = None
    records: int = LARGEST_SEARCHED
    tries: int = 240
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each number."""
        if self.records < 2 or self.tries < 1:
            raise ParameterError("A slice search needs at least two records and one try.")


def seek_slices(
    microdata: Microdata,
    policy: Policy,
    *,
    setting: Setting | None = None,
    ranges: SliceRanges | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> SliceAnswer:
    """Find which variables should travel together: least loss of correlations within all limits.

    Finds the best weights of each variable alone first, which any slices have to beat. Starts with
    these, at usual slices and at those that merging leads to, then joins slices, moves variables
    between them, and halves and doubles weights while the expected loss falls and trial releases
    keep every limit. For each the weakest strength that keeps them is found by bisection. The
    answer is checked on releases that had no part in the search.

    Parameters
    ----------
    microdata : Microdata
    policy : Policy
    setting : Setting, optional
        Method, other levers and precision, which stay; RWN with k = 5 and q = 1 by default. Its
        strength (epsilon), slices and, where none are given, weights are sought.
    ranges : SliceRanges, optional
    workers : int, optional
        Processes; one for each processor by default. 1 works in this process.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    SliceAnswer
        The same for any number of workers.

    Raises
    ------
    ParameterError
        The policy has no limit, or none that can be broken on this table; the table has fewer
        than two masked variables or numbers, or a method's strength cannot be moved.
    RWNError
        A worker ended, for instance for lack of memory.

    References
    ----------
    METHODS 4.10; anatomy (Xiao, Tao 2006) and slicing (Li, Li, Zhang, Molloy 2012) cut tables so.
    """
    _check(microdata, policy)
    progress = progress or (lambda share: None)
    ranges = ranges or SliceRanges()
    sample = _sample(microdata, ranges.records)
    asked, (policy, unread) = policy, policy.judgeable(sample)
    setting = setting or Setting(params=RWN(epsilon=1.0, k=5))
    settings = _strengths(sample, setting, ranges.strengths)
    plan = Plan(measures=asked.measures, releases=_RELEASES, seed=ranges.seed)
    with SettingPool(sample, settings, plan, workers=thread_count(workers)) as crew:
        search = SliceSearch(
            names=tuple(masked_names(sample)),
            settings=settings,
            losses=cache(lambda weights: SliceLoss.of(sample, _weighed(settings, weights))),
            crew=crew,
            policy=policy,
            plan=plan,
            tries=ranges.tries,
            only_starts=ranges.only_starts,
            reweigh=ranges.weights and not settings[0].weights,
            related=_by_role(sample),
            pace=Pace(
                tell=progress,
                tries=ranges.tries,
                check=_STATED * len({*asked.measures, LOSS}),
                expected=ranges.tries if ranges.weights else ranges.tries // 2,
            ),
        )
        usual = list(dict.fromkeys(preset_slices(sample, key) for key in PRESETS))
        starts = usual if ranges.starts is None else ranges.starts
        begin = [Choice(slices, search.given) for slices in starts]
        alone = [] if ranges.only_starts and () not in starts else _alone(search)
        search.pace.checks = 2.0 if alone else 1.0
        lone = _verified(search.of_weights_alone(cautious=True), alone) if alone else None
        known = lone if lone is not None and lone.kept else None
        best = _verified(search, [*begin, *alone], known=known)
        if not best.kept and search.reweigh:
            # where fresh releases refuse all weights that were found, they stay as they are
            unmoved = _verified(search.of_given_weights(), begin)
            best = unmoved if unmoved.kept else best
    progress(1.0)
    return SliceAnswer(
        policy=asked,
        point=best.point,
        reached=best.kept and not unread,
        unread=unread,
        tried=len(search.shares),
        records=sample.n,
        of=microdata.n,
    )


def _check(microdata: Microdata, policy: Policy) -> None:
    if not policy.limits:
        raise ParameterError("The policy has no limit; give it at least one.")
    if len(masked_names(microdata)) < 2 or len(microdata.numeric_names) < 2:
        raise ParameterError(
            "A slice search needs two masked variables and two numeric ones; describe more of them."
        )


def _sample(microdata: Microdata, records: int) -> Microdata:
    if microdata.n <= records:
        return microdata
    chosen = np.random.default_rng(0).permutation(microdata.n)[:records]
    return microdata.take(np.sort(chosen))


def _strengths(
    microdata: Microdata, setting: Setting, values: Sequence[float] | None
) -> list[Setting]:
    """The setting at several strengths, weakest first."""
    setting = setting.resolved(microdata)
    params = setting.params
    if values is None:
        ends = params.prepare(setting.applied_to(microdata)).ranges[params.strength]
        count = max(2, min(STRENGTHS, round((ends.high - ends.low) / ends.step) + 1))
        values = [round(float(each), 6) for each in np.linspace(ends.low, ends.high, count)]
    moved = [at_levers(params, {params.strength: each}) for each in values]
    return list({each.key: each for each in (replace(setting, params=p) for p in moved)}.values())


def _by_role(microdata: Microdata) -> list[tuple[str, ...]]:
    """The masked variables of each role that several have."""
    names, roles = masked_names(microdata), {v.name: v.role for v in microdata.schema.variables}
    groups = [tuple(name for name in names if roles[name] is role) for role in Role]
    return [each for each in groups if len(each) > 1]


def _weighed(settings: Sequence[Setting], weights: Weights) -> list[Setting]:
    return [replace(each, weights=weights) for each in settings]


def _alone(search: SliceSearch) -> list[Choice]:
    """Each variable alone: under the weights as they are, and under those that serve it best."""
    alone = [Choice((), search.given)]
    if search.reweigh:
        quick = search.of_weights_alone(cautious=False)
        quick.run(alone)
        alone += [quick.best.choice] if quick.best is not None else []
    return list(dict.fromkeys(alone))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verified:
    """What a search found, as read on fresh releases, and whether these keep all limits."""

    found: Found
    point: Point
    kept: bool


def _verified(
    search: SliceSearch, starts: Sequence[Choice], *, known: _Verified | None = None
) -> _Verified:
    """The best on releases that had no part in choosing it, or one known to keep all limits.

    Where the search's releases were kind to it, it and every other has to leave more room, and the
    search goes on with what it knows.
    """
    search.known = None if known is None else known.found
    search.run(starts)
    nearest = (math.inf, search.here.choice, search.here.strength)
    for attempt in range(_ATTEMPTS):
        best = search.best
        if best is None:
            break
        if known is not None and best == known.found:
            return known
        point = _fresh(search, best, 2 + attempt)
        judged = search.policy.judge_point(point)
        if judged.kept:
            return _Verified(found=best, point=point, kept=True)
        share = math.inf if judged.unread or judged.largest is None else judged.largest
        nearest = min(nearest, (share, best.choice, best.strength))
        search.pace.checks += 1  # of what is next
        search.tighten(judged)
        search.run((*starts, best.choice))
    if known is not None:
        return known
    _, choice, strength = nearest
    found = Found(loss=0.0, choice=choice, strength=strength)
    point = _fresh(search, found, 2 + _ATTEMPTS)
    return _Verified(found=found, point=point, kept=search.policy.judge_point(point).kept)


def _fresh(search: SliceSearch, found: Found, which: int) -> Point:
    """Read all that have a limit, and the loss, on releases of their own: which set of them."""
    measures = tuple(dict.fromkeys((*search.plan.measures, LOSS)))
    seed = search.plan.seed + FRESH * which
    plan = Plan(measures=measures, releases=_STATED, seed=seed)
    setting = search.at(found.choice, found.strength)
    (point,) = search.crew.points([setting], plan, search.pace.checking())
    (few,) = search.crew.points([setting], with_red_team(plan), lambda share: None)
    return with_attacked(point, few)
