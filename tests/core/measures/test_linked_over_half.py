"""Few people who stand open are seen beside many who hide (finding A9)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk import worst_linkage
from rwn_core.measures.risk.worst_linkage import linked_over_half_reading as reading
from rwn_core.tuning.policy import CLINICAL, Policy

KEY = "linked_over_half"
CROWD = RWN(epsilon=0.0, k=600, q=1)  # about as far as a radius reaches where some are far away


def with_outliers(n: int = 1200, apart: int = 40, seed: int = 0) -> Microdata:
    """A crowd, and people each of whom is far from everybody else."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n, 3))
    values[n - apart :] += (60 + 12 * np.arange(apart))[:, np.newaxis]
    frame = pd.DataFrame(values * 5 + 100, columns=["a", "b", "c"])
    frame["s"] = draw.choice(list("wxyz"), n)
    data = Microdata.from_frame(frame)
    schema = data.schema
    for name in ("a", "b", "c"):
        schema = schema.replace_variable(name, role=Role.KEY)
    return data.with_schema(schema.replace_variable("s", role=Role.CONFIDENTIAL, weight=0.0))


def compared(data: Microdata, params: RWN, seed: int = 1) -> Comparison:
    release = mask(data, params, seed=seed)
    return Comparison(original=data, masked=release.masked, law=release.law)


def test_a_few_open_people_break_the_policy_that_the_mean_keeps() -> None:
    comparison, policy = compared(with_outliers(), RWN(epsilon=1.2, k=3, q=1)), Policy()
    readings = {key: MEASURES[key].read(comparison) for key in policy.measures}
    verdict = policy.judge(readings)
    assert verdict.broken == (KEY,)  # all that the usual policy looked at before is kept
    found = readings[KEY]
    assert isinstance(found, Reading)
    assert found.value > 0.012
    assert (found.detail.records_worst >= 1160).all()  # those apart, by their numbers
    assert (np.diff(found.detail.truth_worst) <= 0).all()
    assert len(found.detail.records_worst) == 10


def test_the_share_is_that_of_the_posteriors_by_hand() -> None:
    data = with_outliers(150, 8, seed=4)
    comparison = compared(data, RWN(epsilon=1.2, k=3, q=0.8))
    belief = posteriors(comparison.law, comparison.masked, np.arange(data.n)).toarray()
    own = np.diag(belief)
    found = MEASURES[KEY].read(comparison)
    assert isinstance(found, Reading)
    assert found.detail.row_by_row == pytest.approx((own > 0.5).mean())
    assert found.value == max(found.detail.row_by_row, found.detail.together)


def test_one_half_itself_is_not_above_it() -> None:
    twins = pd.DataFrame({"a": [1.0, 1.0, 5.0, 5.0, 9.0, 9.0]})
    data = Microdata.from_frame(twins)
    comparison = compared(data, RWN(epsilon=0.0, k=1, q=1.0))
    found = MEASURES[KEY].read(comparison)
    assert isinstance(found, Reading)
    assert found.detail.largest == pytest.approx(0.5)
    assert found.value == 0.0


@pytest.mark.parametrize("share", [0.0, 0.008])
def test_random_rows_are_judged_by_the_upper_end(share: float) -> None:
    data = with_outliers(2500, round(share * 2500))
    comparison = compared(data, RWN(epsilon=1.2, k=3, q=1) if share else CROWD)
    every = reading(worst_case(comparison, bounded=False), data.n)
    some = reading(worst_case(comparison, work=1, bounded=False), data.n)
    assert (every.detail.sampled, some.detail.sampled) == (False, True)
    low, high = some.interval
    assert low <= every.detail.row_by_row <= high
    assert some.value == (high if share else 0.0)
    assert share or (some.detail.share == 0 and high < 0.01)
    said = MEASURES[KEY].sentence(some, data.n)
    assert "random rows" in said
    assert "at most" in said


@pytest.mark.parametrize(("apart", "kept"), [(9, False), (1, False), (0, True)])
def test_one_far_person_is_enough_to_break_the_usual_policy(apart: int, kept: bool) -> None:
    comparison = compared(
        with_outliers(1000, apart), RWN(epsilon=0.0, k=300 if apart else 600, q=1)
    )
    policy = Policy()
    found = MEASURES[KEY].read(comparison)
    assert isinstance(found, Reading)
    verdict = policy.judge({KEY: found})
    assert (KEY in verdict.broken) is not kept
    assert verdict.shares[KEY] < 10  # finite: maps draw it, searches descend
    if apart == 9:
        assert f"{found.detail.over} of 1,000 records" in MEASURES[KEY].sentence(found, 1000)


def test_far_people_are_looked_at_where_rows_are_random(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compared(with_outliers(2500, 3), RWN(epsilon=1.2, k=3, q=1))
    monkeypatch.setattr(
        worst_linkage, "worst_case", lambda c, **_: worst_case(c, work=1, bounded=False)
    )
    found = worst_linkage.compute_linked_over_half(comparison)
    assert found.detail.random < found.detail.rows < 2500
    assert set(range(2497, 2500)) <= set(found.detail.records_worst.tolist())
    assert not Policy().judge({KEY: found}).shares[KEY] <= 1


MEAN, LARGEST = MEASURES["bayes_linkage"], MEASURES["largest_linkage"]
POLICY = Policy(limits=CLINICAL[:1])


def test_people_apart_hide_in_a_mean_of_nine_percent_and_not_in_the_maximum() -> None:
    data = with_outliers(n=400, apart=4)
    comparison = compared(data, RWN(epsilon=1.2, k=30))
    assert MEAN.read(comparison).value < 0.09
    largest = LARGEST.read(comparison)
    assert largest.value > 0.3
    assert POLICY.judge({LARGEST.key: largest}).broken == (LARGEST.key,)
    units = Microdata(data.frame.assign(a=data.frame["a"] * 1000 + 7), data.schema)
    assert LARGEST.read(compared(units, RWN(epsilon=1.2, k=30))).value > 0.3


def test_a_crowd_keeps_it_and_a_file_of_twins_is_not_judged() -> None:
    crowd = compared(with_outliers(n=300, apart=0), RWN(epsilon=0.0, k=280))
    assert POLICY.judge({LARGEST.key: LARGEST.read(crowd)}).kept
    bare = LARGEST.read(compared(with_outliers(n=300, apart=0), RWN(k=5, q=0.0)))
    assert bare.value == 1.0
    frame = with_outliers(n=60, apart=0).frame
    twins = Microdata.from_frame(pd.concat([frame] * 12, ignore_index=True))
    verdict = POLICY.judge({LARGEST.key: LARGEST.read(compared(twins, RWN(k=5)))})
    assert not verdict.kept
    assert "cannot be broken on this table" in verdict.unread[LARGEST.key]
