"""The first answer of a goal seek: one release a setting, of some records, quick limits first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.tuning.evaluate_settings import Plan, Trials
from rwn_core.tuning.goal import Goal
from rwn_core.tuning.partial_answer import Found, PartialAnswer
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy import QUICK, Limit, Policy
from rwn_core.tuning.slice_answer import random_records


def first_answer(
    microdata: Microdata, settings: Sequence[Setting], goal: Goal, found: Found
) -> None:
    """Tell the setting that is best among those that keep the limits; until then, the nearest."""
    sample = random_records(microdata, QUICK_RECORDS)
    policy, plan = goal.keep, Plan(measures=(goal.best,), releases=1)
    assert isinstance(policy, Policy)
    trials = Trials(sample, settings, plan)
    least, last = math.inf, ""

    def order(limit: Limit) -> tuple[bool, bool]:
        return limit.measure not in QUICK, limit.measure != last

    for point in sorted((trials.run(each) for each in settings), key=goal.loss):
        largest = 0.0
        for limit in sorted(policy.limits, key=order):
            trials.plan = replace(plan, measures=(limit.measure,))
            point = replace(point, spreads={**point.spreads, **trials.run(point.setting).spreads})
            share = Policy(limits=(limit,)).judge(point).largest
            largest = max(largest, math.inf if share is None else share)
            if largest > 1:
                last = limit.measure
                break
        if largest < least:
            least = largest
            found(PartialAnswer(point=point, goal=goal, records=sample.n, of=microdata.n))
        if largest <= 1:
            return
